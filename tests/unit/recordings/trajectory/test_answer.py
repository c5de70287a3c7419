"""Answer files: `fara_webeval.md` §2.2, §9."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.answer import FinalAnswer, Usage, answer_name, name_warning, read_answer
from pytest_webeval.recordings.trajectory.step import NO_ANSWER, UnreadableTrajectory

NAME = "books_find_7_final_answer.json"
SHOTS = ("screenshot0.png", "screenshot1.png", "screenshot2.png", "screenshot3.png")
FOUND = "The Pocket Atlas costs 12.50 EUR and is in stock."
COMPLETED = """{"final_answer":"The Pocket Atlas costs 12.50 EUR and is in stock.","env_state_json":"<no_answer>",
 "env_state_raw":"<no_answer>","screenshots":["screenshot0.png","screenshot1.png","screenshot2.png","screenshot3.png"],
 "is_aborted":false,"is_rel_paths":true,"token_usage":{"FaraAgent":{"prompt_tokens":9100,"completion_tokens":240}}}"""
OVER_BUDGET = """{"final_answer":"<no_answer>","env_state_json":"<no_answer>","env_state_raw":"<no_answer>",
 "screenshots":["screenshot0.png","screenshot1.png","screenshot2.png","screenshot3.png"],"is_aborted":false,"is_rel_paths":true,
 "token_usage":{}}"""
LEGACY = """{"final_answer":"The Pocket Atlas costs 12.50 EUR and is in stock.","screenshots":
 ["screenshot0.png","screenshot1.png","screenshot2.png","screenshot3.png"],"is_aborted":false}"""


def answer_of(**fields):
    return read_answer(NAME, json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["a_final_answer.json", "times.json"], "a_final_answer.json"),
        (["b_final_answer.json"], "b_final_answer.json"),
        (["_final_answer.json"], "_final_answer.json"),
        (["a_answer.json", "times.json", "web_surfer.log"], "a_answer.json"),
        (["final_answer.json"], "final_answer.json"),
        (["_answer.json"], "_answer.json"),
        (["b_final_answer.json", "._a_final_answer.json", "._b_final_answer.json"], "b_final_answer.json"),
    ],
)
def test_the_answer_file_is_the_only_one_whatever_it_is_named_after(names, chosen):
    assert answer_name("a", names) == answer_name("a", names[::-1]) == chosen


def test_the_id_in_the_name_of_the_answer_file_is_no_pattern():
    assert answer_name(".BBC [1]*", [".BBC 1_final_answer.json", ".BBC [1]*_final_answer.json"]) == (
        ".BBC [1]*_final_answer.json"
    )


@pytest.mark.parametrize(
    ("names", "code", "told"),
    [
        (
            [],
            "answer_missing",
            "missing answer file: neither 'a_final_answer.json' nor another *_answer.json; the agent crashed, or ",
        ),
        (["answer.json", "a_answer.json.bak", "A_ANSWER.JSON"], "answer_missing", "missing answer file: "),
        (
            ["c_answer.json", "b_answer.json"],
            "answer_ambiguous",
            "2 answer files: 'b_answer.json', 'c_answer.json'; keep only the one that the recorder wrote, ",
        ),
        (["a_answer.json", "a_final_answer.json"], "answer_ambiguous", "2 answer files: 'a_answer.json', 'a_final_"),
        (["c_final_answer.json", "b_final_answer.json", "a_answer.json"], "answer_ambiguous", "3 answer"),
        ([f"{n}_answer.json" for n in "bcdefghi"], "answer_ambiguous", "'f_answer.json' and 3 more; keep"),
        (["b\n_answer.json", "c_answer.json"], "answer_ambiguous", r"'b\n_answer.json', "),
    ],
)
def test_without_one_answer_file_there_is_a_reason_in_one_line(names, code, told):
    with pytest.raises(UnreadableTrajectory) as caught:
        answer_name("a", names)
    assert caught.value.code == code
    assert told in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("name", "is_odd"),
    [
        ("a_final_answer.json", False),
        ("a_answer.json", False),
        ("final_answer.json", False),
        ("_final_answer.json", False),
        ("_answer.json", False),
        ("b_final_answer.json", True),
        ("b_answer.json", True),
    ],
)
def test_an_answer_file_with_the_name_of_another_task_is_told_of(name, is_odd):
    assert (name_warning("a", name) is not None) is is_odd


def test_the_warning_names_the_file_and_the_directory():
    told = name_warning("a", "b_final_answer.json")
    assert told == "b_final_answer.json: the directory name 'a' is used as the task id; check whether it was renamed"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (COMPLETED, FinalAnswer(NAME, FOUND, screenshots=SHOTS, token_usage={"FaraAgent": Usage(9100, 240)})),
        (OVER_BUDGET, FinalAnswer(NAME, NO_ANSWER, screenshots=SHOTS)),
        (LEGACY, FinalAnswer(NAME, FOUND, SHOTS, is_aborted=False, is_rel_paths=True)),
        ("{}", FinalAnswer(NAME, "<no_answer>", (), is_aborted=False, is_rel_paths=True)),
    ],
)
def test_the_worked_examples_are_read_as_they_stand(content, expected):
    assert read_answer(NAME, content.encode()) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"final_answer": ""}, {"final_answer": "", "is_answered": True}),
        ({"final_answer": "<no_answer> "}, {"is_answered": True}),
        ({"final_answer": NO_ANSWER}, {"is_answered": False}),
        ({}, {"is_answered": False}),
        ({"final_answer": "Zürich \ud800"}, {"final_answer": "Zürich \ud800"}),
        ({"env_state_json": {"cart": []}, "env_state_raw": "{cart"}, {"is_answered": False}),
        ({"env_state_json": None, "env_state_raw": None}, {"is_answered": False}),
        ({"is_aborted": True, "is_rel_paths": False}, {"is_aborted": True, "is_rel_paths": False}),
        ({"token_usage": None}, {"token_usage": {}}),
    ],
)
def test_fields_are_kept_as_the_file_has_them_without_a_warning(fields, expected):
    found = answer_of(**fields)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.warnings == ()


def test_null_for_an_answer_is_none_with_a_warning():
    found = answer_of(final_answer=None)
    assert (found.final_answer, found.is_answered) == (NO_ANSWER, False)
    assert found.warnings == (f"{NAME}: final_answer is null, which is read as <no_answer>",)


def test_unknown_keys_are_told_of_once():
    found = answer_of(final_answer="x", zeal=1, mood={"a": None})
    assert found.warnings == (f"{NAME}: unknown keys, not used: 'mood', 'zeal'",)
    assert answer_of(**dict.fromkeys("abcde")).warnings[0].endswith("'a', 'b', 'c', 'd', 'e'")
    many = answer_of(**{f"key{n}": n for n in range(9)})
    assert many.warnings[0].endswith("'key0', 'key1', 'key2', 'key3', 'key4' and 4 more")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_skipped_with_a_warning(encoding):
    found = read_answer(NAME, COMPLETED.encode(encoding))
    assert found.final_answer == FOUND
    assert found.warnings == (f"{NAME}: starts with a byte order mark, which is skipped",)


def test_a_component_whose_usage_cannot_be_believed_does_not_cost_the_answer():
    found = answer_of(final_answer="x", token_usage={"FaraAgent": {"prompt_tokens": -1, "completion_tokens": 1}})
    assert (found.final_answer, found.token_usage, len(found.warnings)) == ("x", {}, 1)
    assert found.warnings[0].startswith(
        f"{NAME}: token_usage of 'FaraAgent' is excluded from the sum: prompt_tokens is -1"
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b"",
            (
                "cannot parse books_find_7_final_answer.json as JSON: Expecting value: line 1 column 1 (char 0); "
                "re-record the run, or fix the file"
            ),
        ),
        (b'{"final_answer": "x"', "cannot parse books_find_7_final_answer.json as JSON: "),
        (b'{"final_answer": "\xff"}', "cannot parse books_find_7_final_answer.json as JSON: 'utf-8' codec"),
        (b"[" * 100_000, "cannot parse books_find_7_final_answer.json as JSON: "),
        (b"1" * 5000, "cannot parse books_find_7_final_answer.json as JSON: "),
        (b"[]", "is a list; expected an object with final_answer; re-record the run, or fix the file"),
        (b"null", "is null; expected an object"),
        (b"7", "is a number; expected an object"),
        (
            b'{"final_answer": 7}',
            "has a number instead of a string; re-record the run, or fix the file @ final_a",
        ),
        (b'{"final_answer": ["x"]}', "has a list instead of a string; re-record"),
        (
            b'{"env_state_raw": {}}',
            "has an object instead of a string; re-record the run, or fix the file @ env_",
        ),
        (b'{"screenshots": "a.png"}', "has a string instead of a list of file names; re-record"),
        (b'{"screenshots": null}', "has null instead of a list of file names; re-record"),
        (
            b'{"screenshots": ["a.png", 1.5]}',
            "has a number instead of a file name; re-record the run, or fix t",
        ),
        (b'{"screenshots": ["a.png", null]}', "or fix the file @ screenshots[1]"),
        (b'{"is_aborted": 0}', "has a number instead of a boolean; "),
        (b'{"is_aborted": null}', "or fix the file @ is_aborted"),
        (b'{"is_rel_paths": "yes"}', "has a string instead of a boolean; "),
        (b'{"token_usage": [true]}', "has a list instead of an object; "),
        (b'{"token_usage": true}', "has a boolean instead of an object; "),
    ],
)
def test_a_file_with_a_wrong_type_is_unreadable_and_says_where(content, told):
    with pytest.raises(UnreadableTrajectory) as caught:
        read_answer(NAME, content)
    assert caught.value.code == "answer_invalid"
    assert str(caught.value).startswith((told, f"{NAME} {told}")) or str(caught.value).endswith(told)
    assert str(caught.value).isprintable()


FIELDS = ["final_answer", "env_state_json", "env_state_raw", "screenshots", "is_aborted", "is_rel_paths", "token_usage"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)
OBJECTS = st.dictionaries(st.sampled_from([*FIELDS, "other"]), JSON, max_size=3).map(
    lambda raw: json.dumps(raw).encode()
)


@given(st.binary(max_size=60) | OBJECTS)
def test_any_bytes_are_an_answer_or_unreadable(content):
    with suppress(UnreadableTrajectory):  # anything else fails the test
        found = read_answer(NAME, content)
        assert isinstance(found.final_answer, str)
        assert all(isinstance(name, str) for name in found.screenshots)
        assert all(text.isprintable() for text in found.warnings)


@given(st.text(max_size=9), st.lists(st.text(max_size=5).map(lambda text: f"{text}_answer.json"), max_size=4))
def test_any_names_have_an_answer_file_among_them_or_a_reason(task_id, names):
    with suppress(UnreadableTrajectory):
        assert answer_name(task_id, names) in names
