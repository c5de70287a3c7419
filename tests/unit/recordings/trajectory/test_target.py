"""Where actions pointed, out of untrusted numbers, and how the points of Fara are scaled."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.log import find_scale
from pytest_webeval.recordings.trajectory.step import MOST_PIXELS, Target, build_step, build_target, find_target

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMES = st.sampled_from(["coordinate", "action", "type", "x", "y"])
JSON_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)
NO_NUMBERS = [None, True, "7", [7], {}, math.nan, math.inf, -math.inf, MOST_PIXELS + 1, -MOST_PIXELS - 1, 10**400]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: f"{value!r:.20}")
def test_what_is_no_number_of_pixels_is_no_target(value):
    for place in range(4):
        numbers = [1, 2, 3, 4]
        numbers[place] = value
        assert build_target(*numbers) is None
    assert build_target(1, 2, frame=(value, 4)) == Target(1, 2)


def test_a_box_has_no_negative_size_but_may_begin_outside():
    assert build_target(-5, 0, 10, 0.5) == Target(-5, 0, 10, 0.5)
    assert build_target(5, 5, -1, 5) is build_target(5, 5, 5, -1) is None


@pytest.mark.parametrize(
    ("target", "size", "expected"),
    [
        (Target(10, 20, 30, 40), (800, 600), Target(10, 20, 30, 40)),
        (Target(10, 20, 30, 40, (400, 300)), (800, 900), Target(20, 60, 60, 120)),
        (Target(10, 20, 30, 40, (400, 300)), None, Target(10, 20, 30, 40, (400, 300))),
    ],
)
def test_a_frame_says_how_many_pixels_the_screenshot_has_for_each(target, size, expected):
    assert target.in_pixels(size) == expected


@pytest.mark.parametrize(
    ("action", "arguments", "point"),
    [
        ("left_click", {"coordinate": [410, 266]}, (410, 266)),
        ("click", {"describe": "the link", "coordinates": [12.5, 3]}, (12.5, 3)),
        ("dragAndDrop", {"startCoordinates": [1, 2], "endCoordinates": [3, 4]}, (1, 2)),
        ("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4]}, (1, 2)),
        ("browser_mouse_click_xy", {"element": "link", "x": 7, "y": 8}, (7, 8)),
        ("click", {"index": None, "coordinate_x": 7, "coordinate_y": 8}, (7, 8)),
        ("type", {"text": "lamp", "coordinate": [9, 9]}, (9, 9)),
        ("computer", {"action": "left_click", "coordinate": [5, 6]}, (5, 6)),
        ("computer", {"action": {"type": "double_click", "x": 5, "y": 6}}, (5, 6)),
        ("computer_call", {"type": "click", "x": 5, "y": 6}, (5, 6)),
        ("click", {"coordinate": ["a", 1], "x": 5, "y": 6}, (5, 6)),
        ("scroll", {"x": 0, "y": 300}, None),
        ("mouse_wheel", {"x": 0, "y": 300}, None),
        ("computer", {"action": "scroll", "coordinate": [5, 6]}, None),
        ("zoom", {"x": 5, "y": 6}, None),
        ("click", {"x": 5}, None),
        ("click", {"coordinate": [1, 2, 3]}, None),
        ("click", {"coordinate": "[1, 2]"}, None),
        ("x" * 100 + "click", {"x": 5, "y": 6}, None),
        ("click", {}, None),
    ],
)
def test_the_point_of_an_action_is_found_by_its_arguments(action, arguments, point):
    assert find_target(action, arguments) == (point and Target(*point))


@given(JSON_VALUES)
def test_any_arguments_have_a_target_within_the_bound_or_none(value):
    for name in ("coordinate", "action", "x"):
        target = find_target("click", {"y": 1, name: value})
        assert target is None or max(abs(target.x), abs(target.y)) <= MOST_PIXELS


def click(x, y, observation):
    return build_step(1, "left_click", observation=observation, target=Target(x, y))


CLICKED = "I clicked at coordinates (413.4, 267.2)."


@pytest.mark.parametrize(
    ("steps", "scale"),
    [
        ([click(410, 266, CLICKED)], (413.4 / 410, 267.2 / 266)),
        ([click(1, 1, None), click(206.7, 66.8, CLICKED)], (2, 4)),
        ([click(0, 266, CLICKED), click(413.4, 267.2, CLICKED)], (1, 1)),  # no factor makes something of nothing
        ([click(10, 266, CLICKED)], None),  # an observation of something else
        ([click(410, 266, f"The page says: {CLICKED}")], None),
        ([click(410, 266, "I clicked at coordinates (nan, 1).")], None),
        ([build_step(1, "left_click", observation=CLICKED)], None),
        ([], None),
    ],
)
def test_the_first_click_that_was_observed_shows_the_scale(steps, scale):
    assert find_scale(steps) == (scale and pytest.approx(scale))
