"""What several instances of a judge say together (`fara_webeval.md` §6.3, step 8)."""

from __future__ import annotations

from collections.abc import Sequence


def majority(votes: Sequence[bool | None], instances: int) -> bool | None:
    """What more than half of the votes cast say; None unless more than half of the instances cast one."""
    cast = [vote for vote in votes if vote is not None]
    if len(cast) < instances // 2 + 1:
        return None
    return 2 * sum(cast) > len(cast)


def median_index(scores: Sequence[float]) -> int | None:
    """Which instance has the median score, the earlier one of equals first; None of no instances."""
    ascending = sorted(range(len(scores)), key=lambda index: scores[index])
    return ascending[len(scores) // 2] if scores else None
