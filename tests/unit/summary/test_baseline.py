"""What changed since an earlier session."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.summary.baseline import Baseline
from pytest_webeval.summary.baseline import BaselineRow
from pytest_webeval.summary.baseline import Flips
from pytest_webeval.summary.baseline import flip_by_run
from pytest_webeval.summary.baseline import flips
from pytest_webeval.summary.baseline import read_baseline


def rows(text):
    """Rows of words such as `a/1+`: a label, whose last part is the task id, and how it went."""
    status = {"+": "success", "-": "failure", "!": "error", "?": "excluded", "~": "partial_match"}
    words = [(word[:-1], status[word[-1]]) for word in text.split()]
    return [BaselineRow(run, int(run.rpartition("/")[2]), state) for run, state in words]


@pytest.mark.parametrize(
    ("before", "now", "regressed", "fixed", "new", "gone"),
    [
        ("", "", "", "", "", ""),
        ("r/1+ r/2-", "r/1- r/2+", "r/1", "r/2", "", ""),
        ("r/1+ r/2-", "r/1+ r/2-", "", "", "", ""),
        ("r/1- r/2!", "r/1! r/2-", "", "", "", ""),
        ("r/1+ r/2!", "r/1! r/2+", "r/1", "r/2", "", ""),
        ("r/1+ r/2~", "r/1~ r/2+", "r/1", "r/2", "", ""),
        ("r/1+ r/2?", "r/1? r/2+", "", "", "", ""),
        ("r/1+", "elsewhere/1-", "elsewhere/1", "", "", ""),
        ("a/1+ b/1-", "a/1- b/1+", "a/1", "b/1", "", ""),
        ("a/1+ b/1-", "c/1-", "", "", "c/1", "a/1 b/1"),
        ("a/1+ b/1-", "a/1-", "a/1", "", "", "b/1"),
        ("r/1+", "r/1+ r/2-", "", "", "r/2", ""),
        ("r/1+ r/2-", "r/2-", "", "", "", "r/1"),
        ("r/3+ r/1+ r/2+", "r/2- r/10- r/1- r/3-", "r/2 r/1 r/3", "", "r/10", ""),
    ],
)
def test_runs_flip_between_success_and_anything_else_that_counts(before, now, regressed, fixed, new, gone):
    expected = Flips(*(tuple(one.split()) for one in (regressed, fixed, new, gone)))
    assert flips(rows(before), rows(now)) == expected


def test_an_id_is_the_same_as_a_number_and_as_a_text():
    assert flips([BaselineRow("a", 7, "success")], [BaselineRow("b", "7", "failure")]).regressed == ("b",)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, {}),
        ({"baseline": None}, {}),
        ({"baseline": {"regressed": ["a", "b"], "fixed": ["c"]}}, {"a": "regressed", "b": "regressed", "c": "fixed"}),
    ],
)
def test_a_run_knows_how_it_flipped(about, expected):
    assert flip_by_run(about) == expected


WHOLE = {
    "timestamp": "2026-01-30T12:00:00Z",
    "webarena_verified_evaluator_checksum": "e",
    "webarena_verified_data_checksum": "d",
    "task_results": [{"run": "r/1", "task_id": 1, "status": "success", "score": 1.0}],
    "webeval": {"rules": "default", "success_rate": None, "more": [1]},
}


def test_a_baseline_is_read_as_far_as_it_is_needed(tmp_path):
    (tmp_path / "then.json").write_text(json.dumps(WHOLE))
    (tmp_path / "link.json").symlink_to("then.json")
    found = read_baseline(tmp_path / "link.json")
    assert isinstance(found, Baseline)
    assert found.task_results == [BaselineRow("r/1", 1, "success")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "then.json as JSON: Expecting value"),
        (b"\xff", "then.json as JSON: 'utf-8' codec"),
        (b"[" * 100_000, "nests deeper"),
        (b"[" + b"1," * 2_000_001 + b"1]", "holds more values"),
        (b"[]", "then.json: Expected `object`, got `array`"),
        (
            json.dumps(WHOLE | {"task_results": [{"run": "r", "task_id": True, "status": "success"}]}).encode(),
            "got `bool`",
        ),
        (json.dumps(WHOLE | {"task_results": [{"run": "r", "task_id": 1, "status": "won"}]}).encode(), "'won'"),
        (
            json.dumps(WHOLE | {"task_results": [{"task_id": 1, "status": "error"}]}).encode(),
            "field `run` @ task_results",
        ),
        (json.dumps(WHOLE | {"webeval": {}}).encode(), "field `rules` @ webeval"),
        (json.dumps(WHOLE | {"timestamp": 3}).encode(), "got `int` @ timestamp"),
    ],
)
def test_what_is_no_summary_is_refused_in_one_line_that_says_why(tmp_path, content, told):
    (tmp_path / "then.json").write_bytes(content)
    with pytest.raises(SettingsError) as found:
        read_baseline(tmp_path / "then.json")
    assert told in str(found.value)
    assert str(found.value).startswith("--webeval-baseline: ")
    assert "\n" not in str(found.value)


def test_a_baseline_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"--webeval-baseline: .*not a regular file"):
        read_baseline(tmp_path)
