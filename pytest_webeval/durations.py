"""Where the time of a run went: phases, each without what it left to another."""

from __future__ import annotations

import time
from dataclasses import dataclass
from dataclasses import field

READ, DECODE, LOAD_TASK, EVALUATE, WRITE = PHASES = ("read", "decode", "load task", "evaluate", "write")


@dataclass(slots=True)
class Durations:
    """Wall-clock seconds by phase. A phase that begins within another one stops the clock of that other."""

    seconds: dict[str, float] = field(default_factory=dict)
    _running: str | None = None
    _since: float = 0.0

    def phase(self, name: str) -> Phase:
        """Count the time within to a phase."""
        return Phase(self, name)

    def switch(self, name: str | None) -> str | None:
        """Count the time since the last switch to the phase that ran, and let another one run."""
        now, ended = time.perf_counter(), self._running
        if ended is not None:
            self.seconds[ended] = self.seconds.get(ended, 0.0) + now - self._since
        self._running, self._since = name, now
        return ended


class Phase:
    """A context manager whose time counts for one phase; made of a generator it would cost as much as some phases."""

    __slots__ = ("_durations", "_name", "_outer")

    def __init__(self, durations: Durations, name: str) -> None:
        self._durations, self._name = durations, name

    def __enter__(self) -> None:
        self._outer = self._durations.switch(self._name)

    def __exit__(self, *_: object) -> None:
        self._durations.switch(self._outer)
