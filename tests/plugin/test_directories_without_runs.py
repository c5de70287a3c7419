"""What is no run does not count: it is named in one line. What should be a run stays an error."""

from __future__ import annotations

import json

import pytest

from tests.support import recorded

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "parallel"]
)
ADVICE = "; add the missing files or move the directory away"


def put(path, text="text"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def labels(runs):
    """What was scored, relative to the root."""
    return [row["run"].removeprefix("runs/") for row in runs.summary["task_results"]]


def without_runs(runs):
    about = runs.summary["webeval"]
    return about["without_runs_count"], about["without_runs"]


@pytest.fixture
def project(runs):
    """A run among what lies in a project."""
    runs.add(107)
    for name in ("logs/2026/server.log", "src/shop/page.py", "docs/index.md", "src/trace/model.py"):
        put(runs.root / name)
    for name in ("node_modules/x/index.js", ".git/objects/ab/1", ".venv/lib/a.py", ".pytest_cache/v/lastfailed"):
        put(runs.root / name)
    for name in ("env/pyvenv.cfg", "env/lib/trace.zip", "conda/conda-meta/history", ".github/workflows/ci.yml"):
        put(runs.root / name)
    return runs


@WORKERS
def test_directories_without_a_run_are_named_in_one_line_and_are_no_errors(project, webeval_apart, workers):
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["3 directories hold no run: docs, logs, src"])
    assert (project.counts, labels(project)) == ((1, 0, 0), ["107"])
    assert without_runs(project) == (3, ["runs/docs", "runs/logs", "runs/src"])
    assert project.written == ["107/eval_result.json", "eval_summary.json"]
    assert project.summary["webeval"]["partial"] is False


@pytest.mark.whole
def test_serial_and_spread_sessions_write_the_same_summary(project, webeval_apart):
    found = []
    for workers in ((), ("-n2",)):
        webeval_apart(*workers)
        summary = project.summary
        del summary["timestamp"], summary["webeval"]["slowest"]
        for row in summary["task_results"]:
            row.pop("wall_time")
        found.append(json.dumps(summary))
    assert found[0] == found[1]


def test_a_project_may_be_its_own_run_root(runs, pytester):
    runs.add(107)
    put(pytester.path / "tasks.json", json.dumps([runs.definition(107)]))
    for name in ("logs/a.log", "node_modules/x/y.js", "test_a.py", "tests/test_b.py", "trace/view.py"):
        put(pytester.path / name, "")
    (pytester.path / "data").symlink_to("/")
    (pytester.path / "bin").mkdir()
    (pytester.path / "bin/python").symlink_to("nowhere")
    result = pytester.runpytest("--webeval-runs=.")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["5 directories hold no run: bin, data, logs, tests, trace"])


def test_many_directories_are_counted_and_the_first_of_them_named(runs, webeval):
    runs.add(107)
    for number in range(150):
        (runs.root / f"d{number:03}").mkdir()
    named = ", ".join(f"d{number:03}" for number in range(8))
    webeval().stdout.fnmatch_lines([f"150 directories hold no run: {named}, … and 142 more"])
    count, listed = without_runs(runs)
    assert (count, len(listed), listed[-1]) == (150, 100, "runs/d099")


def test_a_session_without_any_run_says_what_is_wanted_in_one(runs, webeval):
    put(runs.root / "logs/a.log")
    result = webeval()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    wanted = "directories with the files of a format: fara, webarena-verified, *"
    result.stdout.fnmatch_lines([f"no run was scored; searched {runs.root} for {wanted}"])
    result.stdout.fnmatch_lines(["1 directory holds no run: logs"])
    assert runs.written == []


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("107", "answer.txt"),
        ("107", "inner/answer.txt"),
        ("0107", "answer.txt"),
        ("107", "eval_result.json"),
        ("107", "eval_summary.json"),
        ("other", "web_surfer.log"),
        ("other", "core.log"),
        ("other", "other_final_answer.json"),
        ("12", "task.json"),
    ],
)
@pytest.mark.unchecked_files("an empty file has the name of a summary")
def test_what_should_be_a_run_is_an_error(runs, webeval, place, name):
    runs.add(108)
    runs.define(runs.definition(107))
    put(runs.root / place / name)
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.reasons[place].startswith(f"unknown layout of runs/{place}: ")
    assert runs.reasons[place].endswith(ADVICE)
    assert without_runs(runs) == (0, [])


