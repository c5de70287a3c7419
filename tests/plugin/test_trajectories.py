"""Fara trajectories as pytest items: fara_webeval.md §4, §10."""

from __future__ import annotations

import json

import pytest

from tests.support import recorded
from tests.support.recorded import CLICK, final_answer, item, log, payload, put, score_file

NO_ANSWER = "<no_answer>"
CRASHED = recorded.core_log("x", crash="Captcha timed out")


@pytest.fixture
def every_class(tree):
    """A trajectory of each class and of each kind of verdict."""
    tree("a_good")
    tree("b_bad", scores=score_file(payload(outcome=False)))
    tree("c_budget", answer=final_answer(NO_ANSWER), web_surfer_log=log(CLICK, CLICK, CLICK), scores=None)
    tree("d_aborted", answer=final_answer(NO_ANSWER, is_aborted=True), scores=None)
    tree("e_crashed", answer=None, core_log=CRASHED, scores=None)
    tree("f_unreadable", answer="{")
    tree("g_contradiction", scores=score_file(payload(rubric_is_success=0)))
    tree("h_judge_error", scores=score_file({"rubric_error": "no tokens left", "is_success": 0}))
    tree("i_unjudged", scores=None)


def test_each_class_has_its_outcome_in_pytest(every_class, webeval):
    outcomes = webeval("-rs")
    outcomes.assert_outcomes(passed=1, failed=4, skipped=3, errors=1)
    outcomes.stdout.fnmatch_lines(["9 trajectories: 5 completed, 1 over budget, 2 aborted, 1 unreadable"])
    outcomes.stdout.fnmatch_lines_random(
        [
            "rubric.outcome: not achieved: as seen",
            "rubric.score: the agent gave no answer in 3 steps",
            "RubricEvaluator: inconsistent: scores/*.json contradicts itself: R2: *; judge the run again",
            "RubricEvaluator: judge_error: the judge failed: no tokens left @ scores/*.json; judge the run again",
            "answer_invalid: cannot parse f_unreadable_final_answer.json as JSON: *",
            "SKIPPED * runs/*/traj/d_aborted:0: aborted (flagged): *",
            "SKIPPED * runs/*/traj/e_crashed:0: aborted (crash_no_answer): the run crashed: Captcha timed out",
            "SKIPPED * runs/*/traj/i_unjudged:0: not scored: no verdict in scores/; judge the run",
            "6 scored: 1 success, 2 failure, 3 error, 3 excluded",
            "excluded: 2 aborted, 1 ungraded",
            "success rate 16.7% (95% interval *",
            "Fara's mean over scored 33.3% of 3, over completed 50.0% of 2, inconsistent 1, judge errors 1",
        ]
    )


def test_the_summary_counts_each_of_them_once(every_class, webeval, runs):
    webeval()
    summary = runs.summary
    assert (summary["total"], *runs.counts) == (6, 1, 2, 3)
    about = summary["webeval"]
    assert (about["excluded_count"], about["success_rate_denominator"], about["success_rate"]) == (3, 6, 1 / 6)
    assert about["excluded_counts"] == {"aborted": 2, "ungraded": 1}
    statuses = {row["task_id"]: row["status"] for row in summary["task_results"]}
    assert statuses == {
        "a_good": "success",
        "b_bad": "failure",
        "c_budget": "failure",
        "d_aborted": "excluded",
        "e_crashed": "excluded",
        "f_unreadable": "error",
        "g_contradiction": "error",
        "h_judge_error": "error",
        "i_unjudged": "excluded",
    }
    found = about["trajectories"]
    assert found["classes"] == {"completed": 5, "over_budget": 1, "aborted": 2, "unreadable": 1}
    assert (found["mean_scored"], found["mean_scored_denominator"]) == (1 / 3, 3)
    assert (found["mean_completed"], found["mean_completed_denominator"]) == (1 / 2, 2)
    assert (found["inconsistent"], found["judge_errors"]) == (1, 1)


