"""What is wrong with a recording itself stands in the failure text of its run, where people look first."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.reports.failure_text import failure_text
from pytest_webeval.rules import RULES
from pytest_webeval.scoring.task_result import build_error_result

FAILED = (
    "recording: failed_requests: no response to 1 of 3 requests, the first is event 2 of 3; "
    "check that the sites were up, and stop recording when the pages are idle"
)
UPLOAD = (
    "recording: upload_without_body: no recorded body for 1 upload, the first is event 3 of 3; "
    "posted data cannot be checked: use a recorder that stores them"
)


@pytest.fixture
def damaged(runs):
    """A run whose recording lacks a response and a posted body."""

    def add(**about):
        upload = runs.navigation(method="POST")
        upload["request"]["headers"] = [{"name": "Content-Length", "value": "12"}]
        entries = [runs.navigation(), runs.navigation(status=-1), upload]
        (runs.add(107, **about) / "network.har").write_text(json.dumps({"log": {"entries": entries}}))

    return add


def test_a_failure_says_what_is_wrong_with_the_recording(damaged, webeval, pytester):
    damaged(passes=False)
    webeval("--junitxml=junit.xml").stdout.fnmatch_lines(["    got no data", FAILED, UPLOAD])
    failure = ET.parse(pytester.path / "junit.xml").find(".//failure")
    assert failure.text.endswith(f"\n{FAILED}\n{UPLOAD}")
    assert "recording: " in failure.get("message")


def test_an_error_says_it_once(damaged, webeval):
    damaged(expects=({"evaluator": "Unknown"},))
    lines = webeval().stdout.lines
    assert (lines.count(FAILED), lines.count(UPLOAD)) == (1, 1)


def test_a_success_says_nothing_of_it(damaged, webeval):
    damaged()
    webeval().stdout.no_fnmatch_line("*recording: *")


def test_a_python_test_that_fails_says_it_after_its_traceback(damaged, webeval, pytester):
    damaged()
    pytester.makepyfile(
        """
        def test_more(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/no", "http_method": "GET"})
        """
    )
    found = webeval(".").stdout
    found.fnmatch_lines(["E *TaskFailed: *", "*- webeval -*", FAILED, UPLOAD])


def unscored(capture):
    """A result without evaluators, and with these findings about the recording."""
    result = build_error_result(placeholder_run(Path("107"), "runs/107", RULES["default"]), None, "no")
    return result.with_changes(webeval={"capture": capture})


def test_findings_are_few_short_and_harmless_lines():
    capture = [{"kind": f"kind{number}\n", "text": "\x1b[31m" + "x" * 2_000} for number in range(30)]
    lines = failure_text(unscored(capture)).split("\n")
    assert (len(lines), lines[0]) == (11, "no")
    assert lines[1].startswith("recording: kind0 : \\u001b[31mxxx")
    assert lines[1].endswith("… (2,024 characters)")


@pytest.mark.parametrize("capture", [None, "x", {"kind": "x"}])
def test_a_result_that_somebody_changed_says_nothing_of_it(capture):
    assert failure_text(unscored(capture)) == "no"
