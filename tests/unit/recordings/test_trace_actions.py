"""The actions in the log of a Playwright trace."""

from __future__ import annotations

import json

import msgspec
import pytest

from pytest_webeval.recordings import trace_actions
from pytest_webeval.recordings.trace_actions import LoggedActions
from pytest_webeval.recordings.trajectory.step import Screenshot, Target

START = {"type": "context-options", "wallTime": 1_700_000_000_000, "monotonicTime": 500}


def before(call="1", **fields):
    return {"type": "before", "callId": call, "startTime": 1_500, "class": "Frame", "method": "click"} | fields


def after(call="1", **fields):
    return {"type": "after", "callId": call} | fields


def inputs(call="1", **fields):
    return {"type": "input", "callId": call} | fields


def frame(name="a", **fields):
    return {"type": "screencast-frame", "file": f"screencast/{name}.jpeg", "width": 640, "height": 400} | fields


def read(*events):
    actions = LoggedActions()
    texts = (
        event if isinstance(event, bytes) else json.dumps(event, separators=(",", ":")).encode() for event in events
    )
    actions.add_log(b"\n".join(texts))
    return actions.steps


def shots(step):
    return tuple(
        shot and shot.name.removeprefix("screencast/").removesuffix(".jpeg") for shot in (step.before, step.after)
    )


def test_an_action_is_a_step_with_its_parameters_and_its_log():
    (step,) = read(
        START,
        before(params={"selector": "#add", "timeout": 30_000, "strict": True}),
        {"type": "log", "callId": "1", "message": "  waiting for #add "},
        {"type": "log", "callId": "1", "message": "done"},
        after(error={"message": "Timeout 300ms exceeded.", "stack": "at home"}),
    )
    assert (step.index, step.action, step.raw_action, step.arguments) == (
        1,
        "click",
        "Frame.click",
        {"selector": "#add"},
    )
    assert step.observation == "Timeout 300ms exceeded.\nwaiting for #add\ndone"
    assert step.timestamp == "2023-11-14T22:13:21+00:00"


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ({"apiName": "page.goto"}, "goto"),
        ({"apiName": "goto"}, "goto"),
        ({"apiName": ""}, "click"),
        ({"apiName": 7}, "click"),
        ({"method": "x" * 100}, "x" * 80),
    ],
)
def test_an_action_is_called_as_its_caller_called_it(fields, action):
    (step,) = read(before(**fields))
    assert step.action == action


@pytest.mark.parametrize(
    "method",
    ["title", "isVisible", "isChecked", "innerText", "cookies", "tracingStop", "addInitScript", "send", None, 7, ""],
)
def test_what_asks_or_prepares_something_is_no_step(method):
    assert read(before(method=method)) == ()


@pytest.mark.parametrize("method", ["isolate", "sendKeys", "setInputFiles", "titles"])
def test_an_action_with_a_similar_name_is_a_step(method):
    assert len(read(before(method=method))) == 1


@pytest.mark.parametrize(
    ("context", "fields", "time"),
    [
        (START, {"startTime": 500}, "2023-11-14T22:13:20+00:00"),
        (START, {"startTime": 500, "wallTime": 1_700_000_060_000}, "2023-11-14T22:14:20+00:00"),
        ({"type": "context-options", "wallTime": 1_700_000_000_000}, {"startTime": 1_000}, "2023-11-14T22:13:21+00:00"),
        ({"type": "context-options", "wallTime": "now"}, {}, None),
        (START, {"startTime": True}, None),
        (START, {"startTime": None}, None),
        (START, {"startTime": 1e300}, None),
        ({"type": "context-options", "wallTime": 9e14}, {}, None),
        (b"{}", {}, None),
    ],
)
def test_the_time_of_a_step_is_that_of_the_wall_clock(context, fields, time):
    (step,) = read(context, before(**fields))
    assert step.timestamp == time


def test_a_step_has_the_frame_that_the_click_met_and_the_last_one_before_the_next_step():
    first, second = read(
        frame("a"),
        before(),
        frame("b"),
        inputs(point={"x": 1, "y": 2}),
        frame("c"),
        after(),
        frame("d"),
        before("2"),
        frame("e"),
    )
    assert (shots(first), shots(second)) == (("b", "d"), ("d", None))


def test_the_last_step_has_the_last_frame():
    (step,) = read(before(), after(), frame("a"), frame("b"))
    assert shots(step) == (None, "b")


def test_an_action_without_an_input_has_the_frame_from_before_it():
    (step,) = read(frame("a"), before(), frame("b"), after())
    assert shots(step) == ("a", "b")


