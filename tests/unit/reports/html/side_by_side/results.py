"""Results and details of runs as the tests of this folder need them."""

from __future__ import annotations

from pytest_webeval.reports.html.side_by_side.run_details import Request, RunDetails
from pytest_webeval.results import Assertion, EvaluatorResult, Status, TaskResult, worst_status

VERSIONS = ("webarena_verified_version", "webarena_verified_evaluator_checksum", "webarena_verified_data_checksum")
NEAREST = {"index": 3, "of": 9, "method": "GET", "url": "__SHOPPING__/cart", "status": 200}


def differ(path, kind="different", expected="a", actual="b"):
    return {"path": path, "kind": kind, "expected": expected, "actual": actual}


def evaluate(name="NetworkEventEvaluator", *differences, failed=(), error=None, nearest=None, **fields):
    """What an evaluator found, with its explanation; a success where nothing differs."""
    is_wrong = differences or failed or error
    status = Status.ERROR if error else Status.FAILURE if is_wrong else Status.SUCCESS
    result = EvaluatorResult(
        evaluator_name=name,
        status=status,
        score=0.0 if is_wrong else 1.0,
        error_msg=error,
        assertions=[
            Assertion(assertion_name=each, status=Status.FAILURE, assertion_msgs=["expected a", "got b"])
            for each in failed
        ],
        **fields,
    )
    return result, {"differences": list(differences), "nearest": nearest, "candidates": []}


def build(*evaluated, **webeval):
    """The result of a task with these evaluations."""
    results = [result for result, _ in evaluated]
    unread = TaskResult(
        task_id=107,
        intent_template_id=1,
        sites=["shopping"],
        task_revision=1,
        status=worst_status([result.status for result in results]),
        score=0.0,
        evaluators_results=results,
        error_msg=None,
        webeval={"explanations": [explanation for _, explanation in evaluated], "run": "runs/107", **webeval},
        **dict.fromkeys(VERSIONS, ""),
    )
    return TaskResult.read(unread.to_json())


def recorded(*requests):
    """A run with these requests, each as `POST /cart 302`, or `match POST /cart 302` with a role."""
    return RunDetails(build(), [read_request(*request.split(" ")) for request in requests], has_all_requests=True)


def read_request(*words):
    *role, method, url, status = words
    return Request(method, url, int(status) if status != "-" else None, "".join(role))
