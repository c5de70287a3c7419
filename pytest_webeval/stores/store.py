"""What a store is: a location, and objects that have keys, which are listed, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.text import to_line

FILE = "file"
WRITABLE_SCHEMES = ("s3", "gs", "az", "abfs", "hf")  # of stores that can be written to, and stay
KNOWN_SCHEMES = (*WRITABLE_SCHEMES, "http", "https", "zip", "memory")  # of stores that can be opened
BUCKET_SCHEMES = frozenset({"s3", "gs", "az", "abfs"})  # whose locations begin with a bucket, or a container
_CHAIN = "::"  # between an archive and the URL that it lies at
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_ACCOUNT_SCHEMES = frozenset({"abfs", "abfss"})  # whose part before the @ is a container
_SLASHED = re.compile(r"[^/?#@:]*:(?!\d+(?:[/?#]|$))[^@]*@", re.DOTALL)  # a user and a password with slashes in it
_MOST_SHOWN = 300
_ADVICE = "remove them, and use environment variables or a profile of the provider"
MOST_LEVELS = 64  # as many as are searched for runs
_MOST_NAME_BYTES = 255
_MOST_KEY_BYTES = 1_024  # as many as S3 has
_BROKEN_PARTS = re.compile(r"(?:^|/)(\.{0,2})(?:/|$)")


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

    def write(self, key: str, content: bytes) -> None:
        """Write an object, all of it or nothing. Raises `StoreError`."""


def is_remote(text: str) -> bool:
    """Whether a text is the URL of a store, rather than a path."""
    scheme = scheme_of(text)
    return scheme is not None and scheme != FILE


def scheme_of(text: str) -> str | None:
    """The scheme of a URL in small letters, as in `s3`; None for a path."""
    match = _URL.match(text)
    return match[1].lower() if match else None


def strip_scheme(text: str) -> str:
    """A URL without its scheme; a path as it is."""
    match = _URL.match(text)
    return match[2] if match else text


def trim(location: str) -> str:
    """The URL of a store as all name it: its scheme in small letters, no slash at its end. Raises `SettingsError`."""
    scheme, rest = scheme_of(location), strip_scheme(location).rstrip("/")
    if not rest or (scheme in BUCKET_SCHEMES and rest.startswith("/")):
        raise SettingsError(f"the location {scheme}:// names no place; use one such as s3://bucket/runs")
    return f"{scheme}://{rest}"


def split_chain(location: str) -> list[str]:
    """The URLs of a location: of an archive in a store two, otherwise one."""
    return location.split(_CHAIN)


def refuse_credentials(location: str) -> None:
    """Raise `SettingsError`, which does not repeat them, for a location with credentials."""
    for url in split_chain(location):
        scheme = scheme_of(url)
        if scheme is not None and _has_credentials(scheme, strip_scheme(url)):
            raise SettingsError(f"the {scheme}:// location has credentials or a signed query in it; {_ADVICE}")


def _has_credentials(scheme: str, rest: str) -> bool:
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, separator, _ = authority.rpartition("@")
    has_password = bool(separator) and (scheme not in _ACCOUNT_SCHEMES or ":" in user)
    return has_password or _SLASHED.match(rest) is not None or re.search(r"[?#].*=", rest, re.DOTALL) is not None


def name_object(location: str, key: str = "") -> str:
    """An object, or all of a store, as messages name it."""
    return to_line(f"{location.rstrip('/')}/{key}" if key else location, _MOST_SHOWN)


def find_key_problem(key: str) -> str | None:
    """Why a key cannot be the path of a file below a directory; None if it can."""
    if "\0" in key:
        return "its key has a NUL"
    if match := _BROKEN_PARTS.search(key):
        return f"its key has the part '{match[1]}'" if match[1] else "its key has an empty part"
    try:
        encoded = key.encode()
    except UnicodeEncodeError:
        return "its key is not Unicode"
    if len(encoded) > _MOST_KEY_BYTES:
        return f"its key has more than {_MOST_KEY_BYTES:,} bytes"
    parts = encoded.split(b"/")
    if len(parts) > MOST_LEVELS:
        return f"its key has more than {MOST_LEVELS} levels"
    is_long = len(encoded) > _MOST_NAME_BYTES and max(map(len, parts)) > _MOST_NAME_BYTES
    return f"its key has a name of more than {_MOST_NAME_BYTES} bytes" if is_long else None
