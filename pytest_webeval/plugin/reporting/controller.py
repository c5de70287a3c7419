"""The controller's side: records from all reports, the summary files, and the section in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import DiskFull, WebEvalError
from pytest_webeval.plugin.reporting.collected import CollectedRuns
from pytest_webeval.plugin.reporting.merging import merge_parts
from pytest_webeval.plugin.rerun import build_rerun_commands
from pytest_webeval.plugin.runtest.report_page import PAGES, RunPages
from pytest_webeval.plugin.runtest.report_payloads import RUN_LABEL_ATTRIBUTE, find_payload
from pytest_webeval.plugin.selected_paths import names_runs
from pytest_webeval.plugin.user_code import REDACTING, call_user_hook
from pytest_webeval.plugin.workspace import ITEMS, PytestWorkspace
from pytest_webeval.reports.terminal import SessionFacts, format_recorded_failures, render_summary
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.full_disk import FullDisk
from pytest_webeval.sessions.run_outcome import RunOutcome, redact, store
from pytest_webeval.sessions.session_header import list_store_problems, name_locations
from pytest_webeval.sessions.session_rows import SessionRows
from pytest_webeval.sessions.summaries import Summaries, write_session_metrics
from pytest_webeval.summary.row_file import RowFile
from pytest_webeval.summary.summary_file import write_session_summary
from pytest_webeval.tasks.dataset import id_order

if TYPE_CHECKING:
    from pytest_webeval.plugin.reporting.session_checks import PytestChecks
    from pytest_webeval.sessions.result_export import ResultExport

_SELF_EXPLANATORY = ("Interrupted", "Failed")  # pytest's and xdist's own, whose texts are whole sentences


class StopReason(Struct, eq=False):
    """Plugin that records why the session stopped. `refusal` is the message of a server that refuses a key."""

    message: str | None = None
    worker_error: str | None = None
    refusal: str | None = None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record Ctrl-C, `pytest.exit`, an error of collection, or -x under xdist."""
        self.message = _format_exception(excinfo)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record the exception of a hook."""
        self.message = f"internal error: {_format_exception(excinfo)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Record the crash of a worker, which xdist may replace, or that the key of its judge was refused."""
        self.refusal = self.refusal or (getattr(node, "workeroutput", None) or {}).get("webeval_refusal")
        if error:
            self.worker_error = f"xdist worker {node.gateway.id} crashed: {error}"

    def reason(self, session: pytest.Session, unscored: Sequence[str]) -> str | None:
        """The reason in one line, or None if nothing stopped the session."""
        message = (
            self.refusal
            or self.message
            or session.shouldfail
            or session.shouldstop
            or (self.worker_error if unscored else None)
        )
        return sanitize(" ".join(str(message).split())) if message else None


