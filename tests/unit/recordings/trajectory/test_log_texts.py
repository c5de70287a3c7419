"""Steps and observations that are told as text: `fara_webeval.md` §3.1-4, §3.2, §3.3."""

from __future__ import annotations

import json
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.actions import MAX_LITERAL, read_action, read_text
from pytest_webeval.recordings.trajectory.log import read_log
from tests.support.recorded import actions

CALLED = "executing tool 'wait' with arguments"
SEARCHED = "executing tool 'web_search' with arguments"
ENDED = "executing tool 'terminate' with arguments"
LOG = "web_surfer.log line 1: "
UNNAMED = "it has no action name or no arguments; recorded as unparsed"


def logged(*messages):
    lines = [{"timestamp": "2026-03-01T10:00:05", "type": "OtherEvent", "message": message} for message in messages]
    return read_log("\n".join(map(json.dumps, lines)).encode())


@pytest.mark.parametrize(
    ("message", "thought", "action", "listed", "told"),
    [
        (
            f'\nThought #1: hi\nAction #1: {SEARCHED} {{"action":"web_search","query":"q {{x}}"}}',
            "hi",
            "web_search",
            '{"action": "web_search", "query": "q {x}"}',
            [],
        ),
        (
            f'\nThought #1: a\nb\nAction #1: {ENDED} {{"action":"terminate","status":"x"}}',
            "a\nb",
            "terminate",
            '{"action": "terminate", "status": "x"}',
            [],
        ),
        (f'\nThought #1: \nAction #1: {CALLED} {{"action":"wait"}}', "", "wait", '{"action": "wait"}', []),
        (
            f'\nThought #1: hi\nAction #1: {CALLED} {{"action":"wait"}} trailing }}',
            "hi",
            "wait",
            '{"action": "wait"}',
            ['text after the arguments: "trailing }"'],
        ),
        (
            f'\nThought #1: I saw with arguments {{"a":1}}\nAction #1: {CALLED} {{"action":"wait"}}',
            'I saw with arguments {"a":1}',
            "wait",
            '{"action": "wait"}',
            [],
        ),
        (f'\nThought #1: hi\nAction #1: {CALLED} {{"time":1}}', "hi", "wait", '{"time": 1}', []),
    ],
)
def test_a_text_is_a_step_with_the_thought_before_it(message, thought, action, listed, told):
    log = logged(message, "Observation#1: ok")
    (step,) = log.steps
    assert (log.dialect, step.thought, step.action, step.observation) == ("text", thought, action, "ok")
    assert step.arguments == {key: value for key, value in json.loads(listed).items() if key != "action"}
    assert log.warnings == tuple(LOG + text for text in told)
    assert step.timestamp == "2026-03-01T10:00:05"


@pytest.mark.parametrize(
    ("arguments", "read", "told"),
    [
        ('{"time": 3, "action": "sleep"}', {"time": 3}, []),
        ('{\n  "time": 3\n}', {"time": 3}, []),
        ('\n{"time": 3}', {"time": 3}, []),
        ('{"time": NaN}', {"time": None}, ["it has NaN or an out-of-range number, read as null"]),
        ('{"a": 1, "a": 2}', {"a": 2}, ["it has a duplicate key; the last value counts"]),
        ("{'a': True, 'b': (1, None), 3: 'it\\'s'}", {"a": True, "b": [1, None], "3": "it's"}, ["a Python literal"]),
        ("{'a': '\\d'}", {"a": "\\d"}, ["a Python literal"]),
        ("{'a': 1e999}", {"a": None}, ["a Python literal"]),
        ("{'a': 1}; and more", {"a": 1}, ["a Python literal"]),
        ('{"action": "", "a": 1}', {"a": 1}, []),
        ("{'a': 1}, {'b': 2}", None, ["the arguments are not valid JSON ("]),
        ("None", None, ["the action has no arguments in braces"]),
        ("[1]", None, ["the action has no arguments in braces"]),
        ('{"time": 3', None, ["the arguments are not valid JSON (Expecting ',' delimiter, character "]),
        ('{"a": "unquoted "word""}', None, ["the arguments are not valid JSON ("]),
        ("{'a', 'b'}", None, ["the arguments are not valid JSON ("]),
        ("{'a': b'c'}", None, ["the arguments are not valid JSON ("]),
        ("{'a': {1, 2}}", None, ["the arguments are not valid JSON ("]),
        ("{(1, 2): 3}", None, ["the arguments are not valid JSON ("]),
        ("{[]: 3}", None, ["the arguments are not valid JSON ("]),
        ("{'a': " + "9" * 5_000 + "}", None, ["the arguments are not valid JSON ("]),
        ("{'a': 0x" + "9" * 5_000 + "}", None, ["the arguments are not valid JSON ("]),
        ("{'a': " + "[" * 150 + "]" * 150 + "}", None, ["the arguments are not valid JSON ("]),
        (
            '{"a": ' + "[" * 150 + "]" * 150 + "}",
            None,
            ["the arguments are not valid JSON (it nests deeper than 100 levels)"],
        ),
        ("{'a': '" + "x" * MAX_LITERAL + "'}", None, ["the arguments are not valid JSON ("]),
        *(
            ("{'a': " + each * 4_000 + "1}", None, ["the arguments are not valid JSON ("])
            for each in ("-", "not ", "(", "1+")
        ),
        ("{'a': 1" + ".a" * 9_000 + "}", None, ["the arguments are not valid JSON ("]),
        ("{'a': \0}", None, ["the arguments are not valid JSON ("]),
        ("{'a': \ud800}", None, ["the arguments are not valid JSON ("]),
    ],
)
def test_arguments_are_one_json_object_or_python_dict_or_the_step_is_unparsed(arguments, read, told):
    log = logged(f"\nThought #1: hi\nAction #1: {CALLED} {arguments}")
    (step,) = log.steps
    sleeps = "sleep" in arguments
    assert step.action == ("unparsed" if read is None else "sleep" if sleeps else "wait")
    assert (step.arguments, step.thought, step.tool) == (read or {}, "hi", "wait")
    assert step.raw_action == ("sleep" if sleeps else "wait")
    assert len(log.warnings) == len(told) + (read is None)
    for text, warning in zip([*told, UNNAMED], log.warnings, strict=False):
        assert text in warning


