"""Network traces: every event is asked for every field, and for its bodies wherever they are kept."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from functools import partial

import msgspec

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import Body, build_folder_source
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.recordings.network.form_fields import parse_fields, parse_recorded
from pytest_webeval.recordings.network.gaps import Gaps
from pytest_webeval.recordings.network.playwright import load_folder, load_lines, load_zip
from pytest_webeval.recordings.network.readers import load_har
from pytest_webeval.recordings.trace_actions import MOST_ACTIONS, LoggedActions
from pytest_webeval.safety.limits import USUAL
from tests.fuzz.engine.parts import files
from tests.fuzz.targets.target import NOWHERE, KeptFiles, expect, touch, written

_FIELDS = ("url", "status", "headers", "cookies", "response_cookies", "resource_type", "page", "frame")
_ANSWERS = ("is_document", "is_significant", "is_asset", "is_navigation", "started", "is_from_cache", "lacks_content")
_DETAILS = ("response_headers", "duration", "post_size", "content_size", "redirect_url", "is_failed", "header_cookies")
FRAME_FOLDERS = ("resources/", "screencast/")
MAX_USED = 200  # events of one trace


def use_trace(trace: NetworkTrace) -> None:
    """Ask a trace and its events for all that they can tell."""
    touch(trace, "is_empty", "evaluation_events", "last_page", "last_navigation")
    gaps = Gaps(trace)
    touch(gaps, "omits_bodies", "is_sanitized", "unmarked_pages")
    for event in trace.events[:MAX_USED]:
        use_event(event)
        for ask in (
            gaps.content,
            gaps.cookies,
            gaps.status,
            gaps.is_redirected,
            lambda event: gaps.posted(event, None),
        ):
            with suppress(EvaluationError):
                ask(event)


def use_event(event: NetworkEvent) -> None:
    """Ask an event for all that it can tell."""
    touch(event, *_FIELDS, *_ANSWERS, *_DETAILS)
    for ask in (event.check, lambda: event.header("Referer"), partial(_upper, event)):
        with suppress(EvaluationError):
            ask()
    for read in (event.read_post, event.read_content):
        with suppress(EvaluationError):
            use_body(read())


def _upper(event: NetworkEvent) -> str:
    return event.method.upper()  # which a method that is no text refuses


def use_body(body: Body | None) -> None:
    """Read the fields of a body, and those of the text that is kept elsewhere."""
    if body is not None:
        with suppress(EvaluationError):
            body.read_uncounted()
    parse_fields(body)
    if body is not None:
        parse_recorded(body, "", USUAL)
    if body is not None and body.load_text is not None:
        parse_fields(Body(body.mime, body.load_text()))


def read_har(content: bytes) -> None:
    """A HAR, or a line file that somebody called so."""
    use_trace(load_har(KeptFiles(NOWHERE, files={"network.har": content}), "network.har"))


def read_lines(content: bytes) -> None:
    """A line file."""
    use_trace(load_lines(KeptFiles(NOWHERE, files={"trace.network": content}), "trace.network"))


def read_zip(content: bytes) -> None:
    """An archive, damaged as a file is."""
    use_trace(load_zip(KeptFiles(NOWHERE, files={"trace.zip": content}), "trace.zip"))


def read_zipped(content: bytes) -> None:
    """An archive that is whole, with damaged members."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, inner in files(content).items():
            archive.writestr(zipfile.ZipInfo(name or "-"), inner, zipfile.ZIP_DEFLATED)
    read_zip(packed.getvalue())


def read_folder(content: bytes) -> None:
    """An unpacked trace."""
    kept = {f"trace/{name}": inner for name, inner in files(content).items()}
    use_trace(load_folder(KeptFiles(NOWHERE, files=kept), "trace"))


def read_actions(content: bytes) -> None:
    """The log of actions in a trace: bounded steps, whose frames are named as those of the screencast."""
    actions = LoggedActions()
    actions.add_log(content)
    steps = actions.steps
    expect(len(steps) <= MOST_ACTIONS, f"{len(steps)} steps")
    for step in steps:
        for shot in filter(None, (step.before, step.after)):
            expect(shot.name.startswith(FRAME_FOLDERS) and ".." not in shot.name.split("/"), f"a frame {shot.name!r}")
    written([(step.action, step.arguments, step.observation, step.timestamp) for step in steps])


def read_side_bodies(content: bytes) -> None:
    """Bodies as entries store them, one a line, with the files that they name."""
    kept = files(content)
    source = build_folder_source(KeptFiles(NOWHERE, files=kept), ".")
    for line in kept.get("bodies", b"").split(b"\n"):
        for read in (source.read_post, source.read_content):
            with suppress(EvaluationError):
                use_body(read(msgspec.Raw(line)))
