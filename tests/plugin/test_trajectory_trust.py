"""Trajectories of strangers, overridden evaluators and odd places: numbers that can be trusted all the same."""

from __future__ import annotations

import json

import pytest

from tests.support import recorded
from tests.support.recorded import CLICK, final_answer, item, log, payload, put, score_file

NO_ANSWER = "<no_answer>"


def files_in(path):
    return {one for one in path.rglob("*") if one.is_file()}


DOWNLOADS = {
    "rubric.json": {"items": [{"criterion": "x", "max_points": 1, "earned_points": 1}], "outcome_success": True},
    "task_data.json": {"precomputed_rubric": {"items": [item(1, 1)]}, "task_summary": "t"},
    "task.json": {"task_id": 107, "eval": [{"evaluator": "RubricEvaluator", "criterion": "process", "threshold": 0}]},
    "network.har": {"log": "garbage"},
    "notes.json": {"score": 1},
}


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", DOWNLOADS)
@pytest.mark.parametrize(
    ("changed", "outcomes"),
    [
        ({"scores": None}, {"skipped": 1}),
        ({"scores": score_file(payload(outcome=False))}, {"failed": 1}),
        ({"scores": None, "web_surfer_log": log(CLICK, CLICK, CLICK)}, {"failed": 1}),
    ],
    ids=["unjudged", "judged a failure", "gated"],
)
def test_no_download_is_a_verdict_a_definition_or_a_way_out_of_one(tree, webeval, runs, name, changed, outcomes):
    put(tree("107", **changed) / name, DOWNLOADS[name])
    webeval().assert_outcomes(**outcomes)
    counts = (0, 1, 0) if "failed" in outcomes else (0, 0, 0)
    assert runs.counts == counts


def test_a_session_that_knows_better_names_the_file_that_holds_the_verdict(tree, webeval, result):
    put(tree("first", scores=None) / "rubric.json", DOWNLOADS["rubric.json"])
    webeval("-rs").stdout.fnmatch_lines(["*rubric.json counts only with --webeval-score-file"])
    webeval("--webeval-score-file=rubric.json").assert_outcomes(passed=1)
    assert result("first")["evaluators_results"][0]["actual"]["source"] == "rubric.json"
    put(tree("second", scores=None) / "task_data.json", DOWNLOADS["task_data.json"])
    webeval("--webeval-score-file=task_data.json", "-k", "second").assert_outcomes(passed=1, deselected=1)


def test_a_verdict_that_was_not_looked_at_is_told(tree, webeval, result, runs):
    put(tree("a") / "scores/gpt_eval.json", score_file("NOT SUCCESS", 0))
    webeval().assert_outcomes(passed=1)
    (note,) = result("a")["webeval"]["warnings"]
    told = "scores/mmrubric_0.8-5-3.json counts, not scores/gpt_eval.json; choose with --webeval-score-file"
    assert note == told
    assert [group["kind"] for group in runs.summary["webeval"]["warning_kinds"]] == ["several_verdicts"]


def test_a_verdict_that_the_benchmarks_own_gate_forbids_is_told(tree, webeval, result):
    tree("a", web_surfer_log=log(CLICK, CLICK, CLICK))
    webeval().assert_outcomes(passed=1)
    assert any(
        "the benchmark itself gives 0 points: The last action" in one for one in result("a")["webeval"]["warnings"]
    )


@pytest.mark.parametrize("place", ["elsewhere", recorded.RUN])
def test_a_run_over_budget_has_no_points_wherever_its_directory_was_copied(runs, webeval, place):
    recorded.write(runs.root / place / "a", answer=final_answer(NO_ANSWER))
    webeval().assert_outcomes(failed=1)


