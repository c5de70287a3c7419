"""The links of a row of pytest-html: the result, the HTML report, and the last screenshot."""

from __future__ import annotations

import os
import struct
from base64 import b64encode
from collections.abc import Generator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.runtest.run_outcome import RecordPayload
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.redaction.policy import STRICT
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectory_rows import trajectory_labels

COLUMNS = ("Site", "Type", "Score", "Evaluator")


def pytest_html_results_table_header(cells: list[str]) -> None:
    """Put our columns after the name of the test."""
    cells[2:2] = [f'<th class="sortable" data-column-type="{name.lower()}">{name}</th>' for name in COLUMNS]


def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    """Fill them in; empty for tests that are no runs."""
    payload = RecordPayload.by(report)
    values = _values(payload.record) if payload else ("",) * len(COLUMNS)
    cells[2:2] = [
        f'<td class="col-{name.lower()}">{escape(str(value))}</td>' for name, value in zip(COLUMNS, values, strict=True)
    ]


def _values(record: Record) -> tuple[object, ...]:
    """The cells of a run: for a trajectory its benchmark and class, and no score and evaluator if excluded."""
    labels = trajectory_labels(record)
    score = "" if record.skipped else record.score
    names = ", ".join(name.removesuffix("Evaluator") for name in record.evaluators if not record.skipped)
    return labels.get("benchmark", record.site_key), labels.get("class", record.task_type or ""), score, names


LARGEST_IMAGE = 256 * 1024  # bytes
ALL_IMAGES = 16 * 2**20  # bytes of the page, shared by all items equally, so that it does not matter who comes first
MOST_PIXELS = 50_000_000
INDEX = "index.html"
# How an image begins, with its type and the ending of its name.
_KINDS = {b"\x89PNG\r\n\x1a\n": ("image/png", "png"), b"\xff\xd8\xff": ("image/jpeg", "jpg")}


class HtmlExtras(Struct, frozen=True, eq=False):
    """Plugin of each process: the one that scored a run knows it. `page` is the directory of pytest-html's page."""

    workspace: Workspace
    page: Path

    @classmethod
    def for_page(cls, page: str, workspace: Workspace) -> HtmlExtras:
        """The plugin for a page that is named as pytest-html's option has it."""
        return cls(workspace, (Path.cwd() / Path(os.path.expandvars(page)).expanduser()).parent)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put links and image on the report that becomes a row, as plain JSON, which travels."""
        report = yield
        if isinstance(item, RunItem) and (report.when == "call" or (report.when == "setup" and not report.passed)):
            extras = [*self._links(item), *self._images(item, report)]
            setattr(report, "extras", [*getattr(report, "extras", []), *extras])  # noqa: B010  (pytest-html's)
        return report

    def _links(self, item: RunItem) -> list[dict[str, Any]]:
        result = self.workspace.result_path(item.path)
        is_there = os.path.isfile(result)  # noqa: PTH113  (pathlib raises where nobody may look)
        links = [_extra("url", self.reference(result), "eval_result.json")] if is_there else []
        report = self._report
        if report is not None:
            label = quote(item.nodeid.rpartition("::")[0], safe="")
            links.append(_extra("url", f"{self.reference(report / INDEX)}#task={label}", "report"))
        return links

    @property
    def _report(self) -> Path | None:
        report: Path | None = getattr(self.workspace.settings, "report", None)
        return report

    def reference(self, path: Path) -> str:
        """The relative URL of a file, with special characters quoted."""
        return quote(os.fsencode(os.path.relpath(path, self.page)))

    def _images(self, item: RunItem, report: pytest.TestReport) -> list[dict[str, Any]]:
        """The last screenshot of a trajectory that failed. Images are not searched for secrets."""
        trajectory = getattr(getattr(item, "funcargs", {}).get("webeval_run"), "trajectory", None)
        if trajectory is None or not report.failed or self.workspace.settings.redaction.mode == STRICT:
            return []
        share = ALL_IMAGES // max(1, item.session.testscollected) * 3 // 4  # base64 takes four bytes for three
        try:
            shots = trajectory.screenshots
            content = read_file_inside(trajectory.path, shots[-1].name, min(LARGEST_IMAGE, share)) if shots else b""
        except WebEvalError:
            return []
        return [
            _extra("image", b64encode(content).decode(), "last screenshot", mime_type=kind, extension=ending)
            for start, (kind, ending) in _KINDS.items()
            if content.startswith(start) and not _is_bomb(content, kind)
        ]

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Link the report at the top of the page."""
        if self._report is not None:
            link = f'<a href="{self.reference(self._report / INDEX)}">pytest-webeval report</a>'
            prefix.append(f"<p>Failures by reason, expected and actual values, screenshots: {link}</p>")


def _is_bomb(content: bytes, kind: str) -> bool:
    """Whether a PNG says that it has more pixels than any screen."""
    if kind != "image/png" or len(content) < 24:
        return kind == "image/png"
    width, height = struct.unpack(">II", content[16:24])
    return bool(width * height > MOST_PIXELS)


def _extra(kind: str, content: str, name: str, **fields: str) -> dict[str, Any]:
    """An entry as made by the `extras` of pytest-html, without importing it."""
    return {"name": name, "format_type": kind, "content": content, "mime_type": None, "extension": None} | fields
