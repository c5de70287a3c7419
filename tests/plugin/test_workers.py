"""--webeval-workers: processes score runs ahead of the session, with the same results."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from unittest.mock import Mock

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.executors import processes
from pytest_webeval.scoring import worker
from pytest_webeval.scoring.worker_pool import WorkerPool
from tests.support.runs import visited
from tests.support.sessions import read_files

pytestmark = pytest.mark.whole  # compares drivers of one engine, of which each has tests of its own

SUITE = Path(__file__).parents[2] / "example_suite"
ROOTS = {"runs": SUITE / "runs", "trajectories": SUITE / "trajectories/runs"}


@pytest.fixture
def six(runs):
    """Six runs, of which one fails and one cannot be read."""
    for number in range(101, 107):
        runs.add(number, passes=number != 103, expects=(visited(),))
    (runs.root / "104/network.har").write_text("{")
    return runs


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("options", [(), ("--webeval-output=results",), ("--webeval-report=report",)], ids=str)
def test_the_files_are_those_of_a_session_without_workers(pytester, webeval, name, options):
    root = pytester.path / "runs"
    shutil.copytree(ROOTS[name], root, ignore=shutil.ignore_patterns("eval_*.json"))
    config = f"--webeval-config={SUITE / 'config.json'}"
    outcomes = webeval(config, *options).parseoutcomes()
    written = pytester.path / "results" if "--webeval-output=results" in options else root
    expected = read_files(written)
    assert len(expected) > 6
    for path in written.rglob("eval_*.json"):
        path.unlink()
    result = webeval(config, *options, "--webeval-workers=2")
    result.stdout.fnmatch_lines(["webeval: 2 worker processes"])
    result.stdout.no_fnmatch_line("*had no effect*")
    assert result.parseoutcomes() == outcomes
    actual = read_files(written)
    assert list(actual) == list(expected)
    for place, content in expected.items():
        assert actual[place] == content


def test_outcomes_are_those_of_a_session_without_workers(six, webeval):
    webeval("--webeval-workers=3").assert_outcomes(passed=4, failed=1, errors=1)
    assert six.counts == (4, 1, 1)
    assert "cannot parse" in six.result(104)["error_msg"]


DYING = """
import os
import sys
from pathlib import Path

if sys.flags.safe_path:  # a worker process
    if "EXIT_CODE" in os.environ:
        print(os.environ.get("LAST_WORDS", ""), file=sys.stderr, flush=True)
        os._exit(int(os.environ["EXIT_CODE"]))
    import pytest_webeval.scoring.worker as worker

    score_request = worker.score_request

    def die_or_score(request, settings):
        if request.label == "runs/103" and "SLEEPING" in os.environ:
            import pytest_webeval.recordings.run as module
            import pytest_webeval.scoring.score as later
            import time

            where = module.Run if os.environ["SLEEPING"] == "loading" else later.Case
            check = where.check
            where.check = lambda _: (setattr(where, "check", check), time.sleep(60))
        deaths = Path(os.environ["DEATHS"])
        with (deaths.parent / f"seen{request.label[-3:]}").open("a") as file:
            print(os.getpid(), file=file)
        if request.label == os.environ.get("AWAITING", "runs/103") and "AWAITED" in os.environ:
            import time

            end = time.monotonic() + 30
            while not (deaths.parent / os.environ["AWAITED"]).exists():
                if time.monotonic() > end:
                    return worker.Outcome(problem="waited in vain")
                time.sleep(0.01)
        if request.label == os.environ.get("LEAVING"):
            print("no room", file=sys.stderr, flush=True)
            os._exit(4)
        if request.label in os.environ["DEADLY"] and len(deaths.read_text()) < int(os.environ["MOST_DEATHS"]):
            with deaths.open("a") as file:
                file.write("x")
            os.kill(os.getpid(), 9)
        return score_request(request, settings)

    worker.score_request = die_or_score
