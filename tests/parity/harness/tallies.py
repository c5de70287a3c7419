"""What the parity tests compared, carried from test to summary on the tests' reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.parity.harness.comparison import Pair


# Properties of reports: a number or a text each, which is all that can be relayed between processes.
PAIRS, TASKS, DISAGREEMENTS, CLASSES = "pairs", "tasks", "disagreements", "classes"


@dataclass
class Tally:
    """Counts of compared pairs, the tasks they are about, and how many recordings of each class differ."""

    pairs: int = 0
    tasks: set[str] = field(default_factory=set)
    disagreements: int = 0
    classes: Counter[str] = field(default_factory=Counter)

    def watch(self, pairs: Iterable[tuple[Pair, ...]]) -> Iterator[tuple[Pair, ...]]:
        """The same pairs, each by one or more rule sets, counted as they pass."""
        for each in pairs:
            self.pairs += 1
            self.tasks.add(str(each[0].recording.task["task_id"]))
            yield each

    def properties(self) -> list[tuple[str, Any]]:
        """The counts as properties of a test."""
        return [
            (PAIRS, self.pairs),
            (TASKS, ",".join(sorted(self.tasks))),
            (DISAGREEMENTS, self.disagreements),
            (CLASSES, json.dumps(self.classes)),
        ]

    def add(self, properties: Sequence[tuple[str, Any]]) -> None:
        """Add what another test counted."""
        found = dict(properties)
        self.pairs += found.get(PAIRS, 0)
        self.tasks.update(filter(None, found.get(TASKS, "").split(",")))
        self.disagreements += found.get(DISAGREEMENTS, 0)
        self.classes.update(json.loads(found.get(CLASSES, "{}")))

    def lines(self) -> Iterator[str]:
        """What the summary says."""
        if self.pairs:
            yield (
                f"parity: {self.pairs:,} (task, recording) pairs, {len(self.tasks)} tasks, "
                f"{self.disagreements} disagreements"
            )
        yield from (f"parity: {name}: {count:,}" for name, count in sorted(self.classes.items()))


def pytest_terminal_summary(terminalreporter):
    """Add up what all tests compared, in whichever process they ran."""
    total = Tally()
    for reports in terminalreporter.stats.values():
        for one in reports:
            if getattr(one, "when", None) == "teardown":  # fixtures count until then
                total.add(one.user_properties)
    for line in total.lines():
        terminalreporter.write_line(line)
