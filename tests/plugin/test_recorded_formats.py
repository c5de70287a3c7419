"""Sessions over runs of recorders other than WebArena-Verified and Fara, alone and mixed."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support import recorded
from tests.support.runs import definition, navigation, visited

ZERO = ("-o", "webeval_impossible=zero")
JUDGED = {"task_id": "7", "task": "Find a lamp", "action_history": ["<a> -> CLICK"], "final_result_response": "Lamp"}


def add_result(runs, name, **fields):
    path = runs.root / name
    (path / "trajectory").mkdir(parents=True)
    (path / "result.json").write_text(json.dumps(JUDGED | {"task_id": name} | fields))
    return path


def judge(score, reasoning="it says so"):
    return {"score": score, "reasoning": reasoning}


def test_stored_verdicts_become_tests_with_their_reasons(runs, webeval):
    add_result(runs, "a", judge=judge(100))
    add_result(runs, "b", judge=judge(0, "no lamp"))
    add_result(runs, "c")
    add_result(runs, "d", final_result_response=None)
    result = webeval("-rs")
    result.assert_outcomes(passed=1, failed=2, skipped=1)
    result.stdout.fnmatch_lines(["*SKIPPED*not scored: not judged yet; no file of the run holds a verdict"])
    result.stdout.fnmatch_lines(["4 trajectories: 2 completed, 1 over budget, 0 aborted, 0 unreadable, 1 ungraded"])
    assert runs.counts == (1, 2, 0)
    assert runs.reasons == {
        "b": "rubric.outcome: not achieved: no lamp",
        "c": "not scored: not judged yet; no file of the run holds a verdict",
        "d": "rubric.score: the agent gave no answer in 1 step",
    }
    facts = runs.result("a")["webeval"]
    assert (facts["format"], facts["trajectory"]["class"], facts["trajectory"]["answer"]) == (
        "online-mind2web",
        "completed",
        "Lamp",
    )


def test_a_number_between_counts_as_a_failure_unless_the_session_asks_for_less(runs, webeval):
    add_result(runs, "a", judge=judge(80))
    webeval().assert_outcomes(failed=1)
    webeval("--webeval-rubric-threshold=0.8").assert_outcomes(passed=1)
    webeval("--webeval-rubric-threshold=0.81").assert_outcomes(failed=1)
    webeval("--webeval-criterion=process", "-rs").assert_outcomes(skipped=1)


def test_the_requested_file_of_a_verdict_must_be_one_that_is_there(runs, webeval):
    add_result(runs, "a", judge=judge(100))
    webeval("--webeval-score-file=result.json judge").assert_outcomes(passed=1)
    result = webeval("--webeval-score-file=other")
    result.assert_outcomes(failed=1)
    assert 'there is no verdict in "other", only in "result.json judge"' in runs.reasons["a"]


def test_expectations_of_a_task_file_are_laid_over_it_with_its_traffic(runs, webeval):
    har = {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [navigation()]}}
    for name, score in (("107", 100), ("108", 100)):
        path = add_result(runs, name, judge=judge(score))
        (path / "recorded.har").write_text(json.dumps(har))
    (runs.root / "108/recorded.har").unlink()
    tasks = [
        {
            "task_id": task_id,
            "sites": ["shopping"],
            "intent": "Visit",
            "intent_template": "Visit",
            "intent_template_id": 1,
            "start_urls": ["__SHOPPING__"],
            "instantiation_dict": {},
            "revision": 1,
            "eval": [visited("__SHOPPING__/elsewhere")],
        }
        for task_id in (107, 108)
    ]
    runs.define(*tasks)
    webeval().assert_outcomes(failed=2)
    assert runs.counts == (0, 1, 1)
    names = [result["evaluator_name"] for result in runs.result("107")["evaluators_results"]]
    assert names == ["NetworkEventEvaluator", "RubricEvaluator"]
    assert "no network recording in runs/108; record the browser's traffic with the run" in runs.reasons["108"]


@pytest.mark.parametrize(
    ("names", "outcome"),
    [
        (("recorded.har",), {"passed": 1}),
        (("network.har", "trace.zip"), {"passed": 1}),
        (("recorded.har", "download.har"), {"failed": 1}),
        (("network.har", "download.har"), {"failed": 1}),
        (("trace.zip", "download.har"), {"failed": 1}),
    ],
    ids=" ".join,
)
def test_of_several_recordings_of_traffic_none_is_chosen(runs, webeval, names, outcome):
    path = add_result(runs, "107", judge=judge(100))
    har = {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [navigation()]}}
    for name in names:
        (path / name).write_text(json.dumps(har))
    runs.define(definition(107) | {"eval": [visited("__SHOPPING__/")]})
    webeval().assert_outcomes(**outcome)
    error = runs.result("107")["error_msg"] or ""
    assert error.endswith("; keep only the one that the recorder wrote") is ("failed" in outcome)
    assert all(f'"{name}"' in error for name in names if "failed" in outcome)


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "parallel"])
def test_a_mixed_root_is_scored_in_one_session_and_each_format_can_be_selected(runs, webeval, workers):
    add_result(runs, "a", judge=judge(100))
    runs.add(107)
    recorded.write(runs.root / "f")
    result = webeval(*workers)
    assert result.parseoutcomes()["passed"] == 3
    assert {row["run"].rpartition("/")[2] for row in runs.summary["task_results"]} == {"a", "107", "f"}
    webeval("-k", "online-mind2web").assert_outcomes(passed=1, deselected=2)


def test_files_of_two_formats_are_an_error_of_this_run_alone(runs, webeval):
    path = add_result(runs, "a", judge=judge(0))
    add_result(runs, "b", judge=judge(100))
    (path / "agent_response.json").write_text("{}")
    webeval().assert_outcomes(passed=1, errors=1)
    assert "a has the files of several formats: webarena-verified (" in runs.reasons["a"]
    assert runs.summary["webeval"]["excluded_count"] == 0


def test_the_report_shows_steps_with_their_pictures(runs, webeval):
    path = add_result(runs, "a", judge=judge(0), thoughts=["Look at it"])
    for number in range(2):
        (path / "trajectory" / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1")
    webeval("--webeval-report=report").assert_outcomes(failed=1)
    pages = [page.read_text() for page in (runs.root.parent / "report").rglob("*") if page.is_file()]
    assert any("Look at it" in page and "trajectory/1.png" in page for page in pages)


@pytest.mark.whole
def test_a_session_without_a_format_imports_no_reader_of_it(runs, webeval_apart, pytester):
    add_result(runs, "a", judge=judge(100))
    pytester.makeconftest(
        "import sys\n"
        "def pytest_sessionfinish():\n"
        "    names = sorted(name for name in sys.modules if name.startswith('pytest_webeval.recordings.'))\n"
        "    open('loaded', 'w').write('\\n'.join(names))\n"
    )
    webeval_apart().assert_outcomes(passed=1)
    assert "pytest_webeval.recordings.formats.online_mind2web" in (pytester.path / "loaded").read_text().split()
    (runs.root / "a/result.json").unlink()
    (runs.root / "a/trajectory").rmdir()
    runs.add(107)
    webeval_apart().assert_outcomes(passed=1)
    loaded = (pytester.path / "loaded").read_text().split()
    assert "pytest_webeval.recordings.signatures" in loaded
    assert not {"online_mind2web", "trajectory_run", "recorded_files"} & {name.rpartition(".")[2] for name in loaded}


def reply(task_id, word):
    return json.dumps({"task_id": task_id, "evaluation_details": {"response": f"Thoughts: hm\nStatus: {word}"}})


def test_verdicts_of_another_file_count_before_those_of_the_run(runs, webeval, pytester):
    add_result(runs, "a", judge=judge(100))
    add_result(runs, "b")
    add_result(runs, "c", judge=judge(100))
    recorded.write(runs.root / "f")
    lines = [reply("a", "failure"), reply("b", "success"), reply("f", "failure")]
    (pytester.path / "judged.json").write_text("\n".join(lines))
    webeval("--webeval-verdicts=judged.json").assert_outcomes(passed=2, failed=2)
    assert set(runs.reasons) == {"a", "f"}
    (result,) = runs.result("a")["evaluators_results"]
    assert (result["actual"]["source"], result["actual"]["writer"]) == ("judged.json", "webjudge")
    assert any("judged.json counts, not result.json judge" in text for text in runs.result("a")["webeval"]["warnings"])


def test_labels_of_people_count_before_all_and_impossible_tasks_are_in_no_rate(runs, webeval, pytester):
    for name in ("a", "b", "c"):
        add_result(runs, f"ours/{name}", judge=judge(100))
    recorded.write(runs.root / "ours/f")
    rows = [{"task_id": name, "Ours_human_label": code} for name, code in zip("abcf", "0122", strict=True)]
    (pytester.path / "labels.json").write_text(json.dumps(rows))
    result = webeval("--webeval-labels=labels.json", "--webeval-label-coding=osu", "-rs")
    result.assert_outcomes(failed=1, passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*impossible: people could not execute the task @ labels.json*"])
    assert runs.reasons["a"] == "rubric.outcome: not achieved: label given by a person"
    assert runs.summary["webeval"]["excluded_count"] == 2
    webeval("--webeval-labels=labels.json", "--webeval-label-coding=abp").assert_outcomes(skipped=1, failed=2, passed=1)


def test_impossible_tasks_count_as_zero_if_the_key_says_so_and_both_denominators_are_named(runs, webeval, pytester):
    for name in ("a", "b", "c"):
        add_result(runs, f"ours/{name}", judge=judge(100))
    recorded.write(runs.root / "ours/f")
    rows = [{"task_id": name, "Ours_human_label": code} for name, code in zip("abcf", "0122", strict=True)]
    (pytester.path / "labels.json").write_text(json.dumps(rows))
    labels = ("--webeval-labels=labels.json", "--webeval-label-coding=osu", "--webeval-reuse", "--webeval-report=page")
    rates = {
        "as_zero": {"success_rate": 1 / 4, "denominator": 4},
        "excluded": {"success_rate": 1 / 2, "denominator": 2},
    }
    for arguments, outcomes, counted, line in (
        ((), {"skipped": 2, "failed": 1}, 0, "2 impossible runs excluded: 50.0% of 2; counted as 0: 25.0% of 4"),
        (ZERO, {"failed": 3}, 2, "2 impossible runs counted as 0: 25.0% of 4; excluded: 50.0% of 2"),
    ):
        result = webeval(*labels, *arguments)
        result.assert_outcomes(passed=1, **outcomes)
        result.stdout.fnmatch_lines([line])
        summary = runs.summary["webeval"]
        assert summary["impossible"] == {"count": 2, "counted": counted} | rates
        assert summary["success_rate_denominator"] == (4 if counted else 2)
        assert line in (pytester.path / "page/index.html").read_text()
    assert runs.summary["webeval"]["policy"]["labels"]["impossible"] == "zero"
    assert runs.reasons["f"].endswith("not achieved: impossible: people could not execute the task, which counts as 0")
    assert runs.result("ours/f")["webeval"]["external_verdicts"][0]["impossible"] == "zero"


def test_a_command_takes_the_key_as_well_and_repeats_it_for_pytest(runs, webeval, pytester):
    add_result(runs, "ours/a", judge=judge(100))
    (pytester.path / "labels.json").write_text(json.dumps([{"task_id": "a", "Ours_human_label": "2"}]))
    arguments = ("score", "runs", "--labels=labels.json", "--label-coding=osu", "--impossible=zero")
    done = pytester.run(sys.executable, "-m", "pytest_webeval", *arguments)
    done.stdout.fnmatch_lines(
        ["1 impossible run counted as 0: 0.0% of 1; excluded: no rate of 0", "* -o webeval_impossible=zero *"]
    )
    assert done.ret == 1


def test_another_treatment_of_impossible_tasks_is_a_usage_error(runs, webeval):
    add_result(runs, "ours/a", judge=judge(100))
    result = webeval("-o", "webeval_impossible=one")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid webeval_impossible 'one'; use exclude or zero*"])


def test_a_changed_label_is_scored_again_and_nothing_else(runs, webeval, pytester):
    for name in ("a", "b"):
        add_result(runs, f"x/{name}", judge=judge(100))
    labels = pytester.path / "labels.json"
    arguments = ("--webeval-labels=labels.json", "--webeval-label-coding=osu", "--webeval-reuse")
    for codes, outcomes in (("11", {"passed": 2}), ("10", {"passed": 1, "failed": 1})):
        rows = [{"task_id": name, "x_human_label": code} for name, code in zip("ab", codes, strict=True)]
        labels.write_text(json.dumps(rows))
        webeval(*arguments).assert_outcomes(**outcomes)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--webeval-verdicts=nowhere"], "--webeval-verdicts: not found: *nowhere; check the path"),
        (["--webeval-verdicts=runs/tasks.json"], "cannot read verdicts: tasks.json holds *"),
        (["--webeval-labels=runs/tasks.json", "--webeval-label-coding=ours"], "*osu or abp*"),
        (["--webeval-labels=runs/tasks.json", "--webeval-label-coding=osu"], "no labels in *"),
    ],
)
def test_a_wrong_file_of_verdicts_is_a_usage_error(runs, webeval, arguments, problem):
    runs.add(107)
    runs.define()
    result = webeval(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{problem}"])
