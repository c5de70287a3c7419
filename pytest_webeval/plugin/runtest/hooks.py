"""The plugin object of a session with runs: selection, collection, parametrization and outcomes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field
from msgspec.structs import astuple, replace

from pytest_webeval.errors import EvaluationError, RunExcluded
from pytest_webeval.plugin.collection.nodes import (
    LIVE_FIXTURE,
    OPENED_RUNS,
    RunItem,
    directory_node,
    has_own_result,
    is_live,
    list_tags,
    outside_subset,
    prefer_overrides,
    run_path,
)
from pytest_webeval.plugin.item_names import run_keywords
from pytest_webeval.plugin.runtest.classification import classify_phase, is_retried
from pytest_webeval.plugin.runtest.evaluation import (
    ATTEMPT,
    RECORDER,
    REPORTED,
    call_scored_hook,
    forget,
    renew_time_limit,
    run_time_limit,
)
from pytest_webeval.plugin.runtest.fingerprints import checksum_user_modules
from pytest_webeval.plugin.runtest.report_page import PAGES
from pytest_webeval.plugin.runtest.report_payloads import RUN_LABEL_ATTRIBUTE, WRITTEN, attach_payload, junit_properties
from pytest_webeval.plugin.runtest.report_texts import (
    append_recording_problems,
    change_texts,
    expect_failure,
    explain_scope,
    fail,
    set_plain_reason,
)
from pytest_webeval.plugin.user_code import REDACTING
from pytest_webeval.plugin.workspace import COUNTS, KNOWN, PytestWorkspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.runs.record_payload import RecordPayload, build_payload
from pytest_webeval.sessions.runs.run_outcome import RunOutcome, redact, write
from pytest_webeval.sessions.session_header import describe_session


class RuntestHooks(Struct, frozen=True, eq=False):
    """Hooks of every process of the session."""

    workspace: PytestWorkspace
    is_scoring: bool
    _keywords: dict[Path, set[str]] = field(default_factory=dict)  # of runs that Python tests are about

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take over at a run root and everything below it."""
        return directory_node(path, parent) if self.workspace.labels.root_of(path) else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrise Python tests over all runs and broken ones, unless they chose theirs themselves."""
        is_parametrized = any(
            "webeval_run" in _argnames(mark) for mark in metafunc.definition.iter_markers("parametrize")
        )
        is_live = LIVE_FIXTURE in metafunc.fixturenames
        if "webeval_run" in metafunc.fixturenames and not is_parametrized and not is_live:
            paths = self.workspace.tested_paths
            labels = [self.workspace.labels.of(path) for path in paths]
            metafunc.parametrize("webeval_run", paths or [self._no_run], indirect=True, ids=labels or None)

    @property
    def _no_run(self) -> Any:
        """The parameter of a Python test over runs if there is no run: it is skipped with a reason."""
        roots = ", ".join(sanitize(str(root)) for root in self.workspace.settings.runs)
        reason = f"no runs in {roots}; pass a directory that holds runs with --webeval-runs"
        return pytest.param(None, id="no-run", marks=pytest.mark.skip(reason=reason))

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Let `-k '[107]'` and other exact keywords select the Python tests of a run, and overrides hold in them."""
        path = None if isinstance(item, RunItem) else run_path(item)
        if path is not None and isinstance(item, pytest.Function):
            prefer_overrides(item)
        if path is not None:
            if path not in self._keywords:
                self._keywords[path] = run_keywords(path, self.workspace)
            item.extra_keyword_matches.update(self._keywords[path])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect the runs outside the subset, then those of other shards. Raises `pytest.UsageError`."""
        if not hasattr(self.workspace.config, "workerinput"):  # a worker of xdist cannot end the session
            _check_choice(items, self.workspace.settings.evaluators)
        if self.workspace.external is not None:
            self._count(matches=self.workspace.count_matches())
        outside = outside_subset(items, self.workspace)
        self._count(outside=_count_runs(outside))
        self._deselect(outside, items)
        if self.workspace.settings.shard is not None:
            from pytest_webeval.plugin.collection.shards import select_shard  # only for this option

            runs = [item for item in items if isinstance(item, RunItem)]
            elsewhere, split = select_shard(items, self.workspace)
            size, user_code = len(split.shard_by_run), checksum_user_modules(runs)
            counts = {"split": size, "split_checksum": split.checksum, "user_code": user_code}
            self._count(elsewhere=_count_runs(elsewhere), **counts)
            self._deselect(elsewhere, items)

    def _deselect(self, left_out: Sequence[pytest.Item], items: list[pytest.Item]) -> None:
        if left_out:
            self.workspace.config.hook.pytest_deselected(items=left_out)
            deselected = set(left_out)
            items[:] = [item for item in items if item not in deselected]

    def _count(self, **counts: Any) -> None:
        stash = self.workspace.config.stash
        stash[COUNTS] = replace(stash.get(COUNTS, Counts()), **counts)

    def pytest_report_header(self) -> list[str]:
        """Show the runs, the rules and the checksums."""
        return describe_session(self.workspace)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Keep the directory of a run open through all phases of its test."""
        path = run_path(item)
        with ExitStack() as opened:
            item.stash[OPENED_RUNS] = opened
            if path is not None:
                opened.enter_context(self.workspace.open_run(path))
            try:
                return (yield)
            finally:
                del item.stash[OPENED_RUNS]  # items stay to the end of the session

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Apply the time limit of a run; skip a Python test whose run is excluded."""
        limit = run_time_limit(item, self.workspace.settings) if RECORDER in item.stash else nullcontext()
        try:
            with limit:
                return (yield)
        except RunExcluded as error:
            pytest.skip(sanitize(str(error)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write the outcome of the item, and attach it to the report as plain JSON for the controller."""
        outcome, payload = self._write_outcome(item, call) or (None, None)
        report = yield
        if call.excinfo is not None and isinstance(item, RunItem):
            set_plain_reason(report, item, call.excinfo.value)
        elif call.excinfo is not None:
            explain_scope(report, call.excinfo.value)
        if call.when == "setup" and not isinstance(item, RunItem):
            self._name_run(report, item)
        if outcome is not None and payload is not None:
            attach_payload(payload, report)
            is_of_call = call.when == "teardown" and payload.part is None  # whose report has failed
            is_unseen = report.passed and outcome.record.status != "success" and not is_of_call
            if has_own_result(item) and (outcome.is_disturbed or is_unseen):
                fail(report, sanitize(str(outcome.record.reason)))
            elif has_own_result(item) and KNOWN in item.config.stash:
                expect_failure(report, outcome.record, item.config)
            append_recording_problems(report, item, outcome)
        if self.workspace.refusal is not None:  # no run can be judged any more
            item.session.shouldfail = "the judge has no valid key"
        if report.sections or report.longrepr is not None:
            self._redact(report, item)
        return report

    def _name_run(self, report: pytest.TestReport, item: pytest.Item) -> None:
        """Attach the label of the run to the report of a Python test."""
        path = run_path(item)
        if path is not None and self.workspace.labels.root_of(path) is not None:
            setattr(report, RUN_LABEL_ATTRIBUTE, self.workspace.labels.of(path))

    def _redact(self, report: pytest.TestReport, item: pytest.Item) -> None:
        """Redact a report; drop its text if that times out."""
        renew_time_limit(item)
        try:
            with run_time_limit(item, self.workspace.settings):
                run = getattr(item, "funcargs", {}).get("webeval_run")
                redact_text = partial(item.config.stash[REDACTING].text, run=run)
                has_recording = run is not None or is_live(item)
                change_texts(report, (lambda text: sanitize(redact_text(text))) if has_recording else redact_text)
        except EvaluationError:
            report.sections.clear()
            report.longrepr = "output omitted: redaction timed out; raise --webeval-timeout"

    def _write_outcome(self, item: pytest.Item, call: pytest.CallInfo[None]) -> tuple[RunOutcome, RecordPayload] | None:
        """Write the outcome after a phase of an item to disk and to JUnit XML. What the controller is told of it."""
        outcome = self._classify(item, call) if self.is_scoring and _may_say_more(item, call) else None
        is_late_part = call.when == "teardown" and outcome is not None and outcome.classification.is_partial
        if outcome is not None and not is_late_part:  # of an item called again, if it is late
            outcome = self._write_classified(outcome, item)
        told = None if outcome is None else (outcome, _build_payload(outcome, item, self.workspace))
        if call.when == "teardown":
            forget_evaluation(item)
        return told

    def _write_classified(self, outcome: RunOutcome, item: pytest.Item) -> RunOutcome:
        if tags := list_tags(item):
            outcome = replace(outcome, record=replace(outcome.record, tags=tags))
        written = item.stash[WRITTEN] = self._write(outcome, item)
        item.user_properties.extend(junit_properties(written.record))
        pages = item.config.stash.get(PAGES, None)
        return written if pages is None or written.classification.is_partial else pages.write_for_item(written, item)

    def _classify(self, item: pytest.Item, call: pytest.CallInfo[None]) -> RunOutcome | None:
        """The classification after a phase; if classifying times out as well, that timeout."""
        redacting = self.workspace.config.stash[REDACTING]
        renew_time_limit(item)
        try:
            with run_time_limit(item, self.workspace.settings):
                classification = classify_phase(item, call, self.workspace)
                return None if classification is None else redact(classification, redacting)
        except EvaluationError as error:
            path, is_partial = run_path(item), not has_own_result(item)
            if path is None:
                return None
            timeout = self.workspace.classifier.classify_timeout(path, str(error), is_partial=is_partial)
            return redact(timeout, redacting)

    def _write(self, outcome: RunOutcome, item: pytest.Item) -> RunOutcome:
        def call_hook(run: Run, result: TaskResult) -> str | None:
            if self.workspace.settings.judge_again:
                self._write_score_file(run, item)
            return call_scored_hook(item, run, result, self.workspace.settings)

        return write(outcome, self.workspace.result_places, call_hook)

    def _write_score_file(self, run: Run, item: pytest.Item) -> None:
        recorder = item.stash.get(RECORDER, None)
        if recorder is not None and recorder.case.judging is not None:
            from pytest_webeval.plugin.judges.judged_scores import write_score_file  # only for an option

            redacting = self.workspace.config.stash[REDACTING]
            write_score_file(run, recorder.case.judging, self.workspace.place(run.path), redacting)

    def pytest_unconfigure(self) -> None:
        """Close the connections to judges."""
        if "judges" in vars(self.workspace):
            self.workspace.judges.close()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the number of deselected items and the directories without runs to the controller."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["webeval_counts"] = astuple(session.config.stash.get(COUNTS, Counts()))
            output["webeval_without_runs"] = self.workspace.without_runs
            output["webeval_nested_runs"] = self.workspace.nested_runs
            output["webeval_refusal"] = self.workspace.refusal

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the deselected items."""
        earlier = self.workspace.config.stash.get(COUNTS, Counts())
        self._count(deselected=earlier.deselected + _count_runs(items))


def _check_choice(items: Sequence[pytest.Item], choice: Sequence[str]) -> None:
    """Refuse chosen evaluators that nobody has. Only fixtures of users can add some. Raises `pytest.UsageError`."""
    if not choice:
        return
    from pytest_webeval.evaluators.base import find_unknown  # few sessions choose evaluators

    problem, runs = find_unknown(choice), [item for item in items if isinstance(item, RunItem)]
    if problem is not None and not checksum_user_modules(runs):
        raise pytest.UsageError(f"--webeval-evaluators: {problem}")


def _count_runs(items: Sequence[pytest.Item]) -> int:
    return sum(isinstance(item, RunItem) or is_live(item) for item in items)


def _build_payload(outcome: RunOutcome, item: pytest.Item, workspace: PytestWorkspace) -> RecordPayload:
    """What the controller is told of a run: also that a store did not give all files, and may do another time."""
    path, problem, payload = run_path(item), getattr(item, "problem", None), build_payload(outcome)
    is_unread = path is not None and workspace.settings.is_unread(path, problem)
    return payload.mark_unread() if is_unread else payload


def _may_say_more(item: pytest.Item, call: pytest.CallInfo[None]) -> bool:
    """Whether a phase can change the outcome: after the test itself, only checks recorded by a fixture can."""
    recorder = item.stash.get(RECORDER, None)
    has_more = recorder is not None and len(recorder.results) > recorder.reported
    return call.when != "teardown" or has_more or is_retried(item)


def forget_evaluation(item: pytest.Item) -> None:
    """Release the evaluations of an item, which itself stays to the end of the session."""
    if RECORDER in item.stash:
        item.stash[RECORDER].case.calls.forget()
    forget(item, RECORDER, ATTEMPT, REPORTED, WRITTEN)
    item.config.stash[REDACTING].forget()


def _argnames(mark: pytest.Mark) -> Sequence[str]:
    argnames: str | Sequence[str] = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in argnames.split(",")] if isinstance(argnames, str) else argnames
