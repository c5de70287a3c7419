"""A store that is reached through a library: what failed for a passing reason is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar
from zlib import crc32

from pytest_webeval.errors import StoreError, WebEvalError
from pytest_webeval.stores.failures import MISSING, NO_PLACE, describe_failure
from pytest_webeval.stores.fsspec_source import FsspecSource
from pytest_webeval.stores.store import StoredObject, name_object

PAUSES = (0.05, 0.2, 0.8, 2.5, 5.0)  # seconds after each attempt but the last; the first is what a batch waits for
MOST_SECONDS = 60.0  # after which nothing is tried again
_SPREAD = 0.5  # share by which pauses differ, so that what failed together is not tried again together

T = TypeVar("T")
Objects = list[StoredObject]  # in a class that has a verb `list`


class RemoteStore:
    """A store that is reached through a library, whose failures become `StoreError`.

    While nothing in the store can be reached, what was tried for long enough once is not tried for as long again.
    """

    def __init__(self, source: FsspecSource) -> None:
        self.source = source
        self._is_lost = False  # nothing was reached since an operation gave up

    def __reduce__(self) -> tuple[type[RemoteStore], tuple[FsspecSource]]:
        return RemoteStore, (self.source,)

    def __repr__(self) -> str:
        return f"RemoteStore({self.location!r})"

    @property
    def location(self) -> str:
        """The URL, without credentials."""
        return self.source.location

    def list(self, prefix: str = "", most: int | None = None) -> Iterator[StoredObject]:
        """All objects, or those in a directory, sorted by key, or about `most` of them. Raises `StoreError`."""
        objects = self.try_again("list", prefix, lambda: self._list_all(prefix, most))
        objects.sort(key=lambda entry: entry.key)
        yield from objects

    def _list_all(self, prefix: str, most: int | None) -> Objects:
        objects: Objects = []
        for page in self.source.list_pages(prefix, most):
            objects += page
            if most is not None and len(objects) >= most:
                break
        return objects

    def read(self, key: str) -> bytes:
        """The bytes of an object. Raises `StoreError`."""
        return self.try_again("read", key, lambda: self.source.read(key))

    def write(self, key: str, content: bytes) -> None:
        """Write an object. Raises `StoreError`."""
        self.try_again("write", key, lambda: self.source.write(key, content))

    def check_writable(self, key: str) -> None:
        """Write nothing, but raise `StoreError` if an object cannot be written, and that can be tried."""
        self.try_again("write", key, lambda: self.source.check_writable(key))

    def may_have_checksum(self, key: str) -> bool:
        """Whether the etag of an object may be a checksum of its content. Raises `StoreError`."""
        return self.try_again("read", key, lambda: self.source.may_have_checksum(key))

    def try_again(self, verb: str, key: str, action: Callable[[], T]) -> T:
        """The result of an action once it succeeds. Raises `StoreError` that says why it never does."""
        started, attempt = time.monotonic(), 0
        while True:
            try:
                result = action()
            except WebEvalError:
                raise
            except Exception as error:  # noqa: BLE001  (whatever a library raises)
                failure = describe_failure(error)
                if failure is MISSING and verb != "read":
                    failure = NO_PLACE
            else:
                self._is_lost = False
                return result
            attempt += 1
            is_late = attempt > len(PAUSES) or time.monotonic() - started > MOST_SECONDS or self._is_lost
            if not failure.is_passing or is_late:
                break
            time.sleep(PAUSES[attempt - 1] * (1 + _SPREAD * (crc32(key.encode("utf-8", "replace")) / 2**32)))
        self._is_lost = failure.is_unreachable
        where = name_object(self.location, key)  # outside of the except clause: no context with the library's text
        count = f" after {attempt} attempts" if attempt > 1 else ""
        raise StoreError(f"cannot {verb} {where}: {failure.reason}{count}; {failure.advice}")
