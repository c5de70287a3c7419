"""Requests that no page sends, in the HAR of a recording; and what a recording says that lacks some."""

from __future__ import annotations

import json
from types import SimpleNamespace

import msgspec
import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recorder.browser import (
    LOST_REQUESTS,
    BrowserCapture,
    BrowserOptions,
    add_requests,
    find_request_tracing,
)
from pytest_webeval.recorder.recording import Recording
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recording_state import read_state
from tests.unit.recordings.network.test_trace_layouts import entry, har, lines, paths


def merged(directory, pages, requests):
    (directory / "network.har").write_bytes(pages)
    (directory / "requests.har").write_bytes(requests)
    add_requests(directory, "network.har", "requests.har")
    return load_trace(RunInputs(directory), "network.har")


def test_both_are_in_the_order_of_time_and_the_rest_of_the_file_stays(tmp_path):
    pages = json.loads(har(entry("/1", started=1), entry("/3", started=3), entry("/3b", started=3)))
    pages["log"] |= {"pages": [{"id": "page@1"}], "creator": {"name": "Playwright"}}
    trace = merged(tmp_path, json.dumps(pages).encode(), har(entry("/2", started=2), entry("/3c", started=3)))
    assert paths(trace) == ["/1", "/2", "/3", "/3b", "/3c"]
    log = json.loads((tmp_path / "network.har").read_bytes())["log"]
    assert (log["pages"], log["creator"]) == (pages["log"]["pages"], pages["log"]["creator"])
    assert {path.name for path in tmp_path.iterdir()} == {"network.har", "requests.har"}


def test_a_recording_without_such_requests_stays_as_it_is(tmp_path):
    content = har(entry("/1")) + b"\n\n"
    merged(tmp_path, content, har())
    assert (tmp_path / "network.har").read_bytes() == content


@pytest.mark.parametrize("broken", [b"", b"[]", b'{"log": {"entries": 5}}'])
def test_what_cannot_be_read_is_an_error(tmp_path, broken):
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        merged(tmp_path, har(entry("/1")), broken)


@pytest.mark.parametrize("name", ["network.har", "requests.har"])
def test_links_in_the_folder_are_not_followed(tmp_path, name):
    folder, other = tmp_path / "trace", tmp_path / "other"
    folder.mkdir()
    for path in (folder / "network.har", folder / "requests.har", other):
        path.write_bytes(har(entry("/1")))
    (folder / name).unlink()
    (folder / name).symlink_to(other)
    (folder / "network.tmp").symlink_to(other)
    with pytest.raises(WebEvalError):
        add_requests(folder, "network.har", "requests.har")
    assert other.read_bytes() == har(entry("/1"))


def test_versions_before_1_63_record_both_with_one_tracing():
    tracing = object()
    assert find_request_tracing(SimpleNamespace(tracing=tracing, request=SimpleNamespace(tracing=tracing))) is None
    assert find_request_tracing(SimpleNamespace(tracing=tracing, request=SimpleNamespace())) is None
    context = SimpleNamespace(tracing=tracing, request=SimpleNamespace(tracing=(other := object())))
    assert find_request_tracing(context) is other


@pytest.mark.parametrize("requests", [None, b"", har(entry("/2"))])
def test_a_recording_whose_requests_were_lost_says_so(tmp_path, requests):
    recording = Recording(tmp_path)
    capture = BrowserCapture(recording, BrowserOptions(), requests=object())
    capture.folder.mkdir()
    (capture.folder / "network.har").write_bytes(har(entry("/1")))
    if requests is not None:
        (capture.folder / "requests.har").write_bytes(requests)
    capture.keep_files()
    recording.close()
    gap = read_state(RunInputs(tmp_path)).gap
    assert gap == (None if requests else LOST_REQUESTS)


def test_the_first_gap_is_on_the_disk_at_once(tmp_path):
    recording = Recording(tmp_path)
    recording.note_unrecorded("one\n thing")
    recording.note_unrecorded("another")
    assert read_state(RunInputs(tmp_path)).gap == "one thing"


@pytest.mark.parametrize(
    ("requests", "order", "is_repaired"),
    [
        (lines(entry("/2", started=2)), ["/1", "/2", "/3"], True),
        (b"", ["/1", "/3"], False),
        (None, ["/1", "/3"], False),
    ],
)
def test_the_log_that_a_lost_browser_left_has_such_requests_too(tmp_path, requests, order, is_repaired):
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "trace.network").write_bytes(lines(entry("/1", started=1), entry("/3", started=3)))
    if requests is not None:
        (folder / "request-trace.network").write_bytes(requests)
    trace = load_trace(RunInputs(tmp_path), "trace")
    assert (paths(trace), bool(trace.repairs)) == (order, is_repaired)
