"""What ends a session early, or spoils one run: what was scored stays, and the summary says what is missing and why."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.summary.store.row_database import is_unfinished
from tests.support.default_run import first_by_default

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)


def raising(what: str, *, at: str = "runs/108::task", hook: str = "pytest_runtest_setup(item)") -> str:
    return f"""
        import os, pytest
        def {hook}:
            if item.nodeid == {at!r} and "GO_ON" not in os.environ:
                {what}
        """


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("what", "options", "scored", "told"),
    first_by_default(
        [
            ("raise KeyboardInterrupt", (), (1, 0, 0), "KeyboardInterrupt"),
            ("raise KeyboardInterrupt('by hand')", (), (1, 0, 0), "KeyboardInterrupt: by hand"),
            ("pytest.exit('enough\\nis enough')", (), (1, 0, 0), "Exit: enough is enough"),
            ("item.session.shouldstop = 'the lamp is\\x1b out'", (), (1, 1, 0), "the lamp is\\u001b out"),
            ("item.session.shouldfail = 'no more'", (), (1, 1, 0), "no more"),
            ("pass", ("-x",), (1, 1, 0), "stopping after 1 failures"),
            ("pass", ("--maxfail=1",), (1, 1, 0), "stopping after 1 failures"),
        ],
        3,
    ),
)
def test_the_summary_says_what_was_not_scored_and_what_stopped_the_session(
    runs, webeval_apart, pytester, what, options, scored, told
):
    for number in (107, 108, 109, 110):
        runs.add(number, passes=number != 108)
    pytester.makeconftest(raising(what))
    result = webeval_apart(*options)
    about = runs.summary["webeval"]
    left = [f"runs/{number}" for number in (108, 109, 110)[scored[1] :]]
    assert runs.counts == scored
    assert (about["stopped"], about["unscored"], about["unscored_count"]) == (told, left, len(left))
    assert about["partial"] is True
    result.stdout.fnmatch_lines([f"stopped: {told}; not scored: {', '.join(left)}"])


def test_of_a_session_that_nothing_stopped_nothing_is_told(runs, webeval):
    runs.add(107)
    webeval().stdout.no_fnmatch_line("stopped: *")
    about = runs.summary["webeval"]
    assert (about["stopped"], about["unscored"], about["unscored_count"]) == (None, [], 0)


def test_a_session_that_scored_nothing_of_what_it_found_says_so_in_a_summary(runs, webeval_apart, pytester):
    for number in range(107, 120):
        runs.add(number)
    pytester.makeconftest(raising("raise KeyboardInterrupt", at="runs/107::task"))
    result = webeval_apart()
    summary = runs.summary
    assert (summary["total"], summary["task_results"]) == (0, [])
    assert summary["webeval"]["unscored"] == [f"runs/{number}" for number in range(107, 120)]
    shown = ", ".join(f"runs/{number}" for number in range(107, 115))
    result.stdout.fnmatch_lines([f"stopped: KeyboardInterrupt; not scored: {shown}, … and 5 more"])


def test_an_error_elsewhere_that_stops_a_session_is_told(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(test_broken="import nowhere_to_be_found")
    webeval("runs", "test_broken.py")
    about = runs.summary["webeval"]
    assert (about["stopped"], about["unscored"]) == ("1 error during collection", ["runs/107"])


def test_each_root_of_which_nothing_was_scored_has_a_summary_that_says_so(runs, another_root, pytester):
    more = another_root("more")
    runs.add(107)
    runs.add(108, passes=False)
    more.add(107)
    pytester.runpytest("--webeval-runs=runs", "--webeval-runs=more", "-x")
    assert more.summary["total"] == 0
    assert more.summary["webeval"]["unscored"] == ["more/107"]


@pytest.mark.whole
def test_a_worker_that_nobody_replaces_leaves_what_was_scored(runs, webeval_apart, pytester, monkeypatch):
    for number in range(107, 119):
        runs.add(number)
    pytester.makeconftest(raising("os._exit(9)"))
    webeval_apart("-n1", "--max-worker-restart=0")
    about = runs.summary["webeval"]
    assert about["stopped"] == "xdist worker gw0 crashed: Not properly terminated"
    assert runs.counts == (1, 0, 1)
    assert about["unscored"] == [f"runs/{number}" for number in range(109, 119)]
    monkeypatch.setenv("GO_ON", "1")
    webeval_apart("-n2", "--webeval-reuse").stdout.fnmatch_lines(["reused: 1 of 12 results *"])
    assert runs.counts == (12, 0, 0)


@pytest.mark.whole
def test_of_a_run_that_was_lost_with_its_worker_the_next_session_scores_that_run_alone(
    runs, webeval_apart, pytester, monkeypatch
):
    for number in (107, 108, 109, 110):
        runs.add(number)
    pytester.makeconftest(raising("os._exit(9)"))
    webeval_apart("-n2")
    assert runs.counts == (3, 0, 1)
    monkeypatch.setenv("GO_ON", "1")
    webeval_apart("-n2", "--webeval-reuse").stdout.fnmatch_lines(["reused: 3 of 4 results *"])
    assert runs.counts == (4, 0, 0)
    assert not is_unfinished(runs.root / "eval_session.sqlite")


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@WORKERS
@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize(
    ("what", "told"),
    first_by_default(
        [
            ("raise RuntimeError('no\\nlamp')", "RuntimeError: no lamp"),
            ("pytest.fail('no lamp')", "Failed: no lamp"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
        ],
        1,
    ),
)
def test_a_hook_for_scored_runs_that_raises_costs_its_run_and_no_other(
    runs, webeval_apart, pytester, workers, what, told, passes, monkeypatch
):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108 or passes)
    pytester.makeconftest(raising(what, hook="pytest_webeval_scored(item)"))
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=2, failed=1)
    told = f"pytest_webeval_scored raised {told}; fix the hook and rerun"
    assert runs.counts == (2, 0, 1)
    assert runs.reasons == {"108": told}
    assert (runs.result(108)["status"], runs.result(108)["error_msg"]) == ("error", told)
    result.stdout.fnmatch_lines([told])
    monkeypatch.setenv("GO_ON", "1")
    resumed = webeval_apart("--webeval-reuse", *workers)
    resumed.stdout.fnmatch_lines(["reused: 2 of 3 results *"])
    assert runs.counts == ((3, 0, 0) if passes else (2, 1, 0))


def test_who_ends_the_session_in_a_hook_ends_it(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(raising("pytest.exit('enough')", at="runs/107::task", hook="pytest_webeval_scored(item)"))
    webeval()
    assert runs.summary["webeval"]["unscored"] == ["runs/107", "runs/108"]
    assert runs.result(107)["status"] == "success"


def test_a_hook_for_summaries_that_raises_is_told_and_is_no_success(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest("def pytest_webeval_summary(summary): raise OSError('no room')")
    result = webeval()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert runs.counts == (1, 0, 0)
    result.stdout.fnmatch_lines(["pytest_webeval_summary raised OSError: no room; fix the hook and rerun"])


VALUES = """
import pytest, pytest_webeval as webeval