@pytest.mark.parametrize(("rules", "outcomes"), [("auto", {"failed": 1}), ("reference", {"passed": 1})])
def test_a_success_without_a_log_of_actions_is_an_error(tree, webeval, result, runs, rules, outcomes):
    tree("a", web_surfer_log="")
    webeval(f"--webeval-rules={rules}").assert_outcomes(**outcomes)
    assert (runs.summary["error_count"], runs.summary["success_count"]) == ((1, 0) if rules == "auto" else (0, 1))
    assert any("no actions although the agent acted" in note for note in result("a")["webeval"]["warnings"])


def test_a_score_file_that_cannot_be_read_is_a_class_of_its_own(tree, webeval, runs):
    tree("a", scores="{")
    webeval().assert_outcomes(failed=1)
    found = runs.summary["webeval"]["trajectories"]
    assert found["verdicts"] == {"score_unreadable": 1}
    assert (found["mean_scored"], runs.summary["error_count"]) == (None, 1)


def test_scores_that_are_a_link_are_an_error(tree, webeval, pytester):
    path = tree("a", scores=None)
    put(pytester.mkdir("other") / "mmrubric_0.8-5-3.json", score_file(payload()))
    (path / "scores").symlink_to(pytester.path / "other", target_is_directory=True)
    webeval().stdout.fnmatch_lines(
        ["*scores in */traj/a is not a directory; replace it with a directory, not with a link*"]
    )


def test_what_an_earlier_session_found_out_does_not_stay(tree, webeval, runs):
    path = tree("a")
    webeval()
    assert (path / "eval_result.json").exists()
    (path / "scores/mmrubric_0.8-5-3.json").unlink()
    webeval().assert_outcomes(skipped=1)
    assert not (path / "eval_result.json").exists()


def test_a_result_that_cannot_be_written_is_in_no_mean(tree, webeval, runs):
    (tree("a") / "eval_result.json").mkdir()
    webeval().assert_outcomes(failed=1)
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] is None


def test_what_a_python_test_records_over_an_unjudged_run_is_kept_and_counts_in_no_mean(tree, pytester, webeval, runs):
    path = tree("a", scores=None)
    pytester.makepyfile(
        test_more="""
        from pytest_webeval import Assertion, EvaluatorResult

        def test_records(record_evaluation):
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0))

        def test_rubric(webeval_rubric):
            webeval_rubric.check()
        """
    )
    webeval("test_more.py").assert_outcomes(passed=1, skipped=1)
    found = json.loads((path / "eval_result.json").read_bytes())
    assert [one["evaluator_name"] for one in found["evaluators_results"]] == ["Mine"]
    assert found["webeval"]["excluded"].startswith("not scored: ")
    assert (runs.summary["total"], runs.summary["webeval"]["excluded_count"]) == (0, 1)


def test_a_network_check_of_every_run_passes_over_trajectories_without_traffic(tree, pytester, webeval, runs, result):
    tree("a")
    tree("b", scores=None)
    pytester.makepyfile(
        test_more="""
        def test_deletes_nothing(webeval_network_event):
            webeval_network_event.check(expected={"url": "^.*$", "http_method": "DELETE"}, should_not_exist=True)

        def test_visits(webeval_run):
            assert webeval_run.trace.events
        """
    )
    webeval("test_more.py", "runs").assert_outcomes(passed=1, skipped=5)
    assert result("a")["status"] == "success"


@pytest.mark.parametrize("content", [{"mine": 1}, "text", {}, None], ids=repr)
@pytest.mark.unchecked_files("files of somebody else have our names")
def test_a_file_of_somebody_else_is_not_removed(tree, webeval, content):
    path = tree("a", scores=None) / "eval_result.json"
    path.mkdir() if content is None else put(path, content)
    webeval().assert_outcomes(skipped=1)
    assert path.exists()


def test_an_unjudged_run_over_budget_has_no_points_whatever_the_benchmark(runs, webeval):
    path = "runs/WebSurfer-fara-3-x-3/fara-7b/ana/WebVoyager_x.jsonl/r1/traj/a"
    recorded.write(runs.root / path, answer=final_answer(NO_ANSWER), scores=None)
    webeval().assert_outcomes(failed=1)