def test_frames_are_those_of_the_page_if_the_action_names_one():
    first, second = read(
        frame("a", pageId="p"),
        frame("b", pageId="q"),
        before(pageId="p"),
        after(),
        before("2", pageId="new"),
        after("2"),
    )
    assert (shots(first), shots(second)) == (("a", "a"), (None, None))


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        ({"point": {"x": 1, "y": 2}}, Target(1, 2, 0, 0, (640, 400))),
        ({"point": {"x": 1, "y": 2}, "box": {"x": 3, "y": 4, "width": 5, "height": 6}}, Target(1, 2, 0, 0, (640, 400))),
        ({"box": {"x": 3, "y": 4, "width": 5, "height": 6}}, Target(3, 4, 5, 6, (640, 400))),
        (
            {"point": {"x": "1", "y": 2}, "box": {"x": 3, "y": 4, "width": 5, "height": 6}},
            Target(3, 4, 5, 6, (640, 400)),
        ),
        ({"point": [1, 2], "box": "here"}, None),
        ({"point": {"x": 1e9, "y": 2}}, None),
        ({"box": {"x": 3, "y": 4, "width": -5, "height": 6}}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("kind", ["input", "after"])
def test_a_step_points_where_the_trace_says(fields, target, kind):
    (step,) = read(frame(), before(), {"type": kind, "callId": "1"} | fields)
    assert step.target == target


def test_without_a_size_of_the_page_a_point_counts_pixels_of_the_frame():
    (step,) = read(frame(width="wide"), before(), inputs(point={"x": 1, "y": 2}))
    assert step.target == Target(1, 2)


@pytest.mark.parametrize(
    ("params", "messages", "arguments"),
    [
        (
            {"selector": "#p", "value": "x"},
            ["resolved to <input type='password'>"],
            {"selector": "#p", "password": "x"},
        ),
        ({"selector": "#PassWord", "text": "x"}, [], {"selector": "#PassWord", "password": "x"}),
        ({"selector": "#p", "value": "x"}, ["resolved to <input type='text'>"], {"selector": "#p", "value": "x"}),
        ({"selector": ["password"], "value": "x"}, [], {"selector": ["password"], "password": "x"}),
        (["selector"], [], {}),
        ("text", [], {}),
        (None, [], {}),
    ],
)
def test_what_was_typed_into_a_field_for_a_password_is_called_so(params, messages, arguments):
    logs = [{"type": "log", "callId": "1", "message": message} for message in messages]
    (step,) = read(before(params=params), *logs)
    assert step.arguments == arguments


@pytest.mark.parametrize("line", [{}, {"first": "x" * 600 + ' <input type="password"/>'}])
def test_a_password_is_known_by_a_message_that_is_not_kept(line):
    first = line.get("first", 'locator resolved to <input id="login" type="password"/>')
    messages = ["waiting", first, *["retrying"] * 12]
    logs = [{"type": "log", "callId": "1", "message": message} for message in messages]
    (step,) = read(before(method="fill", params={"selector": "#login", "value": "hunter2hunter2"}), *logs)
    assert step.arguments == {"selector": "#login", "password": "hunter2hunter2"}


@pytest.mark.parametrize(
    "selector",
    ["#pwd", "#user_pin", "[name=userPin]", "#smsOTP", "#passcode", "#token", "#pass", "#clientSecret", "#CVV"],
)
def test_a_selector_with_a_name_of_secrets_says_that_a_field_is_for_one(selector):
    (step,) = read(before(method="fill", params={"selector": selector, "value": "x"}))
    assert step.arguments == {"selector": selector, "password": "x"}


@pytest.mark.parametrize(
    "selector", ["#shipping", "#opinion", "#passport", "#optional", "#spin", "#compass", "Pineapple"]
)
def test_a_selector_with_a_similar_name_says_nothing(selector):
    (step,) = read(before(method="fill", params={"selector": selector, "value": "x"}))
    assert step.arguments == {"selector": selector, "value": "x"}


@pytest.mark.parametrize(
    ("value", "message", "shown"),
    [
        ("1234", 'fill("1234")', 'fill("redacted")'),
        ("1234", '  - elementHandle.type("1234")', '- elementHandle.type("redacted")'),
        ("1234", 'resolved to <input value="1234"/>', 'resolved to <input value="redacted"/>'),
        ("x y", "typed x y, then 12x yz", "typed redacted, then 12x yz"),
        ("12\n34", 'fill("12\n34")', 'fill("redacted")'),
        ("x" * 700, 'fill("' + "x" * 700 + '")', 'fill("redacted")'),
        ("", 'waiting for locator("#pin")', 'waiting for locator("#pin")'),
        (1234, "sent 1234", "sent redacted"),
    ],
)
def test_a_log_does_not_repeat_a_password(value, message, shown):
    logs = [{"type": "log", "callId": "1", "message": message}]
    (step,) = read(before(method="fill", params={"selector": "#pin", "value": value}), *logs)
    assert step.observation == shown


def test_an_error_does_not_repeat_a_password():
    (step,) = read(before(params={"selector": "#pin", "value": "1234"}), after(error={"message": 'no: fill("1234")'}))
    assert step.observation == 'no: fill("redacted")'


def test_a_log_of_another_field_stays():
    logs = [{"type": "log", "callId": "1", "message": 'fill("joe")'}]
    (step,) = read(before(method="fill", params={"selector": "#user", "value": "joe"}), *logs)
    assert step.observation == 'fill("joe")'


@pytest.mark.parametrize(("key", "name"), [("Delete", "key"), ("Control+A", "key"), ("x", "password")])
def test_only_a_key_that_writes_is_a_part_of_a_password(key, name):
    logs = [{"type": "log", "callId": "1", "message": f'press("{key}")'}]
    (step,) = read(before(method="press", params={"selector": "#password", "key": key}), *logs)
    assert step.arguments == {"selector": "#password", name: key}
    assert step.observation == ('press("redacted")' if name == "password" else f'press("{key}")')


def test_very_long_parameters_are_not_read():
    (step,) = read(before(params={"expression": "x" * 70_000}))
    assert step.arguments == {"parameters": "70,017 bytes, not shown"}


def test_long_messages_are_cut_and_of_many_the_last_remain():
    logs = [{"type": "log", "callId": "1", "message": f"{number} " + "x" * 1_000} for number in range(100)]
    (step,) = read(before(), *logs)
    lines = step.observation.split("\n")
    assert [line.partition(" ")[0] for line in lines] == [str(number) for number in range(88, 100)]
    assert {len(line) for line in lines} == {500 + len("… (1,003 characters)")}


@pytest.mark.parametrize(
    "path",
    [
        "screencast/../../etc/passwd",
        "../x.jpeg",
        "/etc/passwd",
        "screencast/",
        "screencast/a/b.jpeg",
        "screencast/ä.jpeg",
        "screencast/a b.jpeg",
        "elsewhere/a.jpeg",
        "screencast/" + "x" * 201,
        ["screencast/a.jpeg"],
        None,
        7,
    ],
)
def test_a_frame_whose_path_leads_elsewhere_is_none(path):
    (step,) = read(frame(file=path, sha1="../../x"), before(), after())
    assert (step.before, step.after) == (None, None)


def test_a_frame_of_an_older_trace_lies_among_the_resources():
    (step,) = read(frame(file=None, sha1="page@1-2.jpeg"), before())
    assert step.before == Screenshot("resources/page@1-2.jpeg", 0, is_embedded=True)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"null",
        b'{"type": "before"}',
        b'{"type": {"a": 1}, "callId": "1"}',
        b'{"type": "before", "callId": ["1"], "method": "click"}',
        b'{"type": "after", "callId": {"a": 1}}',
        b'{"type": "log", "callId": "1", "message": 7}',
        b'{"type": "log", "callId": "unknown", "message": "x"}',
        b'{"type": "input", "callId": "1", "point": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b'{"type": "input", "callId": "1", "point": {"x": 1' + b"0" * 5_000 + b', "y": 1}}',
        b'{"type": "log", "callId": "1", "message": "' + b"x" * 2**20 + b'"}',
    ],
)
def test_a_line_that_says_nothing_is_left_out(line):
    (step,) = read(before(), line, inputs(point={"x": 1, "y": 2}))
    assert (step.index, step.observation, step.target) == (1, None, Target(1, 2))


