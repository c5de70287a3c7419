"""Subset files: spec §8.2."""

from __future__ import annotations

import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import SettingsError, TaskDefinitionError
from pytest_webeval.tasks.dataset import load_tasks, parse_tasks
from pytest_webeval.tasks.subset import Subset, load_subset, parse_subset

# SHA-256 of the bytes [7,11], [] and [7,11,"07","a\\u00e9"]
OF_7_AND_11 = "05b0f17c5de9a867b88d2537c694a93cd7860b0c99d21390ff030eb1fe41f02d"
OF_NOTHING = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
OF_BOTH = "9f92b520e4277ca48ee04d89fe96dddb5b2cbcdce43cd8405e3438fbd52defac"


@pytest.mark.parametrize(
    "fields",
    [
        {"task_ids": [7, 11]},
        {"task_ids": [11, 7]},
        {"task_ids": [7, 11], "checksum": None},
        {"task_ids": [7, 11], "checksum": OF_7_AND_11},
        {"task_ids": [11, 7], "checksum": OF_7_AND_11, "description": "two tasks", "author": ["anybody"]},
    ],
)
def test_a_subset_is_the_ascending_ids_whatever_else_the_file_says(fields):
    found = parse_subset(json.dumps(fields).encode(), "/somewhere/two.json")
    assert found == Subset("two.json", (7, 11))
    assert found.checksum == OF_7_AND_11


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (["aé", 11, "07", 7], (7, 11, "07", "aé")),
        (["10", "9", 100, 20], (20, 100, "10", "9")),
        (["books_find_7_rephrased_2", "B", " b"], (" b", "B", "books_find_7_rephrased_2")),
        (["7", "07"], ("07", "7")),
        (["\udce9"], ("\udce9",)),
    ],
)
def test_ids_are_numbers_or_texts_and_the_numbers_come_first(ids, kept):
    found = parse_subset(json.dumps({"task_ids": ids}).encode(), "x")
    assert found.task_ids == kept
    assert (found.checksum == OF_BOTH) is (7 in ids)
    assert parse_subset(json.dumps({"task_ids": ids, "checksum": found.checksum}).encode(), "x") == found


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "cannot parse the subset two.json as JSON: Expecting value: line 1 column 1 (char 0); fix the file"),
        ("\xff", "cannot parse the subset two.json as JSON: "),
        ("[" * 100_000, "cannot parse the subset two.json as JSON: "),
        ("[7, 11]", 'is not a JSON object; expected {"task_ids": [7, 11]} with the ids of some tasks'),
        ("{}", 'has no list of task_ids; expected {"task_ids": [7, 11]} with the ids of some tasks'),
        ('{"task_ids": 7}', "has no list of task_ids; expected "),
        ('{"task_ids": {"7": 11}}', "has no list of task_ids; expected "),
        ('{"task_ids": []}', "has no list of task_ids; expected "),
        ('{"task_ids": [7, 11, "7"]}', 'lists task "7" twice @ task_ids[2]; list it once'),
        ('{"task_ids": ["a", "b", "a"]}', 'lists task "a" twice @ task_ids[2]; list it once'),
        (
            '{"task_ids": [7, true]}',
            "invalid task id in the subset two.json: true @ task_ids[1]; use an integer or a non-empty string",
        ),
        (
            '{"task_ids": [7.0]}',
            "invalid task id in the subset two.json: 7.0 @ task_ids[0]; use an integer or a non-empty string",
        ),
        (
            '{"task_ids": [[7]]}',
            "invalid task id in the subset two.json: [7] @ task_ids[0]; use an integer or a non-empty string",
        ),
        (
            '{"task_ids": [null]}',
            "invalid task id in the subset two.json: null @ task_ids[0]; use an integer or a non-empty string",
        ),
        (
            '{"task_ids": ["\\n"]}',
            'invalid task id in the subset two.json: "\\n" @ task_ids[0]; use an integer or a non-empty string',
        ),
        ('{"task_ids": [7, 11, 7]}', "lists task 7 twice @ task_ids[2]; list it once"),
        (f'{{"task_ids": [7], "checksum": "{OF_7_AND_11}"}}', f'has the checksum "{OF_7_AND_11}", but its ids have '),
        (f'{{"task_ids": [7, 11], "checksum": "{OF_NOTHING}"}}', f'{OF_NOTHING}", but its ids have {OF_7_AND_11}; '),
        ('{"task_ids": [7], "checksum": [7]}', "has the checksum [7], but its ids have "),
    ],
)
def test_a_damaged_subset_is_refused_in_one_line(content, told):
    with pytest.raises(SettingsError) as caught:
        parse_subset(content.encode("latin-1"), "two.json")
    assert told in str(caught.value)
    assert str(caught.value).isprintable()


@given(st.binary(max_size=60) | st.builds(lambda ids: json.dumps({"task_ids": ids}).encode(), st.lists(st.integers())))
def test_any_bytes_are_a_subset_or_refused_by_name(content):
    with suppress(SettingsError):  # anything else fails the test
        assert parse_subset(content, "x").task_ids


def test_a_file_that_cannot_be_read_is_told_with_the_option(tmp_path):
    with pytest.raises(SettingsError, match=r"cannot read the subset .*: Is a directory; check the path"):
        load_subset(str(tmp_path))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a package by the reference's name where Python looks first, and gives its directory for data."""
    folder = tmp_path / "webarena_verified/assets/subsets"
    folder.mkdir(parents=True)
    (tmp_path / "webarena_verified/__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.delitem(sys.modules, "webarena_verified", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_name_stands_for_a_file_of_the_installed_reference_which_is_not_imported(installed):
    (installed / "webarena-verified-hard.json").write_text('{"task_ids": [11, 7]}')
    (installed / "webarena-verified-non-hard.json").write_text('{"task_ids": [8]}')
    assert load_subset("hard") == Subset("hard", (7, 11))
    assert load_subset("non-hard") == Subset("non-hard", (8,))


def test_without_the_reference_its_names_say_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "webarena_verified", None)  # as if it were not installed
    advice = "which is not installed; install it, or pass a file with --webeval-subset"
    with pytest.raises(SettingsError, match=f"the subset hard needs webarena-verified, {advice}"):
        load_subset("hard")
    with pytest.raises(TaskDefinitionError, match="webarena-verified is not installed; install it, or pass"):
        load_tasks("webarena-verified")


def test_the_data_set_of_the_installed_reference_is_found_as_well(installed, bench):
    (installed / "webarena-verified.json").write_text(json.dumps([bench.task(bench.expecting())]))
    assert load_tasks("webarena-verified").task_ids == (7,)


def test_a_task_set_knows_its_tasks_without_reading_them():
    found = parse_tasks(b'[{"task_id": 7}]', "x")
    assert [7 in found, 8 in found] == [True, False]
