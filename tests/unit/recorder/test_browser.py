"""What is said of a browser that cannot be reached has no key to it; what is kept of one that is closed."""

from __future__ import annotations

import pytest

from pytest_webeval.recorder.browser import BrowserCapture
from pytest_webeval.recorder.browser import BrowserOptions
from pytest_webeval.recorder.browser import hide_access
from pytest_webeval.recorder.recording import Recording

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
    capture.finish()
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files - {"webeval_recording.json"} == left
