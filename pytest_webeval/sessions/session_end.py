"""How a session ends: the summary, the files that options ask for, the exit code, and the lines for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from pytest_webeval.reports.rerun import MOST, RerunCommands, build_commands
from pytest_webeval.reports.terminal import SessionFacts, format_recorded_failures, render_summary
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import pluralize, sanitize, truncate
from pytest_webeval.sessions.result_export import ResultExport
from pytest_webeval.sessions.session import FAILED, MISUSED, NO_RUNS, PASSED, Session
from pytest_webeval.sessions.session_header import list_store_problems, name_locations
from pytest_webeval.sessions.summaries import build_summary, list_places, write_session_metrics
from pytest_webeval.storage import write_text
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summary_file import write_session_summary
from pytest_webeval.tasks.dataset import id_order

if TYPE_CHECKING:
    from pytest_webeval.sessions.report_index import ReportIndex

MOST_KNOWN = 100_000  # runs of a session of which rerun commands know all tasks; otherwise they name runs
PROBLEMS_SHOWN = 3
LONGEST_NAME = 80  # of a file of verdicts


class SessionEnd(Struct, eq=False, dict=True):
    """One per session, when its runs have come back. `summary` stays None if there is nothing to sum up."""

    session: Session
    summary: Summary | None = None
    places: list[Path] = field(default_factory=list)
    match_lines: list[str] = field(default_factory=list)  # about verdicts in files that options name
    _is_complete: bool = False

    @cached_property
    def export(self) -> ResultExport:
        """The results that go to shards."""
        return ResultExport(self.session.workspace, self.session.records)

    def sum_up(self, code: int, announce: Callable[[Summary], str | None] = lambda _: None) -> int:
        """Write all files. Returns the exit code of a session that would have this one if nothing followed from them.

        `announce` gets the summary before the report is written, and returns a problem or None.
        """
        session, shard = self.session, self.session.workspace.settings.shard
        code = _fail(code, if_any=self._report_mismatches())
        if not len(session.records) and (code == MISUSED or not (session.collected.run_count or shard)):
            has_gates = code != MISUSED and session.checks is not None and session.checks.note_unscored()
            return _fail(code, if_any=has_gates)
        if shard and code == NO_RUNS:  # there are more shards than runs
            code = PASSED
        code = _fail(code, if_any=session.contradicted or session.recorded)
        summary, code = self._check(build_summary(session, session.records), code)
        self.summary = summary
        failed = self._attempt(self._list_writes(summary))
        has_all = bool(session.collected.run_count or session.workspace.settings.is_live) and not session.unscored
        self._is_complete = has_all and not session.problems
        failed |= self._attempt(self._list_other_writes(summary))
        if (problem := announce(summary)) is not None:
            session.problems.insert(0, session.workspace.redacting.text(problem))
        failed |= self._attempt([partial(self._write_report, report, summary)] if (report := session.report) else [])
        return _fail(code, if_any=failed or problem)

    def _attempt(self, writes: Iterable[Callable[[], object]]) -> bool:
        """Try all of some writes, and return whether one has failed."""
        failed = [write for write in writes if not self.session.attempt(write)]
        return bool(failed)

    def _report_mismatches(self) -> bool:
        """Whether a file of verdicts is about no run. Each file has a line, and such a one is a problem."""
        external, mismatches = self.session.workspace.external, []
        files = {} if external is None else external.files
        for option, matched, others, same_task in self.session.collected.counts.matches:
            file = files[option]
            name = sanitize(truncate(file.source, LONGEST_NAME))
            parts = [f"{name} has {pluralize(file.count, file.noun)}", f"{matched:,} on runs"]
            parts += [f"{file.count - matched:,} on no run"] if file.count > matched else []
            parts += [f"{pluralize(others, 'run')} without {file.noun}"] if others else []
            self.match_lines.append(", ".join(parts))
            if matched == 0:
                reason = file.explain_mismatch(same_task)
                mismatches.append(sanitize(f"no {file.noun} in {name} is on a run; {reason}"))
        self.session.problems += mismatches
        return bool(mismatches)

    def _check(self, summary: Summary, code: int) -> tuple[Summary, int]:
        """The checked summary, and the exit code that follows."""
        session, checks = self.session, self.session.checks
        if checks is None:
            return summary, code
        has_problem = session.stopped or session.unscored or session.problems or session.full_disk
        checks.has_other_failure = session.has_other_failure or bool(has_problem)
        checked = checks.check(summary)
        return checked, checks.decide_exit_code(code, checked)

    def _list_writes(self, summary: Summary) -> Iterator[Callable[[], object]]:
        """What every session writes, and what follows from its checks."""
        session = self.session
        yield from session.checks.list_writes(summary) if session.checks is not None else ()
        for place, records in list_places(session).items():
            yield partial(self.export.write, place, is_whole=session.is_whole)
            yield partial(self._write_summary, place, records, summary)

    def _write_summary(self, directory: Path, records: RowFile, summary: Summary) -> None:
        """Write the summary of all runs, or where they lie in several roots that of one of them."""
        session, settings = self.session, self.session.workspace.settings
        if settings.shard is not None:
            from pytest_webeval.sessions.shard_files import write_shard  # few sessions are a shard

            self.places.append(write_shard(directory, summary.timestamp, session, records))
            return
        if len(records) != len(session.records):
            part = build_summary(session, records)
            summary = part if session.checks is None else session.checks.restrict(summary, part)
        self.places.append(write_session_summary(directory, summary, settings.sync))

    def _list_other_writes(self, summary: Summary) -> Iterator[Callable[[], object]]:
        """The numbers for other tools that options ask for."""
        settings = self.session.workspace.settings
        if settings.metrics is not None and summary.webeval["partial"]:
            problem = "metrics.json not written: the session is partial; score all runs to get it"
            self.session.problems.append(problem)
        elif settings.metrics is not None:
            yield partial(write_session_metrics, settings.metrics, self.session)
        if settings.gitlab_metrics is not None:
            from pytest_webeval.reports.ci import open_metrics  # for who asks

            yield partial(write_text, settings.gitlab_metrics, open_metrics(summary), settings.sync)

    def _write_report(self, report: ReportIndex, summary: Summary) -> None:
        session, write_numbers = self.session, None
        if session.workspace.settings.shard is not None:  # what `merge` needs in place of a summary
            from pytest_webeval.sessions.shard_files import write_shard_report  # few sessions are a shard

            write_numbers = partial(write_shard_report, report.directory, summary.timestamp, session)
        report.write(
            summary,
            session.records,
            texts=session.texts,
            reruns=self.reruns,
            comparison=session.checks.comparison if session.checks is not None else None,
            write_numbers=write_numbers,
        )

    def close(self, code: int) -> int:
        """End the rows and upload what goes to a store, when all files are written. Returns the exit code."""
        session, settings, is_full = self.session, self.session.workspace.settings, bool(self.session.full_disk)
        if self.summary is not None:
            is_complete = self._is_complete and not is_full
            session.records.end(is_complete=is_complete, is_whole=session.is_whole or settings.is_live)
        if (staging := settings.staging) is not None:
            problem = staging.finish(is_kept=session.records.is_kept)
            self.places = staging.list_uploaded(self.places)
            session.problems[:0] = [problem] if problem is not None else []
            is_full = is_full or problem is not None
        return _fail(code, if_any=is_full)

    @cached_property
    def reruns(self) -> RerunCommands:
        """The commands that score runs again in pytest. Of very many runs, they know the first that have failed."""
        session = self.session
        records: Iterable[Record] = session.records
        has_others = session.workspace.settings.record is not None  # what earlier sessions recorded
        if len(session.records) > MOST_KNOWN and self.summary is not None:
            has_others = True
            named = {run for group in self.summary.webeval["failures"] for run in islice(group["runs"], MOST)}
            records = (record for record in session.records if record.run in named)
        return build_commands(records, *session.repeated, has_others=has_others)

    def list_problems(self) -> list[str]:
        """The last lines: about rows, other files, and what went wrong."""
        session = self.session
        return [
            *session.records.lines(len(session.records)),
            *format_recorded_failures(session.recorded),
            *map(session.workspace.redacting.text, session.full_disk.lines()),
            *(session.checks.notes if session.checks is not None else ()),
            *self.match_lines,
            *(self.export.notes if self.summary is not None else ()),
            *list_store_problems(session.workspace.settings),
            *session.problems[:PROBLEMS_SHOWN],
        ]

    def describe(self) -> list[str]:
        """The lines for the terminal."""
        session, collected, settings = self.session, self.session.collected, self.session.workspace.settings
        missing = (record.task_id for record in session.records if record.missing) if settings.require_all else ()
        facts = SessionFacts(
            self.places,
            collected.run_count + collected.counts.deselected,
            sorted(missing, key=id_order),
            session.contradicted,
            self.list_problems(),
            collected.tested_count,
            collected.without_runs,
            collected.nested_runs,
            settings.roots,
            list(session.workspace.labels.prefixes.values()),
            settings.output,
            collected.names_roots,
        )
        written = session.report.written if session.report is not None else ()
        lines = render_summary(self.summary, self.reruns, facts)
        return name_locations([*lines, *(sanitize(f"report: {path}") for path in written)], settings)


def _fail(code: int, *, if_any: object) -> int:
    """The exit code of a session that has failed if there is something."""
    return code or (FAILED if if_any else code)
