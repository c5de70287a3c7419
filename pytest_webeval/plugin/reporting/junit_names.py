"""Names in JUnit XML: a test case is called by its task, where pytest itself would call all of them `task`."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.workspace import ITEMS
from pytest_webeval.recordings.labels import Labels
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import escape_surrogates

NAME = "webeval_name"


class JunitNames(Struct, frozen=True, eq=False, dict=True):
    """Plugin of each process: the one that scored a run knows its task, the controller writes the XML."""

    config: pytest.Config
    labels: Labels

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the name of the task to each report of a run."""
        report = yield
        if isinstance(item, RunItem):
            setattr(report, NAME, item.name)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Name the test case, as the fixture `record_xml_attribute` would, which does nothing under xdist."""
        names = self._names(report) if self._xml is not None else {}
        for attribute, value in names.items():
            self._xml.node_reporter(report).add_attribute(attribute, value)
        count = len(self._xml.node_reporters_ordered) if names else 0
        result = yield
        for added in self._xml.node_reporters_ordered[count:] if names else ():  # a test may fail twice, and has two
            added.to_xml().attrib.update(names)
        return result

    def pytest_webeval_summary(self, summary: Summary) -> None:
        """Add a property for each gate to the test suite."""
        gates = summary.webeval.get("gates")
        if self._xml is None or not gates:
            return
        from pytest_webeval.reports.comparison_text import format_gate  # few sessions have gates

        for number, gate in enumerate(gates, 1):
            text = f"{'pass' if gate['passed'] else 'fail'}: {format_gate(gate)}"
            self._xml.add_global_property(f"webeval_gate_{number}", escape_surrogates(text))

    @cached_property
    def _xml(self) -> Any:
        """The XML writer, recognized by its methods; None in a process that writes no XML."""
        writers = (
            plugin for plugin in self.config.pluginmanager.get_plugins() if hasattr(plugin, "node_reporters_ordered")
        )
        return next(writers, None)

    def _names(self, report: pytest.TestReport) -> dict[str, str]:
        """Name and class name of the test case of a run; empty for any other test."""
        label, _, item = report.nodeid.rpartition("::")
        if item not in ITEMS or self.labels.path_of(label) is None:
            return {}
        parent, _, directory = label.rpartition("/")
        name = getattr(report, NAME, directory)  # a worker that died says nothing
        place = (parent or label) if name == directory else label
        prefix = self.config.getoption("junitprefix")
        return {"name": name, "classname": ".".join(filter(None, [prefix, place.replace("/", ".")]))}
