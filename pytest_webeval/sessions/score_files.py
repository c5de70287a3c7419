"""What a session without pytest leaves: the summary, the files that options ask for, and lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.reports.rerun import RerunCommands, build_commands
from pytest_webeval.reports.terminal import SessionFacts, render_summary
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.batch_scoring import PINNED
from pytest_webeval.sessions.report_index import ReportIndex
from pytest_webeval.sessions.score_session import ScoreSession
from pytest_webeval.sessions.session_checks import FAILED, NO_RUNS
from pytest_webeval.sessions.session_header import list_store_problems, name_locations
from pytest_webeval.sessions.summaries import write_session_metrics
from pytest_webeval.storage import write_text
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summary_file import write_session_summary
from pytest_webeval.tasks.dataset import id_order

MOST_KNOWN = 100_000  # runs of a session of which rerun commands know all tasks; otherwise they name runs
RUNS_NAMED = 400  # of a failure group, in such a command
PROBLEMS_SHOWN = 3


class SessionFiles(Struct, eq=False, dict=True):
    """One per session, when its runs have come back. `report` writes the first page of a report, if there is one."""

    session: ScoreSession
    report: ReportIndex | None = None
    summary: Summary | None = None
    places: list[Path] = field(default_factory=list)
    match_lines: list[str] = field(default_factory=list)  # about verdicts in files that options name
    mismatches: list[str] = field(default_factory=list)  # files with a verdict on none of the runs

    def write(self) -> int:
        """Write all files. Returns the exit code of the session."""
        session = self.session
        self._report_mismatches()
        if not len(session.records) and not session.runs.has_runs:
            return self._end_without_runs()
        summary, code = session.check(session.summaries().build(session.records))
        self.summary = summary
        written = [session.attempt(write) for write in session.checks.list_writes(summary)]
        written += list(self._write_summaries(summary))
        written += [session.attempt(lambda: self._write_others(summary))]
        if (report := self.report) is not None:
            written.append(session.attempt(lambda: self._write_report(report, summary)))
        is_complete = not (session.unscored or session.problems or session.full_disk or session.stopped)
        session.records.end(is_complete=is_complete, is_whole=session.summaries().is_whole)
        written.append(self._finish_upload())
        is_written = all(written) and not session.full_disk and not self.mismatches
        return code if is_written else code or FAILED

    def _report_mismatches(self) -> None:
        """Fail a session with a file of verdicts that is about none of its runs."""
        workspace, counts = self.session.workspace, self.session.runs.counts
        if workspace.external is None:
            return
        from pytest_webeval.sessions.verdict_matches import (
            list_match_lines,  # few sessions have such files
            list_mismatches,  # same
        )

        self.match_lines.extend(list_match_lines(workspace, counts))
        self.mismatches.extend(list_mismatches(workspace, counts))
        self.session.problems.extend(self.mismatches)

    def _finish_upload(self) -> bool:
        """Upload the rest of the results, if they go to a store."""
        staging = self.session.workspace.settings.staging
        if staging is None:
            return True
        problem = staging.finish(is_kept=self.session.records.is_kept)
        self.places = staging.list_uploaded(self.places)
        if problem is not None:
            self.session.problems.insert(0, problem)
        return problem is None

    def _end_without_runs(self) -> int:
        checks = self.session.checks
        if checks.gates:
            checks.notes.append("gates not evaluated: no run was scored")
        return NO_RUNS

    def _write_summaries(self, summary: Summary) -> Iterator[bool]:
        """Write the summary of all runs, or where they lie in several roots that of each root into it.

        Gives whether each file could be written.
        """
        session, summaries = self.session, self.session.summaries()
        for directory, records in summaries.list_places().items():
            yield session.attempt(partial(session.export.write, directory, is_whole=summaries.is_whole))
            is_whole = len(records) == len(session.records)
            part = summary if is_whole else session.checks.restrict(summary, summaries.build(records))
            yield session.attempt(partial(self._write_summary, directory, part))

    def _write_summary(self, directory: Path, summary: Summary) -> None:
        self.places.append(write_session_summary(directory, summary, self.session.workspace.settings.sync))

    def _write_others(self, summary: Summary) -> None:
        """Write what options ask for besides: metrics of trajectories, the totals for GitLab."""
        settings = self.session.workspace.settings
        if settings.metrics is not None:
            write_session_metrics(settings.metrics, summary, self.session.records, settings)
        if settings.gitlab_metrics is not None:
            from pytest_webeval.reports.ci import open_metrics  # for who asks

            write_text(settings.gitlab_metrics, open_metrics(summary), settings.sync)

    def _write_report(self, report: ReportIndex, summary: Summary) -> None:
        session = self.session
        report.write(
            summary,
            session.records,
            texts=session.texts,
            reruns=self._reruns,
            comparison=session.checks.comparison,
        )

    @cached_property
    def _reruns(self) -> RerunCommands:
        """The commands that score runs again in pytest. Of very many runs, they know the first that have failed."""
        session = self.session
        records: Iterable[Record] = session.records
        has_others = len(session.records) > MOST_KNOWN
        if has_others and self.summary is not None:
            named = {run for group in self.summary.webeval["failures"] for run in islice(group["runs"], RUNS_NAMED)}
            records = (record for record in session.records if record.run in named)
        return build_commands(records, session.options, PINNED, has_others=has_others)

    def describe(self) -> list[str]:
        """The lines for the terminal."""
        session, settings = self.session, self.session.workspace.settings
        facts = SessionFacts(
            places=self.places,
            left_out=len(session.runs.paths),
            missing=sorted(session.missing.by_path.values(), key=id_order),
            contradicted=(),
            problems=[
                *session.records.lines(len(session.records)),
                *map(session.workspace.redacting.text, session.full_disk.lines()),
                *session.checks.notes,
                *session.export.notes,
                *list_store_problems(settings),
                *self.match_lines,
                *session.problems[:PROBLEMS_SHOWN],
            ],
            without_runs=session.runs.without_runs,
            nested_runs=session.runs.nested_runs,
            roots=settings.roots,
            root_labels=list(session.workspace.labels.prefixes.values()),
            output=settings.output,
        )
        lines = render_summary(self.summary, self._reruns, facts)
        written = self.report.written if self.report is not None else ()
        return name_locations([*lines, *(sanitize(f"report: {path}") for path in written)], settings)
