"""Where runs first went wrong, by the code of the error taxonomy (`fara_webeval.md` §6.7)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.analysis.means import median
from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.rows import number_or_none
from pytest_webeval.analysis.tables import counts

UNKNOWN_GENERATION = "unknown"


def failure_points(rows: Iterable[Row]) -> dict[str, Any]:
    """Of how many trajectories the failures were analysed, and what was found; a code counts once per trajectory."""
    analysed = [row for row in rows if isinstance(row.failure, dict)]
    failed = _flagged(analysed, "has_failure")
    ambiguous, invalid = _flagged(analysed, "is_ambiguous"), _flagged(analysed, "is_invalid")
    first_steps = [number_or_none(_found(row).get("first_step")) for row in failed]
    return {
        "analysed": len(analysed),
        "has_failure": len(failed),
        "first_step_median": median([step for step in first_steps if step is not None]),
        "codes": _codes_by_generation(failed),
        "ambiguous": len(ambiguous),
        "ambiguity_codes": counts(_codes(ambiguous, "ambiguity_codes")),
        "invalid": len(invalid),
        "invalid_codes": counts(_codes(invalid, "invalid_codes")),
    }


def _codes_by_generation(failed: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Apart for each generation of verdicts, because a code changed its meaning between two."""
    generations: dict[str, list[Row]] = {}
    for row in failed:
        generations.setdefault(row.generation or UNKNOWN_GENERATION, []).append(row)
    return {name: counts(_codes(generations[name], "codes")) for name in sorted(generations)}


def _flagged(rows: Iterable[Row], flag: str) -> list[Row]:
    return [row for row in rows if _found(row).get(flag) is True]


def _codes(rows: Iterable[Row], name: str) -> list[str]:
    """The codes of each row once; what a judge wrote instead of a list of codes is none."""
    found = []
    for row in rows:
        codes = _found(row).get(name)
        found += sorted({code for code in codes if isinstance(code, str)}) if isinstance(codes, list) else []
    return found


def _found(row: Row) -> Mapping[str, Any]:
    return row.failure or {}