def test_a_damaged_score_file_of_a_run_over_budget_does_not_matter(tree, webeval, runs):
    tree("a", answer=final_answer(NO_ANSWER), scores="{")
    webeval().assert_outcomes(failed=1)
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] == 0.0


def test_the_benchmark_of_the_definition_has_its_gates(runs, webeval, pytester):
    recorded.write(runs.root / "a", web_surfer_log=log(CLICK, CLICK, CLICK), scores=None)
    put(pytester.path / "tasks.tsv", "benchmark\tid\ttask_summary\nb\ta\tFind it.")
    webeval().assert_outcomes(skipped=1)
    webeval("--webeval-tasks=tasks.tsv").assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("key", "value", "outcomes"),
    [
        ("webeval_aborted", "xfail", {"xfailed": 1, "passed": 1, "failed": 1}),
        ("webeval_over_budget", "zero", {"skipped": 1, "failed": 2}),
        ("webeval_score_file", "gpt_eval", {"skipped": 1, "passed": 1, "failed": 1}),
        ("webeval_rubric_threshold", "0.9", {"skipped": 1, "passed": 1, "failed": 1}),
    ],
)
def test_words_in_an_ini_file_are_no_paths(pytester, runs, webeval, key, value, outcomes):
    place = runs.root / "runs/WebSurfer-fara-3-x-3/fara-7b/ana/WebVoyager_x.jsonl/r1/traj"
    recorded.write(place / "aborted", answer=final_answer(NO_ANSWER, is_aborted=True))
    for name, told in {"over": "SUCCESS", "wrong": "NOT SUCCESS"}.items():
        answer = final_answer(NO_ANSWER if name == "over" else "done")
        put(
            recorded.write(place / name, answer=answer, scores=None) / "scores/gpt_eval.json",
            score_file(told, int(name == "over")),
        )
    pytester.makeini(f"[pytest]\n{key} = {value}")
    webeval().assert_outcomes(**outcomes)


def test_what_aborted_means_is_not_asked_of_a_run_that_nobody_judged(tree, webeval):
    tree("a", scores=None)
    webeval("--webeval-aborted=fail").assert_outcomes(skipped=1)


def test_a_task_keeps_the_criterion_that_it_names(runs, tree, webeval):
    own = {"evaluator": "RubricEvaluator", "criterion": "outcome"}
    runs.define(runs.definition(107) | {"eval": [own]})
    tree("107", scores=score_file(payload(items=(item(4, 1),))))
    webeval("--webeval-criterion=process").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("rules", "least"), [("default", {"1": 0.0, "2": 0.0, "3": 1.0}), ("reference", {"1": 0.0, "2": 1.0, "3": 1.0})]
)
def test_each_run_has_metrics_of_its_own_and_other_formats_have_none(runs, webeval, pytester, rules, least):
    runs.add(107)
    for run in ("r1", "r2"):
        for name in ("a", "b"):
            recorded.write(runs.root / recorded.RUN.replace("r1", run) / name, answer=final_answer(shots=3))
    webeval("--webeval-metrics=metrics", f"--webeval-rules={rules}")
    found = {path.parent.name: json.loads(path.read_bytes()) for path in (pytester.path / "metrics").rglob("*.json")}
    assert {name: told["num_examples"] for name, told in found.items()} == {"r1": 2, "r2": 2}
    assert {key: entry["mean_score"] for key, entry in found["r1"]["step_budget_scores"].items()} == least


def test_a_verdict_is_held_against_what_the_run_says(tree, webeval, result):
    evaluated = recorded.core_log("a", evaluated=True) + recorded.core_log("a")
    steps = {"rubric_intermediate_mm_rubric_steps": {"step1_num_screenshots": 9}}
    tree("a", core_log=evaluated, scores=score_file(payload(final_answer="other", **steps)))
    webeval().assert_outcomes(passed=1)
    told = "\n".join(result("a")["webeval"]["warnings"])
    for rule in ("R15", "R16", "R17"):
        assert f"scores/mmrubric_0.8-5-3.json: {rule}: " in told


