"""Reads of objects that are compared with their listing: their size, and their checksum where the etag has one."""

from __future__ import annotations

import hashlib
import re
import time
from itertools import islice

from pytest_webeval.errors import StoreError
from pytest_webeval.stores.listing_file import ListingFile
from pytest_webeval.stores.locations import name_object
from pytest_webeval.stores.retries import RemoteStore
from pytest_webeval.stores.store import Store, StoredObject

PAUSES = (0.2, 1.0)  # seconds before an object is read again that differs from its listing
_MD5 = re.compile(r"[0-9a-f]{32}")
_MOST_SAMPLES = 5
_MOST_SEARCHED = 10_000
_LARGEST_SAMPLE = 2**20  # bytes


class CheckedReads:
    """Reads whole objects below a prefix, and beginnings of objects.

    An etag of 32 digits is usually the MD5 of the content, but not where objects are encrypted with a key of KMS.
    So an object that does not fit is compared with others: if none of them fits, etags are no checksums here. If some
    do, the store is asked how this one is encrypted: a bucket may have got its key later.
    """

    def __init__(self, store: Store, prefix: str, listing: ListingFile) -> None:
        self._store, self._prefix, self._listing = store, prefix, listing
        self._has_checksums: bool | None = None

    def read(self, entry: StoredObject) -> bytes:
        """The bytes of an object. Raises `StoreError`."""
        for pause in (*PAUSES, None):
            content = self._store.read(self._full_key(entry))
            problem = find_difference(content, entry)
            if problem is None or (len(content) == entry.size and not self._are_etags_checksums(entry)):
                return content
            if pause is not None:
                time.sleep(pause)
        raise self._build_error(entry, problem or "")

    def read_beginning(self, entry: StoredObject, most: int) -> bytes:
        """The first bytes of an object that has more. Raises `StoreError`."""
        for pause in (*PAUSES, None):
            content = self._store.read_range(self._full_key(entry), 0, most)
            if len(content) == most:
                return content
            if pause is not None:
                time.sleep(pause)
        raise self._build_error(entry, f"it ends before {most:,} bytes, but has {entry.size:,} in the listing")

    def _build_error(self, entry: StoredObject, problem: str) -> StoreError:
        advice = "it was written since, or only in part: write it again, and list the store again"
        return StoreError(f"cannot read {self.name(entry)}: {problem}; {advice}")

    def name(self, entry: StoredObject) -> str:
        """An object as messages name it."""
        return name_object(self._store.location, self._full_key(entry))

    def _full_key(self, entry: StoredObject) -> str:
        return f"{self._prefix}/{entry.key}" if self._prefix else entry.key

    def _are_etags_checksums(self, suspect: StoredObject) -> bool:
        if self._has_checksums is None:
            candidates = (
                entry
                for entry in islice(self._listing.list_below(""), _MOST_SEARCHED)
                if entry.key != suspect.key and 0 < entry.size <= _LARGEST_SAMPLE and _MD5.fullmatch(entry.etag or "")
            )
            samples = list(islice(candidates, _MOST_SAMPLES))
            readable = [fits for fits in map(self._fits, samples) if fits is not None]
            if not readable:
                return True  # nobody knows now
            self._has_checksums = any(readable)
        return self._has_checksums and self._may_have_checksum(suspect)

    def _may_have_checksum(self, entry: StoredObject) -> bool:
        if not isinstance(self._store, RemoteStore):
            return True
        try:
            return self._store.may_have_checksum(self._full_key(entry))
        except StoreError:
            return True

    def _fits(self, entry: StoredObject) -> bool | None:
        """Whether an object fits its checksum; None if it cannot be read."""
        try:
            return find_difference(self._store.read(self._full_key(entry)), entry) is None
        except StoreError:
            return None


def find_difference(content: bytes, entry: StoredObject) -> str | None:
    """How the bytes of an object differ from its listing; None if they do not."""
    if len(content) != entry.size:
        return f"it has {len(content):,} bytes, but {entry.size:,} in the listing"
    if entry.etag is not None and _MD5.fullmatch(entry.etag):
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        return None if digest == entry.etag else "its content differs from the checksum in the listing"
    return None
