"""Settings with stores in them: each run root is listed once in a session, whose processes share the mirror."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings import formats
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.sessions.settings.staging import Staging
from pytest_webeval.stores.cache import default_cache
from pytest_webeval.stores.choice import open_store
from pytest_webeval.stores.mirror import Mirror, attach
from pytest_webeval.stores.store import WRITABLE_SCHEMES, refuse_credentials, scheme_of

VARIABLE = "PYTEST_WEBEVAL_MIRRORS"  # in which workers of xdist find those of their controller
_WORKER = "PYTEST_XDIST_WORKER"
_early: dict[str, Mirror] = {}  # opened before the settings are read


def open_stores(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mirror], Staging | None]:
    """The values with directories in place of locations, the mirrors, and where results wait for their upload.

    Raises `WebEvalError`.
    """
    cache, output = values["cache"], values["output"]
    locations = [root for root in values["runs"] if isinstance(root, str)]
    for location in (*locations, *([output] if isinstance(output, str) else ())):
        refuse_credentials(location)  # before any message names it
    _refuse_nested(locations)
    if isinstance(output, str):
        _check_output(output, locations, is_shared=len(values["runs"]) > 1)
    staging = Staging.open(output, cache) if isinstance(output, str) else None
    mirrors = {each: open_root(each, cache, values["cache_size"], values["limits"]) for each in locations}
    roots = tuple(mirrors[root].path if isinstance(root, str) else root for root in values["runs"])
    changed = dict(values) | {"runs": roots, "output": output if staging is None else staging.path}
    return changed, list(mirrors.values()), staging


def _refuse_nested(locations: Sequence[str]) -> None:
    """Raise `SettingsError` for a location inside of another."""
    for inner in locations:
        for outer in locations:
            if inner.startswith(f"{outer}/"):
                raise SettingsError(f"--webeval-runs: {inner} lies inside {outer}; pass only one of them")


def _check_output(output: str, locations: Sequence[str], *, is_shared: bool) -> None:
    """Raise `SettingsError` for results that cannot be written, or would lie among recordings.

    Where runs come from several roots, results lie in directories that have the names of these.
    """
    if (scheme := scheme_of(output)) not in WRITABLE_SCHEMES:
        problem = f"--webeval-output: results cannot be written to {scheme}://"
        raise SettingsError(f"{problem}; use a directory, or a location of {', '.join(WRITABLE_SCHEMES)}")
    for location in locations:
        is_inside = f"{output}/".startswith(f"{location}/")
        if is_inside or (is_shared and location.startswith(f"{output}/")):
            problem = f"--webeval-output: {output} would have results among the runs of {location}"
            raise SettingsError(f"{problem}; choose a directory or another location")


def open_early(locations: Iterable[str], cache: Path | None, most_bytes: int | None, limits: Limits) -> list[Path]:
    """The directories of locations, whose mirrors whoever reads the settings takes over. Raises `WebEvalError`."""
    mirrors = {location: open_root(location, cache, most_bytes, limits) for location in locations}
    _early.update(mirrors)
    return [mirror.path for mirror in mirrors.values()]


def open_root(location: str, cache: Path | None, most_bytes: int | None, limits: Limits) -> Mirror:
    """The mirror of a location. Raises `WebEvalError`."""
    mirror = _early.pop(location, None) or _find_shared(location)
    return mirror or open_mirror(location, default_cache(location, cache), most_bytes, limits)


def open_mirror(
    location: str, cache: Path | None = None, most_bytes: int | None = None, limits: Limits = USUAL
) -> Mirror:
    """The mirror of a store, with the files by which its runs are recognized. Raises `SettingsError`, `StoreError`."""
    mirror = Mirror.open(open_store(location), cache, most_bytes, limits)
    mirror.fetch_signs(formats.list_signs)
    return mirror


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
