"""Run roots in stores: each is listed once in a session, whose processes share the mirror."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_webeval.errors import SettingsError, StoreError
from pytest_webeval.safety.files import LATE_FILES
from pytest_webeval.safety.limits import Limits
from pytest_webeval.stores.cache_directory import FILES, default_cache
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.mirror import Mirror, MirrorDescription, attach, is_usually_read

VARIABLE = "PYTEST_WEBEVAL_MIRRORS"  # in which workers of xdist find those of their controller
_WORKER = "PYTEST_XDIST_WORKER"
MOST_PROBLEMS = 3  # that are shown
_early: dict[str, Mirror] = {}  # opened before the settings are read


def open_early(locations: Iterable[str], cache: Path | None, most_bytes: int | None, limits: Limits) -> list[Path]:
    """The directories of locations, whose mirrors whoever reads the settings takes over. Raises `WebEvalError`."""
    mirrors = {location: open_root(location, cache, most_bytes, limits) for location in locations}
    _early.update(mirrors)
    return [mirror.path for mirror in mirrors.values()]


def open_root(location: str, cache: Path | None, most_bytes: int | None, limits: Limits) -> Mirror:
    """The mirror of a location. Raises `WebEvalError`."""
    mirror = _early.pop(location, None) or _find_shared(location)
    if mirror is not None:
        return mirror
    return Mirror.open(open_store(location), "", default_cache(location, cache), most_bytes, limits)


def _find_shared(location: str) -> Mirror | None:
    """The mirror of the controller, in a worker of xdist on the same machine."""
    if _WORKER not in os.environ or VARIABLE not in os.environ:
        return None
    fields: Mapping[str, tuple[str, str, str, int | None]] = json.loads(os.environ[VARIABLE])
    if location not in fields:
        return None
    cache, name, listing, most_bytes = fields[location]
    with suppress(SettingsError):
        return attach(MirrorDescription(open_store(location), "", cache, name, listing, most_bytes))
    return None


def share(mirrors: Iterable[MirrorDescription]) -> None:
    """Let workers of xdist use the mirrors of this process."""
    fields = {each.store.location: (each.cache, each.name, each.listing, each.most_bytes) for each in mirrors}
    os.environ[VARIABLE] = json.dumps(fields)


def stop_sharing() -> None:
    """Take that back: a session of a test may be the next one in this process."""
    os.environ.pop(VARIABLE, None)


def root_of(description: MirrorDescription) -> Path:
    """The directory of a mirror."""
    return Path(description.cache) / FILES / description.name


def list_problems(mirrors: Iterable[MirrorDescription]) -> list[str]:
    """The first objects that have no file, a line for each."""
    attached = list(map(attach, mirrors))
    shown = [problem for mirror in attached for problem in mirror.problems][:MOST_PROBLEMS]
    others = sum(mirror.problem_count for mirror in attached) - len(shown)
    return [*shown, f"… and {others:,} more"] if others else shown


def find_mirror(mirrors: Iterable[Mirror], path: Path) -> Mirror | None:
    """The mirror that a path lies in."""
    text = f"{path}{os.sep}"
    return next((mirror for mirror in mirrors if text.startswith(mirror.root + os.sep)), None)


def prefetch(mirrors: Iterable[Mirror], directories: Iterable[Path], *, with_pictures: bool) -> None:
    """Fetch the files of some runs. Pages of a report show pictures."""
    paths = list(directories)
    for mirror in mirrors:
        inside = [path for path in paths if find_mirror([mirror], path) is not None]
        mirror.prefetch(inside, (lambda *_: True) if with_pictures else is_usually_read)


def release(mirrors: Iterable[Mirror], directory: Path) -> None:
    """Give back the room of a run, if the cache is over its budget."""
    if (mirror := find_mirror(mirrors, directory)) is not None:
        with suppress(StoreError):  # a disk that is full is an error of the next run that needs room on it
            mirror.release(directory)


def take_failure() -> bool:
    """Whether a store did not give what was needed since the last call."""
    failures = [late.take_failure() for late in LATE_FILES if isinstance(late, Mirror)]  # of all of them
    return any(failures)


def is_of_store(problem: str | None, mirrors: Iterable[MirrorDescription]) -> bool:
    """Whether a run cannot be scored because of its store: errors of stores name the object, others its file."""
    return problem is not None and any(f"{each.store.location}/" in problem for each in mirrors)


def close_mirrors(mirrors: Iterable[MirrorDescription]) -> None:
    """Close those of a session."""
    for description in mirrors:
        for late in list(LATE_FILES):
            if isinstance(late, Mirror) and late.description.marks == description.marks:
                late.close()
