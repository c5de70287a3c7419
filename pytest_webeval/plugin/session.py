"""The plugin object of a session with runs: selection, collection, parametrisation, and what each item found."""

from __future__ import annotations

from collections.abc import Generator
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection import RunItem
from pytest_webeval.plugin.collection import directory_node
from pytest_webeval.plugin.item_outcomes import given_up
from pytest_webeval.plugin.item_outcomes import outcome_of
from pytest_webeval.plugin.outcome import Outcome
from pytest_webeval.plugin.recording import RECORDER
from pytest_webeval.plugin.redacting import REDACTING
from pytest_webeval.plugin.report_texts import fail
from pytest_webeval.plugin.report_texts import tell_plainly
from pytest_webeval.plugin.resuming import STORED
from pytest_webeval.plugin.run_pages import PAGES
from pytest_webeval.plugin.selection import outside_subset
from pytest_webeval.plugin.session_keys import DESELECTED
from pytest_webeval.plugin.session_keys import OUTSIDE
from pytest_webeval.plugin.time_limits import USED
from pytest_webeval.plugin.time_limits import within_time
from pytest_webeval.plugin.users_hooks import complaint_of
from pytest_webeval.plugin.workspace import WORKSPACE
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.rubrics.base import OVER_BUDGET
from pytest_webeval.task_results import deciding_checksum


@dataclass(frozen=True, eq=False)
class WebEvalSession:
    """Hooks of every process of the session."""

    workspace: Workspace
    is_scoring: bool

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take over at a run root and everything below it."""
        return directory_node(path, parent) if self.workspace.labels.root_of(path) else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrise Python tests over all runs, unless they chose theirs themselves."""
        chosen = any("webeval_run" in _argnames(mark) for mark in metafunc.definition.iter_markers("parametrize"))
        if "webeval_run" in metafunc.fixturenames and not chosen:
            paths = self.workspace.run_paths
            labels = [self.workspace.labels.of(path) for path in paths]
            metafunc.parametrize("webeval_run", paths, indirect=True, ids=labels)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect what lies outside the subset."""
        outside = outside_subset(items, self.workspace)
        if outside:
            config.stash[OUTSIDE] = sum(isinstance(item, RunItem) for item in outside)
            config.hook.pytest_deselected(items=outside)
            left = set(outside)
            items[:] = [item for item in items if item not in left]

    def pytest_report_header(self) -> list[str]:
        """Say what is scored, and by which rules and code."""
        roots = ", ".join(str(root) for root in self.workspace.settings.roots)
        tasks = self.workspace.given_tasks
        data = f", tasks {' '.join(one[:12] for one in tasks.checksum.split(','))}" if tasks else ""
        subset = self.workspace.subset
        part = f", subset {subset.name} {subset.checksum[:12]}" if subset else ""
        code = f"rules {self.workspace.settings.rules.name}, evaluators {deciding_checksum(())[:12]}"
        asked = self.workspace.settings.policy.to_json() | {"over_budget": None}
        if self.workspace.settings.policy.over_budget != OVER_BUDGET[0]:
            asked["over_budget"] = self.workspace.settings.policy.over_budget
        code += "".join(f", {name.replace('_', ' ')} {value}" for name, value in asked.items() if value is not None)
        odd = (
            [f"webeval: {len(tasks.warnings)} odd in the tasks: {tasks.warnings[0]}"]
            if tasks and tasks.warnings
            else []
        )
        return [harmless(line) for line in (f"webeval: runs in {roots}", f"webeval: {code}{data}{part}", *odd)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """End a test that takes too long over a run; skip a Python test that asks a run for what it does not say."""
        timed = within_time(item, self.workspace.settings) if RECORDER in item.stash else nullcontext()
        try:
            with timed:
                return (yield)
        except RunExcluded as error:
            pytest.skip(harmless(str(error)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write what the item found, and let the report carry it to the controller as plain JSON."""
        found = self._found(item, call)
        report = yield
        if call.excinfo is not None and isinstance(item, RunItem):
            tell_plainly(report, item, call.excinfo.value)
        if found is not None:
            found.carried.put_on(report)
            if isinstance(item, RunItem) and (
                found.is_disturbed or (report.passed and found.record.status != "success")
            ):
                fail(report, harmless(str(found.record.reason)))
        if report.sections or report.longrepr is not None:
            self._redact(report, item)
        return report

    def _redact(self, report: pytest.TestReport, item: pytest.Item) -> None:
        """Take secrets out of a report, or all of it where looking for them takes too long."""
        item.stash[USED] = 0.0
        try:
            with within_time(item, self.workspace.settings):
                run = getattr(item, "funcargs", {}).get("webeval_run")
                item.config.stash[REDACTING].report(report, run)
        except EvaluationError:
            report.sections.clear()
            report.longrepr = "what was told here was left out: to look for secrets in it took too long"

    def _found(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Outcome | None:
        """What a phase of an item says about its run, written to disk and to JUnit XML."""
        if call.when == "teardown":
            if RECORDER in item.stash:
                del item.stash[RECORDER]  # items stay to the end of the session; what they found need not
            if STORED in item.stash:
                del item.stash[STORED]
            item.config.stash[REDACTING].forget()
            return None
        found = self._outcome(item, call) if self.is_scoring else None
        if found is not None:
            found = _shown(_written(found, item), item)
            item.user_properties.extend(found.properties)
        return found

    def _outcome(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Outcome | None:
        """What a phase says; if to find that out takes too long as well, just that."""
        item.stash[USED] = 0.0
        try:
            with within_time(item, self.workspace.settings):
                return outcome_of(item, call, self.workspace)
        except EvaluationError as error:
            return given_up(item, str(error), self.workspace)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Tell the controller how many items this worker deselected, and which directories hold no run."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["webeval_deselected"] = session.config.stash.get(DESELECTED, 0)
            output["webeval_outside"] = session.config.stash.get(OUTSIDE, 0)
            output["webeval_without_runs"] = self.workspace.without_runs

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count what a selection left out."""
        if items:
            stash = items[0].config.stash
            count = sum(isinstance(item, RunItem) for item in items)
            stash[DESELECTED] = stash.get(DESELECTED, 0) + count


def _argnames(mark: pytest.Mark) -> Sequence[str]:
    given: str | Sequence[str] = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else given


def _shown(found: Outcome, item: pytest.Item) -> Outcome:
    """The same once it has its page in the report, where one is asked for."""
    pages = item.config.stash.get(PAGES, None)
    return found if pages is None or found.partly else pages.shown(found, item)


def _written(found: Outcome, item: pytest.Item) -> Outcome:
    sync = item.config.stash[WORKSPACE].settings.sync
    try:
        found = found.written(sync)
        if found.run is None or found.result is None:
            return found
        told = complaint_of(item.ihook.pytest_webeval_scored, item=item, run=found.run, result=found.result)
        return found if told is None else found.spoiled(found.redacting.text(told, found.run)).written(sync)
    except WebEvalError as error:
        return found.unwritten(found.redacting.text(str(error), found.run))