def test_results_say_what_they_are_and_those_that_say_nothing_are_marked(every_class, webeval, runs, result):
    webeval()
    good = result("a_good")
    assert (good["task_id"], good["status"], good["score"], good["sites"]) == ("a_good", "success", 1.0, [])
    assert (good["intent_template_id"], good["task_revision"]) == (-1, -1)
    assert (good["webeval"]["format"], good["webeval"]["excluded"], good["webeval"]["skipped"]) == ("fara", None, False)
    aborted = result("d_aborted")
    assert (aborted["status"], aborted["score"], aborted["webeval"]["skipped"]) == ("error", 0.0, True)
    assert aborted["webeval"]["excluded"] == aborted["error_msg"]
    for name in ("f_unreadable", "g_contradiction", "h_judge_error"):
        found = result(name)
        assert (found["status"], found["score"], found["webeval"]["skipped"]) == ("error", 0.0, False)
        assert found["webeval"]["excluded"] is None
    assert not [name for name in runs.written if "i_unjudged" in name]


def test_the_verdict_is_told_leaf_by_leaf(tree, webeval, result):
    unmet = item(3, 0, condition="Only if sold out", is_condition_met=False)
    items = (item(4, 4), item(3, 2.5))
    tree("a", scores=score_file(payload(rubric_items=[*items, unmet])))
    webeval().assert_outcomes(passed=1)
    (rubric,) = result("a")["evaluators_results"]
    told = [(one["assertion_name"], one["assertion_msgs"][0]) for one in rubric["assertions"]]
    assert told == [
        ("rubric.outcome_match", "achieved: as seen"),
        ("rubric.points_noted", "6.5 of 7 points (93%); 80% required"),
        ("rubric.items[0]_noted", "worth 4: 4 of 4 points"),
        ("rubric.items[1]_noted", "worth 3: 2.5 of 3 points"),
        ("rubric.items[2]_noted", "worth 3: 0 of 3 points, excluded: its condition is not met (Only if sold out)"),
        *told[5:],
    ]
    assert rubric["expected"] == {"criterion": "outcome", "threshold": 0.8}
    actual = rubric["actual"]
    assert (actual["class"], actual["final_answer"], actual["process_score"]) == ("completed", "done", 6.5 / 7)
    assert (actual["outcome"], actual["violation"], actual["source"]) == (True, None, "scores/mmrubric_0.8-5-3.json")
    assert (actual["writer"], actual["generation"], actual["criterion"]) == ("webtailbench", None, "outcome")


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ((), True),
        (("--webeval-criterion=process",), False),
        (("--webeval-criterion=both",), False),
        (("--webeval-criterion=process", "--webeval-rubric-threshold=0.5"), True),
        (("--webeval-criterion=safe_outcome",), True),
    ],
)
def test_the_criterion_and_the_threshold_can_be_chosen(tree, webeval, arguments, passes):
    tree("a", scores=score_file(payload(outcome=True, items=(item(4, 2), item(3, 2)))))
    webeval(*arguments).assert_outcomes(passed=int(passes), failed=int(not passes))


def test_options_stand_in_the_ini_file_as_well(pytester, tree, webeval):
    tree("a", scores=score_file(payload(outcome=True, items=(item(4, 2), item(3, 2)))))
    pytester.makeini("[pytest]\nwebeval_criterion = process\nwebeval_rubric_threshold = 0.6")
    webeval().assert_outcomes(failed=1)


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("--webeval-criterion=luck", "*invalid --webeval-criterion 'luck'; use outcome, process, both or safe_outcome"),
        (
            "--webeval-rubric-threshold=80",
            "*invalid --webeval-rubric-threshold '80'; use a number from 0 to 1*",
        ),
        ("--webeval-rubric-threshold=much", "*invalid --webeval-rubric-threshold 'much';*"),
        ("--webeval-rubric-threshold=nan", "*invalid --webeval-rubric-threshold 'nan';*"),
        ("--webeval-over-budget=judge", "*invalid --webeval-over-budget 'judge'; use stored or zero"),
        ("--webeval-aborted=pass", "*invalid --webeval-aborted 'pass'; use skip, xfail or fail"),
    ],
)
def test_a_wrong_option_is_a_usage_error(tree, webeval, argument, told):
    tree("a")
    result = webeval(argument)
    assert result.ret == 4
    result.stderr.fnmatch_lines([told])


