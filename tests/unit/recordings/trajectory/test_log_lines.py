"""Lines of a log and what is wrong with them: `fara_webeval.md` §2.1, Q2, Q41."""

from __future__ import annotations

import json
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.log import MAX_LINES, read_log
from pytest_webeval.safety.json import DEEPEST as MAX_DEPTH
from pytest_webeval.safety.json import LENIENT_DIGITS as MAX_DIGITS
from tests.support.recorded import actions, thoughts

OPENED = (
    '{"timestamp":"2026-03-01T10:00:05","type":"OtherEvent","source":"FaraAgent","url":"https://shop.test/",'
    '"message":"computer_use( {...} )","action":"computer_use",'
    '"arguments":{"action":"visit_url","url":"https://shop.test/","thoughts":"Open the shop."}}'
)
ENDED = (
    '{"timestamp":"2026-03-01T10:00:09","type":"OtherEvent","source":"FaraAgent","url":"https://shop.test/",'
    '"message":"computer_use( {...} )","action":"computer_use",'
    '"arguments":{"action":"terminate","status":"success","thoughts":"Done."}}'
)
SAID = '{"timestamp":"2026-03-01T10:00:07","type":"OtherEvent","message":"Closing browser..."}'
NEITHER = "not a JSON object; ignored"


def names(log):
    return [step.action for step in log.steps]


def action(**fields):
    return json.dumps({"action": "computer_use", "arguments": {"action": "wait", "thoughts": "?"}} | fields)


@pytest.mark.parametrize(
    ("middle", "told"),
    [
        ("", "line 2: blank line skipped"),
        (" \t\r", "line 2: blank line skipped"),
        ("no JSON", 'line 2: is not valid JSON: Expecting value, character 1; skipped: "no JSON"'),
        (
            '{"message":"a "quoted" word"}',
            "line 2: is not valid JSON: Expecting ',' delimiter, character 16; skipped: ",
        ),
        ('{"message":"a\nb"}', "line 2: is not valid JSON: Unterminated string starting at, character 12; skipped: "),
        ('["a"]', 'line 2: is not a JSON object; skipped: "[\\"a\\"]"'),
        ("7", 'line 2: is not a JSON object; skipped: "7"'),
        ("null", 'line 2: is not a JSON object; skipped: "null"'),
        ("NaN", 'line 2: is not a JSON object; skipped: "NaN"'),
        ("[" * 100_000, f"line 2: is not valid JSON: it nests deeper than {MAX_DEPTH} levels; skipped: "),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "nests deeper than 100 levels; skipped: "),
        ('{"message":"' + "x" * 500, '; skipped: "{\\"message\\":\\"xxx'),
    ],
)
def test_a_line_that_is_no_object_is_left_out_by_its_number_and_the_rest_is_kept(middle, told):
    log = read_log(f"{OPENED}\n{middle}\n{ENDED}\n".encode())
    assert names(log) == ["visit_url", "terminate"]
    assert log.warnings[0].startswith("web_surfer.log line 2: ")
    assert told in log.warnings[0]
    assert all(len(text) < 200 and text.isprintable() for text in log.warnings)


@pytest.mark.parametrize(
    ("content", "warnings"),
    [
        (f"{OPENED}\n{ENDED}\n", []),
        (f"{OPENED}\n{ENDED}", []),
        (f"{OPENED}\r\n{ENDED}\r\n", []),
        (f"  {OPENED}\t\n{ENDED} \n", []),
        (f"{OPENED}\n{ENDED}\n\n", ["line 3: blank line skipped"]),
        (f"\n{OPENED}\n\n{ENDED}\n\n\n", ["line 1: blank line skipped, the first of 4"]),
        (f"\ufeff{OPENED}\n{ENDED}", ["line 1: a byte order mark or NUL characters around the line are ignored"]),
        (f"{OPENED}\n\ufeff{ENDED}", ["line 2: a byte order mark or NUL characters around the line are ignored"]),
        (f"\n{OPENED}\n\n{ENDED}\n", ["line 1: blank line skipped, the first of 2"]),
        (f" \0{OPENED}\n{ENDED}\n", ["line 1: a byte order mark or NUL characters around the line are ignored"]),
        (f"{OPENED}\n\0\0{ENDED}\0 \0", ["line 2: a byte order mark or NUL characters around the line are ignored"]),
        (f"{OPENED}{ENDED}\n", ["line 1: continues after its JSON object; a line feed may be missing"]),
        (f"{OPENED} \r{ENDED}\n", ["line 1: continues after its JSON object; a line feed may be missing"]),
    ],
)
def test_both_steps_are_there_whatever_stands_around_their_lines(content, warnings):
    log = read_log(content.encode())
    assert names(log) == ["visit_url", "terminate"]
    assert list(log.warnings) == [f"web_surfer.log {text}" for text in warnings]


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", " ", "\0\0\0", SAID, f"{SAID}\n{SAID}\n"])
def test_a_log_without_steps_is_empty_and_no_error(content):
    log = read_log(content.encode())
    assert (log.dialect, log.steps) == ("empty", ())