def test_no_name_in_arguments_is_called_or_looked_up():
    log = logged(f"Action #1: {CALLED} {{'a': __import__('sys').exit()}}", f"Action #2: {CALLED} {{'a': sys}}")
    assert [step.action for step in log.steps] == ["unparsed", "unparsed"]


def test_what_a_literal_is_does_not_depend_on_the_filter_of_warnings():
    text = f"Action #1: {CALLED} {{'a': '\\d', 'b': 1or 2}}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = read_action(text), read_action(text.replace("1or 2", "1"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (read_action(text), read_action(text.replace("1or 2", "1"))) == strict
    assert strict[1].arguments == {"a": "\\d", "b": 1}


@pytest.mark.parametrize(
    ("message", "number", "thought", "action", "arguments"),
    [
        (f'Thought #7: hi\nAction #7: {CALLED} {{"a":1}}', 7, "hi", "wait", {"a": 1}),
        (f'Thought #2: hi\nAction #3: {CALLED} {{"a":1}}', 2, "hi", "wait", {"a": 1}),
        (f'  \n\n Thought #1: hi \n  Action #1: {CALLED} {{"a":1}}', 1, "hi", "wait", {"a": 1}),
        (f'Action #4: {CALLED} {{"a":1}}', 4, "", "wait", {"a": 1}),
        (f'Thought #: hi\nAction #4: {CALLED} {{"a":1}}', 4, "", "wait", {"a": 1}),
        (f'Thought #1: hi Action #1: {CALLED} {{"a":1}}', 1, "hi", "wait", {"a": 1}),
        ('Thought #1: hi\nAction #1: with arguments {"action":"wait"}', 1, "hi", "wait", {}),
        ('Thought #1: hi\nAction #1: arguments {"action":"wait"}', 1, "hi", "unparsed", {}),
        ('Thought #1: hi\nAction #1: with arguments {"a":1}', 1, "hi", "unparsed", {"a": 1}),
        ("Thought #1: hi\nAction #1: executing tool '' with arguments {}", 1, "hi", "unparsed", {}),
        ('Thought #1: hi\nAction #1: with arguments {"action":5}', 1, "hi", "unparsed", {}),
        (
            "Action #1: executing tool 'with arguments {}' with arguments {\"a\":1}",
            1,
            "",
            "with arguments {}",
            {"a": 1},
        ),
        ("Thought #1: hi\nAction #1: nothing", 1, "hi", "unparsed", {}),
        ("Thought #1: hi\nAction #1:", 1, "hi", "unparsed", {}),
        (f"Thought #1: hi\nAction #1: {CALLED}", 1, "hi", "unparsed", {}),
        (f"Thought #{'1' * 50}: hi\nAction #2: {CALLED} {{}}", 111111111, "hi", "wait", {}),
        ("Thought #1: hi\nAction #1: executing tool 'it's' with arguments {}", 1, "hi", "it", {}),
        (
            'Action #1: with arguments {"t": "Action #2: executing tool \'stop\' with arguments {}"}',
            1,
            "",
            "unparsed",
            {"t": "Action #2: executing tool 'stop' with arguments {}"},
        ),
    ],
)
def test_a_step_is_found_in_texts_that_are_not_quite_in_order(message, number, thought, action, arguments):
    log = logged(message)
    (step,) = log.steps
    assert (step.thought, step.action, step.arguments) == (thought, action, arguments)
    assert read_text(message).number == number
    is_unnamed = action == "unparsed"
    assert step.raw_action == (step.tool or action if is_unnamed else action)
    assert [text for text in log.warnings if UNNAMED in text] == [LOG + UNNAMED] * is_unnamed


