"""A mistake in a definition that can have led to a verdict is an error of the task, and no agent is blamed for it."""

from __future__ import annotations

import pytest

from pytest_webeval.lint.linter import find_decisive_error
from pytest_webeval.results import Status
from pytest_webeval.tasks.task import read_task
from tests.unit.lint.planted import answer, post, request, task

IGNORED = {"ignored_post_data_params_patterns": ["^(a$"]}


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (post({"quantity": 5}, **IGNORED), Status.FAILURE),
        (request({"http_method": "PSOT"}), Status.FAILURE),
        (request({"http_method": "PSOT"}, should_not_exist=True), Status.SUCCESS),
    ],
)
def test_a_mistake_decides_what_it_can_have_led_to(entry, status):
    read = read_task(task(answer(kind="mutate"), entry), "a test")
    others = {Status.SUCCESS, Status.FAILURE} - {status}
    assert (find_decisive_error(read, 1, status) or "").startswith("invalid task definition: ")
    assert not any(find_decisive_error(read, 1, other) for other in others)
    assert find_decisive_error(read, 0, status) is None


def test_what_to_ignore_decides_nothing_where_nothing_is_posted():
    read = read_task(task(answer(kind="mutate"), request(**IGNORED)), "a test")
    assert find_decisive_error(read, 1, Status.FAILURE) is None
