"""Evaluators of users from a file: which are used, and what is wrong with a file."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.sessions.runs.own_evaluators import load_evaluators

OWN = """
from pytest_webeval.evaluators.response import ResponseEvaluator

class Own(ResponseEvaluator):
    pass

def webeval_evaluators(ours):
    return [*ours, Own()]
"""


@pytest.fixture
def write(tmp_path):
    """Writes a module. Returns its path, as a user names it."""
    before = dict(sys.modules)

    def write_file(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    yield write_file
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]


def test_a_session_without_a_module_has_our_evaluators():
    evaluators, checksum = load_evaluators(None)
    assert (list(map(type, evaluators)), checksum) == (list(map(type, default_evaluators())), "")


def test_a_file_adds_its_evaluators_and_decides(write):
    evaluators, checksum = load_evaluators(write("own_in_a_file.py", OWN))
    assert type(evaluators[-1]).__name__ == "Own"
    assert load_evaluators(write("own_in_a_file.py", OWN))[1] == checksum != ""
    assert load_evaluators(write("own_in_a_file.py", f"{OWN}# changed"))[1] != checksum


@pytest.mark.parametrize("name", ["json.py", "colorsys.py", "sys.py", "pytest_webeval.py"])
def test_a_file_does_not_take_the_place_of_another_module(write, name):
    before = sys.modules.get(name.removesuffix(".py"))
    evaluators, _ = load_evaluators(write(name, OWN))
    assert type(evaluators[-1]).__name__ == "Own"
    assert sys.modules.get(name.removesuffix(".py")) is before
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no function webeval_evaluators; let it take our evaluators and return those to use"),
        (
            "def webeval_evaluators(ours): return [1]",
            "returned 1, which is not an Evaluator; return a list of evaluators",
        ),
        ("def webeval_evaluators(ours): return ours[9]", "webeval_evaluators raised IndexError: .*; fix it"),
        ("1 / 0", "cannot import .*: ZeroDivisionError: division by zero; use a module that is installed"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(write, text, problem):
    with pytest.raises(SettingsError, match=problem) as raised:
        load_evaluators(write("own_with_a_problem.py", text))
    assert "\n" not in str(raised.value)
