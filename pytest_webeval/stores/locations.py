"""Paths and URLs of stores: which are remote, and which hold credentials that belong elsewhere."""

from __future__ import annotations

import re

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
