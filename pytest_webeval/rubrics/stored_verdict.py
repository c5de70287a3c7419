"""What a verdict is derived from: what a judge stored, what the run itself says, and where they contradict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_webeval.recordings.trajectory.layout import ScoreFileName
    from pytest_webeval.recordings.trajectory.recorded import Judgement


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """What one file says about a run, before anything is added up.

    `source` is the file's name below the run directory. `score` is the top-level score. Exactly one of `payload` (a
    JSON object, numbers with a point or exponent read as `Decimal`), `text` (free text of a judge) and `judgement`
    (what the reader of a format made of a verdict without points) is given.
    """

    source: str
    name: ScoreFileName
    score: Decimal | int | None
    payload: Mapping[str, Any] | None
    text: str | None
    warnings: tuple[str, ...] = ()
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the run itself says that a stored verdict may contradict; None where it says nothing."""

    final_answer: str | None = None
    action_count: int | None = None
    is_stale: bool | None = None  # the verdict is older than the answer


_CONTRADICTIONS = ("R1", "R2", "R3", "R4", "R5", "R6", "R7", "R18", "R20", "R21")


@dataclass(frozen=True, slots=True)
class Check:
    """A contradiction or anomaly of a stored verdict. `rule` is R1 to R22: see `rubrics/consistency.py`."""

    rule: str
    message: str

    @property
    def is_contradiction(self) -> bool:
        """Whether it makes the verdict inconsistent (R1-R7, R18) rather than unusual."""
        return self.rule in _CONTRADICTIONS
