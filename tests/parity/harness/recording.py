"""One made-up run of one task, as both scorers are given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Addresses as in the specification's examples; no two begin alike.
SITES: Mapping[str, Sequence[str]] = {
    "shopping": ("http://shop.test:7770",),
    "shopping_admin": ("http://shop.test:7780/admin",),
    "gitlab": ("http://git.test:8023",),
    "reddit": ("http://red.test:9999",),
    "map": ("http://map.test:3000",),
    "wikipedia": ("http://wiki.test:8888",),
    "homepage": ("http://home.test:4399",),
}

# Classes of recordings. All but the honest ones may be judged otherwise by the default rules than by the reference.
HONEST = "honest"
PATTERN = "pattern written by the agent"
GUESSES = "list of guesses"
INFINITE = "infinite measure"
PATH_TRICK = "encoded slash or dot segment"
SITE_PATTERN = "site address used as a pattern"
EMPTY_TRACE = "empty trace"
DIALECT = "documented dialect"
SIDE_FILE = "body in a side file"
PLACEHOLDER = "placeholder written by the agent"
UNREADABLE = "trace that the reference cannot read"
DAMAGED = "trace without a readable event"
MULTIPART = "multipart form that the reference misreads"
LONG_NUMBER = "number of many digits"
MISSHAPEN = "member of an entry that is missing, null or of another type"
DRAWN = "drawn at random"
FOLDED = "configured address in another spelling"
FORBIDDEN = "forbidden request in another spelling"
UNKNOWN_KEY = "unknown key in a definition"


@dataclass(frozen=True)
class Recording:
    """What an agent left behind for one task.

    `entries` are HAR entries, written as `trace_name` has it (`network.har` or `trace.zip`), or the very bytes of that
    file. `kind` is the class of the case: `HONEST`, or the name of a trick or of an input that the reference cannot
    read, for which the default rules may differ from the reference. `about` tells it from the other cases of the task.
    """

    task: Mapping[str, Any]
    response: bytes
    entries: tuple[Mapping[str, Any], ...] | bytes
    about: str
    kind: str = HONEST
    trace_name: str = "network.har"
    sites: Mapping[str, Sequence[str]] | None = None  # None: SITES; empty: no configuration at all

    @property
    def name(self) -> str:
        """The task's id and what is special about the case."""
        return f"{self.task.get('task_id')}: {self.about}"