def test_of_very_many_actions_the_last_remain_with_their_numbers():
    steps = read(
        *(event for number in range(1_500) for event in (before(str(number), startTime=number), after(str(number))))
    )
    assert (len(steps), steps[0].index, steps[-1].index) == (1_000, 501, 1_500)


def test_actions_that_never_end_and_pages_are_forgotten_one_by_one():
    log = trace_actions._Log()
    for number in range(1_500):
        for event in (frame(pageId=str(number)), before(str(number))):
            log.take(msgspec.convert(event, trace_actions._Event))
    assert (len(log._open), len(log._by_page)) == (1_000, 1_000)


def test_what_follows_the_end_of_an_action_changes_nothing():
    (step,) = read(before(), after(), inputs(point={"x": 1, "y": 2}), after(error={"message": "late"}))
    assert (step.target, step.observation) == (None, None)


def test_the_lines_of_a_log_have_an_end(monkeypatch):
    monkeypatch.setattr(trace_actions, "MOST_LINES", 2)
    assert len(read(before(), before("2"), before("3"))) == 2


def test_actions_of_several_logs_are_in_the_order_of_time():
    actions = LoggedActions()
    for shift, name in ((1_000, "second"), (0, "first")):
        context = START | {"wallTime": START["wallTime"] + shift}
        actions.add_log("\n".join(map(json.dumps, (context, before(method=name)))).encode())
    assert [(step.index, step.action) for step in actions.steps] == [(1, "first"), (2, "second")]
