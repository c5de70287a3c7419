"""The definition decides what is checked, never the files of the run: formats, expectations and evidence."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import score_runs
from pytest_webeval.__main__ import main
from tests.support.any_format import SHOP, WRITERS, Recorded, write_run
from tests.support.recorded import put
from tests.support.runs import definition

RULES = "--webeval-rules=strict"
RIGHT = json.dumps({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["lamp"], "error_details": None})
WRONG = RIGHT.replace("lamp", "desk")
FORMATS = tuple(WRITERS)
TRAJECTORIES = FORMATS[1:]
RESPONSE = definition(107)["eval"][0]


def visited(path, host=None):
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": f"{host or SHOP}{path}"}}


def requested(path):
    return {"evaluator": "RequestPatternEvaluator", "expected": {"url_pattern": f"{path}$"}}


VERDICT = {"evaluator": "RubricEvaluator"}
WITH_ALL = Recorded(answer=RIGHT, has_traffic=True)
# Of each kind of expectation: one that the run meets, one that it does not, the run, and the run without the evidence.
EXPECTATIONS = {
    "response": (
        RESPONSE,
        RESPONSE | {"expected": RESPONSE["expected"] | {"retrieved_data": ["sofa"]}},
        Recorded(answer=None, has_traffic=True),
    ),
    "network": (visited("/cart"), visited("/order"), Recorded(answer=RIGHT)),
    "request": (requested("/cart"), requested("/order"), Recorded(answer=RIGHT)),
}
NO_TRAFFIC = "no network recording in runs/107; record the browser's traffic with the run"
MISSING = {  # what the error names, and what to do
    ("webarena-verified", "response"): "agent_response.json",
    ("webarena-verified", "network"): "no network trace in runs/107",
    ("webarena-verified", "request"): "no network trace in runs/107",
    ("webarena-verified", "rubric"): "missing file: runs/107/rubric.json; judge the run",
    ("fara", "rubric"): "no verdict in scores/; judge the run",
}
NOT_JUDGED = "not judged yet; no file of the run holds a verdict"
NO_ANSWER = "no answer recorded in runs/107: "


@pytest.fixture
def score(runs, webeval):
    """Scores a run of a format by a definition. Returns the status of its result, and its error."""

    def run(name, recorded, *expectations, arguments=()):
        runs.define(definition(107) | {"eval": list(expectations)})
        write_run(runs.root / "107", name, recorded)
        webeval(RULES, *arguments)
        row = runs.summary["task_results"][0]
        assert runs.summary["webeval"]["success_rate_denominator"] == 1
        return row["status"], row["reason"] or ""

    return run


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", EXPECTATIONS)
def test_an_expectation_that_is_met_is_a_success(score, name, kind):
    if (name, kind) == ("clawbench", "network"):
        pytest.skip("its log has no responses: see below")
    assert score(name, WITH_ALL, EXPECTATIONS[kind][0])[0] == "success"


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", EXPECTATIONS)
def test_an_expectation_that_is_not_met_is_a_failure_whatever_verdict_is_stored(score, name, kind):
    if (name, kind) == ("clawbench", "network"):
        pytest.skip("same")
    assert score(name, WITH_ALL, EXPECTATIONS[kind][1])[0] == "failure"


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", EXPECTATIONS)
def test_an_expectation_without_its_evidence_is_an_error_that_names_it(score, name, kind):
    status, reason = score(name, EXPECTATIONS[kind][2], EXPECTATIONS[kind][0])
    assert status == "error"
    assert MISSING.get((name, kind), NO_ANSWER if kind == "response" else NO_TRAFFIC) in reason


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("verdict", [True, False, None], ids=["success", "failure", "missing"])
def test_a_verdict_that_the_definition_expects_is_needed(score, name, verdict):
    if (name, verdict) == ("agentlab", None):
        pytest.skip("each experiment has a reward")
    status, reason = score(name, Recorded(answer=RIGHT, has_traffic=True, verdict=verdict), VERDICT)
    assert status == {True: "success", False: "failure", None: "error"}[verdict]
    if verdict is None:
        assert MISSING.get((name, "rubric"), "") in reason
        assert "not scored: " in reason or name == "webarena-verified"


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", TRAJECTORIES)
@pytest.mark.parametrize("verdict", [True, False, None], ids=["success", "failure", "missing"])
def test_a_stored_verdict_counts_besides_and_never_instead(score, name, verdict):
    if (name, verdict) == ("agentlab", None):
        pytest.skip("same")
    recorded = Recorded(answer=RIGHT, has_traffic=True, verdict=verdict)
    assert score(name, recorded, RESPONSE, requested("/cart"))[0] == ("failure" if verdict is False else "success")


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", TRAJECTORIES)
@pytest.mark.parametrize(
    ("path", "has_traffic", "status"),
    [("/cart", True, "success"), ("/order", True, "failure"), ("/cart", False, "error")],
)
def test_a_run_that_is_marked_as_aborted_counts_by_its_evidence(score, runs, name, path, has_traffic, status):
    recorded = Recorded(answer=None, has_traffic=has_traffic, is_aborted=True, verdict=None)
    has_reward = name in ("agentlab", "clawbench")  # which is a failure, and counts besides
    expected = "failure" if has_reward and status == "success" else status
    assert score(name, recorded, requested(path))[0] == expected
    texts = runs.result(107)["webeval"]["warnings"]
    assert [text for text in texts if text.startswith("the run is marked as aborted (")]


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_an_aborted_run_without_an_answer_has_not_failed_to_answer(score, name):
    status, reason = score(name, Recorded(answer=None, has_traffic=True, is_aborted=True), RESPONSE)
    assert (status, NO_ANSWER in reason) == ("error", True)


NAMED = {"metadata.json": {"task": "x", "runId": "r", "runDir": "r"}}
CLAW_RUN = "openclaw-shop-runs-20261124-084736"


@pytest.mark.parametrize(
    ("name", "task_id", "files"),
    [
        ("stagehand", 107, NAMED),
        ("stagehand", "shop", NAMED),
        ("atif", "shop__aB3dE5f", {}),
        ("webvoyager", "task7", {}),
        ("agentlab", "2026-11-24_08-54-59_x_on_toy_0", {}),
        ("clawbench", CLAW_RUN, {}),
    ],
)
def test_a_directory_that_is_named_by_a_task_is_a_run_of_it_however_its_format_reads_names(
    runs, webeval, name, task_id, files
):
    runs.define(definition(107) | {"task_id": task_id})
    path = write_run(runs.root / str(task_id), name, Recorded(answer=WRONG, has_traffic=True))
    for file, content in files.items():
        put(path / file, content)
    webeval(RULES)
    assert runs.counts == (0, 1, 0)
    assert runs.result(task_id)["task_id"] == task_id


WAYS = {
    "as-it-is": Recorded(answer=WRONG, has_traffic=True),
    "without-traffic": Recorded(answer=WRONG),
    "without-answer": Recorded(has_traffic=True),
    "without-all": Recorded(verdict=None),
    "aborted": Recorded(answer=WRONG, has_traffic=True, is_aborted=True),
    "aborted-without-all": Recorded(verdict=None, is_aborted=True),
}
OVERRIDING = """
    import pytest

    @pytest.fixture
    def webeval_evaluators(webeval_evaluators):
        return webeval_evaluators
