"""Run roots in stores: each is listed once in a session, whose processes share the mirror."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_webeval.root_scoring import open_mirror
from pytest_webeval.safety.limits import Limits
from pytest_webeval.stores.cache import default_cache
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.mirror import Mirror, attach

VARIABLE = "PYTEST_WEBEVAL_MIRRORS"  # in which workers of xdist find those of their controller
_WORKER = "PYTEST_XDIST_WORKER"
_early: dict[str, Mirror] = {}  # opened before the settings are read


def open_early(locations: Iterable[str], cache: Path | None, most_bytes: int | None, limits: Limits) -> list[Path]:
    """The directories of locations, whose mirrors whoever reads the settings takes over. Raises `WebEvalError`."""
    mirrors = {location: open_root(location, cache, most_bytes, limits) for location in locations}
    _early.update(mirrors)
    return [mirror.path for mirror in mirrors.values()]


def open_root(location: str, cache: Path | None, most_bytes: int | None, limits: Limits) -> Mirror:
    """The mirror of a location. Raises `WebEvalError`."""
    mirror = _early.pop(location, None) or _find_shared(location)
    return mirror or open_mirror(location, default_cache(location, cache), most_bytes, limits)


def _find_shared(location: str) -> Mirror | None:
    """The mirror of the controller, in a worker of xdist on the same machine."""
    if _WORKER not in os.environ or VARIABLE not in os.environ:
        return None
    fields: Mapping[str, tuple[str, str, int | None, int]] = json.loads(os.environ[VARIABLE])
    if location not in fields:
        return None
    cache, listing, most_bytes, largest = fields[location]
    if not Path(cache, listing).exists():
        return None
    return attach(open_store(location), Path(cache), listing, most_bytes, largest)


def share(mirrors: Iterable[Mirror]) -> None:
    """Let workers of xdist use the mirrors of this process."""
    fields = {each.store.location: (str(each.cache), each.listing, each.most_bytes, each.largest) for each in mirrors}
    os.environ[VARIABLE] = json.dumps(fields)


def stop_sharing() -> None:
    """Take that back: a session of a test may be the next one in this process."""
    os.environ.pop(VARIABLE, None)
