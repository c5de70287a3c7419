"""Results of Allure: named by their tasks, with the reason as message, texts and the last screenshot of a run.

`allure-pytest` puts the exception of a test into its result as it was raised, with the secrets in it, and gives
`a.1` and `a.2` the same history. Title, suites and attachments go through its functions for tests, the rest through its
hook `report_result`, just before a result is written (`allure-python-commons`, `src/_hooks.py`, version 2.16).
"""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from typing import Any

import pluggy
import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.item_names import run_name
from pytest_webeval.plugin.reporting.attachments import LAST_SCREENSHOT, find_last_screenshot, list_texts
from pytest_webeval.plugin.runtest.report_payloads import find_payload
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectories.trajectory_rows import trajectory_labels

allure = import_module("allure")
allure_commons = import_module("allure_commons")
hookimpl = pluggy.HookimplMarker(allure_commons.hookimpl.project_name)
StatusDetails = import_module("allure_commons.model2").StatusDetails
_SUITES = frozenset({"parentSuite", "suite", "subSuite"})
_STATUSES = {"failure": "failed", "error": "broken"}
_MOST_LEVELS = 100  # of steps in steps
_TYPES = {"png": allure.attachment_type.PNG, "jpg": allure.attachment_type.JPG}


class CurrentTest(Struct):
    """The test that runs now. `details` are status and `StatusDetails` of a run that is no success."""

    item: pytest.Item
    details: tuple[str, Any] | None = None


class AllureResults(Struct, eq=False):
    """Plugin of each process that scores, for pytest and for Allure."""

    workspace: PytestWorkspace
    _current: CurrentTest | None = None

    def __post_init__(self) -> None:
        """Let Allure know it."""
        allure_commons.plugin_manager.register(self)

    def pytest_unconfigure(self) -> None:
        """Let Allure forget it: another session of this process has its own."""
        allure_commons.plugin_manager.unregister(self)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Remember a test, and describe a run: our reports are complete before Allure looks at them."""
        report = yield
        if self._current is None or self._current.item is not item or report.when == "setup":
            self._current = CurrentTest(item)
        if isinstance(item, RunItem):
            self._describe(item, report, self._current)
        return report

    def _describe(self, item: RunItem, report: pytest.TestReport, current: CurrentTest) -> None:
        if report.when == "setup":
            allure.dynamic.title(run_name(item.nodeid, item.task_id))
        payload = find_payload(report)
        if payload is None:
            return
        _set_suites(item, payload.record)
        if not report.passed:
            current.details = _read_details(report, payload.record)
        for name, text in list_texts(item, self.workspace):
            allure.attach(text, name=name, attachment_type=allure.attachment_type.TEXT)
        image = find_last_screenshot(item, report, self.workspace)
        if image is not None:
            allure.attach(image.content, name=LAST_SCREENSHOT, attachment_type=_TYPES[image.extension])

    @hookimpl(tryfirst=True)
    def report_result(self, result: Any) -> None:
        """Correct a result before it is written."""
        current, self._current = self._current, None
        if current is None:
            return
        if isinstance(current.item, RunItem):
            _correct(result, current.item, current.details)
        self._redact_details(result.statusDetails)
        self._redact_steps(result.steps)

    @hookimpl(tryfirst=True)
    def report_container(self, container: Any) -> None:
        """Redact the exceptions and steps of fixtures before they are written."""
        for fixture in (*container.befores, *container.afters):
            self._redact_details(fixture.statusDetails)
            self._redact_steps(fixture.steps)

    def _redact_steps(self, steps: list[Any], levels: int = _MOST_LEVELS) -> None:
        """Redact the steps that users write, and those in them. What lies too deep is left out."""
        if not levels:
            steps.clear()
        for step in steps:
            self._redact_details(step.statusDetails)
            step.name = self._redact(step.name)
            for parameter in step.parameters:
                self._redact_parameter(parameter)
            self._redact_steps(step.steps, levels - 1)

    def _redact_parameter(self, parameter: Any) -> None:
        """Redact a value with its name before it, which may say that it is a secret."""
        name, value = parameter.name, parameter.value
        if isinstance(name, str) and isinstance(value, str):
            start = f"{name}="
            text = self._redact(start + value)
            parameter.value = text.removeprefix(start) if text.startswith(start) else self._redact(value)

    def _redact_details(self, details: Any) -> None:
        """Redact the texts of an exception: a traceback as a whole, and each line of it.

        pytest cuts long values, so that a quote may have no end in its own line; in the whole text it would end at the
        quote where a value of a later line begins.
        """
        if details is not None:
            details.message, trace = self._redact(details.message), self._redact(details.trace)
            details.trace = "\n".join(map(self._redact, trace.split("\n"))) if isinstance(trace, str) else trace

    def _redact(self, text: Any) -> Any:
        """A text without secrets, and without half a character, which no file can have."""
        return escape_surrogates(self.workspace.redacting.text(text)) if isinstance(text, str) else text


def _set_suites(item: RunItem, record: Record) -> None:
    """Put a run into the suite of its directory, and in that into that of its site or benchmark.

    Suites that users give by a mark stay the only ones.
    """
    if any(mark.kwargs.get("label_type") in _SUITES for mark in item.iter_markers("allure_label")):
        return
    directory = item.nodeid.rpartition("::")[0].rpartition("/")[0]
    if directory:
        allure.dynamic.parent_suite(directory)
    suite = trajectory_labels(record).get("benchmark") or record.site_key
    if suite:
        allure.dynamic.suite(escape_surrogates(suite))


def _read_details(report: pytest.TestReport, record: Record) -> tuple[str, Any]:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    reason = (record.excluded if record.skipped else record.reason) or text
    if hasattr(report, "wasxfail"):
        return "skipped", StatusDetails(message=f"XFAIL {report.wasxfail}\n\n{reason}", trace=text)
    status = "skipped" if report.skipped else _STATUSES.get(record.status, "failed")
    return status, StatusDetails(message=reason, trace=text)


def _correct(result: Any, item: RunItem, details: tuple[str, Any] | None) -> None:
    result.testCaseId = allure_commons.utils.md5(item.nodeid)
    result.historyId = allure_commons.utils.md5(item.nodeid, result.historyId or "")
    if result.description == item.function.__doc__:
        result.description = None  # what our own function says of itself, the same for all runs
    if details is not None:
        result.status, result.statusDetails = details