class Own(webeval.Evaluator):
    name = "Own"
    def evaluate(self, expectation, case):
        return {ending}

def deep(levels):
    found = []
    for _ in range(levels):
        found = [found]
    return found

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, Own()]
"""


def refused(constant):
    raise ValueError(constant)


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    ("ending", "status", "found"),
    first_by_default(
        [
            ("self.result([], actual=float('nan'))", "success", '"actual": "NaN"'),
            ("self.result([], actual=[float('inf'), {'a': -float('inf')}])", "success", '"a": "-Infinity"'),
            ("self.result([], actual={float('inf'): 1})", "success", '"Infinity": 1'),
            ("self.result([]).with_changes(score=float('nan'))", "error", "returned the score nan; return a number"),
            ("self.result([], actual=b'lamp')", "error", "bytes is not JSON serializable"),
            ("self.result([], actual={1, 2})", "error", "set is not JSON serializable"),
            ("self.result([], actual=object())", "error", "object is not JSON serializable"),
            ("self.result([], actual={(1, 2): 3})", "error", "keys must be str"),
            ("self.result([], actual=deep(100))", "success", ""),
            ("self.result([], actual=deep(5000))", "error", "maximum recursion depth exceeded"),
            ("[case.warn(object()), self.result([])][1]", "error", "object is not JSON serializable"),
        ],
        4,
    ),
)
@WORKERS
def test_what_an_evaluator_of_ones_own_finds_costs_no_other_run_and_no_file(
    runs, webeval_apart, pytester, workers, ending, status, found
):
    runs.add(107)
    runs.add(108, expects=({"evaluator": "Own"},))
    runs.add(109)
    pytester.makeconftest(VALUES.format(ending=ending))
    webeval_apart(*workers)
    assert runs.counts == ((3, 0, 0) if status == "success" else (2, 0, 1))
    told = "".join(path.read_text() for path in (runs.root / "108").glob("eval_*")) + json.dumps(runs.reasons)
    assert found in told
    for path in runs.root.rglob("eval_*.json"):
        json.loads(path.read_bytes(), parse_constant=refused)


@pytest.mark.parametrize(
    ("depth", "status"), first_by_default([(400, "failure"), (740, "failure"), (900, "error"), (5000, "error")], 1)
)
@WORKERS
def test_an_answer_that_is_nested_deeply_has_a_verdict_and_a_file(runs, webeval_apart, workers, depth, status):
    path = runs.add(107)
    runs.add(108)
    nested = "[" * depth + "]" * depth
    (path / "agent_response.json").write_text(
        f'{{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": {nested}}}'
    )
    webeval_apart(*workers)
    assert runs.counts == ((1, 1, 0) if status == "failure" else (1, 0, 1))
    assert runs.result(107)["status"] == status
    assert ("nests deeper than 750 levels" in (runs.result(107)["error_msg"] or "")) is (status == "error")


LIMITED = """
import os, pytest, resource, signal

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    if "108" in item.nodeid and call.when == "call" and "GO_ON" not in os.environ:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
    try:
        return (yield)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.whole