"""


@pytest.fixture
def deaths(pytester, monkeypatch):
    """Kills a worker when it scores run 103, so many times; returns the file with a character for each time."""
    (pytester.path / "planted").mkdir()
    (pytester.path / "planted/sitecustomize.py").write_text(DYING)
    path = pytester.path / "deaths.txt"
    path.touch()
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(pytester.path / "planted"), before])))
    monkeypatch.setenv("DEATHS", str(path))
    monkeypatch.setenv("MOST_DEATHS", "0")
    monkeypatch.setenv("DEADLY", "runs/103")
    return path


def test_a_killed_worker_costs_its_run_a_second_try(six, webeval, deaths, monkeypatch):
    monkeypatch.setenv("MOST_DEATHS", "1")
    webeval("--webeval-workers=2").assert_outcomes(passed=4, failed=1, errors=1)
    assert deaths.read_text() == "x"
    assert six.counts == (4, 1, 1)


def test_a_run_that_kills_workers_is_an_error_and_the_others_are_scored(six, webeval, deaths, monkeypatch):
    monkeypatch.setenv("MOST_DEATHS", "9")
    webeval("--webeval-workers=2")
    assert deaths.read_text() == "xx"
    assert six.counts == (4, 0, 2)
    reason = "worker processes that scored this run died 2 times (signal 9); inspect the run, or lower the limits"
    assert six.result(103)["error_msg"] == reason


def test_two_workers_may_die_at_once(six, webeval, deaths, monkeypatch):
    monkeypatch.setenv("DEADLY", "runs/101 runs/102 runs/103 runs/104")
    monkeypatch.setenv("MOST_DEATHS", "99")
    webeval("--webeval-workers=2", "--webeval-timeout=30")
    assert [six.result(number)["status"] for number in range(101, 107)] == ["success"] + 3 * ["error"] + 2 * ["success"]


def test_workers_that_cannot_start_leave_all_runs_to_the_session(six, webeval, deaths, monkeypatch):
    monkeypatch.setenv("EXIT_CODE", "3")
    six.tasks[2]["intent"] = "long " * 5_000
    six.define()
    result = webeval("--webeval-workers=2")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    reason = (
        "a worker process ended by itself (exit code 3), and its runs were scored without it; check the installation"
    )
    result.stdout.fnmatch_lines([f"--webeval-workers: {reason}"])


def test_a_worker_that_ends_by_itself_leaves_its_run_to_the_session(six, webeval, deaths, monkeypatch, pytester):
    monkeypatch.setenv("LEAVING", "runs/103")
    result = webeval("--webeval-workers=1")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    assert six.result(103)["status"] == "failure"
    reason = "a worker process ended by itself (exit code 4: no room), and its runs were scored without it; *"
    result.stdout.fnmatch_lines([f"--webeval-workers: {reason}"])
    assert sorted(path.name for path in pytester.path.glob("seen*")) == ["seen102", "seen103", "seen104", "seen105"]
    assert len(scoring_processes(pytester)) == 2


def test_no_process_can_be_started(six, webeval, monkeypatch):
    files = [TemporaryFile()]  # noqa: SIM115  (what is tested closes it)
    monkeypatch.setattr(processes, "TemporaryFile", lambda: files[0])
    monkeypatch.setattr(subprocess, "Popen", Mock(side_effect=BlockingIOError(11, "no process is left")))
    result = webeval("--webeval-workers=2")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["--webeval-workers: cannot start a worker process (no process is left), *; use fewer workers"]
    )
    assert [file.closed for file in files] == [True]


def test_a_run_that_is_gone_by_now_is_left_to_the_session(monkeypatch):
    broken = Mock(load=Mock(side_effect=RecordingError("it is gone")))
    monkeypatch.setitem(worker.BUILT_IN_FORMATS, "broken", broken)
    request = worker.Request(Path("101"), "101", "broken", None)
    assert worker.score_request(request, worker.WorkerSettings(None, None, None, 0)) is worker.NO_RESULT


def test_a_slow_run_keeps_no_other_worker_waiting(six, webeval, deaths, monkeypatch):
    for number in range(107, 115):
        six.add(number)
    monkeypatch.setenv("AWAITED", "seen113")
    webeval("--webeval-workers=2").assert_outcomes(passed=12, failed=1, errors=1)
    assert six.result(103)["status"] == "failure"


@pytest.mark.parametrize(
    ("phase", "outcomes"),
    [("loading", {"passed": 4, "errors": 2}), ("scoring", {"passed": 4, "failed": 1, "errors": 1})],
)
def test_time_limits_hold_in_workers(six, webeval, deaths, monkeypatch, phase, outcomes):
    monkeypatch.setenv("SLEEPING", phase)
    webeval("--webeval-timeout=1", "--webeval-workers=1").assert_outcomes(**outcomes)
    reason = "scoring timed out after 1 s; inspect the run or raise --webeval-timeout"
    assert six.result(103)["error_msg"] == reason
    assert six.counts == (4, 0, 2)


def test_the_results_of_a_stopped_session_are_reused(six, webeval):
    webeval("--webeval-workers=2", "--maxfail=1")
    result = webeval("--webeval-workers=2", "--webeval-resume")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    assert six.counts == (4, 1, 1)


@pytest.mark.parametrize(
    "conftest",
    [
        "import pytest\n@pytest.fixture\ndef webeval_evaluators(webeval_evaluators): return webeval_evaluators",
        "def pytest_runtest_call(item): pass",
    ],
    ids=["fixture", "hook"],
)
def test_runs_that_a_session_scores_itself_are_said_to_be(six, webeval, pytester, conftest):
    pytester.makeconftest(conftest)
    result = webeval("--webeval-workers=2")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    result.stdout.fnmatch_lines(["--webeval-workers had no effect: *"])


def test_a_format_of_a_conftest_is_scored_in_the_session(six, webeval, pytester):
    pytester.makeconftest(
        """
        import dataclasses
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified

        class Mine(WebArenaVerified):
            name = "mine"

        def pytest_webeval_recognize(path):
            return Mine() if path.name == "102" else None
        """
    )
    webeval("--webeval-workers=2").assert_outcomes(passed=4, failed=1, errors=1)
    assert six.result(102)["webeval"]["format"] == "mine"


def test_modules_beside_the_runs_are_not_imported(six, webeval, pytester):
    for name in ("msgspec", "json", "pytest_webeval"):
        (pytester.path / f"{name}.py").write_text("raise SystemExit(7)")
        (six.root / f"{name}.py").write_text("raise SystemExit(7)")
    webeval("--webeval-workers=2").assert_outcomes(passed=4, failed=1, errors=1)


def scoring_processes(pytester):
    return {int(line) for path in pytester.path.glob("seen*") for line in path.read_text().splitlines()}


def test_an_interrupt_is_for_the_session_alone(six, webeval, deaths, monkeypatch, pytester):
    monkeypatch.setenv("AWAITED", "interrupted")
    pytester.makeconftest(
        """
        import os, pathlib, signal
        def pytest_runtest_logfinish(nodeid):
            if "102" in nodeid:
                for path in pathlib.Path().glob("seen*"):
                    os.kill(int(path.read_text()), signal.SIGINT)
                pathlib.Path("interrupted").touch()
        """
    )
    webeval("--webeval-workers=2").assert_outcomes(passed=4, failed=1, errors=1)
    assert (pytester.path / "interrupted").exists()
    assert len(scoring_processes(pytester)) == 2


def test_a_session_that_stops_does_not_wait_for_its_workers(six, webeval, deaths, monkeypatch, pytester):
    monkeypatch.setenv("AWAITING", "runs/105")
    monkeypatch.setenv("AWAITED", "nothing")
    began = time.monotonic()
    webeval("--webeval-workers=2", "-x").assert_outcomes(passed=2, failed=1)
    assert time.monotonic() - began < 25
    processes = scoring_processes(pytester)
    assert len(processes) == 2
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_process_that_fails_says_why(six, webeval, deaths, monkeypatch):
    monkeypatch.setenv("EXIT_CODE", "3")
    monkeypatch.setenv("LAST_WORDS", "no\x1b room")
    reason = "a worker process ended by itself (exit code 3: no\\u001b room), and its runs were scored without it; *"
    webeval("--webeval-workers=2").stdout.fnmatch_lines([f"--webeval-workers: {reason}"])


def test_a_path_to_import_from_that_is_no_text_is_left_out(six, webeval, pytester):
    pytester.makeconftest("import pathlib, sys\nsys.path.insert(0, pathlib.Path('here'))")
    result = webeval("--webeval-workers=2")
    result.assert_outcomes(passed=4, failed=1, errors=1)
    result.stdout.no_fnmatch_line("--webeval-workers: *")
    sys.path[:] = [entry for entry in sys.path if isinstance(entry, str)]


def test_no_process_is_left(six, webeval):
    before = list_children()  # those of other tests of this process
    webeval("--webeval-workers=2", "-x")
    assert list_children() <= before


def list_children():
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


def test_no_process_of_a_process_is_left(six, pytester):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--webeval-runs=runs", "--webeval-workers=2"]
    process = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, start_new_session=True)
    assert process.wait() == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


COUNTING = """
import os, pathlib
def pytest_runtest_logfinish():
    children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    with open("counts", "a") as file:
        print(len(children), len(os.listdir("/proc/self/fd")), file=file)
