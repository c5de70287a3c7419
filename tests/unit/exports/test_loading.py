"""`load_results`: rows of results, of a summary, and of both; files that cannot be used."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_webeval
from pytest_webeval import AssertionRow, SettingsError, TaskRow, load_results
from pytest_webeval.exports import EXPORTS
from pytest_webeval.exports.rows import list_columns
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.results.parquet_shards import import_library
from pytest_webeval.summary.results.result_files import read_results
from tests.support.stored_results import MOMENT, assertion, evaluated, result, row, write_results, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")


def cells(loaded, *names):
    return [tuple(getattr(each, name) for name in names) for each in loaded]


def test_a_result_is_a_row_with_all_that_it_says(tmp_path):
    (task,) = load_results(write_results(tmp_path, result(101, "runs/try-1/101")))
    assert {name: getattr(task, name) for name in task.__struct_fields__} == {
        "run": "runs/try-1/101",
        "task_id": "101",
        "status": "success",
        "score": 1.0,
        "sites": "map-shopping",
        "template": 7,
        "type": None,
        "reason": None,
        "answer": '["lamp", 2]',
        "attempt": "runs/try-1",
        "excluded": False,
        "tags": "",
        "rules": "default",
        "today": None,
        "wall_time": 0.5,
        "format": "webarena-verified",
        "benchmark": None,
        "version": "0.1.0",
        "webarena_verified_version": "1.2.3",
        "evaluators_checksum": "e0e0",
        "data_checksum": "d0d0",
        "task_checksum": "0123456789abcdef",
        "recording_checksum": task.recording_checksum,
        "judge_checksum": task.judge_checksum,
        "timestamp": None,
        "partial_score": None,
        "evaluator_choice": None,
    }
    assert len(task.recording_checksum) == len(task.judge_checksum) == 16
    assert task.recording_checksum != task.judge_checksum


def test_a_summary_is_rows_with_what_it_says_once_for_all(tmp_path):
    own = row("9", "runs/9", "failure", tags=["slow", "new"], rules="reference", evaluators="e9", today="2026-01-01")
    first, second = load_results(write_summary(tmp_path, row(8, "runs/8"), own))
    assert (first.rules, first.evaluators_checksum, first.data_checksum) == ("strict", "e1e1", "d1d1")
    assert (first.version, first.webarena_verified_version, first.timestamp) == ("0.2.0", "1.2.3", MOMENT)
    assert (first.type, first.score, first.wall_time, first.answer) == ("retrieve", 1.0, None, None)
    assert (second.task_id, second.rules, second.evaluators_checksum) == ("9", "reference", "e9")
    assert (second.tags, second.today, second.is_success, first.is_success) == ("slow,new", "2026-01-01", False, True)


def graded(task_id, score, status="failure", name="Coverage", **about):
    """A result of the answer, and of an evaluator that gives partial scores."""
    checked = [evaluated(), evaluated(evaluator_name=name, status=status, score=score)]
    return result(task_id, f"runs/{task_id}", status, evaluators_results=checked, webeval=about)


def test_a_run_that_counts_in_no_rate_has_no_score_and_makes_no_evaluator_a_grader(tmp_path):
    write_results(
        tmp_path, graded(1, 0.5, excluded="aborted", skipped=True), graded(2, 0.0), graded(3, 0.5, name="Other")
    )
    expected = {"1": None, "2": None, "3": 0.75}
    assert {row.task_id: row.partial_score for row in load_results(tmp_path)} == expected
    runs = read_session(tmp_path).runs
    assert {str(run.task_id): run.partial_score for run in runs} == expected


def test_scores_are_those_of_runs_that_a_grading_evaluator_checked(tmp_path):
    rows = load_results(
        write_results(
            tmp_path,
            graded(1, 0.5),
            graded(2, 0.0),
            graded(3, 1.0, "success"),
            graded(4, 1.0, "success", "Other"),
            graded(5, 0.5, "error"),
            graded(6, 1e308),
            result(7, "runs/7"),
        )
    )
    scores = {row.task_id: row.partial_score for row in rows}
    assert scores == {"1": 0.75, "2": 0.5, "3": 1.0, "4": None, "5": None, "6": None, "7": None}


def test_assertions_are_rows_in_their_order(tmp_path):
    checks = evaluated(assertion("a.b_mismatch", "one", "two"), assertion("mood", status="success", error="why"))
    broken = evaluated(status="error", evaluator_name="MoodEvaluator", assertions=None, error_msg="no mood")
    loaded = load_results(write_results(tmp_path, result(1, "r/1", evaluators_results=[checks, broken])))
    common = {"run": "r/1", "task_id": "1"}
    assert loaded.assertions == (
        AssertionRow(
            **common,
            evaluator="AgentResponseEvaluator",
            evaluator_index=0,
            assertion="a.b_mismatch",
            path="a.b",
            kind="different",
            status="failure",
            messages="one\ntwo",
            error=None,
        ),
        AssertionRow(
            **common,
            evaluator="AgentResponseEvaluator",
            evaluator_index=0,
            assertion="mood",
            path="mood",
            kind=None,
            status="success",
            messages=None,
            error="why",
        ),
        AssertionRow(
            **common,
            evaluator="MoodEvaluator",
            evaluator_index=1,
            assertion=None,
            path=None,
            kind=None,
            status="error",
            messages=None,
            error="no mood",
        ),
    )


def test_the_reason_of_a_failure_is_that_of_the_session(tmp_path):
    checks = evaluated(assertion("retrieved_data_mismatch", 'expected "lamp"'), status="failure")
    failed = result(1, "r/1", "failure", evaluators_results=[checks])
    erring = result(2, "r/2", "error", error_msg="cannot parse it")
    loaded = load_results(write_results(tmp_path, failed, erring))
    assert cells(loaded, "reason") == [('retrieved_data: expected "lamp"',), ("cannot parse it",)]


def test_all_runs_but_excluded_ones_are_judged(tmp_path):
    skipped = result(1, "r/1", webeval={"run": "r/1", "excluded": "aborted", "skipped": True})
    erring = result(2, "r/2", status="error", evaluators_results=[], error_msg="lost")
    loaded = load_results(write_results(tmp_path, skipped, erring, result(3, "r/3")))
    assert cells(loaded, "status", "excluded", "is_judged", "reason") == [
        ("excluded", True, False, "aborted"),
        ("error", False, True, "lost"),
        ("success", False, True, None),
    ]


@pytest.mark.parametrize(
    ("webeval", "results", "answer"),
    [
        ({"trajectory": {"answer": "12.50 EUR"}}, [evaluated()], "12.50 EUR"),
        ({"trajectory": {"answer": ["no text"]}}, [evaluated()], None),
        ({}, [evaluated(actual={"results": {"ä": 1}})], '{"ä": 1}'),
        ({}, [evaluated(actual={"retrieved_data": None})], None),
        ({}, [evaluated(actual="text")], None),
        ({}, [evaluated(evaluator_name="MoodEvaluator")], None),
    ],
)
def test_the_answer_is_the_text_or_the_data_of_the_agent(tmp_path, webeval, results, answer):
    content = result(1, "r/1", webeval={"run": "r/1", **webeval}, evaluators_results=results)
    assert load_results(write_results(tmp_path, content))[0].answer == answer


@pytest.mark.parametrize("number", [True, "1", None, math.nan, math.inf, 10**400, [1.0]])
def test_a_time_that_is_no_finite_number_is_unknown(tmp_path, number):
    content = result(1, "r/1", webeval={"run": "r/1", "wall_time": number})
    assert load_results(write_results(tmp_path, content))[0].wall_time is None


def test_data_of_other_types_are_unknown(tmp_path):
    odd = {key: ["no text"] for key in ("version", "format", "webarena_verified_version")}
    (task,) = load_results(write_summary(tmp_path, row(1, "r/1", score="NaN", **odd)))
    assert cells([task], "version", "format", "webarena_verified_version", "score") == [(None, None, None, None)]


def test_half_pairs_are_escaped(tmp_path):
    checks = evaluated(assertion("a", "\ud83d"), actual={"retrieved_data": "\udc00"})
    write_results(tmp_path, result("x\ud800", "r/1", evaluators_results=[checks]))
    loaded = load_results(tmp_path)
    assert cells(loaded, "task_id", "answer") == [("x\\ud800", '"\\udc00"')]
    assert cells(loaded.assertions, "task_id", "messages") == [("x\\ud800", "\\ud83d")]


def test_a_summary_adds_what_results_lack_and_runs_without_a_result(tmp_path):
    write_results(tmp_path, result(1, "r/1"), result(2, "r/2"), result(3, "r/3"))
    checksums = " ".join(
        f"{name}={getattr(load_results(tmp_path)[0], f'{name}_checksum')}" for name in ("recording", "judge", "task")
    )
    write_summary(
        tmp_path,
        row(9, "r/9", "error"),
        row(1, "r/1", checksums=checksums, tags=["slow"]),
        row(2, "r/2", checksums="recording=0", tags=["slow"]),
        row(3, "r/3", "failure", checksums=checksums),
    )
    loaded = load_results(tmp_path)
    assert cells(loaded, "run", "status", "type", "tags", "timestamp", "rules") == [
        ("r/1", "success", "retrieve", "slow", MOMENT, "default"),
        ("r/2", "success", None, "", None, "default"),
        ("r/3", "success", None, "", None, "default"),
        ("r/9", "error", "retrieve", "", MOMENT, "strict"),
    ]
    assert {each.run for each in loaded.assertions} == {"r/1", "r/2", "r/3"}
    assert loaded.problems == ()


def test_a_directory_with_only_a_summary_has_no_assertions(tmp_path):
    write_summary(tmp_path, row(1, "r/1"))
    loaded = load_results(tmp_path)
    assert len(loaded) == 1
    with pytest.raises(SettingsError, match=r"holds no assertions; name a directory with eval_result.json files"):
        _ = loaded.assertions


def test_broken_files_are_named_and_cost_nothing_else(tmp_path):
    write_results(tmp_path, result(1, "r/1"), result(2, "r/2"), result(3, "r/3", intent_template_id=2**63))
    (tmp_path / "r/2/eval_result.json").write_text("{")
    (tmp_path / "r/4").mkdir()
    (tmp_path / "r/4/eval_result.json").symlink_to(tmp_path / "r/1/eval_result.json")
    write_results(tmp_path / "again", result(1, "r/1", "failure"))
    loaded = load_results(str(tmp_path))
    assert cells(loaded, "run", "status") == [("r/1", "failure")]  # the first in the order of paths
    (problem,) = loaded.problems
    assert problem.startswith(
        f"4 rows of {tmp_path} cannot be used: run 'r/1' is listed twice @ r/1/eval_result.json; "
    )
    assert "@ r/2/eval_result.json; Expected `int` <= 9223372036854775807 @ intent_template_id @ r/3/" in problem
    assert problem.endswith("… and 1 more")
    assert len(loaded.assertions) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.sampled_from(["success"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
RESULT, ROW = result(1, "r/1"), row(1, "r/1")
CHECK = evaluated(assertion("a_mismatch", "b"))
PLACES = st.one_of(
    st.sampled_from(sorted(RESULT)).map(lambda name: lambda value: RESULT | {name: value}),
    st.sampled_from(
        [*RESULT["webeval"], "trajectory", "explanations", "excluded", "skipped", "today", "libraries"]
    ).map(lambda name: lambda value: RESULT | {"webeval": RESULT["webeval"] | {name: value}}),
    st.sampled_from(sorted(CHECK)).map(
        lambda name: lambda value: RESULT | {"status": "failure", "evaluators_results": [CHECK | {name: value}]}
    ),
)


@given(PLACES, JSON, st.sampled_from(sorted(ROW)), JSON)
def test_a_file_that_holds_anything_is_rows_or_a_problem(place, value, name, other):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "eval_result.json").write_text(json.dumps(place(value)), "utf-8")
        write_summary(root, ROW | {name: other})
        loaded = load_results(root)
        assert loaded or loaded.problems
        for target in ("csv", "jsonl", "inspect"):
            EXPORTS[target].load_writer()(loaded, ExportSettings())
        for each in loaded:
            for column, kind in list_columns(TaskRow).items():
                expected = {"text": str, "number": float, "integer": int, "boolean": bool}[kind]
                assert isinstance(getattr(each, column), expected | None)


def test_linked_directories_are_not_entered(tmp_path):
    write_results(tmp_path / "secret", result(1, "r/1"))
    write_results(tmp_path / "out", result(2, "r/2"))
    (tmp_path / "out/link").symlink_to(tmp_path / "secret")
    assert cells(load_results(tmp_path / "out"), "run") == [("r/2",)]


def test_a_broken_summary_costs_only_what_it_adds(tmp_path):
    write_results(tmp_path, result(1, "r/1"))
    (tmp_path / "eval_summary.json").write_text("[]")
    loaded = load_results(tmp_path)
    assert len(loaded) == 1
    assert [problem.partition(":")[0] for problem in loaded.problems] == [
        f"invalid eval_summary.json {tmp_path}/eval_summary.json"
    ]


@pytest.mark.parametrize("strange", [5, {"run": ["r/1"]}, {"run": "r/1"}, row(2, "r/8")])
def test_rows_of_a_summary_that_cannot_be_read_are_named_once(tmp_path, strange):
    loaded = load_results(write_summary(tmp_path, row(8, "r/8", checksums="task=1"), strange))
    assert cells(loaded, "run") == [("r/8",)]
    assert len(loaded.problems) == 1
    assert "@ task_results[1]" in loaded.problems[0]


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"results not found: .*/none; name a directory of results or an eval_sum"):
        load_results(tmp_path / "none")
    with pytest.raises(SettingsError, match=r"holds neither eval_result.json nor eval_summary.json; name a directory"):
        load_results(tmp_path)
    (tmp_path / "eval_result.json").write_text(json.dumps(result(1, "1")))
    with pytest.raises(SettingsError, match=r"invalid eval_summary\.json"):
        load_results(tmp_path / "eval_result.json")


def test_there_is_a_limit_to_the_number_of_results(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_webeval.summary.results.result_files.MAX_RESULTS", 2)
    write_results(tmp_path, result(1, "r/1"), result(2, "r/2"))
    assert len(list(read_results(tmp_path, lambda *pair: pair, []))) == 2
    write_results(tmp_path, result(3, "r/3"))
    with pytest.raises(SettingsError, match=r"holds more than 2 results; name its eval_summary\.json"):
        load_results(tmp_path)


def test_the_rows_are_a_sequence_that_counts_itself(tmp_path):
    write_results(tmp_path / "out", result(1, "r/1"), result(2, "r/2", "failure"))
    (tmp_path / "out/r/3").mkdir()
    (tmp_path / "out/r/3/eval_result.json").touch()
    loaded = load_results(tmp_path / "out")
    assert (len(loaded), loaded[-1].run, [each.run for each in loaded[:1]]) == (2, "r/2", ["r/1"])
    assert repr(loaded) == f"<{tmp_path}/out: 2 runs; 1 failure, 1 success, 2 assertions, 1 problem>"
    summary = load_results(write_summary(tmp_path / "\u202eother", row(1, "r/1")))
    assert repr(summary) == f"<{tmp_path}/\\u202eother/eval_summary.json: 1 run; 1 success>"


@pytest.mark.libraries
def test_frames_have_the_same_types_with_and_without_rows(tmp_path):
    loaded = load_results(write_results(tmp_path / "out", result(1, "r/1")))
    empty = load_results(write_summary(tmp_path))
    types = loaded.tasks_frame().dtypes
    assert (types == empty.tasks_frame().dtypes).all()
    assert {name: str(types[name]) for name in ("task_id", "score", "template", "excluded")} == {
        "task_id": "string",
        "score": "float64",
        "template": "int64",
        "excluded": "bool",
    }
    assert loaded.tasks_frame()["task_id"].tolist() == ["1"]
    assert loaded.tasks_frame()["reason"].isna().all()
    assert loaded.assertions_frame()[["run", "evaluator_index"]].to_numpy().tolist() == [["r/1", 0]]


def test_a_missing_library_is_named_with_the_line_that_installs_it(tmp_path, monkeypatch):
    loaded = load_results(write_summary(tmp_path, row(1, "r/1")))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SettingsError, match=r"^pandas is not installed; run: pip install pandas$"):
        loaded.tasks_frame()
    with pytest.raises(SettingsError, match=r"^not_there is not installed; run: pip install 'a\[b\]'$"):
        import_library("not_there.part", "'a[b]'")


def test_neither_the_package_nor_its_results_import_pandas(tmp_path):
    write_results(tmp_path, result(1, "r/1"))
    code = "import sys, pytest_webeval\nprint(len(pytest_webeval.load_results(sys.argv[1])), 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
    assert {"load_results", "LoadedResults", "TaskRow", "AssertionRow"} <= set(pytest_webeval.__all__)
