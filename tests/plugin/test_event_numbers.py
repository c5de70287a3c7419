"""Events are numbered from 1 in all that people read, and from 0 in the fields that programs read."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

ELSEWHERE = "http://shop.test/other"


def recorded(runs, *entries):
    """One run that wants another page than it has, and that recording of it."""
    path = runs.add(107, expects=(runs.visited("__SHOPPING__/wanted"),), kind="mutate")
    (path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))


def test_the_first_event_is_event_1_for_people_and_0_in_fields(runs, webeval, pytester):
    recorded(runs, runs.navigation(ELSEWHERE), runs.navigation(ELSEWHERE, method="POST"))
    told = "nearest is event 1 of 2: GET __SHOPPING__/other (200)"
    output = webeval("--junitxml=junit.xml").stdout
    output.fnmatch_lines([f"    {told}"])
    assert told in ET.parse(pytester.path / "junit.xml").find(".//failure").get("message")
    result = runs.result(107)
    assert result["evaluators_results"][1]["assertions"][0]["assertion_msgs"][1] == told
    nearest = result["webeval"]["explanations"][1]["nearest"]
    assert (nearest["index"], nearest["of"]) == (0, 2)


def test_an_event_that_is_not_wanted_is_named_by_its_number(runs, webeval):
    forbidden = {**runs.visited("__SHOPPING__/other"), "should_not_exist": True}
    path = runs.add(107, expects=(forbidden,), kind="mutate")
    entries = [runs.navigation(), runs.navigation(ELSEWHERE)]
    (path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
    webeval().stdout.fnmatch_lines(["    the first is event 2 of 2: GET __SHOPPING__/other (200)"])


def test_a_damaged_event_is_named_by_its_number(runs, webeval):
    recorded(runs, runs.navigation(), {"request": {"method": "GET", "url": "http://shop.test/wanted", "headers": 7}})
    webeval()
    assert "event 2 of the trace is damaged: no readable headers" in runs.reasons["107"]