def test_an_empty_file_needs_no_warning():
    assert read_log(b"").warnings == ()


def test_only_the_truncated_last_line_is_lost():
    log = read_log(f"{OPENED}\n{ENDED[:-9]}".encode())
    assert names(log) == ["visit_url"]
    (told,) = log.warnings
    assert told.startswith('web_surfer.log line 2: is not valid JSON: Expecting value, character 226; skipped: "{')


def test_what_follows_an_object_on_its_line_is_lost_alone():
    log = read_log(f"{OPENED}{ENDED[:50]}\n{ENDED}7\n".encode())
    assert names(log) == ["visit_url", "terminate"]
    assert [text.split("; skipped")[0] for text in log.warnings] == [
        "web_surfer.log line 1: continues after its JSON object; a line feed may be missing",
        "web_surfer.log line 1: is not valid JSON: Unterminated string starting at, character 294",
        "web_surfer.log line 2: continues after its JSON object; a line feed may be missing",
        "web_surfer.log line 2: is not a JSON object",
    ]


@pytest.mark.parametrize(
    ("thought", "read", "warnings"),
    [
        (b"caf\xc3\xa9", "café", []),
        (b"caf\xe9", "caf\ufffd", ["is not UTF-8; invalid bytes are read as \\ufffd"]),
        (b"\xed\xa0\x80", "\ufffd" * 3, ["is not UTF-8; invalid bytes are read as \\ufffd"]),
        (b"\\ud83d\\ude00", "\N{GRINNING FACE}", []),
        (b"\\ud800", "\ud800", []),
        ("a\u2028b\u0085c".encode(), "a\u2028b\u0085c", []),
        (b"a\x00b\x0cc", "a\0b\fc", ["it has control characters"]),
        (b"a\tb", "a\tb", []),
        (b'","x":1,"x":2,"y":"', "", ["it has a duplicate key; the last value counts"]),
    ],
)
def test_a_text_is_kept_whatever_its_bytes(thought, read, warnings):
    line = b'{"action":"computer_use","arguments":{"action":"wait","thoughts":"' + thought + b'"}}'
    log = read_log(OPENED.encode() + b"\n" + line)
    assert thoughts(log) == ("Open the shop.", read)
    assert log.warnings == tuple(f"web_surfer.log line 2: {text}" for text in warnings)


@pytest.mark.parametrize(
    ("number", "read"),
    [
        ("12.5", 12.5),
        ("-" + "9" * (MAX_DIGITS - 1), 1 - 10 ** (MAX_DIGITS - 1)),
        ("1" * (MAX_DIGITS + 1), None),
        ("1" * 5_000, None),
        ("1e999999999", None),
        ("-1e400", None),
        ("1e-999999999", 0.0),
        ("NaN", None),
        ("Infinity", None),
        ("-Infinity", None),
    ],
)
def test_a_number_that_nobody_else_could_read_is_null_and_its_step_is_kept(number, read):
    log = read_log(
        f'{{"action":"computer_use","arguments":{{"action":"wait","time":{number},"thoughts":""}}}}'.encode()
    )
    assert log.steps[0].arguments == {"time": read}
    assert json.loads(actions(log)[0]) == {"action": "wait", "time": read}
    told = "web_surfer.log line 1: it has NaN or an out-of-range number, read as null"
    assert log.warnings == ((told,) if read is None else ())