"""


def test_processes_that_die_leave_nothing_behind(runs, webeval, deaths, monkeypatch, pytester):
    for number in range(101, 113):
        runs.add(number)
    monkeypatch.setenv("DEADLY", " ".join(f"runs/{number}" for number in range(101, 113)))
    monkeypatch.setenv("MOST_DEATHS", "99")
    pytester.makeconftest(COUNTING)
    others = len(list_children())
    webeval("--webeval-workers=2").assert_outcomes(passed=2, errors=10)
    counts = [tuple(map(int, line.split())) for line in (pytester.path / "counts").read_text().splitlines()]
    assert len(deaths.read_text()) >= 20
    assert max(children for children, _ in counts) - others <= 3
    assert max(handles for _, handles in counts) - counts[0][1] <= 4


def test_runs_that_nobody_takes_block_no_process(runs, pytester):
    definitions = []
    for number in range(1, 801):
        runs.add(number, defined=False)
        definitions.append(runs.definition(number))
        definitions[-1]["eval"].append(visited())
    runs.define(*definitions)
    pytester.makeconftest(
        """
        import pytest
        from pytest_webeval.plugin.collection import nodes
        from pytest_webeval.plugin.runtest import session_workers

        session_workers.is_plain = lambda item: True  # the pool alone must not block either

        def pytest_collection_modifyitems(items):
            for item in items[1:-20]:
                item.add_marker(pytest.mark.skip(reason="not now"))
        """
    )
    switches = [f"-pno:{name}" for name in ("hypothesispytest", "benchmark", "rerunfailures")]
    result = pytester.runpytest_subprocess(*switches, "--webeval-runs=runs", "--webeval-workers=2", timeout=120)
    result.assert_outcomes(passed=21, skipped=779)


def test_a_worker_scores_no_run_that_nobody_takes(runs, webeval, deaths, pytester):
    for number in range(101, 109):
        runs.add(number, name=f"{'a' if number < 105 else 'b'}/{number}")
    pytester.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            items[2].add_marker(pytest.mark.skip(reason="not now"))
        """
    )
    webeval("--webeval-workers=2").assert_outcomes(passed=7, skipped=1)
    assert sorted(path.name for path in pytester.path.glob("seen*")) == ["seen102", "seen106", "seen107"]