def _format_exception(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    message = str(excinfo.value)
    name = excinfo.typename.rpartition(".")[2]
    return message if message and name in _SELF_EXPLANATORY else ": ".join(filter(None, (name, message)))


class SessionReporter(Struct, eq=False, dict=True):
    """One per session. `records` are the rows of the runs, of which a rerun replaces the earlier one."""

    workspace: PytestWorkspace
    records: SessionRows
    collected: CollectedRuns
    checks: PytestChecks | None = None
    texts: dict[str, dict[str, str | None]] = field(default_factory=dict)  # of tasks, for a report
    parts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    match_lines: list[str] = field(default_factory=list)  # about verdicts in files that options name
    summary: Summary | None = None
    places: list[Path] = field(default_factory=list)
    stopping: StopReason = field(default_factory=StopReason)
    stopped: str | None = None
    contradicted: list[str] = field(default_factory=list)  # runs that passed their own test, and failed by another
    recorded: list[str] = field(default_factory=list)  # other runs of which Python tests recorded a failure
    tested: set[str] = field(default_factory=set)  # runs that Python tests are about
    unfinished: list[str] = field(default_factory=list)  # node ids of items that began, and of which no end is known

    _is_complete: bool = False

    @cached_property
    def export(self) -> ResultExport:
        """The results that go to shards."""
        from pytest_webeval.sessions.result_export import ResultExport  # when the session is over

        return ResultExport(self.workspace, self.records)

    @cached_property
    def full_disk(self) -> FullDisk:
        """Files that were not written because the disk is full."""
        return FullDisk(self.workspace.settings)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note which item a worker has in hand."""
        self.unfinished.append(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Forget an item: its worker lives. An item that runs twice may have been in the hands of a dead one before."""
        with suppress(ValueError):  # of a plugin that reports an end alone
            self.unfinished.remove(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the record of an item. An item that failed without one had its worker crash."""
        if (label := getattr(report, RUN_LABEL_ATTRIBUTE, None)) is not None:
            self.tested.add(label)
        payload = find_payload(report)
        if payload is None:
            self._record_lost_worker(report)
        elif payload.part is None:
            if payload.texts:
                self.texts[payload.record.run] = payload.texts
            self.full_disk.replace(payload.record.run, payload.no_room)
            self.attempt(partial(self.records.keep_payload, payload))
        else:
            self.parts.setdefault(payload.record.run, {})[report.nodeid] = payload.part

    def _record_lost_worker(self, report: pytest.TestReport) -> None:
        if not report.failed or report.when == "teardown":
            return
        label, _, name = report.nodeid.rpartition("::")
        if name not in ITEMS or label in self.records:
            return
        path = self.workspace.labels.path_of(label)
        if path is not None:
            with self.workspace.open_run(path):
                self._write_lost(label, path)

    def _write_lost(self, label: str, path: Path) -> None:
        message = "xdist worker crashed while scoring this run; rerun it alone to see the cause"
        classification = self.workspace.classifier.classify_error(path, message)
        redacted = redact(classification, self.workspace.config.stash[REDACTING])
        stored: list[RunOutcome] = []
        self.attempt(lambda: stored.append(store(redacted, self.workspace.result_places)), label)
        written = stored[0] if stored else redacted
        self._keep_written(written, lambda pages: pages.write_without_recording(written, path))

    def _keep_written(self, written: RunOutcome, write_page: Callable[[RunPages], RunOutcome]) -> None:
        """Keep a run that the controller wrote, rather than the process that scored it, and write its page."""
        label = written.record.run
        self.attempt(partial(self.records.keep, written.record, written.line))
        pages = self.workspace.config.stash.get(PAGES, None)
        if pages is not None:
            written = write_page(pages)
            self.texts[label] = written.texts or self.texts.get(label, {})
        self.full_disk.add(written.no_room, label)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Summarize before the reports are written, and check afterwards that all files could be written."""
        self._sum_up(session)
        try:
            return (yield)
        finally:
            self._remove_unfinished()
            if self.summary is not None:
                is_complete = self._is_complete and not self.full_disk
                is_whole = self.summaries().is_whole or self.workspace.settings.is_live
                self.records.end(is_complete=is_complete, is_whole=is_whole)
            if self.full_disk:
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _remove_unfinished(self) -> None:
        """Remove what dead workers left of results: by now, none is alive."""
        labels = (nodeid.rpartition("::")[0] for nodeid in self.unfinished)
        for path in filter(None, map(self.workspace.labels.path_of, labels)):
            self.workspace.remove_unfinished(path)

    def _sum_up(self, session: pytest.Session) -> None:
        """Merge partial results and write the summaries."""
        self.collected.finish()
        self._report_mismatches(session)
        for label in sorted(self.parts):
            self.attempt(partial(self._merge, label))
        is_misused = session.exitstatus == pytest.ExitCode.USAGE_ERROR
        if not len(self.records) and (is_misused or not (self.collected.labels or self.workspace.settings.shard)):
            if self.checks is not None:
                self.checks.fail_unscored(session)
            return
        if self.contradicted or self.recorded:  # whose tests may all have passed, which must not look like success
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        self.stopping.refusal = self.stopping.refusal or self.workspace.refusal
        if self.stopping.refusal is not None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED  # under xdist, it was interrupted
        stop_reason = self.stopping.reason(session, self._unscored)
        self.stopped = stop_reason and session.config.stash[REDACTING].text(stop_reason)
        if self.workspace.settings.shard and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # there are more shards than runs
        summaries = self.summaries()
        summary = summaries.build(self.records)
        self.summary = summary if self.checks is None else self._check(self.checks, summary, session)
        for place, records in summaries.list_places().items():
            written = self.attempt(partial(self.export.write, place, is_whole=summaries.is_whole))
            if not self.attempt(partial(self._write_summary, summaries, place, records)) or not written:
                session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        labels = self.collected.labels
        has_all = not self._unscored
        self._is_complete = bool(labels or self.workspace.settings.is_live) and has_all and not self.problems
        if (directory := self.workspace.settings.metrics) is not None:
            summary, settings = self.summary, self.workspace.settings
            self.attempt(lambda: write_session_metrics(directory, summary, self.records, settings))
        self._call_summary_hook(session, self.summary)

    def _report_mismatches(self, session: pytest.Session) -> None:
        """Fail a session with a file of verdicts that is about none of its runs."""
        if self.workspace.external is None:
            return
        from pytest_webeval.sessions.verdict_matches import (
            list_match_lines,  # few sessions have such files
            list_mismatches,  # same
        )

        self.match_lines.extend(list_match_lines(self.workspace, self.collected.counts))
        mismatches = list(list_mismatches(self.workspace, self.collected.counts))
        self.problems.extend(mismatches)
        if mismatches:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _check(self, checks: PytestChecks, summary: Summary, session: pytest.Session) -> Summary:
        """The checked summary. Sets the exit code, and writes what follows from the checks."""
        checks.has_other_failure |= bool(self.stopped or self._unscored or self.problems or self.full_disk)
        checked = checks.check(summary)
        session.exitstatus = checks.decide_exit_code(session.exitstatus, checked)
        written = [self.attempt(write) for write in checks.list_writes(checked)]
        if not all(written):
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        return checked

    def _call_summary_hook(self, session: pytest.Session, summary: Summary) -> None:
        """Call the hook. Its exception fails the session but does not lose the results."""
        hook_error = call_user_hook(session.config.hook.pytest_webeval_summary, summary=summary, config=session.config)
        if hook_error is not None:
            self.problems.insert(0, session.config.stash[REDACTING].text(hook_error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _merge(self, label: str) -> None:
        path = self.workspace.labels.path_of(label)
        if path is not None:
            record = self.records.get(label)
            parts, line = list(self.parts[label].values()), self.records.get_result(label)
            with self.workspace.open_run(path):
                written, has_failure = merge_parts(self.workspace, path, record, parts, line)
                self._keep_written(written, lambda pages: pages.write_merged(written, path, len(self.collected.labels)))
            if has_failure:
                is_passed = record is not None and record.status == "success"
                (self.contradicted if is_passed else self.recorded).append(label)

    def _write_summary(self, summaries: Summaries, directory: Path, records: RowFile) -> None:
        settings = self.workspace.settings
        if settings.shard is not None:
            from pytest_webeval.plugin.reporting.shard_files import write_shard  # few sessions are a shard

            place = directory / settings.shard.file_name
            write_shard(place, self.summary.timestamp if self.summary else "", summaries, records)
        else:
            place = write_session_summary(directory, self._restrict(summaries, records), settings.sync)
        self.places.append(place)

    def keep_places(self, places: list[Path]) -> None:
        """Name these summaries as written, and no others."""
        self.places = places

    def _restrict(self, summaries: Summaries, records: RowFile) -> Summary:
        """The summary of one of several roots."""
        if self.summary is not None and len(records) == len(self.records):
            return self.summary
        summary = summaries.build(records)
        return summary if self.checks is None or self.summary is None else self.checks.restrict(self.summary, summary)

    @property
    def _unscored(self) -> list[str]:
        return self.records.list_missing(self.collected.labels | self.tested)

    @property
    def _is_about_other_tests(self) -> bool:
        """Whether only the ini file names runs and no Python test used any."""
        config, roots = self.workspace.config, self.workspace.settings.runs
        is_quiet = self.summary is None and not self.tested
        return is_quiet and not config.option.webeval_runs and not names_runs(config, roots)

    def summaries(self) -> Summaries:
        """What the session adds to the records of its runs."""
        return Summaries(self.workspace, self.collected, self.records, self._unscored, self.stopped)

    def attempt(self, write: Callable[[], object], label: str = "") -> bool:
        """Whether something could be written; the obstacle is reported at the end of the session."""
        try:
            write()
        except DiskFull as error:
            self.full_disk.add(error.no_room, label)
            return False
        except WebEvalError as error:
            self.problems.append(self.workspace.config.stash[REDACTING].text(str(error)))
            return False
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the numbers, at most 40 lines of them."""
        records = self.records
        missing = sorted((record.task_id for record in records if record.missing), key=id_order)
        full_disk_lines = map(self.workspace.config.stash[REDACTING].text, self.full_disk.lines())
        problems = [
            *self.records.lines(len(self.records)),
            *format_recorded_failures(self.recorded),
            *full_disk_lines,
            *(self.checks.notes if self.checks is not None else ()),
            *self.match_lines,
            *(self.export.notes if self.summary is not None else ()),
            *list_store_problems(self.workspace.settings),
            *self.problems[:3],
        ]
        left_out, tested_count = len(self.collected.labels) + self.collected.counts.deselected, len(self.tested)
        facts = SessionFacts(
            self.places,
            left_out,
            missing,
            self.contradicted,
            problems,
            tested_count,
            self.collected.without_runs,
            self.collected.nested_runs,
            **_root_facts(self.workspace),
        )
        if self._is_about_other_tests and not problems:
            return
        terminalreporter.section("webeval")
        lines = render_summary(self.summary, build_rerun_commands(self.workspace.config, records), facts)
        for line in name_locations(lines, self.workspace.settings):
            terminalreporter.line(line)


def _root_facts(workspace: PytestWorkspace) -> dict[str, Any]:
    settings = workspace.settings
    return {
        "roots": settings.roots,
        "root_labels": list(workspace.labels.prefixes.values()),
        "output": settings.output,
        "names_roots": names_runs(workspace.config, settings.runs),
    }
