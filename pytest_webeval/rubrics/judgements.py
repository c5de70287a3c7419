"""Judgements that readers of formats take from the files, as stored verdicts: which one counts, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.score_names import ScoreFileName
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.stored_verdict import StoredVerdict

_MOST_NAMED = 20


def find_stored(judgements: Sequence[Judgement], requested: str | None) -> StoredVerdict | None:
    """The verdict that counts: the first, or that of the requested source. None where there is none.

    Raises `UnreadableVerdict` if judgements are stored and none is of that source.
    """
    verdicts = [judgement for judgement in judgements if judgement.ungraded is None]
    if not verdicts:
        return None
    return from_judgement(verdicts[0] if requested is None else _select_judgement(verdicts, requested))


def _select_judgement(judgements: Sequence[Judgement], requested: str) -> Judgement:
    names = (requested, f"{requested}.json", f"scores/{requested}", f"scores/{requested}.json")
    for judgement in judgements:
        if any(source in names for source in (judgement.source, *judgement.replaces)):
            return judgement
    sources = ", ".join(quote_value(judgement.source) for judgement in judgements[:_MOST_NAMED])
    problem = f"there is no verdict in {quote_value(requested)}, only in {sources}"
    raise UnreadableVerdict("score_missing", problem, "choose one with --webeval-score-file")


def from_judgement(judgement: Judgement) -> StoredVerdict:
    """A judgement as a stored verdict: with points it is derived as a rubric, otherwise from what was stored."""
    name = ScoreFileName("other")
    if judgement.rubric is not None:
        return StoredVerdict(judgement.source, name, _score_of(judgement), judgement.rubric, None)
    return StoredVerdict(judgement.source, name, _score_of(judgement), None, None, judgement=judgement)


def _score_of(judgement: Judgement) -> Decimal | int | None:
    return None if judgement.success is None else int(judgement.success)