@pytest.mark.parametrize("options", [("-x",), ("--webeval-resume",)])
def test_a_session_that_had_no_use_for_workers_does_not_complain(six, webeval, options):
    webeval("--maxfail=1")
    webeval("--webeval-workers=2", *options).stdout.no_fnmatch_line("*had no effect*")


def test_workers_end_with_a_session_that_is_killed(six, pytester):
    pytester.makeconftest(
        """
        import os, signal
        def pytest_runtest_logfinish(nodeid):
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    command = [sys.executable, "-m", "pytest", "--webeval-runs=runs", "--webeval-workers=2"]
    process = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL, start_new_session=True)
    assert process.wait() == -signal.SIGKILL
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("worker processes are left")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("two", "*invalid --webeval-workers 'two'; use a number up to 256, or auto"),
        ("-1", "*invalid --webeval-workers '-1'; use a number up to 256, or auto"),
        ("257", "*invalid --webeval-workers '257'; use a number up to 256, or auto"),
    ],
)
def test_other_values_are_refused(runs, webeval, value, message):
    runs.add(101)
    webeval(f"--webeval-workers={value}").stderr.fnmatch_lines([message])


def test_auto_is_a_process_for_each_processor(runs, webeval):
    runs.add(101)
    count = len(os.sched_getaffinity(0))
    webeval("--webeval-workers=auto").stdout.fnmatch_lines([f"webeval: {count} worker processes"])


def test_workers_of_xdist_have_none(runs, webeval):
    runs.add(101)
    result = webeval("--webeval-workers=2", "-n2")
    assert result.errlines == ["ERROR: --webeval-workers and -n exclude each other; use one of them", ""]


def test_runs_that_no_worker_scores_keep_none_from_the_others(six, webeval, pytester, monkeypatch):
    pytester.makeconftest(
        """
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified

        class Mine(WebArenaVerified):
            name = "mine"

        def pytest_webeval_recognize(path):
            return Mine() if path.name in ("102", "103") else None
        """
    )
    taken, take = [], WorkerPool.take
    monkeypatch.setattr(WorkerPool, "take", lambda pool, path: taken.append(take(pool, path)) or taken[-1])
    webeval("--webeval-workers=2").assert_outcomes(passed=4, failed=1, errors=1)
    assert [outcome is not None for outcome in taken] == [False, False, True, True]


def test_long_requests_and_long_outcomes_do_not_wait_for_each_other(runs, webeval):
    for number in range(101, 109):
        runs.add(number, passes=False)
    long = "x" * 300_000
    for task in runs.tasks:
        task["intent"] = long
        task["eval"][0]["expected"]["retrieved_data"] = [long]
    runs.define()
    webeval("--webeval-workers=2", "--webeval-timeout=20", "--tb=no").assert_outcomes(failed=8)


def test_one_or_two_runs_are_no_reason_to_complain(runs, webeval):
    runs.add(101)
    runs.add(102)
    webeval("--webeval-workers=2").stdout.no_fnmatch_line("*had no effect*")


def test_a_task_that_is_nested_too_deep_to_be_sent_is_scored_in_the_session(six, webeval):
    nest = []
    for _ in range(600):
        nest = [nest]
    six.tasks[3]["instantiation_dict"] = {"deep": nest}
    six.tasks[4]["instantiation_dict"] = {"deep": nest}
    six.define()
    outcomes = webeval().parseoutcomes()
    expected = read_files(six.root)
    assert webeval("--webeval-workers=2").parseoutcomes() == outcomes
    assert read_files(six.root) == expected