@pytest.mark.parametrize(
    ("fields", "name", "arguments", "warnings"),
    [
        ({"arguments": None}, "computer_use", {}, [f"its arguments are null, {NEITHER}"]),
        ({"arguments": ["wait"]}, "computer_use", {}, [f'its arguments are ["wait"], {NEITHER}']),
        ({"arguments": "wait"}, "computer_use", {}, [f'its arguments are "wait", {NEITHER}']),
        ({"arguments": "[" * 999}, "computer_use", {}, [f'its arguments are "{"[" * 69}, {NEITHER}']),
        ({"arguments": "7"}, "computer_use", {}, [f'its arguments are "7", {NEITHER}']),
        (
            {"arguments": ' {"action": "wait", "time": 3}'},
            "wait",
            {"time": 3},
            ["its arguments are a string; parsed as JSON"],
        ),
        ({"arguments": {"action": None, "time": 3}}, "computer_use", {"time": 3}, []),
        ({"arguments": {"action": "", "time": 3}}, "computer_use", {"time": 3}, []),
        ({"arguments": {"action": 5}}, "unparsed", {}, ["its action is 5, not a name; recorded as unparsed"]),
        (
            {"arguments": {"action": {"a": 1}}},
            "unparsed",
            {},
            ['its action is {"a": 1}, not a name; recorded as unparsed'],
        ),
        ({"action": 5, "arguments": {}}, "unparsed", {}, ["its action is 5, not a name; recorded as unparsed"]),
        ({"action": "", "arguments": {}}, "unparsed", {}, ['its action is "", not a name; recorded as unparsed']),
        ({"action": False}, "wait", {}, []),
        ({"action": {"name": "click"}}, "wait", {}, []),
    ],
)
def test_a_damaged_action_is_still_a_step(fields, name, arguments, warnings):
    log = read_log(f"{OPENED}\n{action(**fields)}\n{ENDED}\n".encode())
    assert names(log) == ["visit_url", name, "terminate"]
    assert log.steps[1].arguments == arguments
    assert list(log.warnings) == [f"web_surfer.log line 2: {text}" for text in warnings]
    assert len(log.steps) == 3
    assert log.dialect in {"fara", "mixed"}


def test_an_action_without_the_key_arguments_is_still_a_step():
    log = read_log(b'{"action":"computer_use"}')
    assert (names(log), log.steps[0].arguments, log.steps[0].thought) == (["computer_use"], {}, "")
    assert log.warnings == (f"web_surfer.log line 1: its arguments are null, {NEITHER}",)


def test_the_words_of_an_action_that_is_no_name_are_kept_short():
    (step,) = read_log(action(action=["x" * 500], arguments={"action": None}).encode()).steps
    assert (step.action, step.tool) == ("unparsed", None)
    assert step.raw_action == '["' + "x" * 68


@pytest.mark.parametrize("key", ["timestamp", "url", "source"])
@pytest.mark.parametrize(("given", "shown"), [(1772359205.1, "1772359205.1"), (["a"], '["a"]'), (True, "true")])
def test_a_field_of_the_wrong_type_is_none_and_its_step_is_kept(key, given, shown):
    log = read_log(action(**{key: given}).encode())
    assert getattr(log.steps[0], key) is None
    assert log.warnings == (f"web_surfer.log line 1: its {key} is {shown}, not a string; ignored",)


@pytest.mark.parametrize(
    ("message", "told"), [("null", "null"), ("7", "7"), ('["Thought #1: a"]', '["Thought #1: a"]')]
)
def test_a_message_that_is_no_text_is_left_out(message, told):
    log = read_log(f'{{"type":"OtherEvent","message":{message}}}\n{{"type":"LLMCallEvent"}}'.encode())
    assert log.dialect == "empty"
    assert log.warnings == (f"web_surfer.log line 1: its message is {told}, not a string; ignored",)


def test_a_log_that_is_all_damage_says_so_in_few_words():
    log = read_log(b"?\n" * 500)
    assert len(log.warnings) == 21
    assert log.warnings[-1] == "web_surfer.log: 480 more warnings"


