"""A baseline as a list of known failures: expected, new and surprising ones."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from pytest_webeval.__main__ import main

SERIAL_AND_SPREAD = pytest.mark.parametrize(
    "spread", [[], ["-n2"], ["--webeval-workers=2"]], ids=["serial", "xdist", "workers"]
)
KNOWN = ("--webeval-baseline=before.json", "--webeval-known-failures")


@pytest.fixture
def before(runs, webeval, pytester):
    """A baseline in which 107 and 111 succeed, 108 and 109 fail, and 110 is an error; and its path."""
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, passes=False)
    (runs.add(110) / "network.har").write_text("{")
    runs.add(111)
    webeval()
    path = pytester.path / "before.json"
    (runs.root / "eval_summary.json").rename(path)
    return path


def answer(runs, task_id, like):
    """Give a task the answer of another."""
    source, target = (runs.root / str(each) / "agent_response.json" for each in (like, task_id))
    target.write_bytes(source.read_bytes())


@SERIAL_AND_SPREAD
def test_known_failures_are_expected_and_leave_the_build_green(runs, before, webeval_apart, spread):
    result = webeval_apart(*KNOWN, "-rxX", *spread)
    result.assert_outcomes(passed=2, xfailed=3)
    assert result.ret == 0
    result.stdout.fnmatch_lines_random(
        [
            "XFAIL runs/108::task - reason: known failure since 20*: agent_response.status: expected*",
            "XFAIL at setup of runs/110::task - reason: known error since 20*: *",
        ]
    )
    assert runs.counts == (2, 2, 1)


@SERIAL_AND_SPREAD
def test_new_failures_fail_and_surprises_are_seen(runs, before, webeval_apart, spread):
    answer(runs, 109, like=107)
    answer(runs, 107, like=108)
    (runs.root / "108" / "network.har").write_text("{")
    (runs.root / "110" / "network.har").write_text((runs.root / "107" / "network.har").read_text())
    result = webeval_apart(*KNOWN, "-rX", *spread)
    result.assert_outcomes(passed=1, failed=1, errors=1, xpassed=2)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["XPASS runs/109::task - reason: known failure since*"])


def test_surprises_are_strict_where_the_project_wants_it(runs, before, webeval, pytester):
    answer(runs, 109, like=107)
    pytester.makeini("[pytest]\nstrict_xfail = true")
    result = webeval(*KNOWN)
    result.assert_outcomes(passed=2, failed=1, xfailed=2)
    result.stdout.fnmatch_lines(["*XPASS(strict)* known failure since*"])


def test_an_update_adds_to_the_list_and_never_removes(runs, before, webeval, pytester):
    answer(runs, 109, like=107)
    answer(runs, 107, like=108)
    result = webeval(*KNOWN, "--webeval-baseline-update")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"baseline: {before}"])
    told = json.loads(before.read_bytes())
    assert [entry["task_id"] for entry in told["webeval"]["known_failures"]] == [108, 109, 110, 107]
    assert [row["status"] for row in told["task_results"]] == ["failure", "failure", "success", "error", "success"]
    webeval(*KNOWN).assert_outcomes(passed=1, xfailed=3, xpassed=1)
    assert webeval(*KNOWN).ret == 0


def test_the_first_session_writes_the_baseline(runs, webeval, pytester):
    runs.add(107, passes=False)
    result = webeval(*KNOWN, "--webeval-baseline-update", "--webeval-gate=no-regression")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["  FAIL  no-regression: * found no baseline; make it with a session without *"])
    assert not (pytester.path / "before.json").exists()
    webeval(*KNOWN, "--webeval-baseline-update")
    webeval(*KNOWN).assert_outcomes(xfailed=1)


def test_a_partial_session_is_no_baseline(runs, before, webeval):
    content = before.read_bytes()
    result = webeval(*KNOWN, "--webeval-baseline-update", "-k", "[107]")
    result.stdout.fnmatch_lines(
        ["baseline *before.json not written: the session is partial; score all runs to update it"]
    )
    assert (result.ret, before.read_bytes()) == (1, content)


def test_a_python_test_over_a_known_failure_fails_as_ever(runs, before, webeval, pytester):
    pytester.makepyfile("def test_answer(webeval_response):\n    webeval_response.check()")
    result = webeval(*KNOWN, ".", "runs", "-k", "108")
    result.assert_outcomes(failed=1, xfailed=1)


def test_a_result_that_cannot_be_written_is_no_known_failure(runs, before, webeval, pytester):
    pytester.makeconftest("def pytest_webeval_scored(run, result):\n    raise OSError('no')")
    result = webeval(*KNOWN, "-k", "[108]")
    result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--webeval-subset=some.json"], "the session is partial; score all runs to update it"),
        (["--webeval-gate=errors <= 0"], "a gate failed; leave the gate out to accept these results"),
        (
            ["--ignore=runs/108", "--ignore=runs/109"],
            "2 tasks of the baseline without a run: 108, 109; record them, *",
        ),
    ],
)
def test_a_session_that_lost_something_is_no_baseline(runs, before, webeval, pytester, arguments, reason):
    (pytester.path / "some.json").write_text(json.dumps({"task_ids": [107, 108]}))
    content = before.read_bytes()
    webeval(*KNOWN, "--webeval-baseline-update", *arguments).stdout.fnmatch_lines(
        [f"baseline *before.json not written: {reason}"]
    )
    assert before.read_bytes() == content


def test_a_subset_is_compared_with_its_part_of_the_baseline(runs, before, webeval, pytester):
    (pytester.path / "some.json").write_text(json.dumps({"task_ids": [107, 108]}))
    result = webeval(*KNOWN, "--webeval-subset=some.json", "--webeval-gate=no-regression")
    assert result.ret == 0
    assert runs.summary["webeval"]["baseline"]["gone"] == []


def test_other_attempts_of_a_known_failure_are_not_excused(runs, webeval, pytester):
    for name, passes in (("try-1", False), ("try-2", True)):
        runs.add(107, name=f"{name}/107", passes=passes, defined=passes)
    webeval()
    (runs.root / "eval_summary.json").rename(pytester.path / "before.json")
    answers = [runs.root / name / "107" / "agent_response.json" for name in ("try-1", "try-2")]
    answers[1].write_bytes(answers[0].read_bytes())
    webeval(*KNOWN).assert_outcomes(xfailed=1, failed=1)


def test_strict_surprises_are_not_excused_by_gates(runs, before, webeval, pytester):
    answer(runs, 109, like=107)
    pytester.makeini("[pytest]\nstrict_xfail = true")
    assert webeval(*KNOWN, "--webeval-gate=errors <= 9").ret == 1


@pytest.mark.thinned
@SERIAL_AND_SPREAD
@pytest.mark.parametrize(("lost", "named"), [([108], "1 *: 108"), ([107], "1 *: 107"), ([110, 111], "2 *: 110, 111")])
def test_a_task_of_the_baseline_without_a_run_is_no_known_failure(runs, before, webeval_apart, lost, named, spread):
    for task_id in lost:
        shutil.rmtree(runs.root / str(task_id))
    result = webeval_apart(*KNOWN, *spread)
    assert result.ret == 1
    note = f"--webeval-known-failures: {named.replace('*', 'task* of the baseline without a run')}; record them, or *"
    result.stdout.fnmatch_lines([note])


def test_a_known_error_is_not_that_the_recording_is_missing(runs, before, webeval):
    shutil.rmtree(runs.root / "110")
    result = webeval(*KNOWN, "--webeval-require-all")
    result.assert_outcomes(passed=2, xfailed=2, errors=1)
    assert result.ret == 1


@pytest.mark.parametrize(
    "arguments", [["-k", "[107]"], ["--webeval-subset=some.json"], ["runs/107"]], ids=["-k", "subset", "path"]
)
def test_a_selection_loses_no_task(runs, before, webeval, pytester, arguments):
    (pytester.path / "some.json").write_text(json.dumps({"task_ids": [107, 111]}))
    shutil.rmtree(runs.root / "108")
    assert webeval(*KNOWN, *arguments).ret == 0


def test_gates_do_not_excuse_a_lost_task(runs, before, webeval):
    shutil.rmtree(runs.root / "108")
    assert webeval(*KNOWN, "--webeval-gate=success >= 10%").ret == 1


def test_the_command_score_misses_lost_tasks_too(runs, before, capsys):
    arguments = ["score", "runs", "--baseline=before.json", "--known-failures"]
    assert main(arguments) == 0
    shutil.rmtree(runs.root / "108")
    assert main(arguments) == 1
    assert "1 task of the baseline without a run: 108; record them, or" in capsys.readouterr().out


def test_known_and_new_failures_have_groups_of_their_own(runs, before, webeval, pytester):
    answer(runs, 107, like=108)
    result = webeval(*KNOWN, "--webeval-report=report")
    lines = result.outlines
    start = lines.index("failures by reason:")
    assert "107" in lines[start + 1]
    assert lines.index("known failures by reason:") > start
    groups = runs.summary["webeval"]["failures"]
    assert (groups[0]["runs"], groups[0].get("known", False)) == (["runs/107"], False)
    assert {run for group in groups if group.get("known") for run in group["runs"]} == {
        f"runs/{task_id}" for task_id in (108, 109, 110)
    }
    text = (pytester.path / "report/index.html").read_text("utf-8")
    index = json.loads(re.search(r'id="webeval-index"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
    columns = index["columns"]
    group_of = {
        row[columns.index("task_id")]: index["groups"][row[columns.index("group")]] for row in index["rows"][:4]
    }
    assert {task_id: group["text"].startswith("known: ") for task_id, group in group_of.items()} == {
        107: False,
        108: True,
        109: True,
        110: True,
    }
