"""Steps of a log in each of its dialects: `fara_webeval.md` §2.1, §3.1, §3.2, §9.1, §9.2, §9.4."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.log import read_log
from pytest_webeval.recordings.trajectory.step import Step, Target
from tests.support.recorded import actions, thoughts

COMPLETED = r"""
{"timestamp":"2026-03-01T10:00:05.100000","type":"OtherEvent","message":"\nThought #1: Search the shop for the atlas.\nAction #1: executing tool 'web_search' with arguments {\"action\": \"web_search\", \"query\": \"pocket atlas\"}"}
{"timestamp":"2026-03-01T10:00:05.100200","type":"WebSurferEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://shop.test/","action":"computer_use","arguments":{"action":"web_search","query":"pocket atlas","thoughts":"Search the shop for the atlas."}}
{"timestamp":"2026-03-01T10:00:09","type":"OtherEvent","message":"Observation#1: I typed 'pocket atlas' into the browser search bar."}
{"timestamp":"2026-03-01T10:00:14.200000","type":"OtherEvent","message":"\nThought #2: Open the first result.\nAction #2: executing tool 'left_click' with arguments {\"action\": \"left_click\", \"coordinate\": [410, 266]}"}
{"timestamp":"2026-03-01T10:00:14.200300","type":"OtherEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://shop.test/s","action":"computer_use","arguments":{"action":"left_click","coordinate":[410,266],"thoughts":"Open the first result."}}
{"timestamp":"2026-03-01T10:00:18","type":"OtherEvent","message":"Observation#2: I clicked at coordinates (413.4, 267.2)."}
{"timestamp":"2026-03-01T10:00:22.300000","type":"OtherEvent","message":"\nThought #3: The Pocket Atlas costs 12.50 EUR and is in stock.\nAction #3: executing tool 'terminate' with arguments {\"action\": \"terminate\", \"status\": \"success\"}"}
{"timestamp":"2026-03-01T10:00:22.300400","type":"WebSurferEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://shop.test/p/17","action":"computer_use","arguments":{"action":"terminate","status":"success","thoughts":"The Pocket Atlas costs 12.50 EUR and is in stock."}}
{"timestamp":"2026-03-01T10:00:25","type":"OtherEvent","message":"Observation#3: The Pocket Atlas costs 12.50 EUR and is in stock."}
""".lstrip()  # noqa: E501  (§9.1 as it is)

OVER_BUDGET = r"""
{"timestamp":"2026-03-01T10:05:04","type":"OtherEvent","message":"\nThought #1: Open the shop.\nAction #1: executing tool 'visit_url' with arguments {\"action\": \"visit_url\", \"url\": \"https://shop.test/\"}"}
{"timestamp":"2026-03-01T10:05:04.000300","type":"WebSurferEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://start.test/","action":"computer_use","arguments":{"action":"visit_url","url":"https://shop.test/","thoughts":"Open the shop."}}
{"timestamp":"2026-03-01T10:05:08","type":"OtherEvent","message":"Observation#1: I typed 'https://shop.test/' into the browser address bar."}
{"timestamp":"2026-03-01T10:05:11","type":"OtherEvent","message":"\nThought #2: Look further down.\nAction #2: executing tool 'scroll' with arguments {\"action\": \"scroll\", \"pixels\": -500}"}
{"timestamp":"2026-03-01T10:05:11.000300","type":"WebSurferEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://shop.test/","action":"computer_use","arguments":{"action":"scroll","pixels":-500,"thoughts":"Look further down."}}
{"timestamp":"2026-03-01T10:05:15","type":"OtherEvent","message":"Observation#2: I scrolled down one page in the browser."}
{"timestamp":"2026-03-01T10:05:18","type":"OtherEvent","message":"\nThought #3: Still looking.\nAction #3: executing tool 'scroll' with arguments {\"action\": \"scroll\", \"pixels\": -500}"}
{"timestamp":"2026-03-01T10:05:18.000300","type":"WebSurferEvent","source":"FaraAgent","message":"computer_use( {...} )","url":"https://shop.test/","action":"computer_use","arguments":{"action":"scroll","pixels":-500,"thoughts":"Still looking."}}
{"timestamp":"2026-03-01T10:05:22","type":"OtherEvent","message":"Observation#3: I scrolled down one page in the browser."}
""".lstrip()  # noqa: E501  (§9.2 as it is)

SOLVED = r"""
{"timestamp":"2026-03-01T11:00:01","type":"WebSurferEvent","source":"WebSurfer-SummarizedAction","message":"Thought #1: type\nAction #1: I typed atlas.","url":"https://shop.test/","action":null,"arguments":null}
{"timestamp":"2026-03-01T11:00:01.5","type":"WebSurferEvent","source":"WebSurfer","message":"input_text( {...} )","url":"https://shop.test/","action":"input_text","arguments":{"state_description":"A search box.","reasoning":"Type into it.","text_value":"atlas","screen_description":"A shop."}}
{"timestamp":"2026-03-01T11:00:04","type":"WebSurferEvent","source":"WebSurfer-SummarizedAction","message":"I ended.","url":"https://shop.test/p","action":null,"arguments":null}
{"timestamp":"2026-03-01T11:00:04.5","type":"WebSurferEvent","source":"WebSurfer","message":"stop_and_answer_question( {...} )","url":"https://shop.test/p","action":"stop_and_answer_question","arguments":{"reasoning":"It is there.","answer":"12.50"}}
{"timestamp":"2026-03-01T11:00:05","type":"WebSurferEvent","source":"WebSurfer","message":"Web surfing done. Final target: 12.50","url":"https://shop.test/p","action":null,"arguments":null}
""".lstrip()  # noqa: E501

ACTIONS = (
    '{"action": "web_search", "query": "pocket atlas"}',
    '{"action": "left_click", "coordinate": [410, 266]}',
    '{"action": "terminate", "status": "success"}',
)
THOUGHTS = (
    "Search the shop for the atlas.",
    "Open the first result.",
    "The Pocket Atlas costs 12.50 EUR and is in stock.",
)


def chosen(content, *numbers):
    """Some lines of a log, counted from 1."""
    lines = content.splitlines(keepends=True)
    return "".join(lines[number - 1] for number in numbers).encode()


def thought_line(number, thought="?", action="wait", **arguments):
    arguments = json.dumps({"action": action, **arguments})
    text = f"\nThought #{number}: {thought}\nAction #{number}: executing tool '{action}' with arguments {arguments}"
    return json.dumps({"timestamp": f"text {number}", "type": "OtherEvent", "message": text})


def action_line(thought="?", action="wait", source="FaraAgent", **arguments):
    arguments = {"action": action, **arguments, "thoughts": thought}
    event = {"type": "OtherEvent", "source": source, "message": "", "action": "computer_use", "arguments": arguments}
    return json.dumps({"timestamp": "event", **event})


def seen_line(number, text="seen"):
    return json.dumps({"type": "OtherEvent", "message": f"Observation#{number}: {text} {number}"})


def log_of(*lines):
    return read_log("\n".join(lines).encode())


def times(log):
    return [step.arguments.get("time") for step in log.steps]


def test_a_completed_run_has_its_steps_whatever_type_their_lines_have():
    log = read_log(COMPLETED.encode())
    assert (log.dialect, actions(log), thoughts(log), log.warnings) == ("fara", ACTIONS, THOUGHTS, ())
    assert [step.action for step in log.steps] == ["web_search", "left_click", "terminate"]
    assert log.steps[1] == Step(
        index=2,
        action="left_click",
        raw_action="left_click",
        tool="computer_use",
        arguments={"coordinate": [410, 266]},
        thought="Open the first result.",
        url="https://shop.test/s",
        timestamp="2026-03-01T10:00:14.200300",
        source="FaraAgent",
        observation="I clicked at coordinates (413.4, 267.2).",
        line=5,
        target=Target(413.4, 267.2),
    )


def test_a_run_over_budget_has_its_steps():
    log = read_log(OVER_BUDGET.encode())
    assert (log.dialect, log.warnings) == ("fara", ())
    assert [(step.action, step.arguments, step.line) for step in log.steps] == [
        ("visit_url", {"url": "https://shop.test/"}, 2),
        ("scroll", {"pixels": -500}, 5),
        ("scroll", {"pixels": -500}, 8),
    ]
    assert thoughts(log) == ("Open the shop.", "Look further down.", "Still looking.")


def test_a_log_of_texts_alone_has_the_same_actions_and_thoughts_and_keeps_its_times():
    log = read_log(chosen(COMPLETED, 1, 3, 4, 6, 7, 9))
    assert (log.dialect, actions(log), thoughts(log), log.warnings) == ("text", ACTIONS, THOUGHTS, ())
    structured = read_log(COMPLETED.encode())
    assert [step.observation for step in log.steps] == [step.observation for step in structured.steps]
    assert [(step.timestamp, step.url, step.source, step.line) for step in log.steps] == [
        ("2026-03-01T10:00:05.100000", None, None, 1),
        ("2026-03-01T10:00:14.200000", None, None, 3),
        ("2026-03-01T10:00:22.300000", None, None, 5),
    ]


def test_an_older_log_of_fara_is_told_from_the_solver_by_its_arguments():
    log = log_of(action_line("Wait.", "wait", "WebSurfer", time=3), action_line("Bye.", "stop_execution", "WebSurfer"))
    assert log.dialect == "fara"
    assert [(step.action, step.raw_action, step.tool, step.source) for step in log.steps] == [
        ("wait", "wait", "computer_use", "WebSurfer"),
        ("terminate", "stop_execution", "computer_use", "WebSurfer"),
    ]
    assert actions(log) == ('{"action": "wait", "time": 3}', '{"action": "stop_execution"}')
    assert thoughts(log) == ("Wait.", "Bye.")


def test_a_log_of_the_gpt_solver_has_one_step_for_two_lines_and_ends_by_terminating():
    log = read_log(SOLVED.encode())
    assert (log.dialect, log.warnings) == ("gpt_solver", ())
    assert [(step.action, step.raw_action, step.tool, step.arguments, step.line) for step in log.steps] == [
        ("input_text", "input_text", "input_text", {"text_value": "atlas"}, 2),
        ("terminate", "stop_and_answer_question", "stop_and_answer_question", {"answer": "12.50"}, 4),
    ]
    assert thoughts(log) == ("A search box. Type into it.", "It is there.")
    assert [step.observation for step in log.steps] == [None, None]


def test_a_log_in_which_the_gpt_solver_did_nothing_is_still_its_own():
    log = read_log(chosen(SOLVED, 1, 5))
    assert (log.dialect, log.steps) == ("gpt_solver", ())


def test_only_the_web_surfer_of_the_gpt_solver_acts():
    plan = json.dumps({"source": "Orchestrator", "action": "plan", "arguments": {"steps": 3}})
    nameless = json.dumps({"action": "click", "arguments": {"target": 3}})
    summary = json.dumps({"source": "WebSurfer-SummarizedAction", "action": "click", "arguments": {}})
    log = log_of(plan, SOLVED.strip(), nameless, summary)
    assert [step.action for step in log.steps] == ["input_text", "terminate", "click"]
    assert log.warnings == (
        'web_surfer.log line 1: is an action of "Orchestrator", not of WebSurfer; not counted as a step',
    )
    assert [step.action for step in log_of(plan).steps] == ["plan"]


@pytest.mark.parametrize(
    ("arguments", "thought"),
    [
        ({"thoughts": "a", "reasoning": "b"}, "a"),
        ({"thoughts": " a\n"}, " a\n"),
        ({"thoughts": " ", "state_description": " a ", "reasoning": "b "}, "a  b"),
        ({"state_description": "a", "reasoning": "b"}, "a b"),
        ({"state_description": "a"}, "a"),
        ({"reasoning": "b"}, "b"),
        ({"screen_description": "a"}, ""),
        ({"thoughts": None, "reasoning": "b"}, "b"),
        ({"thoughts": ["a", 1]}, '["a", 1]'),
        ({"reasoning": 7}, "7"),
        ({}, ""),
    ],
)
def test_what_the_agent_thought_is_found_by_its_key_and_is_no_argument(arguments, thought):
    log = log_of(json.dumps({"action": "click", "arguments": {"target": 3, **arguments}}))
    assert (log.steps[0].thought, log.steps[0].arguments) == (thought, {"target": 3})
    told = [text for text in log.warnings if "not a string; converted to JSON" in text]
    assert len(told) == len([1 for value in arguments.values() if value is not None and not isinstance(value, str)])


@pytest.mark.parametrize(
    ("structured", "dialect"),
    [
        ({"action": "computer_use", "arguments": {}}, "fara"),
        ({"action": "click", "source": "FaraAgent", "arguments": {"target": 3}}, "fara"),
        ({"action": "click", "arguments": {"thoughts": "a"}}, "fara"),
        ({"action": "click", "arguments": {"action": "click"}}, "fara"),
        ({"action": "click", "source": "WebSurfer", "arguments": {"target": 3}}, "gpt_solver"),
        ({"action": "click"}, "gpt_solver"),
    ],
)
def test_the_dialect_is_read_off_the_line_and_logs_of_several_are_mixed(structured, dialect):
    line = json.dumps(structured)
    assert log_of(line).dialect == dialect
    other = "gpt_solver" if dialect == "fara" else "fara"
    of_other = json.dumps({"action": "click", "arguments": {}}) if other == "gpt_solver" else action_line()
    assert log_of(line, of_other).dialect == "mixed"
    assert log_of(thought_line(1), seen_line(1), line).dialect == "mixed"


def test_a_text_fills_in_the_thought_only_where_the_structured_line_has_none():
    own, silent, blank = action_line("own", time=1), action_line("", time=0), action_line(" ", time=3)
    texts = [thought_line(number, "told", time=number) for number in (1, 2, 3)]
    log = log_of(texts[0], own, texts[1], silent, texts[2], blank)
    assert [step.thought for step in log.steps] == ["own", "told", "told"]
    assert (times(log), log.warnings) == ([1, 0, 3], ())


@pytest.mark.parametrize("lost", [2, 5, 8])
def test_a_step_whose_structured_line_is_lost_is_taken_from_its_text(lost):
    log = read_log(chosen(COMPLETED, *(number for number in range(1, 10) if number != lost)))
    assert (log.dialect, actions(log), thoughts(log)) == ("mixed", ACTIONS, THOUGHTS)
    assert log.warnings == (
        (
            "web_surfer.log: has 2 structured steps and 3 text steps; the structured steps count, "
            "and 1 recorded only as text"
        ),
    )
    assert [step.url is None for step in log.steps] == [number == lost for number in (2, 5, 8)]
    assert log.steps[2].observation == THOUGHTS[2]


@pytest.mark.parametrize("lost", [1, 4, 7])
def test_a_step_whose_text_is_lost_is_still_there(lost):
    log = read_log(chosen(COMPLETED, *(number for number in range(1, 10) if number != lost)))
    assert (log.dialect, actions(log), thoughts(log)) == ("fara", ACTIONS, THOUGHTS)
    assert log.warnings == ("web_surfer.log: has 3 structured steps and 2 text steps; the structured steps count",)
    assert [step.observation for step in log.steps] == [step.observation for step in read_log(COMPLETED.encode()).steps]


def test_a_text_and_a_structured_line_are_one_step_if_either_thought_or_action_agree():
    one = log_of(thought_line(1, "a", time=1), action_line("a\n", time=2), thought_line(2, "b"), action_line("c"))
    assert (times(one), thoughts(one), one.dialect) == ([2, None], ("a\n", "c"), "fara")
    two = log_of(thought_line(1, "a", time=1), action_line("b", time=2))
    assert (times(two), thoughts(two), two.dialect) == ([1, 2], ("a", "b"), "mixed")
    assert two.warnings == (
        (
            "web_surfer.log: has 1 structured step and 1 text step; the structured steps count, "
            "and 1 recorded only as text"
        ),
    )


def test_a_text_that_cannot_be_read_is_no_step_beside_its_structured_line():
    unread = thought_line(1, "a").replace("{", "[", 2).replace("[", "{", 1)
    log = log_of(unread, action_line("b", time=2))
    assert (times(log), log.dialect, log.warnings) == ([2], "fara", ())


def test_the_structured_line_may_stand_before_its_text():
    log = log_of(
        action_line("", time=1), thought_line(1, "a"), seen_line(1), action_line("b", time=2), thought_line(2, "b")
    )
    assert (times(log), log.warnings) == ([1, 2], ())
    assert [step.thought for step in log.steps] == ["a", "b"]


def test_a_log_with_every_line_twice_has_every_structured_line_as_a_step():
    lines = [line for number in (1, 2) for line in (thought_line(number), action_line(), seen_line(number))]
    log = log_of(*(line for line in lines for _ in range(2)))
    assert (len(log.steps), log.dialect) == (4, "fara")
    assert [step.observation for step in log.steps] == ["seen 1", "seen 1", "seen 2", "seen 2"]
    texts = log_of(*(thought_line(1) for _ in range(2)))
    assert (len(texts.steps), texts.dialect) == (2, "text")


@pytest.mark.parametrize(
    ("lines", "observations", "warnings"),
    [
        ([action_line(), action_line(), seen_line(1), seen_line(2)], ["seen 1", "seen 2"], []),
        ([action_line(), action_line(), seen_line(1), action_line(), seen_line(3)], ["seen 1", None, "seen 3"], []),
        (
            [action_line(), seen_line(7)],
            ["seen 7"],
            ["line 2: Observation#7 does not match a step; assigned to the last step"],
        ),
        (
            [action_line(), seen_line(7), action_line(), seen_line(8)],
            ["seen 7", "seen 8"],
            ["line 2: Observation#7 does not match a step; assigned to the last step"],
        ),
        (
            [action_line(), seen_line(1), action_line(), seen_line(1), action_line(), seen_line(2)],
            ["seen 1", "seen 1", "seen 2"],
            ["line 4: Observation#1 does not match a step; assigned to the last step"],
        ),
        (
            [action_line(), seen_line(1), seen_line(1)],
            ["seen 1"],
            ["line 3: Observation#1 does not match a step; ignored"],
        ),
        ([thought_line(1), seen_line(9)], [None], ["line 2: Observation#9 does not match a step; ignored"]),
        ([seen_line(1), thought_line(1)], [None], ["line 1: Observation#1 does not match a step; ignored"]),
        ([thought_line(1), seen_line(0)], [None], ["line 2: Observation#0 does not match a step; ignored"]),
        (
            [thought_line(1), seen_line(1), thought_line(2), thought_line(1, "again"), seen_line(1)],
            ["seen 1", None, "seen 1"],
            ["line 4: has step number 1, expected 3"],
        ),
        (
            [thought_line(1), seen_line(1), thought_line(4), seen_line(4)],
            ["seen 1", "seen 4"],
            ["line 3: has step number 4, expected 2"],
        ),
    ],
)
def test_an_observation_belongs_to_the_step_of_its_number(lines, observations, warnings):
    log = log_of(*lines)
    assert [step.observation for step in log.steps] == observations
    assert list(log.warnings) == [f"web_surfer.log {text}" for text in warnings]


def test_lines_that_are_glued_together_tell_one_step():
    log = read_log(COMPLETED.replace("\n", "").encode())
    assert (actions(log), thoughts(log), log.dialect) == (ACTIONS, THOUGHTS, "fara")


JUNK = st.one_of(
    st.just(b""),
    st.binary(max_size=20).filter(lambda raw: b"\n" not in raw),
    st.sampled_from([b"{", b"[]", b"null", b"{}", b'{"message": null}', b'{"timestamp":"x","message":"Closing"}']),
)
DAMAGE = st.none() | st.integers(0, 40) | JUNK | st.just("gone")


def damaged(line, damage):
    """A line as it is, cut off, overwritten, or not there at all."""
    if damage is None:
        return [line.encode()]
    if isinstance(damage, int):
        return [line.encode()[:damage]]
    return [] if damage == "gone" else [damage]


def step_lines(number):
    thought = f"thought {number}"
    return [thought_line(number, thought, time=number), action_line(thought, time=number), seen_line(number)]


@given(st.lists(st.tuples(DAMAGE, DAMAGE, DAMAGE), max_size=6))
def test_no_step_of_which_a_line_is_whole_is_ever_lost_or_told_twice(damages):
    lines, told, seen = [], [], {}
    for number, damage in enumerate(damages, 1):
        whole = [each is None for each in damage]
        lines += [out for line, each in zip(step_lines(number), damage, strict=True) for out in damaged(line, each)]
        told += [number] * (whole[0] or whole[1])
        seen |= {number: f"seen {number}"} if whole[0] and whole[2] else {}
    log = read_log(b"\n".join(lines))
    assert times(log) == told
    found = {step.arguments["time"]: step.observation for step in log.steps}
    assert {number: found[number] for number in seen} == seen
    assert all(step.thought == f"thought {step.arguments['time']}" for step in log.steps)


@given(st.lists(DAMAGE, max_size=8))
def test_no_whole_line_of_a_text_log_is_ever_lost(damages):
    lines = [
        out
        for number, damage in enumerate(damages, 1)
        for out in damaged(thought_line(number, "a", time=number), damage)
    ]
    log = read_log(b"\n".join(lines))
    assert times(log) == [number for number, damage in enumerate(damages, 1) if damage is None]


@given(st.lists(DAMAGE, min_size=5, max_size=5))
def test_no_whole_action_of_the_gpt_solver_is_ever_lost(damages):
    lines = [out for line, damage in zip(SOLVED.splitlines(), damages, strict=True) for out in damaged(line, damage)]
    log = read_log(b"\n".join(lines))
    names = ["input_text"] * (damages[1] is None) + ["terminate"] * (damages[3] is None)
    assert [step.action for step in log.steps] == names


def test_all_points_of_a_run_are_scaled_as_its_first_observed_click():
    log = log_of(
        action_line("type", "type", text="lamp", coordinate=[100, 50]),
        action_line("click", "left_click", coordinate=[200, 100]),
        json.dumps({"message": "Observation#2: I clicked at coordinates (300.0, 50.0)."}),
        action_line("scroll", "scroll", coordinate=[10, 10], pixels=-100),
    )
    assert [step.target for step in log.steps] == [Target(150, 25), Target(300, 50), None]
    assert [step.arguments["coordinate"] for step in log.steps] == [[100, 50], [200, 100], [10, 10]]
