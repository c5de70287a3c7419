"""The controller's side: it tells the session what the tests of all processes say, and shows how it ends."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.reporting.merging import merge_parts
from pytest_webeval.plugin.rerun import RERUN_OPTIONS
from pytest_webeval.plugin.runtest.report_page import PAGES
from pytest_webeval.plugin.runtest.report_payloads import RUN_LABEL_ATTRIBUTE, find_payload
from pytest_webeval.plugin.selected_paths import names_runs, selects_some_runs
from pytest_webeval.plugin.user_code import call_user_hook
from pytest_webeval.plugin.workspace import COUNTS, ITEMS, PytestWorkspace
from pytest_webeval.results import Status, Summary
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.runs.run_outcome import RunOutcome, redact, store
from pytest_webeval.sessions.session import Session
from pytest_webeval.sessions.workspace.output_paths import check_copy

if TYPE_CHECKING:
    from pytest_webeval.sessions.session_end import SessionEnd

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
    """Plugin of the controller."""

    workspace: PytestWorkspace
    session: Session
    stopping: StopReason = field(default_factory=StopReason)
    labels: set[str] = field(default_factory=set)  # of collected runs
    parts: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    tested: set[str] = field(default_factory=set)  # runs that Python tests are about
    unfinished: list[str] = field(default_factory=list)  # node ids of items that began, and of which no end is known

    @cached_property
    def end(self) -> SessionEnd:
        """How the session ends."""
        from pytest_webeval.sessions.session_end import SessionEnd  # when it does

        return SessionEnd(self.session)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember the collected runs, and refuse a baseline that is of no use for them.

        Under xdist the controller collects none.
        """
        runs = [item for item in session.items if isinstance(item, RunItem)]
        try:
            if (checks := self.session.checks) is not None and self.session.selection is None:
                checks.check_baseline([str(item.task_id) for item in runs])
            self._collect(item.nodeid.rpartition("::")[0] for item in runs)
        except SettingsError as error:
            raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember the runs that a worker has collected."""
        labels = (label for label, _, name in (nodeid.rpartition("::") for nodeid in ids) if name in ITEMS)
        try:
            self._collect(label for label in labels if self.workspace.labels.path_of(label))
        except SettingsError as error:
            raise pytest.UsageError(str(error)) from error

    def _collect(self, labels: Iterable[str]) -> None:
        """Raise `SettingsError` for too many runs for a report in one file."""
        self.labels.update(labels)
        check_copy(self.workspace.settings, len(self.labels))
        self.session.records.tidy()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the command line to the workers, for the rerun commands on the pages of a report."""
        if self.session.report is not None:
            node.workerinput[RERUN_OPTIONS] = self.session.repeated

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker counted; all workers collect the same."""
        output = getattr(node, "workeroutput", None) or {}
        if "webeval_counts" in output:
            counts = Counts(*output["webeval_counts"])
            self._add_counts(counts, output["webeval_without_runs"], output["webeval_nested_runs"])

    def _add_counts(self, counts: Counts, without_runs: Sequence[str], nested_runs: Sequence[str]) -> None:
        collected = self.session.collected
        collected.counts = collected.counts.join(counts)
        collected.without_runs = collected.without_runs or without_runs
        collected.nested_runs = collected.nested_runs or nested_runs

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember an error of collection, which no gate can excuse."""
        self.session.has_other_failure |= report.failed

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
        if report.failed:
            is_about_run = (  # about the recording or the agent: the text is ours, and the run is no success
                payload is not None
                and payload.part is None
                and not payload.is_disturbed
                and payload.record.status != Status.SUCCESS
                and isinstance(report.longrepr, str)
                and report.nodeid.rpartition("::")[2] in ITEMS
            )
            self.session.has_other_failure |= report.when == "teardown" or not is_about_run
        if payload is None:
            self._keep_lost(report)
        elif payload.part is None:
            self.session.keep(payload)
        else:
            self.parts.setdefault(payload.record.run, {})[report.nodeid] = payload.part

    def _keep_lost(self, report: pytest.TestReport) -> None:
        """Keep a run that crashed the worker that scored it: an error, in its file as well."""
        label, _, name = report.nodeid.rpartition("::")
        if not report.failed or report.when == "teardown" or name not in ITEMS or label in self.session.records:
            return
        if (path := self.workspace.labels.path_of(label)) is None:
            return
        message = "xdist worker crashed while scoring this run; rerun it alone to see the cause"
        with self.workspace.open_run(path):
            redacted = redact(self.workspace.classifier.classify_error(path, message), self.workspace.redacting)
            stored: list[RunOutcome] = []
            self.session.attempt(lambda: stored.append(store(redacted, self.workspace.result_places)), label)
            written, pages = stored[0] if stored else redacted, self.workspace.config.stash.get(PAGES, None)
            self.session.keep_written(written if pages is None else pages.write_without_recording(written, path))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Sum up before other plugins end, and check afterwards that all files could be written."""
        self._sum_up(session)
        try:
            return (yield)
        finally:
            self._remove_unfinished()
            session.exitstatus = self.end.close(session.exitstatus)

    def _sum_up(self, session: pytest.Session) -> None:
        """Let the session know what only pytest knows, and sum up."""
        for label in sorted(self.parts):
            self.session.attempt(partial(self._merge, label))
        self._complete_collected()
        self.session.unscored = unscored = self.session.records.list_missing(self.labels | self.tested)
        self.stopping.refusal = self.stopping.refusal or self.workspace.refusal
        if self.stopping.refusal is not None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED  # under xdist, it was interrupted
        stop_reason = self.stopping.reason(session, unscored)
        self.session.stopped = stop_reason and self.workspace.redacting.text(stop_reason)

        def announce(summary: Summary) -> str | None:
            """Call the hook. Its exception fails the session but does not lose the results."""
            return call_user_hook(session.config.hook.pytest_webeval_summary, summary=summary, config=session.config)

        session.exitstatus = self.end.sum_up(session.exitstatus, announce)

    def _complete_collected(self) -> None:
        """What this process counted itself, and what options and arguments say of the runs to score."""
        config, settings, collected = self.workspace.config, self.workspace.settings, self.session.collected
        counts = config.stash.get(COUNTS, Counts())
        self._add_counts(counts, self.workspace.without_runs, self.workspace.nested_runs)
        collected.run_count, collected.tested_count = len(self.labels), len(self.tested)
        values = (config.getoption(name, default="") for name in ("keyword", "markexpr", "lf"))
        collected.selection = " ".join(map(str, values))
        names_tests = settings.is_live and any("::" in argument for argument in config.args)
        is_selecting = names_tests or selects_some_runs(config, settings.runs)
        collected.is_chosen = collected.counts.chosen > 0 or is_selecting
        collected.names_roots = names_runs(config, settings.runs)

    def _merge(self, label: str) -> None:
        """Merge what Python tests checked of a run into its result."""
        path = self.workspace.labels.path_of(label)
        if path is None:
            return
        record, line = self.session.records.get(label), self.session.records.get_result(label)
        with self.workspace.open_run(path):
            written, has_failure = merge_parts(self.workspace, path, record, list(self.parts[label].values()), line)
            pages = self.workspace.config.stash.get(PAGES, None)
            written = written if pages is None else pages.write_merged(written, path, len(self.labels))
            self.session.keep_written(written)
        if has_failure:
            is_passed = record is not None and record.status == "success"
            (self.session.contradicted if is_passed else self.session.recorded).append(label)

    def _remove_unfinished(self) -> None:
        """Remove what dead workers left of results: by now, none is alive."""
        labels = (nodeid.rpartition("::")[0] for nodeid in self.unfinished)
        for path in filter(None, map(self.workspace.labels.path_of, labels)):
            self.workspace.remove_unfinished(path)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the numbers, unless only the ini file names runs and no Python test used any."""
        config, collected = self.workspace.config, self.session.collected
        is_quiet = self.end.summary is None and not self.tested and not self.end.list_problems()
        if is_quiet and not config.option.webeval_runs and not collected.names_roots:
            return
        terminalreporter.section("webeval")
        for line in self.end.describe():
            terminalreporter.line(line)
