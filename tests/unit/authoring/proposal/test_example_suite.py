"""Proposals from golden runs of the example suite: those pass under them, and failing runs of the same task fail.

Golden is the run of the suite if it passes, or else that run put right: `RIGHT` says how. The failing runs of each task
are in `list_failing`, under what is wrong with them; ids of the second test list all. The definition of the suite
itself refuses them as well, so they are failing runs by the judgement of the task's author.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from pytest_webeval.api import load_run, score
from pytest_webeval.authoring.proposal.proposal import propose
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.results import Status
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import load_sites
from tests.support.derived_runs import CONFIG, RUNS, derive

DEFINITIONS = {task["task_id"]: task for task in json.loads((RUNS / "tasks.json").read_bytes())}
SITES = load_sites(CONFIG)
KNOWN = {evaluator.name for evaluator in default_evaluators()}

# The tasks whose only run fails: how it is put right.
RIGHT = {
    102: lambda run: run.answering("Hearth & Co"),
    106: lambda run: run.replacing("sort=price_desc", "sort=price_asc"),
    109: lambda run: run.making(derive(108), "/cart/add").replacing("dot-notebook", "gel-pens").replacing("=5", "=3"),
    111: lambda run: run.dropping("/contact"),
    202: lambda run: run.answering(6, status="SUCCESS"),
    205: lambda run: run.dropping("/1043/"),
    207: lambda run: run.replacing("01%2F30%2F2024", "01%2F31%2F2024"),
    210: lambda run: run.answering("Dot Grid Notebook", "Gel Pens, Pack of 6"),
    303: lambda run: run.replacing('"labels":["bug"]', '"labels":["performance"]'),
    307: lambda run: run.borrowing(derive(305)).answering("Oskar Lund"),
}
# Requests that a task forbids, from other recordings.
FORBIDDEN = {
    110: lambda run: run.making(derive(111), "/contact"),
    111: lambda run: run.making(derive(111), "/contact"),
    204: lambda run: run.making(derive(205), "/1043/"),
    205: lambda run: run.making(derive(205), "/1043/"),
    208: lambda run: run.making(derive(204).replacing("/1037/", "/1035/"), "/1035/"),
}
# A recording of another task: by the first digit of the id, or by the id.
BORROWED = {1: 112, 2: 206, 3: 302, 4: 301, 112: 115, 206: 204, 302: 309}


@cache
def right(task_id):
    """The golden run of a task."""
    return RIGHT[task_id](derive_broken(task_id)) if task_id in RIGHT else derive(task_id)


def derive_broken(task_id):
    """The recording of a task; of one that is cut off only the answer matters, for it gets another recording."""
    if task_id != 307:
        return derive(task_id)
    run = derive(308).copy()
    run.task_id = 307
    return run


def list_failing(task_id):
    """Failing runs of a task by what is wrong with them, as functions of the golden run."""
    definition = DEFINITIONS[task_id]
    response, *traffic = [entry for entry in definition["eval"] if entry["evaluator"] in KNOWN]
    expected = response["expected"]
    failing = {
        "another status": lambda run: run.answering(status="UNKNOWN_ERROR"),
        "another task type": lambda run: run.answering(task_type=_change_type(expected["task_type"])),
        "the run of another task": lambda run: run.borrowing(derive(BORROWED.get(task_id, BORROWED[task_id // 100]))),
    }
    if task_id in RIGHT and task_id != 307:
        failing["the run of the suite"] = lambda _: derive(task_id)
    if task_id in FORBIDDEN:
        failing["a forbidden request"] = FORBIDDEN[task_id]
    if expected["retrieved_data"]:
        failing |= list_wrong_answers(response)
    for entry in traffic:
        if not entry.get("should_not_exist"):
            failing |= list_wrong_traffic(entry["expected"], expected["task_type"])
    return failing


def list_wrong_answers(response):
    """Wrong answers of a task that retrieves something."""
    failing = {
        "no answer": lambda run: run.answering(retrieved_data=None),
        "another answer": lambda run: run.answering(*map(_change, run.answer["retrieved_data"])),
        "one answer more": lambda run: run.answering(*run.answer["retrieved_data"], "one more"),
    }
    if response.get("ordered"):
        failing["the answer upside down"] = lambda run: run.answering(*reversed(run.answer["retrieved_data"]))
    return failing


def list_wrong_traffic(event, task_type):
    """Runs whose traffic is not what the task expects."""
    failing = {}
    if event.get("http_method", "GET") != "GET":
        part = event["url"].rpartition("__")[2]
        failing[f"without {part}"] = lambda run: run.dropping(part)
        failing[f"{part} refused"] = lambda run: run.refusing(part)
        for name in event.get("post_data", ()):
            failing[f"{part} with another {name}"] = lambda run, name=name: run.changing_field(part, name)
    elif task_type == "navigate":
        failing["the start page alone"] = lambda run: run.stopping_at_start()
        failing["back to the start page"] = lambda run: run.going_on()
        for name in event.get("query_params", ()):
            failing[f"another {name}"] = lambda run, name=name: run.changing_parameter(name)
    elif task_type == "mutate":
        failing["the start page alone"] = lambda run: run.stopping_at_start()
    return failing


def _change_type(task_type):
    return "NAVIGATE" if task_type != "navigate" else "RETRIEVE"


def _change(value):
    if isinstance(value, dict):
        return {name: _change(member) for name, member in value.items()}
    if isinstance(value, int):
        return value + 7
    return {"no": "yes", "$1,149.00": "$1,194.00", "March 9, 2024": "March 8, 2024"}.get(value, "5 hours")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Writes a derived run; returns it as it is read."""
    return lambda run: load_run(run.write(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def proposals(place):
    """The proposal for a task, made once."""

    @cache
    def make(task_id):
        run = place(right(task_id)) if task_id in RIGHT else load_run(RUNS / str(task_id))
        return propose([run], SITES, intent=DEFINITIONS[task_id]["intent"])

    return make


def passes(run, definition):
    """Whether a run passes under a definition, without the evaluator that only the suite's own conftest has."""
    entries = [entry for entry in definition["eval"] if entry["evaluator"] in KNOWN]
    tasks = parse_tasks(json.dumps([definition | {"eval": entries}]).encode(), "tasks.json")
    try:
        return score(run, tasks, SITES).status is Status.SUCCESS
    except WebEvalError:
        return False


@pytest.mark.parametrize("task_id", DEFINITIONS)
def test_a_golden_run_passes_under_the_definition_of_the_suite_and_under_its_proposal(task_id, place, proposals):
    run = place(right(task_id))
    assert passes(run, DEFINITIONS[task_id])
    assert not proposals(task_id).problems
    assert passes(run, proposals(task_id).definition)


FAILING = [(task_id, problem) for task_id in DEFINITIONS for problem in list_failing(task_id)]


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize(("task_id", "problem"), FAILING, ids=[f"{task_id}: {problem}" for task_id, problem in FAILING])
def test_a_failing_run_fails_under_the_definition_of_the_suite_and_under_the_proposal(
    task_id, problem, place, proposals
):
    run = place(list_failing(task_id)[problem](right(task_id)))
    assert not passes(run, DEFINITIONS[task_id])
    assert not passes(run, proposals(task_id).definition)


def test_all_tasks_have_failing_runs_of_three_kinds():
    assert len(DEFINITIONS) == 36
    assert all(len(list_failing(task_id)) >= 3 for task_id in DEFINITIONS)
    assert len(FAILING) >= 180


def test_a_run_that_is_cut_off_is_no_golden_run():
    with pytest.raises(WebEvalError, match="cannot parse"):
        propose([load_run(RUNS / "307")], SITES)
