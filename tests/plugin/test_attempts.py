"""Several runs of the same tasks: attempts and agents with names, rates and intervals of their own."""

from __future__ import annotations

import shutil

import pytest

from tests.support.recorded_runs import find_run, find_samples

SERIAL_AND_SPREAD = pytest.mark.parametrize("spread", [[], ["-n2"]], ids=["serial", "xdist"])


def place(runs, *outcomes):
    """Runs of words such as `a/107+`."""
    defined = set()
    for number, word in enumerate(outcomes):
        name, task_id = word[:-1], int(word[:-1].rpartition("/")[2])
        path = runs.add(task_id, passes=word[-1] == "+", name=name, defined=task_id not in defined)
        defined.add(task_id)
        (path / "network.har").write_text((path / "network.har").read_text() + " " * number)  # no two are the same


@pytest.fixture
def attempts(runs):
    """Three attempts of two tasks: 107 always succeeds, 108 once."""
    place(runs, *(f"try-{number}/107+" for number in (1, 2, 3)), "try-1/108+", "try-2/108-", "try-3/108-")
    return runs


@SERIAL_AND_SPREAD
def test_attempts_have_names_from_the_start_and_rates_of_their_own(attempts, webeval_apart, spread):
    result = webeval_apart(*spread)
    result.stdout.fnmatch_lines(
        [
            "webeval: 3 attempts: runs/try-1 (2 runs), runs/try-2 (2 runs), runs/try-3 (2 runs)",
            "success rate 66.7% (95% interval 15.*% to 95.*%, Wilson over 2 tasks), rules strict",
            "3 attempts of 2 tasks, mean 66.7%, pass@3 100.0% of 2, pass^3 50.0% of 2, 2 of 3 *1 of 2",
            "  runs/try-1: 2 of 2, 100.0%",
            "  runs/try-2: 1 of 2, 50.0%",
        ]
    )
    (agent,) = attempts.summary["webeval"]["attempts"]["agents"]
    assert (agent["tasks"], agent["runs"], agent["mean"]) == (2, 6, pytest.approx(2 / 3))
    assert agent["thresholds"] == {f"{n} of 3": {"tasks": tasks, "of": 2} for n, tasks in ((1, 2), (2, 1), (3, 1))}
    assert agent["flaky"] == {
        "count": 1,
        "of": 2,
        "rate": 0.5,
        "tasks": [{"task_id": "108", "tries": 3, "successes": 1}],
    }
    assert attempts.summary["webeval"]["attempts"]["same_inputs"] == {"count": 0, "tasks": []}


def test_sites_name_the_run_of_each_row_only_if_tasks_repeat(attempts, webeval, another_root):
    webeval()
    rows = attempts.summary["per_site_summary"]["shopping"]
    assert [row["run"] for row in rows if row["task_id"] == 107] == [f"runs/try-{number}/107" for number in (1, 2, 3)]
    other = another_root("other")
    other.add(107)
    webeval("--webeval-runs=other", "other", "-k", "not try")
    assert other.summary["per_site_summary"]["shopping"] == [{"task_id": 107, "status": "success", "score": 1.0}]


def test_a_pattern_tells_agents_and_attempts_apart(runs, webeval):
    place(runs, "a/try-1/107+", "a/try-2/107-", "b/try-1/107+", "b/try-2/107+")
    result = webeval("--webeval-attempts=try-*")
    agents = runs.summary["webeval"]["attempts"]["agents"]
    assert [(agent["agent"], agent["mean"], len(agent["attempts"])) for agent in agents] == [
        ("runs/a", 0.5, 2),
        ("runs/b", 1.0, 2),
    ]
    result.stdout.fnmatch_lines(
        [
            "webeval: 4 attempts: runs/a try-1 (1 run), runs/a try-2 (1 run), runs/b try-1 (1 run), *",
            "agent runs/a: 2 attempts of 1 task, mean 50.0%*",
            "  try-1: 1 of 1, 100.0%",
        ]
    )


