"""Order, laziness and losses of batches, on an engine that finishes and loses them in any order."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from itertools import count, islice
from random import Random

import pytest
from hypothesis import given, strategies

from pytest_webeval.executors.batches import WINDOW, map_batches
from pytest_webeval.executors.engine import Loss
from tests.support import batch_functions

DIED = "a worker process that scored this run died {} times (signal 9); inspect the run, or lower the limits"


class RandomEngine:
    """Finishes batches in a random order. An item of `killers` takes its worker along.

    Where it is not `exact`, another batch that is on its way is lost with it, although it has done nothing.
    """

    def __init__(self, random, killers=(), *, exact=True, deaths=1, workers=3):
        self.random, self.killers, self.exact, self.deaths = random, set(killers), exact, deaths
        self.count, self.batches, self.replies, self.most = workers, {}, [], 0
        self.deadly = []  # the size of each batch that killed, and how many others were on their way

    @contextmanager
    def start(self, job):
        self.job = job
        yield self

    def submit(self, number, batch):
        self.batches[number] = batch
        self.most = max(self.most, len(self.batches))

    def take(self):
        if not self.replies:
            self.finish(self.random.choice(sorted(self.batches)))
        return self.replies.pop()

    def finish(self, number):
        batch = self.batches.pop(number)
        items = pickle.loads(batch)
        if self.killers.isdisjoint(items):
            self.replies.append((number, self.job.run(batch)))
            return
        self.deadly.append((len(items), len(self.batches)))
        loss = Loss("signal 9", self.deaths, is_exact=self.exact)
        self.replies.append((number, loss))
        if self.batches and not self.exact:
            neighbour = self.random.choice(sorted(self.batches))
            del self.batches[neighbour]
            self.replies.append((neighbour, loss))


def run(engine, items, size, function=batch_functions.multiply, shared=2, **listeners):
    return list(
        map_batches(engine, function, shared, items, size=size, lost=lambda item, reason: (item, reason), **listeners)
    )


@given(strategies.randoms(), strategies.integers(0, 200), strategies.integers(1, 50))
def test_results_come_in_the_order_of_the_items_whatever_finishes_first(random, number, size):
    assert run(RandomEngine(random), range(number), size) == [2 * item for item in range(number)]


@given(
    strategies.randoms(),
    strategies.integers(1, 60),
    strategies.sets(strategies.integers(0, 199), max_size=8),
    strategies.booleans(),
    strategies.integers(1, 4),
)
def test_only_items_that_kill_workers_are_lost(random, size, killers, exact, deaths):
    results = run(RandomEngine(random, killers, exact=exact, deaths=deaths), range(200), size)
    lost = {result[0] for result in results if isinstance(result, tuple)}
    assert lost == killers
    assert [result for result in results if not isinstance(result, tuple)] == [
        2 * item for item in range(200) if item not in killers
    ]
    assert all(isinstance(results[item], tuple) for item in killers)


def test_a_lost_item_says_how_often_and_how_workers_died():
    assert run(RandomEngine(Random(0), {3}), range(5), 1)[3] == (3, DIED.format(2))


def test_a_killer_in_a_large_batch_is_isolated_by_five_deaths():
    engine, reasons = RandomEngine(Random(0), {500}), []
    run(engine, range(1000), 1000, on_loss=reasons.append)
    assert [size for size, _ in engine.deadly] == [1000, 1000, 31, 1, 1]
    assert reasons == ["signal 9"] * 5


@pytest.mark.parametrize(("killers", "in_hand"), [((), []), ((3,), [2, 3, 2, 3, 3, 3])])
def test_the_items_that_dead_workers_had_in_hand_are_named_at_the_end(killers, in_hand):
    ends = []
    run(RandomEngine(Random(0), killers), range(6), 2, on_end=ends.append)
    assert ends == [in_hand]


def test_a_session_that_is_stopped_names_the_items_of_all_its_workers():
    ends = []
    results = map_batches(
        RandomEngine(Random(0)), batch_functions.multiply, 2, count(), size=2, lost=None, on_end=ends.append
    )
    next(results)
    results.close()
    (in_hand,) = ends
    assert 0 not in in_hand
    assert len(in_hand) == len(set(in_hand)) <= 2 * WINDOW * 3


def test_an_item_that_died_with_others_is_tried_while_nothing_else_runs():
    engine = RandomEngine(Random(1), {7}, exact=False)
    run(engine, range(40), 1)
    (_, first), (_, last) = engine.deadly
    assert first > last == 0


def test_items_are_taken_as_results_are_used():
    taken = []
    items = (taken.append(item) or item for item in count())
    engine = RandomEngine(Random(0))
    results = map_batches(engine, batch_functions.multiply, 2, items, size=10, lost=lambda *_: None)
    assert list(islice(results, 1000)) == [2 * item for item in range(1000)]
    assert len(taken) <= 1000 + WINDOW * engine.count * 10
    assert engine.most <= WINDOW * engine.count
    results.close()
    assert len(taken) <= 1000 + WINDOW * engine.count * 10


def test_no_batch_overtakes_a_slow_one_by_more_than_the_window():
    class Stubborn(RandomEngine):
        def take(self):
            self.finish(max(self.batches))  # the first batch is the last to finish
            return self.replies.pop()

    engine = Stubborn(Random(0))
    assert run(engine, range(100), 1) == [2 * item for item in range(100)]
    assert engine.most == WINDOW * engine.count


def test_each_finished_item_is_counted_once():
    done = []
    run(RandomEngine(Random(0), {3, 55}, exact=False), range(123), 10, on_done=done.append)
    assert sum(done) == 123


def test_without_workers_one_window_of_batches_waits_for_the_first():
    assert run(RandomEngine(Random(0), workers=0), range(10), 2) == list(range(0, 20, 2))


def test_a_bug_of_the_function_ends_the_session_with_its_traceback():
    with pytest.raises(ZeroDivisionError, match=r"^division by zero\n?") as caught:
        run(RandomEngine(Random(0)), [1, 0], 5, batch_functions.divide_by)
    (note,) = caught.value.__notes__
    assert "in divide_by" in note


def test_an_exception_that_cannot_be_copied_keeps_its_text_and_traceback():
    with pytest.raises(RuntimeError, match="Uncopyable: left right") as caught:
        run(RandomEngine(Random(0)), [1], 5, batch_functions.raise_uncopyable)
    assert "in raise_uncopyable" in caught.value.__notes__[0]


def test_a_function_that_drops_an_item_is_refused():
    with pytest.raises(ValueError, match="returned 2 results for 3 items; return one for each"):
        run(RandomEngine(Random(0)), [1, 2, 3], 3, batch_functions.drop_last)
