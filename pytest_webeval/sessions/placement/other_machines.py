"""Workers on other machines: what they need of stores, and whether they see the directories of results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.settings.staging import Staging
from pytest_webeval.storage import write_text
from pytest_webeval.stores.cache import default_cache, open_cache
from pytest_webeval.stores.mirror import Mirror
from pytest_webeval.stores.store import StoredObject

PROBE = ".eval_probe."  # how files begin that all workers must see


def move_settings(settings: Settings) -> tuple[Settings, dict[Path, Path]]:
    """The settings for this machine, whose caches lie elsewhere, and where each root in a store lies here.

    Raises `SettingsError`.
    """
    moved: list[Mirror] = []
    places: dict[Path, Path] = {}
    for each in settings.mirrors:
        location = each.store.location
        cache = open_cache(default_cache(location, settings.cache), location)
        moved.append(Mirror(each.store, cache, "", each.most_bytes, each.largest))
        places[each.path] = moved[-1].path
    runs = tuple(places.get(root, root) for root in settings.runs)
    staging = settings.staging and Staging.open(settings.staging.store.location, settings.cache)
    output = staging.path if staging else settings.output
    return replace(settings, runs=runs, output=output, mirrors=tuple(moved), staging=staging), places


def move_path(path: Path, places: Mapping[Path, Path]) -> Path:
    """Where a run lies on this machine."""
    for there, here in places.items():
        if path.is_relative_to(there):
            return here / path.relative_to(there)
    return path


def lay_out_objects(settings: Settings, objects: Mapping[str, Iterable[StoredObject]], runs: Iterable[Path]) -> None:
    """Let the mirrors be about all objects of some runs, by the location of their store. They are not listed again.

    Raises `WebEvalError`.
    """
    paths = list(runs)
    for mirror in settings.mirrors:
        entries = sorted(objects.get(mirror.store.location, ()), key=lambda entry: entry.key)
        inside = (path.relative_to(mirror.path) for path in paths if mirror.holds(path))
        mirror.lay_out(entries, {"" if key == Path() else key.as_posix() for key in inside}, settings.limits)


@contextmanager
def probe_directories(settings: Settings) -> Iterator[dict[str, str]]:
    """Files in all directories that workers write to, with their content. Raises `SettingsError`."""
    directories = [settings.report, *([settings.output or None] if settings.staging is None else [])]
    if settings.output is None:
        directories += settings.roots
    probes: dict[str, str] = {}
    try:
        for directory in filter(None, directories):
            path, text = directory / f"{PROBE}{os.urandom(8).hex()}", os.urandom(16).hex()
            write_text(path, text)
            probes[str(path)] = text
        yield probes
    finally:
        for name in probes:
            with suppress(OSError):
                Path(name).unlink()


def check_probes(probes: Mapping[str, str]) -> None:
    """Raise `SettingsError` for a directory that is another one on this machine."""
    for name, text in probes.items():
        path = Path(name)
        try:
            is_same = path.read_text("utf-8") == text
        except OSError:
            is_same = False
        if not is_same:
            problem = f"a worker on another machine does not see the directory {path.parent} of this session"
            raise SettingsError(f"{problem}; choose one that all machines share, or a store with --webeval-output")
