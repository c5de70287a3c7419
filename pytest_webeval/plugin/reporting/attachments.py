"""What the reports of other plugins get of a run that did not succeed: answer, differences and last screenshot.

Texts are those of the redacted result. Images are not searched for secrets, so strict redaction attaches none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import Struct

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.plugin.runtest.evaluation import renew_time_limit, run_time_limit
from pytest_webeval.plugin.runtest.report_payloads import WRITTEN
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.recordings.action_trace import load_action_trace
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import STRICT
from pytest_webeval.reports.failure_text import answer_text, differences_text
from pytest_webeval.reports.html.screenshots import MOST_HEADER_BYTES, is_jpeg, read_size
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.pictures import MOST_PIXELS
from pytest_webeval.sessions.runs.run_outcome import RunOutcome

LONGEST_TEXT = 20_000  # characters
LARGEST_IMAGE = 256 * 1024  # bytes
# Of all runs, shared equally, so that it does not matter who comes first.
ALL_TEXTS = 16 * 2**20  # characters
ALL_IMAGES = 16 * 2**20  # bytes
LAST_SCREENSHOT = "last screenshot"


class Image(Struct, frozen=True):
    """The bytes of a PNG or JPEG."""

    content: bytes
    extension: str

    @property
    def mime_type(self) -> str:
        """The type by which a browser shows it."""
        return "image/png" if self.extension == "png" else "image/jpeg"


# How an image begins, with the ending of its name.
_EXTENSIONS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg"}


def list_texts(item: pytest.Item, workspace: PytestWorkspace) -> list[tuple[str, str]]:
    """The names of texts about a run that did not succeed, each with its text. Empty if they take too long.

    They have as much time as the scoring of the run has.
    """
    written = item.stash.get(WRITTEN, None)
    if written is None or (written.record.status == "success" and not written.record.skipped):
        return []
    renew_time_limit(item)
    longest = min(LONGEST_TEXT, ALL_TEXTS // max(1, 2 * item.session.testscollected))
    try:
        with run_time_limit(item, workspace.settings):
            return list(_list_texts(written, longest))
    except EvaluationError:
        return []


def _list_texts(written: RunOutcome, longest: int) -> Iterator[tuple[str, str]]:
    classification, redacting = written.classification, written.redacting
    result = redacting.redact_for_report(classification.result, classification.run)
    texts = {"answer": answer_text(result, longest), "differences": differences_text(result, longest)}
    yield from ((name, text) for name, text in texts.items() if text is not None)


def find_last_screenshot(item: pytest.Item, report: pytest.TestReport, workspace: PytestWorkspace) -> Image | None:
    """The last screenshot of a run that failed, if it is small and of a known kind.

    Of a run that is no trajectory, the last frame in its trace. None if it takes longer than the run may.
    """
    run = getattr(item, "funcargs", {}).get("webeval_run")
    if not isinstance(run, Run) or not report.failed or workspace.settings.redaction.mode == STRICT:
        return None
    share = ALL_IMAGES // max(1, item.session.testscollected) * 3 // 4  # base64 takes four bytes for three
    renew_time_limit(item)
    try:
        with run_time_limit(item, workspace.settings):
            content = _read_last_screenshot(run, min(LARGEST_IMAGE, share))
    except WebEvalError:
        return None
    extension = next((extension for start, extension in _EXTENSIONS.items() if content.startswith(start)), None)
    return None if extension is None or _is_bomb(content) else Image(content, extension)


def _read_last_screenshot(run: Run, most: int) -> bytes:
    """Its bytes, none where there is no screenshot or it is larger. Raises `WebEvalError`."""
    trajectory = run.trajectory
    if trajectory is not None:
        shots = trajectory.screenshots
        return read_file_inside(trajectory.path, shots[-1].name, most) if shots else b""
    trace = load_action_trace(run.inputs)
    frame = next((step.after or step.before for step in reversed(trace.steps)), None) if trace is not None else None
    content = trace.image(frame) if trace is not None and frame is not None else b""
    return content if len(content) <= most else b""


def _is_bomb(content: bytes) -> bool:
    """Whether an image says that it has more pixels than any screen; a PNG has to say how many it has."""
    size = read_size(content[:MOST_HEADER_BYTES])
    if size is None:
        return not is_jpeg(content)  # of which the size may be far from the beginning
    return size[0] * size[1] > MOST_PIXELS