def test_of_several_score_files_one_is_named(tree, webeval, result):
    other = score_file(payload(outcome=False))
    put(tree("a") / "scores/mmrubric_0.9-5-3.json", other)
    ambiguous = webeval()
    ambiguous.assert_outcomes(failed=1)
    ambiguous.stdout.fnmatch_lines(["*mmrubric_0.8-5-3.json*mmrubric_0.9-5-3.json*--webeval-score-file*"])
    webeval("--webeval-score-file=mmrubric_0.9-5-3.json").assert_outcomes(failed=1)
    assert result("a")["evaluators_results"][0]["actual"]["source"] == "scores/mmrubric_0.9-5-3.json"
    webeval("--webeval-score-file=mmrubric_0.8-5-3.json").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("how", "outcomes"), [("skip", {"skipped": 1}), ("xfail", {"xfailed": 1}), ("fail", {"failed": 1})]
)
def test_an_aborted_run_is_in_no_mean_however_its_test_ends(tree, webeval, runs, how, outcomes):
    tree("a", answer=final_answer(NO_ANSWER, is_aborted=True))
    webeval(f"--webeval-aborted={how}").assert_outcomes(**outcomes)
    assert (runs.summary["total"], runs.summary["webeval"]["excluded_count"]) == (0, 1)
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] is None


WEBVOYAGER = "runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebVoyager_x.jsonl/r1/traj/a"


@pytest.mark.parametrize(("policy", "passes"), [("stored", True), ("zero", False)])
def test_a_stored_score_of_a_run_without_answer_stands_unless_it_is_ruled_out(runs, webeval, policy, passes):
    path = recorded.write(runs.root / WEBVOYAGER, answer=final_answer(NO_ANSWER), scores=None)
    put(path / "scores/gpt_eval.json", score_file("SUCCESS", 1.0))
    webeval(f"--webeval-over-budget={policy}").assert_outcomes(passed=int(passes), failed=int(not passes))


def test_a_run_without_answer_of_a_benchmark_with_gates_has_no_points_whatever_was_stored(tree, webeval, runs, result):
    tree("a", answer=final_answer(NO_ANSWER))
    webeval().assert_outcomes(failed=1)
    assert result("a")["evaluators_results"][0]["actual"]["score"] == 0
    (note,) = [note for note in result("a")["webeval"]["warnings"] if "does not count" in note]
    assert note.startswith("scores/mmrubric_0.8-5-3.json has the score 1, which does not count: ")
    assert "overruled_verdict" in {group["kind"] for group in runs.summary["webeval"]["warning_kinds"]}
    assert runs.summary["webeval"]["trajectories"]["mean_scored"] == 0.0


def test_a_gate_decides_where_nobody_judged(tree, webeval, result):
    tree("a", web_surfer_log=log(CLICK, CLICK, CLICK), scores=None)
    webeval().assert_outcomes(failed=1)
    actual = result("a")["evaluators_results"][0]["actual"]
    assert (actual["gate"], actual["score"]) == (2, 0)


def test_a_stale_verdict_on_an_aborted_run_is_ignored(tree, webeval, result):
    tree("a", answer=final_answer(NO_ANSWER, is_aborted=True))
    webeval().assert_outcomes(skipped=1)
    assert result("a")["evaluators_results"] == []


def test_unless_a_rule_is_named_stop_ends_a_run_and_words_are_read_whole(tree, runs, webeval, result):
    stopped = log(CLICK, CLICK, {"action": "stop"})
    tree("a", web_surfer_log=stopped, scores=None)
    webeval("--webeval-rules=default").assert_outcomes(failed=1)
    webeval().assert_outcomes(skipped=1)
    put(
        runs.root / recorded.RUN / "a/scores/WebJudge_Online_Mind2Web_eval-3.json",
        score_file('Status: "unsuccessful"', 1),
    )
    chosen = "--webeval-score-file=WebJudge_Online_Mind2Web_eval-3"  # WebTailBench itself stores no free text
    webeval(chosen, "--webeval-rules=default").assert_outcomes(passed=1)
    assert "verdict_text_ambiguous" in result("a")["evaluators_results"][0]["actual"]["flags"]
    webeval(chosen).assert_outcomes(failed=1)
    assert not any("F27" in note for note in result("a")["webeval"]["warnings"])


