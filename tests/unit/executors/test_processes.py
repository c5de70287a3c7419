"""Processes as an executor."""

from __future__ import annotations

import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.job import Job
from pytest_webeval.executors.placement import WorkerDied
from pytest_webeval.executors.processes import ProcessExecutor
from pytest_webeval.executors.starting import StartError
from tests.support import batch_functions
from tests.support.batch_functions import name_loss

ROOT = Path(__file__).parents[3]
SESSION = """
import sys
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.processes import ProcessExecutor
from tests.support import batch_functions
for result in map_batches(
    ProcessExecutor(2), batch_functions.{function}, {shared!r}, range(10**6), size=10, lost=lambda *_: None
):
    print(result, flush=True)
"""


def run(function, shared, items, size=10, count=2, **listeners):
    return list(map_batches(ProcessExecutor(count), function, shared, items, size=size, lost=name_loss, **listeners))


def start(count, preloaded=()):
    executor = ProcessExecutor(count, preloaded)
    executor.load(Job.of(batch_functions.echo, None))
    return executor


def start_session(directory, function, shared):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", SESSION.format(function=function, shared=shared)],
        cwd=directory,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_alive(process):
    """A process that has ended may wait for its parent, in a container for ever."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_dead(processes):
    until = time.monotonic() + 10
    while any(map(is_alive, processes)) and time.monotonic() < until:
        time.sleep(0.01)
    return [process for process in processes if is_alive(process)]


def test_processes_run_batches():
    assert run(batch_functions.multiply, 3, range(5000)) == list(range(0, 15000, 3))


def test_settings_are_loaded_once_for_all_processes(tmp_path):
    run(batch_functions.echo, batch_functions.Counted(str(tmp_path / "loaded")), range(1000))
    assert len((tmp_path / "loaded").read_text().split()) == 1


def test_a_batch_and_its_results_may_be_larger_than_a_socket():
    items = [bytes(10**6), bytes(2 * 10**6), b"", bytes(10**5)] * 5
    assert run(batch_functions.echo, bytes(5 * 10**6), items, size=2) == items


def test_functions_run_in_a_main_thread_where_time_limits_work():
    assert run(batch_functions.is_interruptible, None, range(3)) == [True] * 3


def test_only_the_item_that_kills_its_process_is_lost():
    reasons = []
    results = run(batch_functions.kill_itself, 500, range(1000), size=100, on_loss=reasons.append)
    reason = "a worker process that scored this run died 2 times (signal 9); inspect the run, or lower the limits"
    assert results == [2 * item if item != 500 else (500, reason) for item in range(1000)]
    assert reasons == ["signal 9"] * 5


def test_the_death_of_a_process_is_noticed_although_one_that_it_has_forked_lives_on(tmp_path):
    began = time.monotonic()
    [(item, reason)] = run(batch_functions.leave_a_process, tmp_path / "left", [1], count=1)
    seconds = time.monotonic() - began
    left = [int(process) for process in (tmp_path / "left").read_text().split()]
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert (item, len(left)) == (1, 2)
    assert "signal 9" in reason
    assert seconds < 30


def test_a_process_that_leaves_by_itself_says_with_which_code():
    ((_, reason),) = run(batch_functions.leave, 3, "a")
    assert "died 2 times (exit code 3)" in reason


def test_what_processes_write_to_the_standard_error_does_not_fill_the_disk():
    sizes = []
    with start(1) as executor:
        for number in range(12):
            sizes += executor.submit(batch_functions.complain, 2**19, [number]).result()
        last_words = executor.last_words
    assert max(sizes) < 2**21
    assert last_words == "the last words on 11"


def test_a_bug_shows_where_it_happened():
    with pytest.raises(ZeroDivisionError) as caught:
        run(batch_functions.divide_by, 1, [1, 2, 0])
    assert re.search(r"batch_functions.py\", line \d+, in divide_by", caught.value.__notes__[0])


def test_a_function_that_workers_cannot_load_is_named_on_one_line(tmp_path, monkeypatch):
    (tmp_path / "vanishing.py").write_text("def echo(shared, batch):\n    return batch\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        import vanishing
    with pytest.raises(ExecutorError) as caught:
        run(vanishing.echo, None, range(3))
    sys.modules.pop("vanishing")
    assert str(caught.value) == (
        "cannot start worker processes (ModuleNotFoundError: No module named 'vanishing'); "
        "check the installation, or use fewer"
    )


def test_workers_import_nothing_from_the_current_directory(tmp_path):
    for name in ("json", "signal", "pickle", "msgspec", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current directory')")
    with start_session(tmp_path, "list_imported", None) as session:
        assert session.stdout.readline() == "[]\n", session.stderr.read()
        session.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_session_that_is_interrupted_or_killed_leaves_no_process(tmp_path, number):
    trace = tmp_path / "trace"
    with start_session(tmp_path, "leave_trace", str(trace)) as session:
        for _ in range(30):
            session.stdout.readline()
        workers = {int(line.split()[0]) for line in trace.read_text().splitlines()}
        began = time.monotonic()
        os.kill(session.pid, number)
        session.wait(10)
        assert time.monotonic() - began < 5
    assert len(workers) == 2
    assert wait_until_dead(workers) == []


def test_ctrl_c_ends_a_worker_in_the_middle_of_a_long_item(tmp_path):
    with start_session(tmp_path, "sleep", 60) as session:
        until = time.monotonic() + 30
        while not (workers := list_descendants(session.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(session.pid, signal.SIGINT)
        _, errors = session.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
    assert wait_until_dead(workers) == []


def list_descendants(process):
    """The workers of a session: the children of its child."""
    try:
        (child,) = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [int(worker) for worker in Path(f"/proc/{child}/task/{child}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def test_a_session_goes_on_without_the_process_that_forks(tmp_path):
    trace, killed = tmp_path / "trace", []

    def kill_starter(_):
        if killed:
            return
        worker = int(trace.read_text().split()[0])
        starter = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
        killed.append((worker, starter))
        os.kill(starter, signal.SIGKILL)
        os.kill(worker, signal.SIGKILL)

    results = run(batch_functions.leave_trace, str(trace), range(500), on_done=kill_starter)
    assert results == list(range(1, 501))
    assert killed


@contextmanager
def no_more_files():
    """A block in which this process can open no file."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, limits[1]))  # which still allows to poll four
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_pool_goes_on_with_fewer_processes_until_there_is_none():
    with start(2) as executor, no_more_files():
        death = executor.submit(batch_functions.kill_itself, 3, [3]).exception()
        assert (str(death.reason), death.is_exact, death.exit_code) == ("signal 9", True, -9)
        assert executor.shortage.reason == "Too many open files"
        futures = [executor.submit(batch_functions.kill_itself, 3, [10 * number]) for number in range(1, 5)]
        assert [future.result() for future in futures] == [[20], [40], [60], [80]]
        last, next_one = (executor.submit(batch_functions.kill_itself, 3, [number]) for number in (3, 4))
        assert isinstance(last.exception(), WorkerDied)
        with pytest.raises(StartError) as caught:
            next_one.result()
        with pytest.raises(StartError):
            executor.submit(batch_functions.kill_itself, 3, [4])
    assert (caught.value.reason, caught.value.exit_code) == ("Too many open files", None)