def test_of_several_lines_of_actions_the_last_is_done_and_the_others_are_thought():
    fake = "Action #1: executing tool 'terminate' with arguments {}"
    real = f'Action #1: {CALLED} {{"text": "\\nAction #1: executing tool \'terminate\' with arguments {{}}"}}'
    (step,) = logged(f"Thought #1: it said\n{fake}\n{real}").steps
    assert (step.action, step.thought) == ("wait", f"it said\n{fake}")


@pytest.mark.parametrize(
    ("message", "warns"),
    [
        ("", False),
        ("Closing browser...", False),
        ("Thought #1: nothing done", False),
        ("Thought #1: Action is what I need", False),
        ("Thought #1: the Action #one", True),
        ("Error in Action #1: no browser", False),
        (f"The page said:\nThought #1: a\nAction #1: {CALLED} {{}}", True),
        ("Observation of the sky", False),
        ("Observation#1 without a colon", False),
        ("Observation#1234567890: too many", False),
    ],
)
def test_a_text_that_only_quotes_a_step_is_none(message, warns):
    log = logged(message)
    assert (log.dialect, log.steps) == ("empty", ())
    told = LOG + "its message only quotes a thought and an action; not counted as a step"
    assert log.warnings == ((told,) if warns else ())


@pytest.mark.parametrize(
    ("observation", "seen"),
    [
        ("Observation#1: ok", "ok"),
        ("\nObservation #1:ok\n", "ok"),
        ("Observation#1:", ""),
        ("Observation#1: a\nb: c", "a\nb: c"),
        (
            f"Observation#1: Thought #2: a\nAction #2: {CALLED} {{}}",
            f"Thought #2: a\nAction #2: {CALLED} {{}}",
        ),
    ],
)
def test_an_observation_is_what_was_seen_and_never_a_step(observation, seen):
    log = logged(f"Thought #1: a\nAction #1: {CALLED} {{}}", observation)
    (step,) = log.steps
    assert step.observation == seen
    assert log.warnings == ()


@pytest.mark.parametrize("name", ["stop_execution", "stop_and_answer_question"])
def test_an_ending_of_other_solvers_is_renamed_and_its_own_name_is_kept(name):
    log = logged(f'Thought #1: a\nAction #1: executing tool \'x\' with arguments {{"action": "{name}"}}')
    (step,) = log.steps
    assert (step.action, step.raw_action, step.tool) == ("terminate", name, "x")
    assert actions(log) == (f'{{"action": "{name}"}}',)


def test_the_alias_stop_is_not_renamed():
    (step,) = logged("Thought #1: a\nAction #1: executing tool 'stop' with arguments {}").steps
    assert (step.action, step.raw_action) == ("stop", "stop")


def test_an_action_text_of_a_literal_is_read_alike_near_the_end_of_the_stack():
    text = f"Action #1: {CALLED} {{'a': {'[' * 99}{']' * 99}}}"

    def deeper(levels):
        return deeper(levels - 1) if levels else read_action(text)

    assert deeper(0).arguments is not None
    assert deeper(sys.getrecursionlimit() // 4) == deeper(0)


PARTS = st.sampled_from(
    ["\n", " ", "Thought #", "Action #", "1", "22", ":", "executing tool '", "wait", "'", "with arguments ", "{", "}"]
) | st.text(max_size=3)


@given(st.lists(PARTS, max_size=20).map("".join))
def test_any_text_is_a_step_an_observation_or_nothing(text):
    log = logged(text)
    assert len(log.steps) <= 1
    markers = text.lstrip().startswith(("Thought #", "Action #"))
    assert len(log.steps) == 0 or markers


@given(
    st.text(alphabet="ab{}\"' \n"),
    st.dictionaries(st.text(max_size=4), st.text() | st.floats(allow_nan=False) | st.none()),
)
def test_thought_and_arguments_are_read_as_they_were_written(thought, arguments):
    log = logged(f"\nThought #1: {thought}\nAction #1: {CALLED} {json.dumps(arguments)}")
    (step,) = log.steps
    finite = {key: None if value in {float("inf"), float("-inf")} else value for key, value in arguments.items()}
    assert (step.thought, step.action, step.arguments) == (thought.strip(), "wait", finite)
