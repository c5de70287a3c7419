"""every_eval_ever validates our records, and a session of inspect_ai reads our scores."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import load_results
from pytest_webeval.exports.every_eval_ever import SCHEMA_VERSION
from tests.exports.harness.tool_environment import TOOLS
from tests.support.stored_results import assertion, evaluated, result, row, write_results, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")

FACTS = ("--benchmark=shop", "--model=acme/m:1", "--organization=Us", "--relationship=third_party")
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver

@solver
def take_recording():
    async def solve(state, generate):
        return state
    return solve

@task
def recorded():
    samples = [Sample(id=task_id, input="do it") for task_id in {task_ids}]
    return Task(dataset=samples, epochs={epochs}, solver=take_recording())
"""


def strange(tmp_path):
    """Results with texts that a format could break."""
    text = "\x1b[31m\ud800\u202e\u2028\x85=1\r\n\x00"
    checks = evaluated(assertion(text, text), actual={"retrieved_data": text})
    failed = result("täsk/ 1", "r/1", "error", error_msg=text, evaluators_results=[checks])
    return write_results(tmp_path / "strange", failed, result(2**70, "r/2", sites=["s p", "\u202e"]))


def validate(run_tool, store):
    done = run_tool("every_eval_ever", "validate", "--format=json", "data/*/*/*/*", directory=store)
    return done.returncode, [
        (report["valid"], report["errors"], report["warnings"]) for report in json.loads(done.stdout)
    ]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--tasks=example_suite/runs/tasks.json", "--dataset-url=https://shop.test/tasks"),
        ("--deployment=self_deployed", "--availability=open_weights", "--developer=Acme"),
        ("--model=m.1", "--developer=Acme Labs", "--relationship=first_party"),
    ],
    ids=["required facts", "tasks", "model", "flat model"],
)
def test_records_of_a_session_are_valid(run_tool, export, options):
    store = export("every-eval-ever", *FACTS, *options)
    assert validate(run_tool, store) == (0, [(True, [], [])] * 2)


@pytest.mark.parametrize("build", [strange, lambda path: write_summary(path, row(1, "r/1"), row(1, "s/1", "failure"))])
def test_records_of_strange_results_and_of_a_summary_are_valid(run_tool, export, tmp_path, build):
    store = export("every-eval-ever", *FACTS, source=build(tmp_path))
    assert validate(run_tool, store) == (0, [(True, [], [])] * 2)


def test_the_validator_refuses_what_is_wrong(run_tool, export):
    store = export("every-eval-ever", *FACTS)
    (record,) = store.rglob("*[0-9a-f].json")
    record.write_text(record.read_text().replace('"total_rows": ', '"total_rows": 1'))
    assert validate(run_tool, store)[0] == 1


def test_the_schema_is_that_of_the_installed_version():
    assert TOOLS["every_eval_ever"].requirement == f"every_eval_ever=={SCHEMA_VERSION}"


def score(run_tool, directory, scores, task_ids, epochs=1):
    """The log of a session with a mock model over these tasks, scored by our export."""
    (directory / "recorded.py").write_text(TASK.format(task_ids=list(task_ids), epochs=epochs))
    common = ("--display=none", "--log-dir=logs")
    ran = run_tool(
        "inspect", "eval", "recorded.py", "--model=mockllm/model", "--log-format=json", *common, directory=directory
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (log,) = (directory / "logs").glob("*.json")
    assert json.loads(log.read_text())["status"] == "success"
    options = ("--scorer=inspect_ai/precomputed_scores", "-S", f"scores={scores}", "--output-file=scored.json")
    scored = run_tool("inspect", "score", *options, *common, str(log), directory=directory)
    assert scored.returncode == 0, scored.stdout + scored.stderr
    return json.loads((directory / "scored.json").read_text())


def test_a_session_of_inspect_takes_our_verdicts_for_its_scores(run_tool, export, session, tmp_path):
    recorded = session / "out/runs"
    loaded = load_results(recorded)
    scores = export("inspect", source=recorded, output="scores.jsonl")
    log = score(run_tool, tmp_path, scores, [*(row.task_id for row in loaded), "not recorded"])
    judged = [row for row in loaded if row.is_judged]
    (results,) = log["results"]["scores"]
    assert results["metrics"]["accuracy"]["value"] == pytest.approx(sum(row.is_success for row in judged) / len(judged))
    assert results["scored_samples"] == len(judged) == len(log["samples"]) - 1
    given = {sample["id"]: sample["scores"]["precomputed_scores"] for sample in log["samples"] if sample.get("scores")}
    assert {
        task_id: (each["value"], each.get("answer"), each.get("explanation")) for task_id, each in given.items()
    } == {row.task_id: (int(row.is_success), row.answer, row.reason) for row in judged}


def test_several_runs_of_a_task_are_the_scores_of_its_epochs(run_tool, export, tmp_path):
    rows = [
        row(101, "a/101"),
        row(101, "b/101", "failure"),
        row("x y", "a/x", "failure"),
        row("x y", "b/x", "excluded"),
    ]
    scores = export("inspect", source=write_summary(tmp_path / "out", *rows), output="scores.jsonl")
    log = score(run_tool, tmp_path, scores, [101, "x y"], epochs=2)
    given = {
        (str(sample["id"]), sample["epoch"]): sample["scores"]["precomputed_scores"]["value"]
        for sample in log["samples"]
        if sample.get("scores")
    }
    assert given == {("101", 1): 1, ("101", 2): 0, ("x y", 1): 0}


def test_scores_of_strange_results_are_read(run_tool, export, tmp_path):
    scores = export("inspect", source=strange(tmp_path), output="scores.jsonl")
    log = score(run_tool, tmp_path, scores, ["täsk/ 1", str(2**70)])
    given = {sample["id"]: sample["scores"]["precomputed_scores"]["value"] for sample in log["samples"]}
    assert given == {"täsk/ 1": 0, str(2**70): 1}
