"""No secret of an answer or of a task's definition is on the page of its task."""

from __future__ import annotations

import json

import pytest

from tests.plugin.test_report import page_of
from tests.support import canaries
from tests.support.canaries import canary

MODES = ["default", "strict"]
OF_DEFINITION = ("definpassword", "definurl", "definheader", "definvalue", "definintent")


@pytest.fixture
def report(runs, webeval, pytester):
    """The files of the report of a run whose answer, recording and definition have secrets."""
    path = runs.add(107, expects=(canaries.expectation("form"),))
    canaries.as_har(path, "form")
    (path / "agent_response.json").write_text(canaries.answer())
    task = runs.tasks[-1]
    task["intent"] = f"Sign in with password={canary('definintent')}"
    task["start_urls"] = [f"http://joe:{canary('definurl')}@shop.test/"]
    task["instantiation_dict"] = {"password": canary("definpassword"), "words": "lamp"}
    task["eval"][-1]["expected"]["headers"]["authorization"] = f"Bearer {canary('definheader')}"
    task["eval"][-1]["expected"]["post_data"] = {"password": canary("definvalue")}
    runs.define()

    def write(*options):
        webeval("--webeval-report=report", *options)
        return pytester.path / "report"

    return write


def seen(directory, names):
    return canaries.seen(*(path.read_bytes() for path in directory.rglob("*") if path.is_file()), names=names)


@pytest.mark.parametrize("mode", MODES)
def test_no_secret_of_answer_and_definition_is_in_the_report(report, mode):
    assert seen(report(f"--webeval-redact={mode}"), {*canaries.PLANTED, *OF_DEFINITION}) == set()


def test_without_redaction_each_of_them_is(report):
    names = {*canaries.OF_TEXTS.split(), *OF_DEFINITION}
    assert seen(report("--webeval-redact=off"), names) == names


@pytest.mark.parametrize("mode", [*MODES, "off"])
def test_what_is_no_secret_stays_readable(report, mode):
    page = page_of(report(f"--webeval-redact={mode}"), "runs/107")
    fields = {field["name"]: field["value"] for field in page["answer"]["fields"]}
    assert (fields["task_type"], fields["status"]) == ("RETRIEVE", "SUCCESS")
    assert page["definition"]["instantiation_dict"]["words"] == "lamp"
    assert page["definition"]["eval"][-1]["expected"]["query_params"]["q"] == ["lamp"]
    assert page["definition"]["eval"][-1]["expected"]["http_method"] == "POST"


def test_what_the_answer_repeats_of_the_recording_is_hidden(runs, webeval, pytester):
    path = runs.add(107, passes=False)
    secret = canary("repeated")
    headers = [{"name": "Authorization", "value": f"Bearer {secret}"}]
    entry = runs.navigation()
    entry["request"]["headers"] = [*entry["request"]["headers"], *headers]
    (path / "network.har").write_text(json.dumps({"log": {"entries": [entry]}}))
    (path / "agent_response.json").write_text(
        json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [f"I saw {secret} there"]})
    )
    webeval("--webeval-report=report")
    assert "I saw redacted" in page_of(pytester.path / "report", "runs/107")["answer"]["fields"][2]["value"][0]
    assert seen(pytester.path / "report", {"repeated"}) == set()