def test_every_file_that_was_read_is_hashed(tree, webeval, result):
    tree("a")
    tree("b", answer=final_answer(NO_ANSWER, is_aborted=True))
    webeval()
    files = ["a_final_answer.json", "core.log", "scores/mmrubric_0.8-5-3.json", "times.json", "web_surfer.log"]
    assert sorted(result("a")["webeval"]["inputs"]) == files
    assert {"b_final_answer.json", "core.log", "times.json"} <= result("b")["webeval"]["inputs"].keys()


def test_what_was_recorded_counts_although_nobody_judged_the_run(tree, runs, webeval, result):
    runs.define(runs.definition(107) | {"eval": [runs.visited("__SHOPPING__/elsewhere")]})
    put(tree("107", scores=None) / "network.har", json.dumps({"log": {"entries": [runs.navigation()]}}))
    webeval().assert_outcomes(failed=1)
    assert [one["evaluator_name"] for one in result("107")["evaluators_results"]] == ["NetworkEventEvaluator"]
    note = "scored by its expectations; no judge's verdict counts: no verdict in scores/; judge the run"
    assert note in result("107")["webeval"]["warnings"]
    assert "unjudged" in {group["kind"] for group in runs.summary["webeval"]["warning_kinds"]}


def test_a_trace_that_was_mended_is_told_where_it_was_read(tree, runs, webeval, result):
    runs.define(runs.definition(107) | {"eval": [runs.visited()]})
    line = json.dumps({"type": "resource-snapshot", "snapshot": runs.navigation()})
    put(tree("107") / "trace.network", f"{line}\n\n")
    webeval().assert_outcomes(passed=1)
    assert any("what can be read of it is read" in note for note in result("107")["webeval"]["warnings"])


def test_a_critical_point_that_nobody_looked_at_is_told(tree, webeval, result):
    tree("a")
    webeval("--webeval-criterion=safe_outcome").assert_outcomes(passed=1)
    told = "scores/mmrubric_0.8-5-3.json has no result on critical point violations; counted as no violation"
    assert result("a")["webeval"]["warnings"] == [told]


def test_an_answer_file_of_another_task_is_told(tree, webeval, result):
    path = tree("a")
    (path / "a_final_answer.json").rename(path / "b_final_answer.json")
    webeval().assert_outcomes(passed=1)
    assert any(
        note.startswith("b_final_answer.json: the directory name") for note in result("a")["webeval"]["warnings"]
    )


def test_two_copies_of_a_run_are_two_runs(runs, webeval):
    for copy in ("one", "two"):
        recorded.write(runs.root / copy / recorded.RUN / "a")
    webeval()
    assert len(runs.summary["webeval"]["trajectories"]["runs"]) == 2


@pytest.mark.parametrize("actual", ['{"flags": None}', '{"flags": [{}]}', '{"tool_failures": ["x"]}', '"text"', "[1]"])
def test_an_overriding_evaluator_may_say_what_it_likes(tree, pytester, webeval, runs, actual):
    tree("a")
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_webeval import Evaluator

        class Mine(Evaluator):
            name = "RubricEvaluator"

            def evaluate(self, expectation, case):
                return self.result([], actual={actual})

        @pytest.fixture
        def webeval_rubric(webeval_rubric):
            return webeval_rubric.using(Mine())
        """
    )
    webeval().assert_outcomes(passed=1)
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] == 1.0


@pytest.mark.parametrize("status", ["failure", "error"])
def test_only_errors_are_left_out_of_the_mean_whatever_a_result_says(tree, pytester, webeval, runs, status):
    tree("a")
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_webeval import Assertion, Evaluator

        class Mine(Evaluator):
            name = "RubricEvaluator"

            def evaluate(self, expectation, case):
                found = self.result([Assertion(assertion_name="x", status="{status}")])
                return found.with_changes(error_msg="a note" if "{status}" == "failure" else None)

        @pytest.fixture
        def webeval_rubric(webeval_rubric):
            return webeval_rubric.using(Mine())
        """
    )
    webeval()
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] == (0.0 if status == "failure" else None)


