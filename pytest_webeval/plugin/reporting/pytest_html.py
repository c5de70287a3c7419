"""Rows of pytest-html: named by their tasks, with columns, links, texts and the last screenshot of a run.

pytest-html escapes logs, and nothing else. It gets no extras of type `html` from here, and cells with escaped text.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Generator, Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec import Struct

from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.item_names import run_name
from pytest_webeval.plugin.reporting.attachments import LAST_SCREENSHOT, find_last_screenshot, list_texts
from pytest_webeval.plugin.runtest.report_payloads import find_payload
from pytest_webeval.plugin.workspace import ITEMS, PytestWorkspace
from pytest_webeval.safety.files import is_file
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectories.trajectory_rows import trajectory_labels

COLUMNS = ("Site", "Type", "Score", "Evaluator")
_NAME_CELL = '<td class="col-testId">'
TEXTS_ATTRIBUTE = "webeval_texts"


def pytest_html_results_table_header(cells: list[str]) -> None:
    """Put our columns after the name of the test."""
    cells[2:2] = [f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in COLUMNS]


def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    """Fill them in; empty for tests that are no runs."""
    payload = find_payload(report)
    if payload is not None:
        _name_row(report.nodeid, payload.record, cells)
    values = _list_values(payload.record) if payload else ("",) * len(COLUMNS)
    cells[2:2] = [
        f'<td class="col-{name.lower()}">{escape(str(value))}</td>' for name, value in zip(COLUMNS, values, strict=True)
    ]


def _name_row(nodeid: str, record: Record, cells: list[str]) -> None:
    """Call the row of a run by its label, with its task where that has another name than the directory."""
    label, _, item = nodeid.rpartition("::")
    if label != record.run or item not in ITEMS:
        return
    for index, cell in enumerate(cells):
        if cell.startswith(_NAME_CELL):
            cells[index] = (
                f'<td class="col-testId" title="{escape(nodeid)}">{escape(run_name(nodeid, record.task_id))}</td>'
            )


def _list_values(record: Record) -> tuple[object, ...]:
    """The cells of a run: for a trajectory its benchmark and class, and no score and evaluator if excluded.

    A partial score stands in brackets.
    """
    labels = trajectory_labels(record)
    is_graded = record.grade is not None and record.grade["partial"]
    partial = f" ({record.grade['score']:.2f})" if record.grade is not None and is_graded else ""
    score = "" if record.skipped else f"{record.score}{partial}"
    names = ", ".join(name.removesuffix("Evaluator") for name in record.evaluators if not record.skipped)
    return labels.get("benchmark", record.site_key), labels.get("class", record.task_type or ""), score, names


def pytest_html_results_table_html(report: pytest.TestReport, data: list[str]) -> None:
    """Show the texts of a run below its log, where a page of one file has them."""
    for name, text in report.__dict__.pop(TEXTS_ATTRIBUTE, ()):  # of which pytest keeps the report to the end
        data.append(f"{f' {name} ':-^80}\n{escape(text)}")


INDEX = "index.html"


class HtmlExtras(Struct, frozen=True, eq=False):
    """Plugin of each process: the one that scored a run knows it. `page` is the directory of pytest-html's page."""

    workspace: PytestWorkspace
    page: Path
    is_one_file: bool = False  # browsers open no `data:` link to a text, so such a page shows texts in the row

    @classmethod
    def for_page(cls, page: str, workspace: PytestWorkspace) -> HtmlExtras:
        """The plugin for a page that is named as pytest-html's option has it."""
        path = Path.cwd() / Path(os.path.expandvars(page)).expanduser()
        return cls(workspace, path.parent, bool(workspace.config.getoption("self_contained_html", default=False)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put links, texts and image on the report that becomes a row, as plain JSON, which travels."""
        report = yield
        if isinstance(item, RunItem) and (report.when == "call" or (report.when == "setup" and not report.passed)):
            texts = list_texts(item, self.workspace)
            if self.is_one_file and texts:
                setattr(report, TEXTS_ATTRIBUTE, texts)
            extras = [*getattr(report, "extras", []), *self._list_extras(item, report, texts)]
            setattr(report, "extras", extras)  # noqa: B010  (pytest-html's)
        return report

    def _list_extras(
        self, item: RunItem, report: pytest.TestReport, texts: list[tuple[str, str]]
    ) -> Iterator[dict[str, Any]]:
        """Links, texts where they can be files, and the last screenshot."""
        result, own_report = self.workspace.result_path(item.path), self.workspace.settings.report
        if is_file(result):
            yield _extra("url", self.reference(result), "eval_result.json")
        if own_report is not None:
            label = quote(item.nodeid.rpartition("::")[0], safe="")
            yield _extra("url", f"{self.reference(own_report / INDEX)}#task={label}", "report")
        for name, text in () if self.is_one_file else texts:
            yield _extra("text", text, name, mime_type="text/plain", extension=_extension(item, "txt"))
        if (image := find_last_screenshot(item, report, self.workspace)) is not None:
            content, extension = b64encode(image.content).decode(), _extension(item, image.extension)
            yield _extra("image", content, LAST_SCREENSHOT, mime_type=image.mime_type, extension=extension)

    def reference(self, path: Path) -> str:
        """The relative URL of a file, with special characters quoted."""
        return quote(os.fsencode(os.path.relpath(path, self.page)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Link the report at the top of the page."""
        if (report := self.workspace.settings.report) is not None:
            link = f'<a href="{self.reference(report / INDEX)}">pytest-webeval report</a>'
            prefix.append(f"<p>Failures by reason, expected and actual values, screenshots: {link}</p>")


def _extension(item: RunItem, ending: str) -> str:
    """The ending of a file's name, which names the item too: pytest-html gives `a/b` and `a_b` the same names."""
    return f"{sha256(item.nodeid.encode()).hexdigest()[:16]}.{ending}"


def _extra(kind: str, content: str, name: str, **fields: str) -> dict[str, Any]:
    """An entry as made by the `extras` of pytest-html, without importing it."""
    return {"name": name, "format_type": kind, "content": content, "mime_type": None, "extension": None} | fields
