"""Maps a function over very many items, in batches, with bounded memory and the results in the order of the items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import islice
from math import isqrt
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from msgspec import Struct, field

from pytest_webeval.executors.job import Job, decode_reply, encode, forget_job, run_batch
from pytest_webeval.executors.placement import JobExecutor, WorkerDied, wrap_executor

T = TypeVar("T")
R = TypeVar("R")

WINDOW = 4  # batches for each worker that are on their way or wait for earlier ones
TRIES = 2
CHECK_SECONDS = 2.0  # between looks at an executor from which no reply comes


def ignore(_: object) -> None:
    """Listen to nothing."""


def map_batches(  # noqa: PLR0913  (each has its name at the call)
    executor: Executor,
    function: Callable[[Any, Sequence[T]], Sequence[R]],
    shared: Any,
    items: Iterable[T],
    *,
    size: int,
    lost: Callable[[T, WorkerDied], R],
    on_done: Callable[[int], None] = ignore,
    on_loss: Callable[[str], None] = ignore,
    on_end: Callable[[Sequence[T]], None] = ignore,
) -> Generator[R]:
    """One result for each item, in the order of the items, which are taken as workers get free.

    `function(shared, batch)` runs in a worker for up to `size` items. Where workers die, their batches are tried again,
    then in ever smaller pieces, so that only an item that kills workers is lost: `lost(item, deaths)` is its result.
    `on_done` gets the number of items of each finished piece, `on_loss` why a worker died. `on_end` gets, once the
    workers have ended, all items that one of them had in hand when it was killed, by whomever. Raises what `function`
    raises, and `ExecutorError`.
    """
    own = executor if isinstance(executor, JobExecutor) else wrap_executor(executor)
    job, in_hand = Job.of(function, shared), list[T]()
    try:
        with own:
            own.load(job)
            yield from Batches(own, job, iter(items), size, lost, on_done, on_loss, in_hand).results()
    finally:
        on_end(in_hand)


class Batch(Struct, eq=False):
    """Items that were taken together, with their results as far as there are any."""

    results: list[Any]
    missing: int


class Piece(Struct, eq=False):
    """A batch or a part of it, from the position `start`, on its way to a worker.

    `is_alone`: it runs while no other piece does, which proves who kills a worker.
    """

    batch: Batch
    start: int
    items: Sequence[Any]
    is_part: bool = False
    is_alone: bool = False
    deaths: int = 0


class Batches(Struct, eq=False):
    """Batches on their way to an executor that has a job, and those that wait for earlier ones."""

    executor: JobExecutor
    job: Job
    items: Iterator[Any]
    size: int
    lost: Callable[[Any, WorkerDied], Any]
    on_done: Callable[[int], None] = ignore
    on_loss: Callable[[str], None] = ignore
    in_hand: list[Any] = field(default_factory=list)  # of workers that were killed
    window: int = WINDOW
    _waiting: deque[Batch] = field(default_factory=deque)  # in the order of their items
    _running: dict[Future[bytes | None], Piece] = field(default_factory=dict)
    _done: SimpleQueue[Future[bytes | None]] = field(default_factory=SimpleQueue)
    _suspects: deque[Piece] = field(default_factory=deque)
    _submitted: int = 0

    def results(self) -> Iterator[Any]:
        """The results in the order of the items."""
        try:
            self._fill()
            while self._waiting:
                while self._waiting[0].missing:
                    self._receive()
                    self._fill()
                batch = self._waiting.popleft()
                self._fill()
                yield from batch.results
        finally:
            for future, piece in self._running.items():  # of a session that was stopped, whose workers are killed
                self.in_hand.extend(piece.items)
                if not self.executor.has_job:  # nor does it end with the session
                    future.cancel()
            forget_job(self.job.name)  # of workers that are threads

    def _fill(self) -> None:
        """Send batches as long as few are on their way; a suspect only when nothing else is."""
        if self._suspects:
            if not self._running:
                self._submit(self._suspects.popleft())
            return
        if len(self._running) == 1 and next(iter(self._running.values())).is_alone:
            return
        limit = self.window * max(self.executor.count_workers(), 1)
        while len(self._waiting) < limit and (items := tuple(islice(self.items, self.size))):
            batch = Batch([None] * len(items), len(items))
            self._waiting.append(batch)
            self._submit(Piece(batch, 0, items))

    def _submit(self, piece: Piece, *, with_job: bool = False) -> None:
        """Send a piece. The job travels with the first ones, and where a worker asked for it."""
        with_job = with_job or (not self.executor.has_job and self._submitted < self.executor.count_workers())
        self._submitted += 1
        content = self.job.content if with_job else None
        future = self.executor.submit(run_batch, self.job.name, content, encode(piece.items))
        self._running[future] = piece
        future.add_done_callback(self._done.put)

    def _receive(self) -> None:
        future = self._await_reply()
        piece = self._running.pop(future)
        if self.executor.is_repeated(future):
            self.in_hand.extend(piece.items)
        try:
            reply = self.executor.read(future)
        except WorkerDied as death:
            self._try_again(piece, death)
            return
        if reply is None:
            self._submit(piece, with_job=True)
            return
        results = decode_reply(reply)
        if len(results) != len(piece.items):
            numbers = f"{len(results)} results for {len(piece.items)} items"
            raise ValueError(f"the function returned {numbers}; return one for each")
        self._keep(piece, results)

    def _await_reply(self) -> Future[bytes | None]:
        while True:
            try:
                return self._done.get(timeout=CHECK_SECONDS)
            except Empty:
                self.executor.check()

    def _keep(self, piece: Piece, results: Sequence[Any]) -> None:
        batch, end = piece.batch, piece.start + len(results)
        batch.results[piece.start : end] = results
        batch.missing -= len(results)
        self.on_done(len(results))

    def _try_again(self, piece: Piece, death: WorkerDied) -> None:
        """Send a piece once more, then its parts. Whether one item kills or its neighbour does must be certain."""
        self.on_loss(death.reason)
        self.in_hand.extend(piece.items)
        piece.deaths += death.deaths
        if len(piece.items) > 1:
            if piece.is_part or piece.deaths >= TRIES:
                self._split(piece)
            else:
                self._submit(piece)
        elif not death.is_exact and not piece.is_alone:
            piece.is_alone = True
            self._suspects.append(piece)
        elif piece.deaths >= TRIES:
            deaths = WorkerDied(death.reason, piece.deaths, death.exit_code)
            self._keep(piece, [self.lost(piece.items[0], deaths)])
        else:
            self._submit(piece)

    def _split(self, piece: Piece) -> None:
        """Send a batch in parts, and a part item by item: two steps find an item without a long chain of deaths."""
        size = 1 if piece.is_part else isqrt(len(piece.items))
        for start in range(0, len(piece.items), size):
            part = piece.items[start : start + size]
            self._submit(Piece(piece.batch, piece.start + start, part, is_part=True))
