"""What `experiment.log` says of actions and thoughts, whatever the agent writes into it."""

from __future__ import annotations

from time import perf_counter

import pytest

from pytest_webeval.recordings.formats.agentlab import LoggedAction, find_answer, parse_log
from pytest_webeval.recordings.trajectory.step import Target

TIME = "2026-01-31 10:00:00,500 - "
LOOP = f"{TIME}7 - agentlab.experiments.loop - "
AT = "2026-01-31T10:00:00.500"


def action(code, thought="", timestamp=AT):
    return LoggedAction(code, thought, timestamp)


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        (f"{LOOP}INFO - I look.\n\naction:\nclick('1')\n\n", [action("click('1')", "I look.")]),
        (f"{LOOP}INFO - action:\nclick('1')\nnoop()\n\n", [action("click('1')\nnoop()")]),
        (f"{LOOP}INFO - None\n\naction:\nNone\n\n", [action("")]),
        (f"{TIME}browsergym.experiments.loop - INFO - action:\nnoop()\n", [action("noop()")]),
        (f"{LOOP}DEBUG - Agent chose action:\n noop()\n{TIME}7 - other - INFO - more\n", [action("noop()")]),
        (
            f"{LOOP}DEBUG - Agent chose action:\n noop()\n{LOOP}INFO - why\n\naction:\nnoop()\n",
            [action("noop()", "why")],
        ),
        (f"{LOOP}INFO - one\naction:\ntwo\n\naction:\nnoop()\n", [action("noop()", "one\naction:\ntwo")]),
        (f"{LOOP}INFO - Running experiment a in:\n  /tmp/runs/a\n", []),
        (f"{TIME}7 - my.agent - INFO - why\n\naction:\nnoop()\n", []),
        (f"{LOOP}WARNING - why\n\naction:\nnoop()\n", []),
        ("action:\nnoop()\n", []),
        ("", []),
    ],
)
def test_actions_are_those_that_the_loop_logged(text, actions):
    assert parse_log(text) == actions


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("click('1')", "click"),
        ("  fill('1', 'a(b')", "fill"),
        ("", "none"),
        ("I click", "unparsed"),
        ("a.b()", "unparsed"),
        ("se\u0663\u00bdd()", "unparsed"),
    ],
)
def test_a_step_is_named_after_the_first_call(code, name):
    assert action(code).name == name


@pytest.mark.parametrize(
    ("codes", "answer"),
    [
        (["send_msg_to_user('12')"], "12"),
        (['send_msg_to_user(text="It\'s \\"12\\"\\n")'], 'It\'s "12"\n'),
        (['send_msg_to_user("""a "quoted"\nline""")'], 'a "quoted"\nline'),
        (['send_msg_to_user("""a""")  # """'], "a"),
        (["click('1')\nsend_msg_to_user('12')"], "12"),
        (["send_msg_to_user('first')", "send_msg_to_user('last')", "noop()"], "last"),
        (["report_infeasible(reason='no such page')"], "no such page"),
        (["fill('1', \"send_msg_to_user('12')\")"], None),
        (["send_msg_to_user('\\d')"], "\\d"),
        (["send_msg_to_user(answer)"], None),
        (["send_msg_to_user('12"], None),
        (['send_msg_to_user("""12"'], None),
        (["send_msg_to_user('12')\nsend_msg_to_user('13')"], "13"),
        ([], None),
    ],
)
def test_the_answer_is_the_last_text_for_the_user(codes, answer):
    assert find_answer([action(code) for code in codes]) == answer


def test_a_log_of_unfinished_texts_takes_time_in_proportion_to_its_length():
    line = 'send_msg_to_user("""' + "\\" * 7 + '""'
    actions = [action("\n".join([line] * 600))] * 300
    started = perf_counter()
    assert find_answer(actions) is None
    assert perf_counter() - started < 5


@pytest.mark.parametrize(
    ("code", "target"),
    [
        ("mouse_click(120, 45.5)", Target(120, 45.5)),
        ("mouse_click(x=120, y=45, button='right')", Target(120, 45)),
        ("noop()\n  mouse_dblclick( 1 , 2 )\nmouse_move(3, 4)", Target(1, 2)),
        ("mouse_drag_and_drop(from_x=1, from_y=2, to_x=3, to_y=4)", Target(1, 2)),
        ("mouse_click(-3, 4)", Target(-3, 4)),
        ("mouse_click(9999999, 4)", None),
        ("mouse_click('a', 4)", None),
        ("click('12')", None),
        ("scroll(0, 300)", None),
        ("fill('3', 'mouse_click(1, 2)')", None),
        ("", None),
    ],
)
def test_the_first_use_of_the_mouse_has_a_point(code, target):
    assert action(code).target == target
