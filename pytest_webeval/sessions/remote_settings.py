"""Settings with stores in them: their locations become directories of caches, which the session reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.remote_roots import open_root
from pytest_webeval.sessions.staging import Staging
from pytest_webeval.stores.mirror import Mirror
from pytest_webeval.stores.store import WRITABLE_SCHEMES, refuse_credentials, scheme_of


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
