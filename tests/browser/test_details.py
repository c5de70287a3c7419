"""What the page of a task tells beyond what its row in the list has room for."""

from __future__ import annotations

import pytest

from tests.browser import pages
from tests.browser.conftest import PHONE

pytestmark = pytest.mark.browser


@pytest.fixture
def with_task(opened, tmp_path):
    """Opens a report of three tasks at the third, which is changed."""

    def showing(settings=None, **changes):
        path = pages.write(tmp_path, 3, tasks=0)
        pages.write_task("runs/00003", pages.task(3, **changes), path.parent)
        return opened(path, **(settings or {})).go("#task=3").page

    return showing


def test_a_reason_is_told_whole(with_task):
    reason = "retrieved_data: " + "expected a, got b; " * 100
    page = with_task(reason=reason.strip(), sentence=None)
    assert page.locator(".why").inner_text() == reason.strip()


@pytest.mark.parametrize(
    ("path", "tree", "marked"),
    [
        ("query_params.dir", {"query_string": {"dir": "asc", "page": 1}}, '"dir": "asc",'),
        ("retrieved_data[1]", {"action": "retrieve", "results": ["a", "b"]}, '"b"'),
        ("task_type", {"action": "retrieve", "status": "SUCCESS"}, '"action": "retrieve",'),
        ("status", {"action": "retrieve", "status": "SUCCESS"}, '"status": "SUCCESS"'),
        ("results[1]", {"action": "retrieve", "results": ["a", "b"]}, '"b"'),
        ("performed_operation", {"performed_operation": "x", "status": "SUCCESS"}, '"performed_operation": "x",'),
    ],
)
def test_what_differs_is_marked_also_where_a_result_has_the_reference_s_names(with_task, path, tree, marked):
    found = {"path": path, "kind": "different", "expected": "x", "actual": "y"}
    page = with_task(evaluators=[pages.answer_evaluator() | {"expected": tree, "actual": tree, "differences": [found]}])
    page.click("text=Expected and actual values")
    page.wait_for_selector("pre mark")
    assert page.locator("pre mark").all_inner_texts() == [marked, marked]


def test_a_phone_shows_expected_and_actual_side_by_side(with_task):
    page = with_task({"viewport": PHONE})
    for name in ("expected", "actual"):
        for at in range(page.locator(f"td.{name}").count()):
            box = page.locator(f"td.{name}").nth(at).bounding_box()
            assert 0 < box["x"] < box["x"] + box["width"] < PHONE["width"]