"""
ENGINES = ("directly", "through fixtures", "by workers", "command", "function")


@pytest.fixture
def failing(runs):
    """Failing runs in each format, each hidden in each way."""
    for name in TRAJECTORIES:
        for way, recorded in WAYS.items():
            task_id = f"{name}-{way}"
            runs.define(definition(107) | {"task_id": task_id, "eval": [RESPONSE, requested("/order")]})
            write_run(runs.root / task_id, name, recorded)
    return len(TRAJECTORIES) * len(WAYS)


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("failing")
def test_no_way_to_hide_a_failing_run_makes_it_pass_or_leave_the_rate(runs, failing, webeval_apart, pytester, engine):
    if engine == "command":
        main(["score", "runs", RULES])
    elif engine == "function":
        list(score_runs(runs.root, rules="strict"))
    else:
        if engine == "through fixtures":
            pytester.makeconftest(OVERRIDING)
        webeval_apart(RULES, *(["-n2"] if engine == "by workers" else []))
    results = [json.loads(path.read_bytes()) for path in runs.root.glob("*/eval_result.json")]
    statuses = {result["webeval"]["run"].rpartition("/")[2]: result["status"] for result in results}
    assert len(statuses) == failing
    assert set(statuses.values()) == {"failure", "error"}
    assert [result["webeval"]["run"] for result in results if result["webeval"]["excluded"]] == []
    for way in WAYS:
        expected = "failure" if way == "as-it-is" else "error"
        found = {statuses[f"{name}-{way}"] for name in TRAJECTORIES}
        assert found == {expected} or way == "aborted", way


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
@pytest.mark.parametrize("name", TRAJECTORIES)
def test_the_files_of_a_second_format_are_no_way_out(runs, webeval, name, rules):
    runs.define(definition(107) | {"eval": [RESPONSE]})
    path = write_run(runs.root / "107", name, Recorded(answer=RIGHT, has_traffic=True))
    put(path / "agent_response.json", WRONG)
    webeval(f"--webeval-rules={rules}")
    assert runs.counts == (0, 0, 1)
    assert "107 has the files of several formats: " in runs.reasons["107"]


@pytest.mark.parametrize("verdict", [True, False], ids=["success", "failure"])
def test_an_aborted_run_does_not_show_by_its_own_verdict_that_it_succeeded(runs, score, verdict):
    recorded = Recorded(answer=RIGHT, verdict=verdict, is_aborted=True)
    status, reason = score("fara", recorded, VERDICT)
    assert status == ("error" if verdict else "failure")
    assert ("does not count: the run was aborted" in reason) is verdict