def contents(root):
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_scoring_leaves_every_input_as_it_was_and_adds_one_file(every_class, webeval, runs):
    before = contents(runs.root)
    webeval()
    after = contents(runs.root)
    assert {path: after[path] for path in before} == before
    added = {path.name for path in after.keys() - before.keys()}
    assert added == {"eval_result.json", "eval_summary.json"}


def test_an_output_directory_takes_all_that_is_written(every_class, webeval, runs):
    before = contents(runs.root)
    webeval("--webeval-output=results")
    assert contents(runs.root) == before


@pytest.mark.whole
def test_a_mixed_root_is_scored_in_one_session_by_one_process_or_two_alike(every_class, runs, webeval_apart, pytester):
    runs.add(107)
    runs.add(108, passes=False)
    found = {}
    for name, arguments in {"one": (), "two": ("-n", "2")}.items():
        outcomes = webeval_apart(f"--webeval-output={name}", *arguments)
        outcomes.assert_outcomes(passed=2, failed=5, skipped=3, errors=1)
        found[name] = {path: _steady(content) for path, content in contents(pytester.path / name).items()}
    assert found["one"] == found["two"]
    assert len(found["one"]) == 11


def _steady(content: bytes):
    tree = json.loads(content)
    tree.pop("timestamp", None)
    tree["webeval"].pop("wall_time", None)
    tree["webeval"].pop("slowest", None)
    for row in tree.get("task_results", ()):
        row.pop("wall_time", None)
    return tree


def test_metrics_are_written_on_request_in_the_original_shape(every_class, webeval, pytester):
    webeval("--webeval-metrics=metrics")
    (path,) = (pytester.path / "metrics").rglob("metrics.json")
    found = json.loads(path.read_bytes())
    assert (found["mean_score"], found["num_examples"], found["total examples"]) == (1 / 3, 3, 9)
    assert path.parent.name == "r1"


def test_a_resumed_session_has_half_of_a_surrogate_pair_in_its_metrics(tree, runs, webeval, pytester):
    tree("a_half", answer=final_answer("caf\ud800"), scores=score_file(payload(final_answer="caf\ud800")))
    tree("b_bad", scores=score_file(payload(outcome=False)))
    tree("c_good")
    webeval("-x", "--webeval-redact=off")
    (line, _) = (runs.root / "eval_journal.jsonl").read_text().splitlines()
    assert json.loads(line)["record"]["trajectory"]["answer"] == "caf\ud800"
    result = webeval("--webeval-resume", "--webeval-redact=off", "--webeval-metrics=metrics")
    result.stdout.fnmatch_lines(["resumed: 2 of 3 results taken from an earlier session"])
    (path,) = (pytester.path / "metrics").rglob("metrics.json")
    answers = {entry["qid"]: entry["answer"] for entry in map(json.loads, json.loads(path.read_bytes())["scores"])}
    assert answers == {"a_half": "caf\ud800", "b_bad": "done", "c_good": "done"}


def test_what_webeval_computed_over_a_run_is_passed_over(tree, runs, webeval):
    run = tree("a").parent.parent
    put(run / "mmrubric_0.8-5-3" / "metrics.json", "{}")
    webeval().assert_outcomes(passed=1)


def test_a_python_test_over_runs_sees_the_trajectory_and_is_skipped_for_an_aborted_one(tree, pytester, webeval):
    tree("a")
    tree("b", answer=final_answer(NO_ANSWER, is_aborted=True))
    pytester.makepyfile(
        test_steps="""
        def test_terminates(webeval_run):
            assert webeval_run.trajectory.steps[-1].action == "terminate"

        def test_points(webeval_rubric):
            webeval_rubric.check(criterion="process", threshold=0.9)
        """
    )
    webeval("test_steps.py").assert_outcomes(passed=2, skipped=2)


