"""What is said of a browser that cannot be reached has no key to it; what is kept of one that is closed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from pytest_webeval.recorder.browser import BrowserCapture, BrowserOptions, hide_access
from pytest_webeval.recorder.contexts import await_calls, make_calls
from pytest_webeval.recorder.recording import Recording
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.safety.run_directory import open_run_directory

MESSAGE = "Unexpected status 401 when connecting to {} Call log: - <ws preparing> {}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
        ("wss://cloud.test/browsers?apiKey=k3y", "wss://cloud.test/browsers"),
        ("wss://cloud.test?apiKey=k3y", "wss://cloud.test"),
        ("http://me:pass@cloud.test:9/?token=k3y", "http://cloud.test:9/"),
        ("ws://me:p@ss@cloud.test/a@b", "ws://cloud.test/a@b"),
        ("127.0.0.1:9222", "127.0.0.1:9222"),
        ("", ""),
    ],
)
def test_credentials_and_query_of_an_address_are_hidden_wherever_it_is(url, shown):
    assert hide_access(url, url) == shown
    assert hide_access(MESSAGE.format(url, url), url) == MESSAGE.format(shown, shown)


@pytest.mark.parametrize(
    ("made", "left"),
    [
        (("network.har", "trace.zip"), {"network.har", "trace.zip"}),
        (("network.har",), {"network.har", "trace/trace.network"}),
        (("trace.zip",), {"trace.zip", "trace/trace.network"}),
        ((), {"trace/trace.network"}),
    ],
)
def test_the_raw_trace_stays_until_all_that_is_made_of_it_is_there(tmp_path, made, left):
    capture = BrowserCapture(Recording(tmp_path), BrowserOptions())
    capture.folder.mkdir()
    for name in ("trace.network", *made):
        (capture.folder / name).touch()
    capture.keep_files()
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files - {"webeval_recording.json"} == left


@pytest.mark.parametrize("is_folder", [False, True], ids=["recording", "folder"])
def test_nothing_is_kept_of_what_lies_behind_a_link(tmp_path, is_folder):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/network.har").touch()
    capture = BrowserCapture(Recording(tmp_path / "1"), BrowserOptions())
    with open_run_directory(tmp_path / "1", tmp_path):
        if not is_folder:
            (tmp_path / "1").rename(tmp_path / "aside")
            (tmp_path / "1").mkdir()
        capture.folder.symlink_to(tmp_path / "other")
        capture.keep_files()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["network.har"]
    assert capture.recording.outcome is Outcome.BROWSER_LOST


class Crashed(Exception):
    """What Playwright raises for a page that is gone."""


class Pages:
    """A context of two pages: one that crashed, and one on which the last response comes while it waits."""

    browser = None

    def __init__(self, capture, reply):
        waiting = SimpleNamespace(wait_for_timeout=lambda _: reply(capture.pending.clear))
        crashed = SimpleNamespace(wait_for_timeout=lambda _: reply(self.crash))
        stop = SimpleNamespace(stop_har=lambda: reply(int), stop=lambda **_: reply(int))
        self.pages, self.tracing, self.close = [crashed, waiting], stop, None

    def crash(self):
        raise Crashed


async def reply_later(call):
    return call()


@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_page_that_crashed_does_not_end_the_wait_for_the_last_response(tmp_path, is_awaited):
    capture = BrowserCapture(Recording(tmp_path), BrowserOptions(), pending={"the last request"}, error_class=Crashed)
    if is_awaited:
        asyncio.run(await_calls(capture.finish(Pages(capture, reply_later)), Crashed))
    else:
        make_calls(capture.finish(Pages(capture, lambda call: call())), Crashed)
    assert (capture.pending, capture.problems) == (set(), [])