@WORKERS
def test_a_result_that_does_not_fit_on_the_disk_costs_its_run_and_can_be_made_up_for(
    runs, webeval_apart, pytester, workers, monkeypatch
):
    for number in (107, 108, 109):
        runs.add(number)
    webeval_apart()
    before = (runs.root / "108" / "eval_result.json").read_bytes()
    pytester.makeconftest(LIMITED)
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=2, failed=1)
    assert runs.counts == (2, 0, 1)
    assert runs.reasons == {"108": "disk full: eval_result.json was not written (File too large)"}
    assert [path.name for path in (runs.root / "108").glob("*eval_*")] == ["eval_result.json"]
    assert (runs.root / "108" / "eval_result.json").read_bytes() == before
    monkeypatch.setenv("GO_ON", "1")
    webeval_apart("--webeval-reuse", *workers).stdout.fnmatch_lines(["reused: 2 of 3 results *"])
    assert runs.counts == (3, 0, 0)


def test_a_summary_and_rows_that_cannot_be_written_are_told_once_and_results_stay(runs, webeval, pytester):
    for number in (107, 108, 109):
        runs.add(number)
    (pytester.path / "out" / "eval_session.sqlite").mkdir(parents=True)
    (pytester.path / "out" / "eval_summary.json").mkdir()
    result = webeval("--webeval-output=out")
    result.assert_outcomes(passed=3)
    told = [line for line in result.outlines if line.startswith("cannot ")]
    assert [line.partition(":")[0].rpartition("/")[2] for line in told] == ["eval_session.sqlite", "eval_summary.json"]
    results = [json.loads(path.read_bytes()) for path in pytester.path.glob("out/10?/eval_result.json")]
    assert [one["status"] for one in results] == ["success"] * 3


def test_an_output_that_becomes_a_file_makes_each_run_an_error(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    path = pytester.path / "out"
    pytester.makeconftest(f"def pytest_collection_finish():\n    open({str(path)!r}, 'w').close()")
    result = webeval("--webeval-output=out")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["2 scored: 0 success, 0 failure, 2 error, 0 excluded"])
    assert (pytester.path / "out").read_bytes() == b""


@pytest.mark.whole
def test_files_are_put_onto_the_disk_for_who_asks(runs, webeval_apart, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import os, pathlib
        told = pathlib.Path(__file__).with_name("synced.txt")
        fsync = os.fsync
        def watched(handle):
            with told.open("a") as stream:
                print(os.readlink(f"/proc/self/fd/{handle}").rpartition("/")[2].rpartition(".")[0], file=stream)
            fsync(handle)
        os.fsync = watched
        """
    )
    told = pytester.path / "synced.txt"
    webeval_apart("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert not told.exists()
    for ini in ("", "[pytest]\nwebeval_fsync = true"):
        pytester.makeini(ini)
        webeval_apart("-p", "no:cacheprovider", *(() if ini else ("--webeval-fsync",))).assert_outcomes(passed=1)
        assert [line for line in told.read_text().splitlines() if line] == [
            ".eval_result.json",
            ".eval_summary.json",
        ]
        told.unlink()