def test_a_trajectory_with_recorded_traffic_and_a_definition_gets_its_network_checks(tree, runs, webeval, result):
    runs.define(runs.definition(107) | {"eval": [runs.visited("__SHOPPING__/elsewhere")]})
    path = tree("107")
    put(path / "network.har", json.dumps({"log": {"entries": [runs.navigation()]}}))
    webeval().assert_outcomes(failed=1)
    found = result("107")
    assert found["task_id"] == 107
    assert [(one["evaluator_name"], one["status"]) for one in found["evaluators_results"]] == [
        ("NetworkEventEvaluator", "failure"),
        ("RubricEvaluator", "success"),
    ]


def test_tasks_that_are_expected_and_not_recorded_are_shown(tree, pytester, webeval):
    tree("books_7")
    rows = ["benchmark\tid\ttask_summary", "books\tbooks_7\tFind it.", "books\tbooks_8\tBuy it."]
    put(pytester.path / "tasks.tsv", "\n".join(rows))
    result = webeval("--webeval-tasks=tasks.tsv", "--webeval-require-all")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*no recording of task books_8 in runs; record it, or omit --webeval-require-all*"])


def test_definitions_give_a_trajectory_its_group_and_keywords(tree, pytester, webeval, runs):
    tree("books_7")
    tree("other")
    put(pytester.path / "tasks.tsv", "benchmark\tid\ttask_summary\nbookshop\tbooks_7\tFind it.")
    webeval("--webeval-tasks=tasks.tsv", "-k", "bookshop").assert_outcomes(passed=1, deselected=1)
    found = runs.summary["webeval"]["trajectories"]
    assert found["per_group"] == {"bookshop": {"mean": 1.0, "n": 1}}
    assert found["coverage"] == {"expected": 1, "scored": 1, "share": 1.0}


def test_several_runs_of_the_same_tasks_are_compared(runs, webeval):
    for run, outcome in (("r1", True), ("r2", False)):
        path = runs.root / recorded.RUN.replace("r1", run) / "books_7"
        recorded.write(path, scores=score_file(payload(outcome=outcome)))
    result = webeval()
    result.stdout.fnmatch_lines(["*: 2 runs, mean 50.0% (sd 70.7%), pass@2 100.0% of 1, pass^2 0.0% of 1; 1 of 1 *"])
    (found,) = runs.summary["webeval"]["trajectories"]["experiments"].values()
    assert found["flips"]["tasks"] == [{"task_id": "books_7", "tries": 2, "successes": 1}]


def test_definitions_of_both_formats_come_from_two_files(tree, runs, webeval, pytester):
    runs.add(107)
    (runs.root / "tasks.json").rename(pytester.path / "tasks.json")
    runs.root.joinpath("tasks.json").unlink(missing_ok=True)
    tree("books_7")
    put(pytester.path / "tasks.tsv", "benchmark\tid\ttask_summary\nbooks\tbooks_7\tFind it.")
    files = ("--webeval-tasks=tasks.json", "--webeval-tasks=tasks.tsv")
    webeval(*files, "--webeval-require-all").assert_outcomes(passed=2)
    assert runs.summary["webeval"]["trajectories"]["per_group"] == {"books": {"mean": 1.0, "n": 1}}


def test_a_subset_may_name_trajectories(tree, webeval, pytester, runs):
    tree("books_7")
    tree("books_8")
    put(pytester.path / "subset.json", {"task_ids": ["books_7", "b\nooks\ud800" * 50]})
    result = webeval("--webeval-subset=subset.json", "--webeval-require-all")
    result.assert_outcomes(passed=1, errors=1, deselected=1)
    coverage = runs.summary["webeval"]["trajectories"]["coverage"]
    assert coverage == {"expected": 2, "scored": 1, "share": 0.5}
