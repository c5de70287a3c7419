"""The published tasks that forbid a request: honest runs keep their verdicts, and no spelling hides the request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.parity.harness.goldens import golden
from tests.parity.harness.mutations import mutations
from tests.parity.harness.recording import FORBIDDEN, SITES

FORBIDDING = {*range(528, 531), *range(689, 694)}
SHOP = SITES["shopping"][0]
SPELLINGS = {
    f"{SHOP}/contact/index/post": "failure",
    f"{SHOP}/contact/index/post/?a=1": "failure",
    f"{SHOP}/contact%2Findex%2Fpost": "failure",
    f"{SHOP}/x%2F..%2Fcontact/index/post": "failure",
    f"{SHOP}/x/%2e%2e/contact/./index//post": "failure",
    f"{SHOP}/contact/index/post%2F": "failure",
    "http://SHOP.test.:7770/contact/index/post": "failure",
    f"{SHOP}/contact%252Findex/post": "success",
    f"{SHOP}/contact/index/post;a=1": "success",
    f"{SHOP}/contact/index/post#top": "success",
    "http://me@shop.test:7770/contact/index/post": "success",
    "https://shop.test:7770/contact/index/post": "success",
}


def forbidding(dataset):
    tasks = [task for task in dataset.tasks if any(each.get("should_not_exist") for each in task["eval"])]
    assert {task["task_id"] for task in tasks} == FORBIDDING
    return tasks


@pytest.mark.whole
def test_honest_runs_of_tasks_that_forbid_a_request_have_the_references_verdicts(dataset, agree):
    pairs = agree(recording for task in forbidding(dataset) for recording in (golden(task), *mutations(task)))
    assert {pair.ours.status for pair in pairs} == {"success", "failure", "error"}


@pytest.mark.whole
def test_no_spelling_hides_a_forbidden_request_from_default_and_strict_rules(dataset, scorers, tally):
    recordings = [
        replace(golden(task), entries=(*golden(task).entries, post(golden(task), url)), about=url, kind=FORBIDDEN)
        for task in forbidding(dataset)
        for url in SPELLINGS
    ]
    rules = ("reference", "default", "strict")
    for same, default, strict in tally.watch(scorers.pairs_by(rules, recordings)):
        assert same.agrees, same.recording.name
        assert same.reference.status == SPELLINGS[same.recording.about], same.recording.name
        assert (default.ours.status, strict.ours.status) == ("failure", "failure"), same.recording.name


def post(recording, url):
    """An entry of the recording as a posted form that was sent to another URL."""
    entry = recording.entries[-1]
    return {**entry, "request": {**entry["request"], "method": "POST", "url": url}}
