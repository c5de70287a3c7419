"""Maps a function over very many items, in batches, with bounded memory and the results in the order of the items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import count, islice
from math import isqrt
from typing import Any, TypeVar

from msgspec import Struct, field

from pytest_webeval.executors.engine import Engine, Loss, Workers
from pytest_webeval.executors.job import Job, decode_reply, encode_batch

T = TypeVar("T")
R = TypeVar("R")

WINDOW = 4  # batches for each worker that are on their way or wait for earlier ones
TRIES = 2
LOST_MESSAGE = (
    "a worker process that scored this run died {deaths} times ({reason}); inspect the run, or lower the limits"
)


def ignore(_: object) -> None:
    """Listen to nothing."""


def map_batches(  # noqa: PLR0913  (each has its name at the call)
    engine: Engine,
    function: Callable[[Any, Sequence[T]], Sequence[R]],
    shared: Any,
    items: Iterable[T],
    *,
    size: int,
    lost: Callable[[T, str], R],
    on_done: Callable[[int], None] = ignore,
    on_loss: Callable[[str], None] = ignore,
    on_end: Callable[[Sequence[T]], None] = ignore,
) -> Generator[R]:
    """One result for each item, in the order of the items, which are taken as workers get free.

    `function(shared, batch)` runs in a worker for up to `size` items. Where workers die, their batches are tried again,
    then in ever smaller pieces, so that only an item that kills workers is lost: `lost(item, reason)` is its result.
    `on_done` gets the number of items of each finished piece, `on_loss` why a worker died. `on_end` gets, once the
    workers have ended, all items that one of them had in hand when it was killed, by whomever. Raises what `function`
    raises, and `ExecutorError`.
    """
    in_hand: list[T] = []
    try:
        with engine.start(Job(function, shared)) as workers:
            yield from BatchSession(workers, iter(items), size, lost, on_done, on_loss, in_hand).results()
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


class BatchSession(Struct, eq=False):
    """Batches on their way, and those that wait for earlier ones."""

    workers: Workers
    items: Iterator[Any]
    size: int
    lost: Callable[[Any, str], Any]
    on_done: Callable[[int], None]
    on_loss: Callable[[str], None]
    in_hand: list[Any]  # of workers that were killed
    _waiting: deque[Batch] = field(default_factory=deque)  # in the order of their items
    _running: dict[int, Piece] = field(default_factory=dict)
    _suspects: deque[Piece] = field(default_factory=deque)
    _numbers: Iterator[int] = field(default_factory=count)

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
            for piece in self._running.values():  # of a session that was stopped, whose workers are killed
                self.in_hand.extend(piece.items)

    def _fill(self) -> None:
        """Send batches as long as few are on their way; a suspect only when nothing else is."""
        if self._suspects:
            if not self._running:
                self._submit(self._suspects.popleft())
            return
        if len(self._running) == 1 and next(iter(self._running.values())).is_alone:
            return
        limit = WINDOW * max(self.workers.count, 1)
        while len(self._waiting) < limit and (items := tuple(islice(self.items, self.size))):
            batch = Batch([None] * len(items), len(items))
            self._waiting.append(batch)
            self._submit(Piece(batch, 0, items))

    def _submit(self, piece: Piece) -> None:
        number = next(self._numbers)
        self._running[number] = piece
        self.workers.submit(number, encode_batch(piece.items))

    def _receive(self) -> None:
        number, reply = self.workers.take()
        piece = self._running.pop(number)
        if number in getattr(self.workers, "repeated", ()):  # by an engine that hides the death of a worker
            self.in_hand.extend(piece.items)
        if isinstance(reply, Loss):
            self._try_again(piece, reply)
        else:
            self._keep(piece, decode_reply(reply, len(piece.items)))

    def _keep(self, piece: Piece, results: Sequence[Any]) -> None:
        batch, end = piece.batch, piece.start + len(results)
        batch.results[piece.start : end] = results
        batch.missing -= len(results)
        self.on_done(len(results))

    def _try_again(self, piece: Piece, loss: Loss) -> None:
        """Send a piece once more, then its parts. Whether one item kills or its neighbour does must be certain."""
        self.on_loss(loss.reason)
        self.in_hand.extend(piece.items)
        piece.deaths += loss.deaths
        if len(piece.items) > 1:
            if piece.is_part or piece.deaths >= TRIES:
                self._split(piece)
            else:
                self._submit(piece)
        elif not loss.is_exact and not piece.is_alone:
            piece.is_alone = True
            self._suspects.append(piece)
        elif piece.deaths >= TRIES:
            reason = LOST_MESSAGE.format(deaths=piece.deaths, reason=loss.reason)
            self._keep(piece, [self.lost(piece.items[0], reason)])
        else:
            self._submit(piece)

    def _split(self, piece: Piece) -> None:
        """Send a batch in parts, and a part item by item: two steps find an item without a long chain of deaths."""
        size = 1 if piece.is_part else isqrt(len(piece.items))
        for start in range(0, len(piece.items), size):
            part = piece.items[start : start + size]
            self._submit(Piece(piece.batch, piece.start + start, part, is_part=True))
