"""--webeval-evaluators: some evaluators alone score the runs, and results of other choices are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webeval import EvaluationError, ResponseEvaluator, load_run, load_tasks, score, score_runs
from pytest_webeval.__main__ import main
from tests.support import recorded

ANSWERS = "--webeval-evaluators=response"
WARNING = "scored by AgentResponseEvaluator alone; omitted: eval[1] NetworkEventEvaluator"
LOST = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/lost", "http_method": "GET"}}
PROCESSES = pytest.mark.parametrize(
    "processes",
    [(), ("--setup-show",), pytest.param(("-n2",), marks=pytest.mark.whole)],
    ids=["serial", "fixtures", "xdist"],
)


def without_trace(path):
    (path / "network.har").unlink()


def with_broken_trace(path):
    (path / "network.har").write_text("{")


def with_empty_trace(path):
    (path / "network.har").write_text('{"log": {"entries": []}}')


@pytest.fixture
def answers(runs):
    """Runs whose requests fail, with a missing, a good, a missing, a broken and an empty trace.

    The last answer is wrong.
    """
    damages = (without_trace, lambda _: None, without_trace, with_broken_trace, with_empty_trace)
    for task_id, damage in enumerate(damages, 100):
        damage(runs.add(task_id, passes=task_id != 104, expects=(LOST,)))
    return runs


@PROCESSES
def test_answers_alone_are_scored_whatever_the_traces_are(answers, webeval_apart, processes):
    webeval_apart(ANSWERS, *processes).assert_outcomes(passed=4, failed=1)
    for task_id in range(100, 105):
        result = answers.result(task_id)
        assert [each["evaluator_name"] for each in result["evaluators_results"]] == ["AgentResponseEvaluator"]
        assert result["webeval"]["evaluator_choice"] == ["AgentResponseEvaluator"]
        assert result["webeval"]["warnings"] == [WARNING]
        assert list(result["webeval"]["inputs"]) == ["agent_response.json"]
    assert answers.summary["webeval"]["evaluator_choice"] == ["AgentResponseEvaluator"]
    assert answers.summary["webeval"]["warning_kinds"][0]["kind"] == "omitted"


def test_without_a_choice_no_file_names_one(answers, webeval):
    webeval()
    assert answers.counts == (0, 1, 4)
    assert "evaluator_choice" not in json.dumps([answers.summary, *map(answers.result, range(100, 105))])


def test_header_and_summary_name_the_choice(answers, webeval):
    result = webeval(ANSWERS)
    result.stdout.fnmatch_lines(
        [
            "webeval: rules auto, *, evaluator choice AgentResponseEvaluator",
            "success rate 80.0% *, rules strict, by AgentResponseEvaluator alone",
        ]
    )


@PROCESSES
def test_a_task_without_an_expectation_of_the_choice_is_excluded(runs, webeval_apart, processes):
    for task_id in (101, 102, 103):
        runs.add(task_id)
    webeval_apart("--webeval-evaluators=network", "-rs", *processes).assert_outcomes(skipped=3)
    assert runs.reasons["102"] == "task 102 has no expectation for the chosen evaluators: NetworkEventEvaluator"
    assert runs.counts == (0, 0, 0)
    assert runs.summary["webeval"]["excluded_count"] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("--webeval-evaluators=network,response",),
        ("--webeval-evaluators=response", "--webeval-evaluators=network"),
        ("--webeval-evaluators= response ,NetworkEventEvaluator,",),
    ],
)
def test_several_names_are_a_list_or_an_option_each(runs, webeval, arguments):
    runs.add(101, expects=(runs.visited(),))
    webeval(*arguments).assert_outcomes(passed=1)
    result = runs.result(101)
    assert result["webeval"]["evaluator_choice"] == ["AgentResponseEvaluator", "NetworkEventEvaluator"]
    assert not any("omitted" in text for text in result["webeval"]["warnings"])


def test_the_choice_may_stand_in_the_ini_file(answers, webeval, pytester):
    pytester.makeini("[pytest]\nwebeval_evaluators =\n    response\n")
    webeval().assert_outcomes(passed=4, failed=1)


@pytest.mark.parametrize("name", ["answer", "AgentResponse"])
def test_an_unknown_name_ends_the_session(answers, webeval, name):
    result = webeval(f"--webeval-evaluators={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    message = f"ERROR: --webeval-evaluators: unknown evaluator '{name}'; use response, network, rubric or request"
    result.stderr.fnmatch_lines([message])
    assert answers.written == []


@pytest.mark.whole
def test_in_workers_of_xdist_an_unknown_name_is_an_error_of_each_run(answers, webeval_apart):
    webeval_apart("--webeval-evaluators=answer", "-n2").assert_outcomes(failed=5)
    message = "unknown evaluator 'answer'; use response, network, rubric or request"
    assert set(answers.reasons.values()) == {message}


def test_an_empty_choice_is_refused(answers, webeval):
    result = webeval("--webeval-evaluators=,")
    result.stderr.fnmatch_lines(
        ["ERROR: invalid --webeval-evaluators [[]','[]]; use names of evaluators, e.g. response,rubric"]
    )


def test_only_a_chosen_expectation_makes_a_task_one_that_no_recording_passes(runs, webeval):
    for task_id in (101, 102):
        task = runs.definition(task_id)
        task["eval"].append(runs.visited())
        del task["eval"][0]["expected"]["retrieved_data"]  # Q16
        runs.add(task_id, defined=False)
        runs.define(task)
    without_trace(runs.root / "102")
    for option, is_unpassable in (("network", False), ("network,response", True)):
        webeval(f"--webeval-evaluators={option}")
        reasons = [runs.result(task_id)["webeval"]["unpassable"] for task_id in (101, 102)]
        assert [bool(reason) for reason in reasons] == [is_unpassable] * 2


OWN = """
import pytest
from pytest_webeval import Assertion, Evaluator

