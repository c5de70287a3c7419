"""--webeval-subset: runs of other tasks are deselected, and the summary says which tasks counted."""

from __future__ import annotations

import json

import pytest

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)
CHECKSUM_OF_107_AND_108 = "c0dde9b0845814e404a179bc1fd46190d457cb328abb9226f43c61b6eab10386"


@pytest.fixture
def three(runs, pytester):
    """Runs 107, 108 (which fails) and 109, and a file with the first two."""
    runs.add(107)
    runs.add(108, passes=False, site="gitlab", kind="mutate")
    runs.add(109)
    (pytester.path / "two.json").write_text('{"task_ids": [107, 108], "description": "two of three"}')
    return runs


@WORKERS
def test_only_runs_of_the_subset_are_scored_and_the_session_is_whole(three, webeval_apart, workers):
    result = webeval_apart("--webeval-subset=two.json", *workers)
    result.assert_outcomes(passed=1, failed=1, deselected=0 if workers else 1)  # xdist's controller counts none
    result.stdout.fnmatch_lines(["subset two.json: 2 tasks (1 other run deselected)"])
    result.stdout.no_fnmatch_line("partial session*")
    assert three.counts == (1, 1, 0)
    assert three.written == ["107/eval_result.json", "108/eval_result.json", "eval_summary.json"]
    about = three.summary["webeval"]
    assert (about["partial"], about["deselected_count"], about["missing_count"]) == (False, 1, 0)
    assert about["subset"] == {
        "name": "two.json",
        "checksum": CHECKSUM_OF_107_AND_108,
        "task_count": 2,
        "outside_count": 1,
    }


def test_without_a_subset_the_summary_names_none(three, webeval):
    webeval()
    assert three.summary["webeval"]["subset"] is None


@pytest.mark.parametrize(("name", "ids"), [("hard", ["runs/107::task"]), ("non-hard", ["runs/109::task"])])
def test_hard_and_non_hard_come_from_the_installed_reference(three, webeval, pytester, name, ids):
    folder = pytester.mkpydir("webarena_verified")
    (folder / "webarena-verified-hard.json").write_text('{"task_ids": [107]}')
    (folder / "webarena-verified-non-hard.json").write_text('{"task_ids": [109, 110]}')
    pytester.syspathinsert()
    listed = webeval("--co", "-q", f"--webeval-subset={name}").outlines
    assert [line for line in listed if "::" in line] == ids


def test_the_header_names_the_subset(three, webeval):
    result = webeval("--webeval-subset=two.json")
    result.stdout.fnmatch_lines([f"webeval: rules auto, *, subset two.json {CHECKSUM_OF_107_AND_108[:12]}"])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("none.json", "--webeval-subset: file not found: *none.json; check the path, or use hard or non-hard"),
        ("Hard", "--webeval-subset: file not found: *Hard; check the path, or use hard or non-hard"),
        ("runs/tasks.json", "the subset *tasks.json is not a JSON object; expected *"),
        ("changed.json", 'the subset *changed.json has the checksum "0", but its ids have *'),
    ],
)
def test_a_wrong_subset_is_a_usage_error_of_one_line(three, webeval, pytester, named, message):
    (pytester.path / "changed.json").write_text('{"task_ids": [107], "checksum": "0"}')
    result = webeval(f"--webeval-subset={named}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len([line for line in result.errlines if line.strip()]) == 1
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert three.written == []


def test_the_subset_may_stand_in_the_ini_file_and_is_found_beside_it(three, pytester, monkeypatch):
    pytester.makeini("[pytest]\nwebeval_runs = runs\nwebeval_subset = two.json\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    pytester.runpytest().assert_outcomes(passed=1, failed=1, deselected=1)


def test_a_name_in_the_ini_file_is_no_path(three, pytester):
    (pytester.mkpydir("webarena_verified") / "webarena-verified-hard.json").write_text('{"task_ids": [107]}')
    pytester.syspathinsert()
    pytester.makeini("[pytest]\nwebeval_runs = runs\nwebeval_subset = hard\n")
    pytester.runpytest().assert_outcomes(passed=1, deselected=2)


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        (("-k", "gitlab"), {"failed": 1, "deselected": 2}),
        (("-k", "109"), {"deselected": 3}),
        (("-m", 'webeval_type(name="retrieve")'), {"passed": 1, "deselected": 2}),
        (("runs/109",), {"deselected": 1}),
        (("runs/107", "runs/109"), {"passed": 1, "deselected": 1}),
        (("--deselect=runs/107::task",), {"failed": 1, "deselected": 2}),
    ],
)
def test_other_ways_to_select_choose_within_the_subset(three, webeval, arguments, outcomes):
    webeval("--webeval-subset=two.json", *arguments).assert_outcomes(**outcomes)


def test_what_is_deselected_within_the_subset_makes_the_session_partial(three, webeval):
    result = webeval("--webeval-subset=two.json", "-k", "not gitlab")
    result.stdout.fnmatch_lines(["partial session: 0 not scored, 1 deselected"])
    about = three.summary["webeval"]
    assert (about["partial"], about["deselected_count"], about["subset"]["outside_count"]) == (True, 2, 1)


def test_lf_scores_what_failed_in_the_subset(three, webeval):
    three.add(110, passes=False)
    webeval().assert_outcomes(passed=2, failed=2)
    webeval("--lf", "--webeval-subset=two.json").assert_outcomes(failed=1, deselected=3)
    assert [row["task_id"] for row in three.summary["task_results"]] == [108]


@WORKERS
def test_python_tests_over_runs_keep_to_the_subset(three, webeval_apart, pytester, workers):
    pytester.makepyfile(
        test_checks="""
        def test_it(webeval_run):
            assert webeval_run.task_id in (107, 108)
        def test_that_asks_for_no_run():
            pass
        """
    )
    result = webeval_apart("test_checks.py", "runs", "--webeval-subset=two.json", *workers)
    result.assert_outcomes(passed=4, failed=1, deselected=0 if workers else 2)
    assert three.summary["webeval"]["subset"]["outside_count"] == 1


def test_what_is_no_run_is_left_out_by_its_number_and_otherwise_shown(three, webeval):
    for name in ("999", "0108", "notes"):
        (three.root / name).mkdir()
    three.add(7, name="7th try")
    result = webeval("--webeval-subset=two.json", "-rE")
    result.assert_outcomes(passed=1, failed=1, errors=1, deselected=2)
    result.stdout.fnmatch_lines(["2 directories hold no run: 999, notes", "*", "ERROR runs/0108::task *"])


def test_a_conftest_sees_only_what_is_in_the_subset(three, webeval, pytester):
    pytester.makeconftest("def pytest_collection_modifyitems(items): print('left', len(items))")
    webeval("--webeval-subset=two.json").stdout.fnmatch_lines(["left 2"])


def test_a_subset_of_tasks_that_nobody_recorded_scores_nothing(three, webeval, pytester):
    (pytester.path / "other.json").write_text(json.dumps({"task_ids": [5]}))
    result = webeval("--webeval-subset=other.json")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["no run was scored; 3 runs collected, none selected or finished"])
