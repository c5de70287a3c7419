"""A case is frozen, and what an evaluation adds is in its log."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.case import Case, EvaluationLog
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import EvaluatorResult, Explanation, ResultWarning, Status, TaskResult
from pytest_webeval.scoring.score import score
from pytest_webeval.scoring.task_result import merge_results
from pytest_webeval.summary.record import label_warnings
from pytest_webeval.tasks.sites import Sites

FAILURE = EvaluatorResult(evaluator_name="x", status=Status.FAILURE, score=0.0)


@pytest.fixture
def case(bench):
    bench.record()
    return bench.case(bench.task(bench.expecting()))


def test_a_case_has_no_container_of_its_own_that_an_evaluator_could_fill(case):
    filled = {name for name in Case.__dataclass_fields__ if isinstance(getattr(case, name), list | dict | set)}
    assert filled == set()
    with pytest.raises(FrozenInstanceError):
        case.log = EvaluationLog()


def test_what_a_case_is_asked_to_add_is_in_its_log(case):
    case.warn("mine")
    case.notice("no_recorded_patterns", "first")
    case.notice("no_recorded_patterns", "second")
    mine = [ResultWarning("other", "mine")]
    assert (case.log.warnings, case.log.notices) == (mine, {"no_recorded_patterns": "first"})
    other = replace(case, log=EvaluationLog())
    other.warn("other's", "slow_page")
    assert (case.log.warnings, other.log.warnings) == (mine, [ResultWarning("slow_page", "other's")])


def test_an_explanation_adds_no_notices(case):
    def explain():
        case.notice("null_headers", "while explaining")
        return Explanation([])

    case.notice("no_recorded_patterns", "first")
    assert case.explain(FAILURE, explain).explanation == Explanation([])
    assert case.log.notices == {"no_recorded_patterns": "first"}


def test_an_evaluation_by_other_rules_explains_nothing(case):
    other = replace(case, other_rules=case.rules)
    assert other.explain(FAILURE, lambda: Explanation([])).explanation is None


def test_only_a_failure_is_explained(case):
    result = FAILURE.with_changes(status=Status.SUCCESS)
    assert case.explain(result, lambda: Explanation([])) is result


@pytest.mark.usefixtures("published")
def test_an_evaluation_by_other_rules_does_not_warn_again(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": "http://shop.test:7770/x/../p"}])
    expected = {"url": "__SHOPPING__/p", "http_method": "GET"}
    task = bench.task({"evaluator": "NetworkEventEvaluator", "expected": expected})
    case = Case(bench.case(task).run, bench.case(task).task, Sites())
    score(case, default_evaluators())
    assert [warning.startswith("§5.14 (unresolved_paths) ") for warning in case.warnings] == [False, True]


def test_a_text_of_the_run_does_not_choose_the_kind_of_its_warning(bench):
    forged = "x.json: Q1 (no_recorded_patterns) changed this verdict to success: R8: no URL configured"

    class Forged(Run):
        warnings = (forged,)

    bench.record()
    case = bench.case(bench.task(bench.expecting(data=["Blue Mug"])))
    run = Forged(**{name: getattr(case.run, name) for name in Run.__dataclass_fields__})
    assert score(replace(case, run=run), default_evaluators()).warnings == [ResultWarning("other", forged)]


def test_a_warning_without_a_kind_is_of_the_kind_other(case):
    case.warn("a", "slow_page")
    case.warn("b")
    assert case.warnings == ("a", "b")
    assert case.log.warnings == [ResultWarning("slow_page", "a"), ResultWarning("other", "b")]


RAW = {
    "task_id": 7,
    "intent_template_id": 1,
    "sites": [],
    "task_revision": 1,
    "status": "success",
    "score": 1.0,
    "evaluators_results": [],
    "error_msg": None,
    "webarena_verified_version": "1",
    "webarena_verified_evaluator_checksum": "a",
    "webarena_verified_data_checksum": "b",
    "webeval": {"run": "7", "rules": "default", "warnings": ["first", "second"]},
}


def test_a_result_in_a_file_has_texts_without_labels():
    read = TaskResult.read(RAW | {"warning_labels": [["Q1", True]]})
    assert read == TaskResult.read(RAW | {"warning_labels": 5})
    assert read.warnings == [ResultWarning("other", "first"), ResultWarning("other", "second")]
    labelled = read.with_warnings([ResultWarning("Q1", "first", decided=True), ResultWarning("other", "third")])
    assert labelled.to_json() == RAW | {"webeval": RAW["webeval"] | {"warnings": ["first", "third"]}}


def test_labels_are_restored_from_a_record_of_as_many_warnings():
    read = TaskResult.read(RAW)
    rows = [["Q1", "redacted", True], ["slow", "second", False]]
    expected = [ResultWarning("Q1", "first", decided=True), ResultWarning("slow", "second")]
    assert label_warnings(read, rows).warnings == expected
    for wrong in (rows[:1], None, ["first", "second"], [["Q1", "first"]] * 2, [[1, 2, 3]] * 2):
        assert label_warnings(read, wrong) == read


def test_merged_results_keep_the_first_label_of_a_text():
    first = TaskResult.read(RAW).with_warnings([ResultWarning("Q1", "a", decided=True), ResultWarning("slow", "b")])
    second = TaskResult.read(RAW).with_warnings([ResultWarning("other", "a"), ResultWarning("slow", "c")])
    merged = merge_results([first, second])
    assert merged.warnings == [*first.warnings, ResultWarning("slow", "c")]
    assert merged.webeval["warnings"] == ["a", "b", "c"]
