"""What an explanation is made of: differences, the event that came nearest, and those that were considered."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_webeval.explanations.bounded import bounded
from pytest_webeval.explanations.bounded import bounded_path

DIFFERENT, MISSING, EXTRA, UNREADABLE = "different", "missing", "extra", "unreadable"
MOST_DIFFERENCES = MOST_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where what was found is not what was expected.

    In arrays whose order does not matter, a path counts the expected items, but for what is `extra`.
    """

    path: str
    kind: str
    expected: Any = None
    actual: Any = None

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON of bounded size."""
        values = {"expected": bounded(self.expected), "actual": bounded(self.actual)}
        return {"path": bounded_path(self.path), "kind": self.kind, **values}


@dataclass(frozen=True, slots=True)
class Explanation:
    """All differences; for events the nearest one as reports show it, and the positions of the candidates."""

    differences: Iterable[Difference]
    nearest: dict[str, Any] | None = None
    candidates: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The first differences as plain JSON. Raises `WebEvalError` where one cannot be found out."""
        found = [one.to_json() for one in islice(self.differences, MOST_DIFFERENCES)]
        return {"differences": found, "nearest": self.nearest, "candidates": list(self.candidates)}
