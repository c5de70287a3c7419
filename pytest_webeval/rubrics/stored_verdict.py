"""What a verdict is derived from: what a judge stored, what the run itself says, and where they contradict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_webeval.recordings.trajectory.layout import ScoreFileName
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict


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


_MOST_NAMED = 20


def find_stored(judgements: Sequence[Judgement], requested: str | None) -> StoredVerdict | None:
    """The verdict that counts: the first, or that of the requested source. None where there is none.

    Raises `UnreadableVerdict` if judgements are stored and none is of that source.
    """
    verdicts = [judgement for judgement in judgements if judgement.ungraded is None]
    if not verdicts or requested is None:
        return from_judgement(verdicts[0]) if verdicts else None
    names = (requested, f"{requested}.json", f"scores/{requested}", f"scores/{requested}.json")
    for judgement in verdicts:
        if any(source in names for source in (judgement.source, *judgement.replaces)):
            return from_judgement(judgement)
    sources = ", ".join(quote_value(judgement.source) for judgement in verdicts[:_MOST_NAMED])
    problem = f"there is no verdict in {quote_value(requested)}, only in {sources}"
    raise UnreadableVerdict("score_missing", problem, "choose one with --webeval-score-file")


def from_judgement(judgement: Judgement) -> StoredVerdict:
    """A judgement as a stored verdict: with points it is derived as a rubric, otherwise from what was stored."""
    name, score = ScoreFileName("other"), None if judgement.success is None else int(judgement.success)
    if judgement.rubric is not None:
        return StoredVerdict(judgement.source, name, score, judgement.rubric, None)
    return StoredVerdict(judgement.source, name, score, None, None, judgement=judgement)
