"""The page of pytest-html allows no script but its own."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from pytest_webeval.plugin.reporting.html_policy import with_policy

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"/>')


def directives(page: str) -> dict[str, str]:
    (found,) = POLICY.findall(page)
    return dict(part.strip().split(" ", 1) for part in found.split(";"))


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("options", [["--self-contained-html"], []])
@pytest.mark.parametrize("spread", [[], pytest.param(["-n2"], marks=pytest.mark.whole)])
def test_the_report_allows_the_scripts_of_pytest_html_alone(runs, webeval_apart, pytester, options, spread):
    runs.add(107)
    webeval_apart("--html=report.html", *options, *spread)
    page = (pytester.path / "report.html").read_text("utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (handler,) = re.findall(r'onclick="([^"]*)"', page)
    assert page.index("<meta http-equiv") < page.index("<meta charset")
    assert directives(page) == {
        "default-src": "'none'",
        "script-src": f"'unsafe-hashes' {hashed(script)} {hashed(handler)}",
        "style-src": "'unsafe-inline' 'self'",
        "img-src": "data: 'self'",
        "media-src": "data: 'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize(
    ("page", "allowed"),
    [
        (
            "<html><head></head><script>\n own() \n</script></html>",
            f"'unsafe-hashes' {hashed(chr(10) + ' own() ' + chr(10))}",
        ),
        ("<head></head><script>theirs()</script><script>own()</script>", f"'unsafe-hashes' {hashed('own()')}"),
        ("<head></head><script>own(); theirs()</script>", "'none'"),
        ("<head></head><script>theirs(); own()</script>", "'none'"),
        ("<head></head>own()", "'none'"),
        ("<script>theirs()</script>", "'none'"),
    ],
)
def test_a_policy_allows_no_other_script_of_a_page(page, allowed):
    found = with_policy(page, "own()")
    assert directives(found)["script-src"] == allowed
    assert POLICY.sub("", found).replace("\n    ", "", 1) == page


def test_a_session_without_a_report_writes_none(runs, webeval, pytester):
    runs.add(107)
    webeval().assert_outcomes(passed=1)
    assert not list(pytester.path.glob("*.html"))
