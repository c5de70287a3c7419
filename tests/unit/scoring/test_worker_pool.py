"""Outcomes of workers, which a session takes by the paths of its runs."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import load_job
from pytest_webeval.executors.placement import JobExecutor, WorkerDied
from pytest_webeval.executors.starting import StartError
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.scoring import worker, worker_pool
from pytest_webeval.scoring.scorer import Scorer
from pytest_webeval.scoring.worker import NO_RESULT, Outcome, Request, WorkerSettings
from pytest_webeval.scoring.worker_pool import WorkerPool
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

PATHS = [Path(f"/runs/{number}") for number in range(6)]


class Inline(JobExecutor):
    """Runs each batch in this process, but for the submissions with a failure."""

    def __init__(self, count, _):
        self.count, self.shortage, self.last_words = count, None, "no room"
        self.failures, self.submitted, self.is_open = {}, 0, True

    def load(self, job):
        load_job(job.name, job.content)

    def count_workers(self):
        return self.count

    def submit(self, function, name, content, batch):
        future, failure = Future(), self.failures.get(self.submitted)
        self.submitted += 1
        if failure is None:
            future.set_result(function(name, content, batch))
        else:
            future.set_exception(failure)
        return future

    def shutdown(self):
        self.is_open = False


@pytest.fixture
def pool(monkeypatch):
    """A pool of one worker, whose outcomes have the label of the run as their problem."""
    monkeypatch.setattr(worker_pool, "ProcessExecutor", Inline)
    monkeypatch.setattr(worker, "score_request", lambda request, _: Outcome(problem=request.label))
    scorer = Scorer([], Sites(), present_day(), VerdictPolicy(), None)
    pool = WorkerPool(1, WorkerSettings(scorer, find_rules("strict"), USUAL, 0))
    pool.start()
    expect(pool, PATHS)
    return pool


def expect(pool, paths, without=()):
    requests = (Request(path, path.name, FORMATS[0].name, None) for path in paths)
    pool.requests = ((each.path, None if each.path in without else each) for each in requests)
    pool.expected = set(paths)


def take(pool, *numbers):
    outcomes = [pool.take(PATHS[number]) for number in numbers]
    return [outcome and outcome.problem for outcome in outcomes]


def test_outcomes_are_taken_by_path_in_the_order_of_the_requests(pool):
    assert take(pool, *range(6)) == list("012345")
    assert (pool.taken, pool._executor.submitted, pool.problem) == (6, 6, None)


def test_runs_before_the_first_that_is_taken_are_not_scored(pool):
    assert take(pool, 4, 5) == ["4", "5"]
    assert pool._executor.submitted == 2


def test_outcomes_that_nobody_takes_are_dropped(pool):
    assert take(pool, 0, 3, 5) == ["0", "3", "5"]


def test_a_run_that_is_taken_twice_or_not_expected_costs_no_other(pool):
    assert take(pool, 0, 0) == ["0", None]
    assert pool.take(Path("/runs/other")) is None
    assert take(pool, 1) == ["1"]


def test_runs_without_a_request_are_left_to_the_session(pool):
    expect(pool, PATHS, without=PATHS[1:3])
    assert take(pool, *range(5)) == ["0", None, None, "3", "4"]
    assert pool.taken == 3


def test_few_requests_are_sent_ahead(pool, monkeypatch):
    monkeypatch.setattr(worker_pool, "MAX_WAITING_OUTCOMES", 2)
    take(pool, 0)
    assert pool._executor.submitted <= 3


def test_a_run_whose_worker_was_killed_is_sent_once_more(pool):
    pool._executor.failures = {0: WorkerDied("signal 9", exit_code=-9, is_exact=True)}
    assert take(pool, 0, 1) == ["0", "1"]
    assert pool.problem is None


def test_a_run_that_kills_two_workers_is_an_error(pool):
    pool._executor.failures = dict.fromkeys((0, 6), WorkerDied("signal 9", exit_code=-9, is_exact=True))
    problem, other = take(pool, 0, 1)
    assert problem.startswith("a worker process that scored this run died 2 times (signal 9); inspect the run")
    assert (other, pool.problem) == ("1", None)


def test_a_run_whose_workers_end_by_themselves_is_left_to_the_session_with_a_reason(pool):
    pool._executor.failures = dict.fromkeys((0, 6), WorkerDied("exit code 4", exit_code=4, is_exact=True))
    assert take(pool, 0, 1) == [None, "1"]
    reason = "a worker process ended by itself (exit code 4: no room), and its runs were scored without it; "
    assert pool.problem == f"{reason}check the installation"


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (StartError("no file"), "cannot start a worker process (no file), and the runs were scored without it; *"),
        (StartError("no room", 4), "a worker process ended by itself (exit code 4: no room), and its runs were *"),
        (ExecutorError("broken"), "cannot start a worker process (broken), and the runs were scored without it; *"),
    ],
)
def test_without_processes_all_runs_are_left_to_the_session(pool, error, problem):
    executor = pool._executor
    executor.failures = {0: error}
    assert take(pool, 0, 1, 2) == [None, None, None]
    assert pool.problem.startswith(problem.removesuffix("*"))
    assert not executor.is_open


def test_fewer_processes_than_requested_are_named_even_after_the_end(pool):
    pool._executor.shortage = StartError("no file")
    pool.close()
    assert pool.problem.startswith("cannot start a worker process (no file), and the runs were scored without it")
    assert take(pool, 0) == [None]


def test_whatever_a_worker_meets_the_session_meets_again(pool, monkeypatch):
    def fail(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(worker, "score_request", fail)
    assert pool.take(PATHS[0]) == NO_RESULT
    assert pool.taken == 1


def test_an_outcome_that_is_nested_too_deep_is_none(pool, monkeypatch):
    nest = []
    for _ in range(5_000):
        nest = [nest]
    monkeypatch.setattr(worker, "score_request", lambda *_: Outcome(checksums={"a": nest}))
    assert pool.take(PATHS[0]) == NO_RESULT
