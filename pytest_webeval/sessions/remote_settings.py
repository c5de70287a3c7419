"""Settings with stores in them: their locations become directories of caches, which the session reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_webeval.sessions.remote_roots import open_root
from pytest_webeval.sessions.remote_roots import refuse_nested
from pytest_webeval.sessions.staging import Staging
from pytest_webeval.stores.mirror import MirrorDescription


def open_stores(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[MirrorDescription], Staging | None]:
    """The values with directories in place of locations, the mirrors, and where results wait for their upload.

    Raises `WebEvalError`.
    """
    cache, output = values["cache"], values["output"]
    locations = [root for root in values["runs"] if isinstance(root, str)]
    refuse_nested(locations)
    mirrors = {each: open_root(each, cache, values["cache_size"], values["limits"]) for each in locations}
    staging = Staging.open(output, cache) if isinstance(output, str) else None
    roots = tuple(mirrors[root].path if isinstance(root, str) else root for root in values["runs"])
    changed = dict(values) | {"runs": roots, "output": output if staging is None else staging.path}
    return changed, [mirror.description for mirror in mirrors.values()], staging