class Visits(Evaluator):
    name = "Visits"

    def evaluate(self, expectation, case):
        return self.result([Assertion.of("visits", {holds}, "expected a visit")])

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, Visits()]
"""


def test_an_evaluator_of_a_user_is_chosen_by_its_name_and_needs_no_trace(runs, webeval, pytester):
    pytester.makeconftest(OWN.format(holds=True))
    without_trace(runs.add(101, passes=False, expects=({"evaluator": "Visits"}, LOST)))
    webeval("--webeval-evaluators=Visits").assert_outcomes(passed=1)
    assert runs.result(101)["webeval"]["warnings"] == [
        "scored by Visits alone; omitted: eval[0] AgentResponseEvaluator, eval[2] NetworkEventEvaluator"
    ]


def test_an_evaluator_of_a_user_that_asks_for_events_reads_the_trace(runs, webeval, pytester):
    pytester.makeconftest(OWN.format(holds="len(case.events) == 1"))
    runs.add(101, expects=({"evaluator": "Visits"},))
    without_trace(runs.add(102, expects=({"evaluator": "Visits"},)))
    webeval("--webeval-evaluators=Visits").assert_outcomes(passed=1, failed=1)
    assert "no network trace" in runs.result(102)["error_msg"]


def test_beside_evaluators_of_users_an_unknown_name_is_an_error_of_each_run(runs, webeval, pytester):
    pytester.makeconftest(OWN.format(holds=True))
    runs.add(101, expects=({"evaluator": "Visits"},))
    webeval("--webeval-evaluators=Visit").assert_outcomes(failed=1)
    message = "unknown evaluator 'Visit'; use response, network, rubric, request or Visits"
    assert runs.result(101)["error_msg"] == message


def test_a_url_in_an_answer_is_read_with_the_addresses_of_the_recording_if_there_are_any(runs, webeval):
    for task_id in (101, 102):
        task = runs.definition(task_id)
        task["eval"][0]["expected"]["retrieved_data"] = ["__SHOPPING__/lamp"]
        path = runs.add(task_id, defined=False)
        runs.define(task)
        answer = json.loads((path / "agent_response.json").read_text()) | {"retrieved_data": ["http://shop.test/lamp"]}
        (path / "agent_response.json").write_text(json.dumps(answer))
    without_trace(runs.root / "102")
    webeval(ANSWERS).assert_outcomes(passed=1, failed=1)
    advice = "pass a file with the site URLs: --webeval-config=FILE"
    assert runs.result(101)["webeval"]["warnings"] == [
        f"no URL configured for shopping; site URLs were inferred from the recording; {advice}"
    ]
    assert runs.result(102)["webeval"]["warnings"] == [
        f"no URL configured for shopping; site URLs are unknown; {advice}"
    ]


def test_a_trajectory_is_scored_by_its_rubric_or_not_at_all(tree, webeval, runs):
    tree("books_find_1")
    webeval("--webeval-evaluators=rubric").assert_outcomes(passed=1)
    webeval("--webeval-evaluators=response").assert_outcomes(skipped=1)
    assert runs.summary["task_results"][0]["reason"].endswith("chosen evaluators: AgentResponseEvaluator")
    assert runs.summary["task_results"][0]["run"] == f"runs/{recorded.RUN}/books_find_1"


def test_a_python_test_checks_what_it_says(answers, webeval, pytester):
    pytester.makepyfile(test_it="def test_it(webeval_network_event): webeval_network_event.check()")
    result = webeval(ANSWERS, "test_it.py", "runs", "-k", "101")
    result.assert_outcomes(passed=1, failed=1)
    checked = [each["evaluator_name"] for each in answers.result(101)["evaluators_results"]]
    assert checked == ["AgentResponseEvaluator", "NetworkEventEvaluator"]


def test_results_of_another_choice_are_not_reused(runs, webeval):
    runs.add(101)
    webeval("--webeval-reuse")
    before = runs.result(101)["webeval"]
    webeval("--webeval-reuse", ANSWERS).assert_outcomes(passed=1)
    assert runs.result(101)["webeval"]["evaluator_choice"] == ["AgentResponseEvaluator"]
    webeval("--webeval-reuse").assert_outcomes(passed=1)
    after = runs.result(101)["webeval"]
    assert "evaluator_choice" not in {**before, **after}
    assert after["inputs"] == before["inputs"]


def test_commands_that_score_runs_again_repeat_the_choice(answers, webeval):
    answers.add(105, passes=False)
    webeval(ANSWERS).stdout.fnmatch_lines([f"*pytest --webeval-runs=runs {ANSWERS} -k *"])


def test_shards_of_another_choice_do_not_merge(answers, webeval, pytester, monkeypatch, capsys):
    for number, options in ((1, (ANSWERS,)), (2, ())):
        webeval(f"--webeval-shard={number}/2", f"--webeval-output=part{number}", *options)
    monkeypatch.chdir(pytester.path)
    capsys.readouterr()
    assert main(["merge", "part1", "part2", "--output=merged"]) != 0
    assert "are not shards of one session: " in capsys.readouterr().err


@pytest.mark.parametrize("has_summary", [True, False])
def test_compare_names_the_choice_as_the_cause(answers, webeval, pytester, monkeypatch, capsys, has_summary):
    webeval("--webeval-output=before", ANSWERS)
    webeval("--webeval-output=after")
    monkeypatch.chdir(pytester.path)
    if not has_summary:
        for name in ("before", "after"):
            Path(name, "eval_summary.json").unlink()
    capsys.readouterr()
    main(["compare", "before", "after", "--format=json"])
    (comparison,) = json.loads(capsys.readouterr().out)["comparisons"]
    changes = {change["task_id"]: (change["kind"], change["causes"]) for change in comparison["changes"]}
    assert changes[101][0] == "regressed"
    assert "evaluator choice" in changes[101][1]
    assert "the evaluator choices differ: AgentResponseEvaluator and all" in comparison["problems"]


def test_exported_rows_name_the_choice(answers, webeval, pytester, monkeypatch, capsys):
    webeval(ANSWERS)
    monkeypatch.chdir(pytester.path)
    capsys.readouterr()
    for source in ("runs", "runs/eval_summary.json"):
        assert main(["export", source, "--to=jsonl"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["evaluator_choice"] for row in rows} == {"AgentResponseEvaluator"}


def test_a_report_has_the_choice(answers, webeval, pytester):
    webeval(ANSWERS, "--webeval-report=report").assert_outcomes(passed=4, failed=1)
    assert "strict, by AgentResponseEvaluator alone" in (pytester.path / "report/index.html").read_text()


def test_score_and_score_runs_take_the_same_names(answers):
    tasks = load_tasks(answers.root / "tasks.json")
    result = score(load_run(answers.root / "102"), tasks, only=["response"])
    assert (result.status, result.webeval["warnings"]) == ("success", [WARNING])
    results = score_runs(answers.root, only=["response"])
    assert [each.status.value for each in results] == [*["success"] * 4, "failure"]
    with pytest.raises(EvaluationError, match="unknown evaluator 'Visits'; use response, network, rubric or request"):
        score(load_run(answers.root / "102"), tasks, evaluators=[ResponseEvaluator()], only=["Visits"])


def test_score_runs_writes_the_files_of_a_session(answers, webeval):
    webeval(ANSWERS)
    written = {name: answers.result(name) for name in answers.root.glob("1??")}
    for _ in score_runs(answers.root, only=["response"]):
        pass
    for name, expected in written.items():
        actual = answers.result(name)
        for content in (expected, actual):
            content["webeval"]["run"] = content["webeval"]["run"].removeprefix("runs/")
            del content["webeval"]["wall_time"]
        assert actual == expected