@pytest.mark.whole
def test_lone_surrogates_travel_between_processes(tree, webeval_apart):
    told = json.dumps(payload() | {"rubric_error": "\ud800"})
    tree("a", scores=json.dumps({"score": 0, "gpt_response_text": told}))
    tree("b", answer=final_answer("\udfff"))
    webeval_apart("-n", "2").assert_outcomes(passed=1, failed=1)


def test_the_session_says_what_it_asked_of_stored_verdicts(tree, webeval, runs):
    tree("a")
    result = webeval("--webeval-criterion=both", "--webeval-rubric-threshold=0.9", "--webeval-over-budget=zero")
    result.stdout.fnmatch_lines(["webeval: rules auto, evaluators *, criterion both, threshold 0.9, over budget zero"])
    asked = {"criterion": "both", "threshold": 0.9, "score_file": None, "over_budget": "zero"}
    assert runs.summary["webeval"]["policy"] == asked


def test_properties_and_columns_say_what_became_of_a_trajectory(tree, webeval, pytester):
    tree("a")
    tree("b", answer=final_answer(NO_ANSWER, is_aborted=True))
    webeval("--junitxml=j.xml", "--html=r.html", "--self-contained-html")
    junit = (pytester.path / "j.xml").read_text()
    for name, value in {"class": "aborted", "status": "excluded", "criterion": "outcome"}.items():
        assert f'<property name="webeval_{name}" value="{value}"' in junit
    report = (pytester.path / "r.html").read_text()
    assert "WebTailBench_hf" in report
    assert "aborted" in report


def test_metrics_of_a_partial_session_are_not_written(tree, webeval, pytester):
    tree("first")
    tree("second")
    webeval("--webeval-metrics=metrics", "-k", "first").stdout.fnmatch_lines(["metrics.json not written: *"])
    assert not (pytester.path / "metrics").exists()


def test_a_file_is_no_place_for_metrics(tree, webeval, pytester):
    tree("a")
    put(pytester.path / "taken", "x")
    result = webeval("--webeval-metrics=taken")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--webeval-metrics: not a directory: */taken; choose another directory"])


def test_a_trajectory_that_is_the_root_gets_its_result_and_nothing_else(tree, pytester):
    path = tree("a")
    before = files_in(path)
    pytester.runpytest("-p", "no:hypothesispytest", f"--webeval-runs={path}").assert_outcomes(passed=1)
    assert {name.name for name in files_in(path) - before} == {"eval_result.json"}


def test_runs_that_are_roots_each_are_told_apart(runs, pytester):
    for run in ("r1", "r2"):
        recorded.write(runs.root / recorded.RUN.replace("r1", run) / "a")
    roots = [f"--webeval-runs={runs.root / recorded.RUN.replace('r1', run) / 'a'}" for run in ("r1", "r2")]
    pytester.mkdir("cwd")
    pytester.runpytest("-p", "no:hypothesispytest", "--rootdir=cwd", "--webeval-output=out", *roots)
    found = json.loads((pytester.path / "out/eval_summary.json").read_bytes())["webeval"]["trajectories"]
    assert [run["run"].rpartition("/")[2] for run in found["runs"]] == ["r1", "r2"]


def test_a_task_outside_the_definitions_is_told(tree, webeval, pytester, result, runs):
    tree("books_7")
    put(pytester.path / "tasks.tsv", "benchmark\tid\ttask_summary\nb\tother\tFind it.")
    webeval("--webeval-tasks=tasks.tsv").assert_outcomes(passed=1)
    assert result("books_7")["webeval"]["warnings"] == [
        "task books_7 is not defined in tasks.tsv; the run belongs to no group"
    ]
    assert [group["kind"] for group in runs.summary["webeval"]["warning_kinds"]] == ["undefined_task"]
