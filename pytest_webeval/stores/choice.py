"""Opens the store that a path or URL names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from pytest_webeval.errors import SettingsError
from pytest_webeval.stores.local import LocalStore
from pytest_webeval.stores.locations import (
    FILE,
    is_remote,
    refuse_credentials,
    scheme_of,
    split_chain,
    strip_scheme,
    trim,
)
from pytest_webeval.stores.store import Store

EXTRA = ("fsspec", "s3fs")  # of `pytest-webeval[remote]`
# The libraries that each scheme requires.
SCHEMES: Mapping[str, tuple[str, ...]] = {
    "s3": ("fsspec", "s3fs"),
    "gs": ("fsspec", "gcsfs"),
    "az": ("fsspec", "adlfs"),
    "abfs": ("fsspec", "adlfs"),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "https": ("fsspec", "aiohttp"),
    "zip": ("fsspec",),
    "memory": ("fsspec",),
}


def open_store(location: str) -> Store:
    """The store at a path or URL. Raises `SettingsError`, which repeats no credentials."""
    refuse_credentials(location)
    if not is_remote(location):
        path = strip_scheme(location) if scheme_of(location) == FILE else location
        return LocalStore(os.path.abspath(path))  # noqa: PTH100  (a text)
    for url in split_chain(location):
        _check_libraries(url)
    from pytest_webeval.stores.fsspec_source import FsspecSource, S3Source, WebSource
    from pytest_webeval.stores.obstore_source import ObstoreSource, is_usable
    from pytest_webeval.stores.retries import RemoteStore

    scheme, trimmed = scheme_of(location) or "", trim(location)
    sources = {"s3": S3Source, "http": WebSource, "https": WebSource}
    source = sources.get(scheme, FsspecSource)(trimmed)
    return RemoteStore(ObstoreSource(source) if is_usable(scheme) else source)


def _check_libraries(url: str) -> None:
    scheme = scheme_of(url)
    if scheme is None or scheme == FILE:
        return
    if scheme not in SCHEMES:
        raise SettingsError(f"unknown scheme {scheme[:20]!r} of a store; use a path or one of {', '.join(SCHEMES)}")
    libraries = SCHEMES[scheme]
    if any(find_spec(name) is None for name in libraries):
        others = [name for name in libraries if name not in EXTRA]
        install = _join(["pytest-webeval[remote]", *others])
        raise SettingsError(f"reading {scheme}://… requires {_join(libraries)}; install {install}")


def _join(names: Iterable[str]) -> str:
    return " and ".join(names)