def test_many_processes_start_without_waiting_for_what_they_load(tmp_path, monkeypatch):
    (tmp_path / "loading_for_long.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(tmp_path)
    began = time.monotonic()
    with start(256, ("loading_for_long",)):
        assert time.monotonic() - began < 45


def test_more_processes_than_one_message_can_order():
    assert run(batch_functions.echo, None, range(300), size=1, count=70) == list(range(300))


def find_process(executor, known):
    """A process that is not known, while there is always a reply of another one."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        futures = [executor.submit(batch_functions.name_process, None, [0]) for _ in range(4)]
        if new := {process for future in futures if not future.exception() for process in future.result()} - known:
            return new.pop()
    pytest.fail("there is no other process")


def test_a_process_that_is_always_quick_does_not_hide_that_another_died():
    with start(2) as executor:
        known = {find_process(executor, set())}
        for _ in range(3):
            process = find_process(executor, known)
            known.add(process)
            os.kill(process, signal.SIGKILL)


def test_a_worker_whose_starter_was_killed_ends_with_the_session_in_the_middle_of_an_item():
    with start(1) as executor:
        (worker,) = executor.submit(batch_functions.name_process, None, [0]).result()
        starter = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
        future = executor.submit(batch_functions.sleep, 60, [0])
        time.sleep(0.1)
        os.kill(starter, signal.SIGKILL)
    assert wait_until_dead([worker]) == []
    assert isinstance(future.exception(), ExecutorError)


def test_a_call_that_is_cancelled_before_a_worker_has_it_costs_no_other():
    with start(1) as executor:
        futures = [executor.submit(batch_functions.sleep, 0.2, [number]) for number in range(5)]
        assert futures[3].cancel()
        assert [future.result() for future in futures if not future.cancelled()] == [[0], [1], [2], [4]]
        assert executor.submit(batch_functions.echo, None, [5]).result() == [5]


def test_calls_after_the_end_are_refused():
    with start(1) as executor:
        pass
    with pytest.raises(ExecutorError, match=r"^the processes were ended; start another executor$"):
        executor.submit(batch_functions.echo, None, [1])


def test_the_reason_of_a_failed_start_can_be_sent_by_a_worker():
    copy = pickle.loads(pickle.dumps(StartError("no room", 4)))
    assert (str(copy), copy.reason, copy.exit_code) == (str(StartError("no room", 4)), "no room", 4)