def test_agents_in_two_roots_are_told_apart(runs, webeval, another_root):
    runs.add(107)
    another_root("others").add(107, passes=False)
    webeval("--webeval-runs=others", "--webeval-output=out").stdout.fnmatch_lines(
        ["webeval: 2 attempts: others (1 run), runs (1 run)", "  others: 0 of 1, 0.0%", "  runs: 1 of 1, 100.0%"]
    )


def test_attempts_with_the_same_bytes_are_named(runs, webeval):
    for name in ("try-1", "try-2"):
        runs.add(107, name=f"{name}/107", defined=name == "try-1")
    webeval().stdout.fnmatch_lines(["runs with the same recording, byte by byte, are no repeats: 1 task: 107"])
    told = runs.summary["webeval"]["attempts"]["same_inputs"]
    assert told == {"count": 1, "tasks": [{"task_id": "107", "runs": ["runs/try-1/107", "runs/try-2/107"]}]}


def test_runs_that_count_in_no_rate_are_no_tries(runs, webeval, pytester):
    place(runs, "try-1/107+", "try-2/107-")
    pytester.makeconftest(
        "import pytest\ndef pytest_collection_modifyitems(items):\n    items[1].add_marker(pytest.mark.skip('broken'))"
    )
    webeval()
    (agent,) = runs.summary["webeval"]["attempts"]["agents"]
    assert (agent["runs"], agent["mean"], agent["flaky"]["of"]) == (1, 1.0, 0)
    assert [attempt["rated"] for attempt in agent["attempts"]] == [1, 0]


def test_one_run_of_each_task_has_no_attempts(runs, webeval):
    place(runs, "shop/107+", "forum/108-")
    result = webeval()
    assert "attempts" not in runs.summary["webeval"]
    result.stdout.no_re_match_line(r"webeval: \d+ attempts?:|\d+ attempts? of ")


def test_trajectories_have_attempts_too(tree, runs, webeval):
    tree("a_good")
    tree("../../r2/traj/a_good")
    result = webeval()
    result.stdout.fnmatch_lines(["webeval: 2 attempts: *", "2 attempts of 1 task, mean 100.0%*"])


def test_attempts_and_self_reports_stand_on_the_page_of_github(attempts, webeval, pytester, monkeypatch):
    page = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    webeval()
    text = page.read_text()
    assert "### Attempts" in text
    assert "| <code>runs/try-2</code> | 1 | 2 | 50.0% |" in text
    assert "### Self-report: 6 honest, 0 over-claiming, 0 under-claiming" in text
    assert "| <code>SUCCESS</code> | 4 | 0 |" in text


def test_a_pattern_that_matches_nothing_is_named(attempts, webeval):
    webeval("--webeval-attempts=none-*").stdout.fnmatch_lines(
        ["webeval: no directory matches --webeval-attempts=none-*; check the pattern"]
    )


def test_a_gate_on_attempts_counts_each_agent(runs, webeval):
    place(runs, "a/try-1/107+", "a/try-2/107+", "b/try-1/107-", "b/try-2/107-")
    gate = ("--webeval-gate=attempts 2 of 2 >= 50%", "--webeval-attempts=try-*")
    result = webeval(*gate)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*found runs/a: 100.0% (1 of 1 task); runs/b: 0.0% (0 of 1 task)"])


ABOUT_ATTEMPTS = r"webeval: \d+ attempts?:|\d+ attempts? of |: \d+ runs, mean|independent"


@pytest.fixture
def benchmarks(runs):
    """Runs of three recorders, each in a directory of its own, with no task in common."""
    for name, label in {"online-mind2web": "om2w", "browser-use": "browser-use", "webvoyager": "webvoyager"}.items():
        shutil.copytree(find_samples(name), runs.root / label)
    return runs