@pytest.mark.parametrize(
    "name",
    [
        "107/pyvenv.cfg",
        "107/conda-meta/history",
        "107/index.html",
        "107/eval_journal.jsonl",
        "107/style.css",
        "107/metrics.json",
        "107/notes/agent_response.json",
        "107/108/agent_response.json",
        "107/notes/109/network.har",
        "batch/107/108/network.har",
    ],
)
def test_what_lies_in_the_directory_of_a_task_hides_no_missing_recording(runs, webeval, name):
    runs.add(108)
    runs.define(runs.definition(107), runs.definition(109))
    put(runs.root / name)
    webeval().assert_outcomes(passed=1, errors=1)
    place = f"{name.partition('107')[0]}107"
    assert sorted(labels(runs)) == sorted(["108", place])
    assert runs.reasons["107"].startswith(f"unknown layout of runs/{place}: expected the files of one of ")
    webeval(f"runs/{place}").assert_outcomes(errors=1)


@pytest.mark.unchecked_files("an empty file has the name of a summary")
@pytest.mark.parametrize("name", ["eval_summary.json", "eval_summary.partial.json"])
def test_what_an_earlier_session_wrote_is_an_output(runs, webeval, name):
    runs.add(107)
    put(runs.root / "out" / name)
    webeval().assert_outcomes(passed=1)
    assert without_runs(runs) == (0, [])


def test_groups_are_searched_that_are_called_by_numbers_of_no_task(runs, webeval):
    runs.add(108, name="1/108")
    runs.add(109, name="107/109")
    webeval().assert_outcomes(passed=2)
    assert labels(runs) == ["1/108", "107/109"]


def test_a_task_of_the_subset_counts_as_well(runs, webeval, pytester):
    put(pytester.path / "some.json", '{"task_ids": [107]}')
    for name in ("107", "108"):
        (runs.root / name).mkdir(parents=True)
    webeval("--webeval-subset=some.json").assert_outcomes(errors=1)
    assert labels(runs) == ["107"]


def test_an_expected_task_whose_directory_holds_nothing_is_one_error(runs, webeval):
    runs.add(107)
    runs.define(runs.definition(108), runs.definition(109))
    put(runs.root / "108/notes.txt")
    put(runs.root / "logs/109.txt")
    webeval("--webeval-require-all").assert_outcomes(passed=1, errors=2)
    assert labels(runs) == ["107", "108", "109"]
    assert runs.summary["webeval"]["missing_count"] == 1


def test_in_traj_nothing_vanishes(runs, webeval):
    traj = runs.root / recorded.RUN
    for name in ("empty", ".hidden"):
        (traj / name).mkdir(parents=True)
    put(traj / "judged/eval_result.json")
    put(traj / ".git/config")
    webeval().assert_outcomes(errors=3)
    assert {name.rpartition("/")[2] for name in labels(runs)} == {"empty", ".hidden", "judged"}


@pytest.mark.whole
@WORKERS
def test_outputs_of_earlier_sessions_are_no_runs_and_are_not_named(runs, webeval_apart, workers):
    runs.add(107)
    recorded.write(runs.root / recorded.RUN / "books_7")
    extra = ("--html=runs/page/index.html", "--webeval-metrics=runs/numbers")
    webeval_apart("--webeval-output=runs/results", "--webeval-report=runs/report", *extra)
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=2)
    assert without_runs(runs) == (0, [])
    assert len(labels(runs)) == 2


@pytest.mark.unchecked_files("empty files have the names of outputs")
def test_results_that_lie_among_runs_are_no_output(runs, webeval):
    runs.add(107)
    put(runs.root / "batch/eval_summary.json")
    runs.add(108, name="batch/108")
    for name in ("batch/109", "batch/logs"):
        put(runs.root / name / "eval_result.json")
    runs.define(runs.definition(109))
    webeval().assert_outcomes(passed=2, errors=1)
    assert labels(runs) == ["107", "batch/108", "batch/109"]
    assert without_runs(runs) == (1, ["runs/batch/logs"])


def test_hidden_directories_that_are_runs_are_items(runs, webeval):
    runs.add(107)
    runs.add(108, name=".108")
    recorded.write(runs.root / recorded.RUN / ".books_7")
    for name in (".git/107/agent_response.json", ".venv/agent_response.json", ".deep/109/agent_response.json"):
        put(runs.root / name)
    put(runs.root / ".vscode/agent_response.json")
    webeval()
    assert {name.rpartition("/")[2] for name in labels(runs)} == {"107", ".108", ".books_7"}
    assert without_runs(runs) == (0, [])


