"""Results name their run by its label, so that another directory and another machine give the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators import Evaluator
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.results import Assertion, EvaluatorResult, Status
from pytest_webeval.rules import find_rules
from pytest_webeval.scoring.task_result import build_error_result, build_excluded_result, name_run_by_label

RUN = placeholder_run(Path("/data/a+b/runs/1"), "runs/1", find_rules("default"))
PATH, LABEL = "cannot list /data/a+b/runs/1/scores", "cannot list runs/1/scores"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("cannot parse /data/a+b/runs/1/network.har as HAR", "cannot parse runs/1/network.har as HAR"),
        ("unknown layout of /data/a+b/runs/1: no trace", "unknown layout of runs/1: no trace"),
        ("cannot list /data/a+b/runs/1", "cannot list runs/1"),
        ("/data/a+b/runs/1 has '/data/a+b/runs/1/x', and more", "runs/1 has 'runs/1/x', and more"),
        ("log_missing: /data/a+b/runs/1/core.log is empty", "log_missing: runs/1/core.log is empty"),
        ("task 1 is not defined in /data/a+b/runs/tasks.json", "task 1 is not defined in runs/tasks.json"),
        ("cannot open /mnt/data/a+b/runs/1/x", "cannot open /mnt/data/a+b/runs/1/x"),
        ("cannot open /data/aab/runs/1", "cannot open /data/aab/runs/1"),
        ("cannot open /data/a+b", "cannot open /data/a+b"),
    ],
)
def test_a_message_has_the_label_in_place_of_the_path(message, expected):
    assert build_error_result(RUN, None, message).error_msg == expected


@pytest.mark.parametrize(
    ("path", "label"), [("/runs/1", "runs/1"), ("/data/r1/1", "r2/1"), ("/data/aruns/1", "runs/1")]
)
def test_a_run_with_another_label_than_the_end_of_its_path_is_named_alone(path, label):
    run = placeholder_run(Path(path), label, find_rules("default"))
    message = f"cannot open {path}/x, {path} or '{path}0' in {path}.old, /mnt{path} and /data/other, see {path}."
    result = build_error_result(run, None, message)
    others = f"or '{path}0' in {path}.old, /mnt{path} and /data/other"
    assert result.error_msg == f"cannot open {label}/x, {label} {others}, see {label}."


def test_the_label_of_an_odd_name_is_quoted_and_its_path_is_not():
    run = placeholder_run(Path("/data/r 1%/ä"), "r%201%25/%C3%A4", find_rules("default"))
    result = build_error_result(run, None, "cannot open /data/r 1%/ä/x; see /data/r 1%/tasks.json")
    assert result.error_msg == "cannot open r 1%/ä/x; see r 1%/tasks.json"


def test_all_messages_of_a_result_have_the_label():
    checks = [
        Assertion(assertion_name="passed", status=Status.SUCCESS, assertion_msgs=["fine"]),
        Assertion(assertion_name="stopped", status=Status.ERROR, error_msg=PATH),
    ]
    evaluated = EvaluatorResult(
        evaluator_name="Mine", status=Status.ERROR, score=0.0, actual=PATH, assertions=checks, error_msg=PATH
    )
    noted = {"warnings": [PATH], "capture": [{"kind": "x", "text": PATH}], "excluded": PATH, "format": PATH}
    noted |= {"trajectory": {"message": PATH, "steps": 3, "reasons": (PATH,), "answer": PATH}}
    result = build_error_result(RUN, None, PATH).with_changes(evaluators_results=[evaluated], webeval=noted)
    named = name_run_by_label(result, RUN)
    (evaluator_result,) = named.evaluators_results
    assert (named.error_msg, evaluator_result.error_msg) == (LABEL, LABEL)
    assert [check.error_msg for check in evaluator_result.assertions] == [None, LABEL]
    assert evaluator_result.actual == PATH  # what the agent said is left alone
    assert named.webeval == {
        "warnings": [LABEL],
        "capture": [{"kind": "x", "text": LABEL}],
        "excluded": LABEL,
        "format": PATH,
        "trajectory": {"message": LABEL, "steps": 3, "reasons": [LABEL], "answer": PATH},
    }


def test_a_result_without_a_message_is_the_same():
    result = build_error_result(RUN, None, "").with_changes(error_msg=None, webeval={"warnings": []})
    assert name_run_by_label(result, RUN) is result


def test_an_excluded_run_is_named_in_its_reason():
    assert build_excluded_result(RUN, None, PATH, "aborted").webeval["excluded"] == LABEL


class Failing(Evaluator):
    """Cannot read a file of the run."""

    name = "AgentResponseEvaluator"

    def evaluate(self, expectation, case):  # noqa: ARG002
        raise EvaluationError(f"cannot open {case.run.path}/x")


def test_the_errors_of_evaluators_name_the_run(bench):
    bench.record()
    result = bench.score(bench.task(bench.expecting()), evaluators=[Failing()])
    label = result.webeval["run"]
    assert result.evaluators_results[0].error_msg == f"cannot open {label}/x"
    assert result.error_msg == f"AgentResponseEvaluator: cannot open {label}/x"
