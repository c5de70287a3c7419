"""Fetches what is needed next while that before it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field

T = TypeVar("T")
PART = 50  # runs that are fetched at the same time


def fetch_in_parts(items: Sequence[T], fetch: Callable[[Sequence[T]], None], size: int = PART) -> Iterator[Sequence[T]]:
    """The items in parts, each once it is fetched, while a thread fetches the next one."""
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    with ThreadPoolExecutor(1, "webeval-ahead") as pool:
        coming = [pool.submit(fetch, part) for part in parts[:1]]
        for number, part in enumerate(parts, 1):
            coming.pop().result()
            coming += [pool.submit(fetch, following) for following in parts[number : number + 1]]
            yield part


class Ahead(Struct, eq=False, dict=True):
    """Fetches some directories ahead of whoever uses them in their order, or from any of them on.

    `most` is how many may be fetched before they are used.
    """

    directories: Sequence[Path]
    fetch: Callable[[Sequence[Path]], None]
    most: int
    size: int = PART
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "webeval-ahead"))
    _coming: dict[int, Future[None]] = field(default_factory=dict)  # by the number of the part
    _done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Number the directories."""
        self._numbers = {path: number for number, path in enumerate(self.directories)}

    def reach(self, path: Path) -> None:
        """Wait for a directory if it is on its way, and let others follow. Returns at once for an unknown one."""
        number = self._numbers.get(path)
        if number is None:
            return
        last = min(number + self.most, len(self.directories) - 1)
        for part in range(number // self.size, last // self.size + 1):
            if part not in self._done:
                self._done.add(part)
                start = part * self.size
                self._coming[part] = self._pool.submit(self.fetch, self.directories[start : start + self.size])
        if (coming := self._coming.pop(number // self.size, None)) is not None:
            coming.result()

    def close(self) -> None:
        """Fetch nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
