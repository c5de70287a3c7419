"""Where run roots may lie: outside the rootdir, several at once, behind links; and where results go."""

from __future__ import annotations

import json

import pytest

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)


@pytest.fixture
def project(pytester, monkeypatch):
    """A directory with a pytest.ini, so that everything beside it lies outside the rootdir."""
    path = pytester.mkdir("project")
    (path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(path)
    return path


@pytest.mark.whole
@WORKERS
def test_runs_outside_the_rootdir_are_scored(runs, project, pytester, workers):
    runs.add(107)
    result = pytester.runpytest_subprocess("--webeval-runs=../runs", "-v", *workers)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*runs/107::task*"])
    assert [row["run"] for row in runs.summary["task_results"]] == ["runs/107"]


def test_a_run_outside_the_rootdir_is_selected_by_its_node_id(runs, project, pytester):
    runs.add(107)
    runs.add(108)
    for argument in ("runs/107::task", "../runs/107", "../runs/107::task"):
        pytester.runpytest("--webeval-runs=../runs", argument).assert_outcomes(passed=1)


def test_a_node_id_selects_its_run_though_a_directory_that_is_no_run_has_that_name(runs, project, pytester):
    runs.add(107)
    runs.add(108)
    (project / "runs/107").mkdir(parents=True)
    pytester.runpytest("--webeval-runs=../runs", "runs/107::task").assert_outcomes(passed=1)
    assert pytester.runpytest("--webeval-runs=../runs", "runs/107").parseoutcomes() == {}


@WORKERS
def test_two_roots_with_the_same_names_and_ids_are_kept_apart(another_root, pytester, workers):
    first, second = another_root("a/runs"), another_root("b/runs")
    first.add(107)
    second.add(107, passes=False)
    result = pytester.runpytest_subprocess("--webeval-runs=a/runs", "--webeval-runs=b/runs", *workers)
    result.assert_outcomes(passed=1, failed=1)
    assert first.counts == (1, 0, 0)
    assert second.counts == (0, 1, 0)
    assert first.result(107)["webeval"]["run"] == "a/runs/107"
    assert second.result(107)["webeval"]["run"] == "b/runs/107"


@pytest.mark.whole
@WORKERS
def test_two_roots_of_one_name_outside_the_rootdir_are_kept_apart(another_root, project, pytester, workers):
    first, second = another_root("a/runs"), another_root("b/runs")
    first.add(107)
    second.add(107, passes=False)
    roots = ("--webeval-runs=../a/runs", "--webeval-runs=../b/runs")
    result = pytester.runpytest_subprocess(*roots, "-rA", *workers)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED *"])
    assert (first.counts, second.counts) == ((1, 0, 0), (0, 1, 0))
    output = pytester.runpytest_subprocess(*roots, "--webeval-output=out", *workers)
    output.assert_outcomes(passed=1, failed=1)
    written = sorted(path.relative_to(project / "out").as_posix() for path in (project / "out").rglob("*.json"))
    assert written == ["eval_summary.json", "runs-2/107/eval_result.json", "runs/107/eval_result.json"]


@pytest.mark.parametrize("roots", [("runs", "runs/inner"), ("runs/inner", "runs")])
def test_a_root_inside_another_root_is_refused_whatever_their_order(runs, another_root, pytester, roots):
    runs.add(107)
    another_root("runs/inner").add(108)
    result = pytester.runpytest(*(f"--webeval-runs={root}" for root in roots))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    inner, outer = pytester.path / "runs" / "inner", pytester.path / "runs"
    assert result.errlines == [f"ERROR: --webeval-runs: {inner} lies inside {outer}; pass only one of them", ""]
    assert runs.written == []


def test_a_root_inside_another_root_is_refused_behind_links(runs, another_root, pytester):
    runs.add(107)
    another_root("runs/inner").add(108)
    (pytester.path / "all").symlink_to(runs.root)
    (pytester.path / "some").symlink_to(runs.root / "inner")
    pytester.makeini("[pytest]\nwebeval_runs = some all\n")
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    some, everything = pytester.path / "some", pytester.path / "all"
    assert result.errlines == [f"ERROR: --webeval-runs: {some} lies inside {everything}; pass only one of them", ""]


def test_the_same_root_by_several_paths_is_one_root(runs, pytester):
    runs.add(107)
    (pytester.path / "latest").symlink_to(runs.root)
    result = pytester.runpytest("--webeval-runs=latest", "--webeval-runs=./runs/", "--webeval-runs=runs", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["latest/107::task PASSED*"])


@pytest.mark.parametrize("arguments", [(".",), ("tests", "runs"), ("../{cwd}",)])
def test_an_argument_above_a_root_makes_a_whole_session(runs, pytester, arguments):
    runs.add(107)
    runs.add(108, passes=False)
    (pytester.mkdir("tests") / "test_own.py").write_text("def test_own(): pass\n")
    given = [argument.format(cwd=pytester.path.name) for argument in arguments]
    pytester.runpytest("--webeval-runs=runs", *given).assert_outcomes(passed=2, failed=1)
    assert runs.counts == (1, 1, 0)
    assert runs.summary["webeval"]["partial"] is False


def test_an_argument_names_a_run_by_another_path_than_the_root(runs, pytester):
    path = runs.add(107)
    runs.add(108)
    (path / "test_planted.py").write_text("def test_planted(): pass\n")
    (pytester.path / "latest").symlink_to(runs.root)
    result = pytester.runpytest("--webeval-runs=latest", "runs/107", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["latest/107::task PASSED*", "partial session: the arguments selected some of the runs"]
    )


@pytest.mark.whole
@WORKERS
def test_a_symlinked_root_keeps_its_own_name(runs, pytester, workers):
    runs.add(107)
    (pytester.path / "latest").symlink_to(runs.root)
    result = pytester.runpytest_subprocess("--webeval-runs=latest", "-v", *workers)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*latest/107::task*"])
    pytester.runpytest("--webeval-runs=latest", "latest/107::task").assert_outcomes(passed=1)


def test_a_root_may_be_a_single_run(runs, pytester):
    path = runs.add(107)
    (path / "task.json").write_text(json.dumps(runs.definition(107)))
    result = pytester.runpytest("--webeval-runs=runs/107", "--webeval-own-tasks", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["runs/107::task PASSED*"])


def test_the_working_directory_may_be_the_root(runs, pytester, monkeypatch):
    runs.add(107)
    monkeypatch.chdir(runs.root)
    pytester.runpytest("--webeval-runs=.").assert_outcomes(passed=1)
    pytester.runpytest("--webeval-runs=.", "107").assert_outcomes(passed=1)


def test_runs_may_lie_in_folders_below_the_root(runs, webeval):
    runs.add(107, name="monday/107")
    runs.add(107, name="tuesday/107", passes=False, defined=False)
    result = webeval("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["runs/monday/107::task PASSED*", "runs/tuesday/107::task FAILED*"])
    webeval("runs/monday").assert_outcomes(passed=1)


@WORKERS
def test_output_mirrors_the_tree_and_leaves_the_inputs_untouched(runs, webeval_apart, pytester, workers):
    runs.add(107, name="monday/107")
    runs.add(108)
    (runs.add(109) / "network.har").write_text("{")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in runs.root.rglob("*") if path.is_file()}
    webeval_apart("--webeval-output=out", *workers).assert_outcomes(passed=2, errors=1)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in runs.root.rglob("*") if path.is_file()}
    assert after == before
    out = pytester.path / "out"
    written = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert written == [
        "108/eval_result.json",
        "109/eval_result.json",
        "eval_session.sqlite",
        "eval_summary.json",
        "monday/107/eval_result.json",
    ]


def test_results_in_a_folder_of_the_root_are_no_runs_the_next_time(runs, webeval):
    runs.add(107)
    for _ in range(2):
        webeval("--webeval-output=runs/out").assert_outcomes(passed=1)
    assert runs.written == ["out/107/eval_result.json", "out/eval_summary.json"]
