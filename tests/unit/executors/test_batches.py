"""Order, laziness and losses of batches, on an executor that finishes and loses them in any order."""

from __future__ import annotations

import pickle
from concurrent.futures import Future
from itertools import count, islice
from random import Random

import pytest
from hypothesis import given, strategies

from pytest_webeval.executors import batches
from pytest_webeval.executors.batches import WINDOW, map_batches
from pytest_webeval.executors.job import load_job, run_batch
from pytest_webeval.executors.placement import JobExecutor, WorkerDied
from tests.support import batch_functions

DIED = "a worker process that scored this run died {} times (signal 9); inspect the run, or lower the limits"


@pytest.fixture(autouse=True, scope="module")
def _impatient():
    """Let the executor finish something as soon as a reply is awaited."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CHECK_SECONDS", 0)
        yield


class RandomExecutor(JobExecutor):
    """Finishes batches in a random order. An item of `killers` takes its worker along.

    Where it is not `exact`, another batch that is on its way is lost with it, although it has done nothing.
    """

    def __init__(self, random, killers=(), *, exact=True, deaths=1, workers=3):
        self.random, self.killers, self.exact, self.deaths = random, set(killers), exact, deaths
        self.count, self.batches, self.most, self.submitted = workers, {}, 0, 0
        self.deadly = []  # the size of each batch that killed, and how many others were on their way

    def load(self, job):
        load_job(job.name, job.content)

    def count_workers(self):
        return self.count

    def submit(self, function, name, content, batch):
        assert (function, content) == (run_batch, None)
        future = Future()
        self.submitted += 1
        self.batches[self.submitted] = name, batch, future
        self.most = max(self.most, len(self.batches))
        return future

    def check(self):
        self.finish(self.random.choice(sorted(self.batches)))

    def finish(self, number):
        name, batch, future = self.batches.pop(number)
        items = pickle.loads(batch)
        if self.killers.isdisjoint(items):
            future.set_result(run_batch(name, None, batch))
            return
        self.deadly.append((len(items), len(self.batches)))
        future.set_exception(self.die())
        if self.batches and not self.exact:
            *_, neighbour = self.batches.pop(self.random.choice(sorted(self.batches)))
            neighbour.set_exception(self.die())

    def die(self):
        return WorkerDied("signal 9", self.deaths, is_exact=self.exact)


def run(executor, items, size, function=batch_functions.multiply, shared=2, **listeners):
    return list(map_batches(executor, function, shared, items, size=size, lost=batch_functions.name_loss, **listeners))


@given(strategies.randoms(), strategies.integers(0, 200), strategies.integers(1, 50))
def test_results_come_in_the_order_of_the_items_whatever_finishes_first(random, number, size):
    assert run(RandomExecutor(random), range(number), size) == [2 * item for item in range(number)]


@given(
    strategies.randoms(),
    strategies.integers(1, 60),
    strategies.sets(strategies.integers(0, 199), max_size=8),
    strategies.booleans(),
    strategies.integers(1, 4),
)
def test_only_items_that_kill_workers_are_lost(random, size, killers, exact, deaths):
    results = run(RandomExecutor(random, killers, exact=exact, deaths=deaths), range(200), size)
    lost = {result[0] for result in results if isinstance(result, tuple)}
    assert lost == killers
    assert [result for result in results if not isinstance(result, tuple)] == [
        2 * item for item in range(200) if item not in killers
    ]
    assert all(isinstance(results[item], tuple) for item in killers)


def test_a_lost_item_says_how_often_and_how_workers_died():
    assert run(RandomExecutor(Random(0), {3}), range(5), 1)[3] == (3, DIED.format(2))


def test_a_killer_in_a_large_batch_is_isolated_by_five_deaths():
    executor, reasons = RandomExecutor(Random(0), {500}), []
    run(executor, range(1000), 1000, on_loss=reasons.append)
    assert [size for size, _ in executor.deadly] == [1000, 1000, 31, 1, 1]
    assert reasons == ["signal 9"] * 5


@pytest.mark.parametrize(("killers", "in_hand"), [((), []), ((3,), [2, 3, 2, 3, 3, 3])])
def test_the_items_that_dead_workers_had_in_hand_are_named_at_the_end(killers, in_hand):
    ends = []
    run(RandomExecutor(Random(0), killers), range(6), 2, on_end=ends.append)
    assert ends == [in_hand]


def test_a_session_that_is_stopped_names_the_items_of_all_its_workers():
    ends = []
    results = map_batches(
        RandomExecutor(Random(0)), batch_functions.multiply, 2, count(), size=2, lost=None, on_end=ends.append
    )
    next(results)
    results.close()
    (in_hand,) = ends
    assert 0 not in in_hand
    assert len(in_hand) == len(set(in_hand)) <= 2 * WINDOW * 3


def test_an_item_that_died_with_others_is_tried_while_nothing_else_runs():
    executor = RandomExecutor(Random(1), {7}, exact=False)
    run(executor, range(40), 1)
    (_, first), (_, last) = executor.deadly
    assert first > last == 0


def test_items_are_taken_as_results_are_used():
    taken = []
    items = (taken.append(item) or item for item in count())
    executor = RandomExecutor(Random(0))
    results = map_batches(executor, batch_functions.multiply, 2, items, size=10, lost=lambda *_: None)
    assert list(islice(results, 1000)) == [2 * item for item in range(1000)]
    assert len(taken) <= 1000 + WINDOW * executor.count * 10
    assert executor.most <= WINDOW * executor.count
    results.close()
    assert len(taken) <= 1000 + WINDOW * executor.count * 10


def test_no_batch_overtakes_a_slow_one_by_more_than_the_window():
    class Stubborn(RandomExecutor):
        def check(self):
            self.finish(max(self.batches))  # the first batch is the last to finish

    executor = Stubborn(Random(0))
    assert run(executor, range(100), 1) == [2 * item for item in range(100)]
    assert executor.most == WINDOW * executor.count


def test_each_finished_item_is_counted_once():
    done = []
    run(RandomExecutor(Random(0), {3, 55}, exact=False), range(123), 10, on_done=done.append)
    assert sum(done) == 123


def test_without_workers_one_window_of_batches_waits_for_the_first():
    assert run(RandomExecutor(Random(0), workers=0), range(10), 2) == list(range(0, 20, 2))


def test_a_bug_of_the_function_ends_the_session_with_its_traceback():
    with pytest.raises(ZeroDivisionError, match=r"^division by zero\n?") as caught:
        run(RandomExecutor(Random(0)), [1, 0], 5, batch_functions.divide_by)
    (note,) = caught.value.__notes__
    assert "in divide_by" in note


def test_an_exception_that_cannot_be_copied_keeps_its_text_and_traceback():
    with pytest.raises(RuntimeError, match="Uncopyable: left right") as caught:
        run(RandomExecutor(Random(0)), [1], 5, batch_functions.raise_uncopyable)
    assert "in raise_uncopyable" in caught.value.__notes__[0]


def test_a_function_that_drops_an_item_is_refused():
    with pytest.raises(ValueError, match="returned 2 results for 3 items; return one for each"):
        run(RandomExecutor(Random(0)), [1, 2, 3], 3, batch_functions.drop_last)
