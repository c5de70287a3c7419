"""A case is frozen, and what an evaluation adds is in its log."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from dataclasses import replace

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.case import EvaluationLog
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.sites import Sites


def result(name="E"):
    return EvaluatorResult(evaluator_name=name, status=Status.FAILURE, score=0.0)


class Explained:
    def __init__(self, text):
        self.text = text

    def to_json(self):
        return {"text": self.text}


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
    case.warnings.append("mine")
    case.notice("literal_texts", "first")
    case.notice("literal_texts", "second")
    case.explain(lambda: Explained("x"))
    assert (case.log.warnings, case.log.notices, len(case.log.explainers)) == (["mine"], {"literal_texts": "first"}, 1)
    other = replace(case, log=EvaluationLog())
    other.warnings.append("other")
    assert (case.warnings, other.warnings) == (["mine"], ["other"])


def test_a_log_keeps_warnings_and_explanations_for_all_expectations():
    log = EvaluationLog(["w"], {"literal_texts": "x"}, [lambda: Explained("first"), lambda: Explained("latest")])
    log.explain(result())
    log.start_expectation()
    assert (log.warnings, log.notices, log.explainers) == (["w"], {}, [])
    assert log.explanation_of(result()) == {"text": "latest"}
    assert log.explanation_of(result("other")) is None


def test_an_evaluation_by_other_rules_does_not_warn_again(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": "http://shop.test:7770/x/../p"}])
    expected = {"url": "__SHOPPING__/p", "http_method": "GET"}
    task = bench.task({"evaluator": "NetworkEventEvaluator", "expected": expected})
    case = Case(bench.case(task).run, bench.case(task).task, Sites())
    score(case, default_evaluators())
    assert [warning[:20] for warning in case.warnings] == ["no address is config", "§5.14 (plain_paths) "]
