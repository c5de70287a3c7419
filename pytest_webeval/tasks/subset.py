"""Which tasks of a data set count: those of a file of ids, or of one of the two files that the reference brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import shorten_json
from pytest_webeval.tasks.dataset import BUNDLED, find_reference_file, id_order

_HINT = 'expected {"task_ids": [7, 11]} with the ids of some tasks'


class Subset(Struct, frozen=True):
    """Ids of tasks: numbers ascending, then texts. `name` is the same on every machine, so without a directory."""

    name: str
    task_ids: tuple[int | str, ...]

    @property
    def checksum(self) -> str:
        """SHA-256 of the ids in their order as JSON without blanks (spec §8.2 for numbers)."""
        return sha256(json.dumps(self.task_ids, separators=(",", ":")).encode())


def load_subset(name: str) -> Subset:
    """The subset in a file, or `hard` or `non-hard` of an installed reference. Raises `SettingsError`."""
    path = find_reference_file(BUNDLED[name]) if name in BUNDLED else Path(name)
    if path is None:
        problem = f"the subset {name} needs webarena-verified, which is not installed"
        raise SettingsError(f"{problem}; install it, or pass a file with --webeval-subset")
    try:
        return parse_subset(path.read_bytes(), name if name in BUNDLED else str(path))
    except OSError as error:
        raise SettingsError(f"cannot read the subset {path}: {error.strerror}; check the path") from error


def parse_subset(content: bytes, source: str) -> Subset:
    """The subset in the bytes of a file. Raises `SettingsError`."""
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"cannot parse the subset {source} as JSON: {error}; fix the file") from error
    if not isinstance(document, dict):
        raise SettingsError(f"the subset {source} is not a JSON object; {_HINT}")
    ids = _check_ids(document.get("task_ids"), source)
    subset = Subset(Path(source).name, tuple(sorted(ids, key=id_order)))
    stated = document.get("checksum")
    if stated not in (None, subset.checksum):
        raise SettingsError(
            f"the subset {source} has the checksum {shorten_json(stated)}, but its ids have {subset.checksum}; "
            "restore the ids, or correct the checksum if you changed them on purpose"
        )
    return subset


def _check_ids(raw: object, source: str) -> Sequence[int | str]:
    if not isinstance(raw, list) or not raw:
        raise SettingsError(f"the subset {source} has no list of task_ids; {_HINT}")
    first: dict[str, int] = {}  # 12 and "12" are one id
    for position, task_id in enumerate(raw):
        is_id = bool(task_id.strip()) if isinstance(task_id, str) else type(task_id) is int  # JSON's true is a bool
        if not is_id:
            text = f"invalid task id in the subset {source}: {shorten_json(task_id)} @ task_ids[{position}]"
            raise SettingsError(f"{text}; use an integer or a non-empty string")
        if first.setdefault(str(task_id), position) != position:
            text = f"lists task {shorten_json(task_id)} twice @ task_ids[{position}]"
            raise SettingsError(f"the subset {source} {text}; list it once")
    return raw