def test_what_is_wrong_with_the_whole_log_is_told_before_its_lines():
    text = json.dumps({"message": "\nThought #1: Open the shop.\nAction #1: executing tool 'wait' with arguments {}"})
    log = read_log(b"?\n" * 500 + f"{text}\n{OPENED}\n{ENDED}\n".encode())
    assert log.warnings[0] == "web_surfer.log: has 2 structured steps and 1 text step; the structured steps count"


def test_deep_nesting_is_judged_alike_however_deep_the_caller_stands():
    depth = sys.getrecursionlimit() * 10
    fits = "[" * (MAX_DEPTH - 2) + "]" * (MAX_DEPTH - 2)
    for text, expected in ((fits, 1), (f"[{fits}]", 0), ("[" * depth + "]" * depth, 0)):
        line = action(arguments={"action": "wait", "x": "X"}).replace('"X"', text)
        assert len(read_log(line.encode()).steps) == expected


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"message": "x" * 50_000_000}).encode(),
        b'{"message":"' + b"x" * 50_000_000,
        json.dumps({"message": "\nThought #1: " + "\nAction #1: executing tool '" * 200_000}).encode(),
        json.dumps({"message": "Action #1: executing tool 'a' with arguments " + "{" * 2_000_000}).encode(),
        b"[" * 5_000_000,
        b'{"a":1}' * 200_000,
        b"{}" + b" " * 2_000_000 + b"{}",
        b"1 " * 500_000,
        b"\n" * 500_000,
        b"?\n" * 100_000,
    ],
    ids=["50 MB", "50 MB cut off", "actions", "braces", "brackets", "glued", "blanks", "numbers", "blank", "invalid"],
)
def test_no_content_takes_more_than_linear_time(content):
    started = time.process_time()
    read_log(content)
    assert time.process_time() - started < 20  # a second or two; hours if anything were quadratic


def test_a_long_log_has_all_its_steps():
    log = read_log(f"{OPENED}\n".encode() * 40_000)
    assert (len(log.steps), log.steps[-1].line, log.warnings) == (40_000, 40_000, ())


def test_what_stands_beyond_the_limit_of_lines_is_left_out():
    log = read_log(b"\n" * (MAX_LINES - 1) + f"{OPENED}\n{ENDED}\n".encode())
    assert names(log) == ["visit_url"]
    assert log.warnings[0] == "web_surfer.log line 250000: has more than 250,000 lines; the rest is ignored"


def test_what_stands_beyond_the_limit_of_objects_in_a_line_is_left_out():
    log = read_log(b"{}" * 99 + f"{OPENED}{ENDED}\n{ENDED}\n".encode())
    assert names(log) == ["visit_url", "terminate"]
    assert log.steps[1].line == 2
    assert log.warnings[1] == "web_surfer.log line 1: has more than 100 JSON objects; the rest is ignored"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["wait", OPENED]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("timestamp", "type", "source", "message", "url", "action", "arguments")
MESSAGES = st.sampled_from(
    ["Thought #1: a", "\nAction #1: executing tool 'wait' with arguments {", "}", "Observation#1: b"]
)
EVENTS = st.dictionaries(
    st.sampled_from(KEYS),
    JSON
    | st.lists(MESSAGES, max_size=4).map("".join)
    | st.dictionaries(st.sampled_from(["action", "thoughts", "reasoning", "time"]), JSON),
)


def check(log):
    assert [step.index for step in log.steps] == list(range(1, len(log.steps) + 1))
    assert all(isinstance(json.loads(text), dict) for text in actions(log))
    assert all(step.action and isinstance(step.thought, str) for step in log.steps)
    assert all(text.startswith("web_surfer.log") and text.isprintable() and text.isascii() for text in log.warnings)


@given(
    st.binary() | st.lists(st.sampled_from([b"{", b"}", b'"', b":", b"[", b"1", b"\n", b"\0", b"\xff"])).map(b"".join)
)
def test_any_bytes_are_a_log(content):
    check(read_log(content))


@given(st.lists(EVENTS, max_size=6))
def test_any_objects_are_a_log(events):
    content = "\n".join(map(json.dumps, events)).encode()
    log = read_log(content)
    check(log)
    assert log == read_log(content)
    acted = [event for event in events if event.get("action") is not None]
    assert len(log.steps) >= len(acted) or log.dialect in {"gpt_solver", "mixed"}
