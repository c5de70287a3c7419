"""The error taxonomy and its deterministic codes: `fara_webeval.md` §2.1, §6.7 and Q36."""

from __future__ import annotations

import pytest

from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.rubrics.taxonomy import TAXONOMY, category, tool_failures


def test_generations_differ_in_the_codes_that_came_later():
    first, second = TAXONOMY["G1"], TAXONOMY["G2"]
    assert second.keys() - first.keys() == {"3.2.1", "6.5", "6.6", "9.1", "9.2"}
    assert [code for code in first if first[code] != second.get(code)] == ["6.4"]
    assert [sum(code[0] == number for code in second) for number in "123456789"] == [5, 5, 7, 3, 2, 6, 3, 6, 2]
    assert second["8.4"] == ("Invalid Task", "RAI violation")


@pytest.mark.parametrize(
    ("code", "found"),
    [("6.4", "Tool Interaction"), ("6.6", "Tool Interaction"), ("4.3", "Critical Point"), ("6.7", None), ("", None)],
)
def test_a_category_does_not_depend_on_the_generation(code, found):
    assert category(code) == found


def step(action, index=1, /, **arguments):
    return Step(index, action, action, "computer_use", arguments, "", None, None, None, None, 1)


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("key", {"keys"}),
        ("type", {"text", "coordinate", "press_enter", "delete_existing_text"}),
        ("mouse_move", {"coordinate"}),
        ("left_click", {"coordinate"}),
        ("scroll", {"coordinate", "pixels"}),
        ("visit_url", {"url"}),
        ("web_search", {"query"}),
        ("history_back", set()),
        ("pause_and_memorize_fact", {"fact"}),
        ("wait", {"time"}),
        ("terminate", {"status"}),
        ("keypress", {"keys"}),
        ("hover", {"coordinate"}),
        ("sleep", {"duration"}),
        ("click", {"coordinate"}),
        ("input_text", {"text_value", "coordinate", "press_enter", "delete_existing_text"}),
        ("stop", set()),
    ],
)
def test_actions_of_fara_are_no_failure_whatever_their_arguments_hold(action, arguments):
    steps = [step(action), step(action, **dict.fromkeys(arguments)), step(action, _call_id=7)]
    assert tool_failures(steps, "fara", "G2") == ()
    (found,) = tool_failures([step(action, **dict.fromkeys(arguments), more=1)], "fara", "G2")
    assert found[:2] == (1, "6.1")


@pytest.mark.parametrize("dialect", ["fara", "text"])
def test_actions_and_arguments_that_the_agent_made_up_are_told_with_their_step(dialect):
    steps = [
        step("left_click", 1, coordinate=[1, 2]),
        step("drag\n", 2, to=1),
        step("scroll", 3, pixels=1, speed=2, axis="x"),
        step("wait", 4, **{f"n{number}": 0 for number in range(7)}),
        step("key", 6, a=1, b=1, c=1, d=1, e=1),
        step("history_back", 7, url=1),
        step("unparsed", 5, more=1),
    ]
    assert tool_failures(steps, dialect, None) == (
        (2, "6.2", 'the agent has no action "drag\\n"'),
        (3, "6.1", 'unknown arguments of scroll: "axis", "speed"; allowed: "coordinate", "pixels"'),
        (4, "6.1", 'unknown arguments of wait: "n0", "n1", "n2", "n3", "n4" and 2 more; allowed: "time"'),
        (6, "6.1", 'unknown arguments of key: "a", "b", "c", "d", "e"; allowed: "keys"'),
        (7, "6.1", 'unknown arguments of history_back: "url"; allowed: no arguments'),
    )


@pytest.mark.parametrize("dialect", ["gpt_solver", "mixed", "empty", "", "Fara"])
def test_an_agent_whose_actions_are_not_known_cannot_have_made_one_up(dialect):
    assert tool_failures([step("drag", to=1), step("input_text", x=1)], dialect, "G2") == ()


@pytest.mark.parametrize(("generation", "codes"), [("G1", ["6.1"]), ("G2", []), ("G0", []), (None, [])])
def test_only_the_first_detector_minds_a_thought_among_the_arguments(generation, codes):
    found = tool_failures([step("wait", thoughts="t", action="wait", _call_id=1)], "fara", generation)
    assert [one.code for one in found] == codes


def test_a_long_stranger_is_cut():
    (found,) = tool_failures([step("x" * 10_000)], "fara", "G2")
    assert len(found.message) < 120
