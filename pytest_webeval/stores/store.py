"""What a store is: a place with objects that have keys, which are listed, read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct


class StoredObject(Struct, frozen=True):
    """An object as a listing has it. A key that ends in `/` is that of a directory."""

    key: str  # relative to the location of the store
    size: int
    etag: str | None = None
    modified: float | None = None  # seconds since 1970

    @property
    def identity(self) -> str:
        """The same text as long as the object has the same content: its etag, or its size and time of change."""
        return self.etag or f"{self.size}/{self.modified}"

    @property
    def is_identified(self) -> bool:
        """Whether another content would have another identity, as far as the store knows."""
        return self.etag is not None or self.modified is not None


class Store(Protocol):
    """A place with objects. It can be pickled, and its location has no credentials in it."""

    @property
    def location(self) -> str:
        """The path or URL that the store was opened with."""

    def list(self, prefix: str = "", most: int | None = None) -> Iterator[StoredObject]:
        """All objects, or those in the directory `prefix`, sorted by key. Raises `StoreError`.

        With `most`, it may end once it has so many, whichever these are.
        """

    def read(self, key: str) -> bytes:
        """The bytes of an object. Raises `StoreError`."""

    def read_range(self, key: str, start: int, end: int) -> bytes:
        """The bytes of an object from `start` up to `end`, fewer where it ends before. Raises `StoreError`."""

    def write(self, key: str, content: bytes) -> None:
        """Write an object, all of it or nothing. Raises `StoreError`."""
