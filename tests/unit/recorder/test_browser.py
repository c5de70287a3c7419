"""What is said of a browser that cannot be reached has no key to it."""

from __future__ import annotations

import pytest

from pytest_webeval.recorder.browser import hide_access

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