@pytest.mark.whole
@SERIAL_AND_SPREAD
@pytest.mark.unchecked_files("samples of recorders have files of any name")
def test_directories_of_other_benchmarks_are_no_attempts(benchmarks, webeval_apart, spread):
    result = webeval_apart(*spread)
    result.stdout.no_re_match_line(f".*({ABOUT_ATTEMPTS})")
    webeval = benchmarks.summary["webeval"]
    assert "attempts" not in webeval
    assert webeval["trajectories"]["experiments"] == {}
    assert webeval["success_rate_task_count"] == webeval["success_rate_denominator"]


@pytest.mark.unchecked_files("samples of recorders have files of any name")
def test_attempts_of_one_benchmark_are_told_from_another_benchmark(benchmarks, webeval):
    place(benchmarks, "try-1/107+", "try-2/107-", "try-3/107-")
    result = webeval()
    result.stdout.fnmatch_lines(
        [
            "webeval: 3 attempts: runs/try-1 (1 run), runs/try-2 (1 run), runs/try-3 (1 run)",
            "3 attempts of 1 task, mean 33.3%*",
            "  runs/try-1: 1 of 1, 100.0%",
        ]
    )
    summary = benchmarks.summary
    judged = [row for row in summary["task_results"] if row["status"] != "excluded"]
    tasks = len({(row["format"], row["task_id"]) for row in judged})
    assert summary["webeval"]["success_rate_denominator"] == len(judged) == tasks + 2
    result.stdout.fnmatch_lines([f"success rate *%, Wilson over {tasks} tasks), rules strict"])


@SERIAL_AND_SPREAD
def test_a_task_7_of_two_recorders_is_two_tasks(runs, webeval_apart, spread):
    shutil.copytree(find_run("browser-use", "shop-judged-success"), runs.root / "a" / "7")
    shutil.copytree(find_run("webvoyager", "taskShop--1"), runs.root / "b" / "7")
    result = webeval_apart(*spread)
    result.stdout.no_re_match_line(f".*({ABOUT_ATTEMPTS})")
    assert {str(row["task_id"]) for row in runs.summary["task_results"]} == {"7"}
    assert "attempts" not in runs.summary["webeval"]


def test_two_groups_of_attempts_have_a_line_each(runs, webeval):
    place(runs, "shop/a/107+", "shop/b/107+", "forum/a/108-", "forum/b/108-")
    result = webeval()
    result.stdout.fnmatch_lines(
        [
            "webeval: 4 attempts: runs/forum/a (1 run), *",
            "2 attempts of 1 task, mean 0.0%*",
            "  runs/forum/a: 0 of 1, 0.0%",
            "2 attempts of 1 task, mean 100.0%*",
            "  runs/shop/a: 1 of 1, 100.0%",
        ]
    )


def test_several_runs_of_a_task_in_one_directory_are_counted_as_runs(runs, webeval):
    for number in (1, 2):
        shutil.copytree(find_run("atif", "shop-success"), runs.root / f"shop-success__aB3dE5{number}")
    webeval().stdout.fnmatch_lines(["2 runs of 1 task, mean 100.0%, pass@2 100.0% of 1, *"])


def test_the_page_of_github_and_a_gate_name_what_an_interval_is_of(attempts, webeval, pytester, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "page.md"))
    result = webeval("--webeval-gate=success >= 10%")
    interval = "95% interval 15.9% to 95.5%, Wilson over 2 tasks"
    assert f"; {interval}." in (pytester.path / "page.md").read_text()
    result.stdout.fnmatch_lines([f"*66.7% (4 of 6; {interval})*"])


def test_the_report_names_what_an_interval_is_of(attempts, webeval, pytester):
    webeval("--webeval-report=report")
    assert "95% interval 15.9\u201395.5%, Wilson over 2 tasks" in (pytester.path / "report/index.html").read_text(
        "utf-8"
    )