def test_directories_of_tools_are_not_even_opened(project, webeval, pytester):
    pytester.makeconftest(
        """
        def pytest_webeval_recognize(path, config):
            assert path.name not in (".git", ".venv", ".pytest_cache", "node_modules"), path
            assert not {"node_modules", ".git", "env", ".github"} & {one.name for one in path.parents}, path
        """
    )
    webeval().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("ini", "conftest", "arguments"),
    [
        ("norecursedirs = old_*", "", ()),
        ("norecursedirs = runs/old_*", "", ()),
        ("", "collect_ignore = ['runs/old_1']", ()),
        ("", "import pathlib; collect_ignore = [pathlib.Path(__file__).parent / 'runs/old_1']", ()),
        ("", "collect_ignore_glob = ['runs/old_*']", ()),
        ("", "", ("--ignore=runs/old_1",)),
        ("", "", ("--ignore-glob=*/old_*",)),
    ],
)
def test_what_pytest_ignores_is_ignored_and_the_session_is_whole(runs, webeval, pytester, ini, conftest, arguments):
    runs.add(107)
    runs.add(108, name="old_1/108")
    (runs.root / "old_1/logs").mkdir()
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makeconftest(conftest)
    webeval(*arguments).assert_outcomes(passed=1)
    assert (labels(runs), without_runs(runs)) == (["107"], (0, []))
    assert runs.summary["webeval"]["partial"] is False
    webeval("runs/old_1", *arguments).assert_outcomes(passed=1)
    assert labels(runs) == ["old_1/108"]


def test_pytests_own_list_of_directories_keeps_nobody_from_a_run(runs, webeval):
    for name in ("build", ".8", "dist/9", "runs.egg/a/10", "venv/b/build/11"):
        runs.add(107, name=name, defined=False)
    put(runs.root / "dist/venv/pyvenv.cfg")
    put(runs.root / "dist/venv/12/agent_response.json")
    put(runs.root / "build2/node_modules/13/agent_response.json")
    webeval()
    assert sorted(labels(runs)) == [".8", "build", "dist/9", "runs.egg/a/10", "venv/b/build/11"]
    assert without_runs(runs) == (1, ["runs/build2"])


def test_a_python_test_is_not_given_an_ignored_run(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    path = pytester.makepyfile("def test_it(webeval_run): assert webeval_run.task_id == 107")
    webeval("--ignore=runs/108", path).assert_outcomes(passed=1)


def test_a_tree_that_is_very_deep_or_very_big_costs_one_line(runs, webeval, monkeypatch):
    runs.add(107)
    deep = runs.root / "deep" / "/".join("d" * 300)
    deep.mkdir(parents=True)
    for number in range(30):
        (runs.root / "wide" / str(number) / "x").mkdir(parents=True)
    webeval().assert_outcomes(passed=1)
    assert without_runs(runs) == (2, ["runs/deep", "runs/wide"])
    monkeypatch.setattr("pytest_webeval.recordings.run_tree.MOST_DIRECTORIES", 40)
    (runs.root / "deep").rename(runs.root / ".deep")
    webeval().assert_outcomes(passed=1, errors=1)
    told = "was not searched: it has more than 40 directories without a run; exclude it with --ignore"
    assert runs.reasons == {"wide": f"runs/wide {told}, or pass a run root inside it"}


def test_a_directory_that_is_too_big_costs_no_run_of_its_group(runs, webeval, monkeypatch):
    monkeypatch.setattr("pytest_webeval.recordings.run_tree.MOST_DIRECTORIES", 40)
    runs.add(107, name="batch/107")
    runs.add(108, name="batch/zone/108")
    for number in range(60):
        (runs.root / "batch/wide" / str(number)).mkdir(parents=True)
    webeval().assert_outcomes(passed=2, errors=1)
    told = "was not searched: it has more than 40 directories without a run; exclude it with --ignore"
    assert runs.reasons == {"wide": f"runs/batch/wide {told}, or pass a run root inside it"}


def test_of_directories_that_are_too_big_few_are_searched(runs, webeval, monkeypatch):
    monkeypatch.setattr("pytest_webeval.recordings.run_tree.MOST_DIRECTORIES", 40)
    runs.add(107)
    for group in range(20):
        for number in range(60):
            (runs.root / "batch" / f"wide{group}" / str(number)).mkdir(parents=True)
    webeval().assert_outcomes(passed=1, errors=1)
    told = "was not searched: it has more than 40 directories without a run; exclude it with --ignore"
    assert runs.reasons == {"batch": f"runs/batch {told}, or pass a run root inside it"}


def test_a_hook_that_may_not_look_into_a_directory_costs_no_other(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        """
        def pytest_webeval_recognize(path, config):
            if path.name == "108":
                raise PermissionError(13, "Permission denied", str(path))
        """
    )
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.reasons == {"108": "cannot read runs/108: Permission denied; make it readable"}
