"""What the runs took: steps, seconds, tokens, attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_webeval.analysis.means import mean
from pytest_webeval.analysis.means import sample_std
from pytest_webeval.analysis.means import spread
from pytest_webeval.analysis.means import with_denominator
from pytest_webeval.analysis.rows import KINDS
from pytest_webeval.analysis.rows import Row


def effort(rows: Sequence[Row]) -> dict[str, Any]:
    """Spreads of what is known; a run of which something is unknown is left out there, never taken for 0."""
    return {
        "steps": _steps(rows),
        "durations": spread([row.duration for row in rows if row.duration is not None]),
        "tokens": _tokens(rows),
        "attempts": _attempts(rows),
        **with_denominator("abort_rate", [row.kind == "aborted" for row in rows]),
    }


def _steps(rows: Sequence[Row]) -> dict[str, Any]:
    kinds = {"all": rows} | {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    return {kind: spread([row.steps for row in those if row.steps is not None]) for kind, those in kinds.items()}


def _tokens(rows: Sequence[Row]) -> dict[str, Any]:
    """Of trajectories that used any: most recordings of Fara leave the usage empty."""
    known = [(row.prompt_tokens or 0, row.completion_tokens or 0) for row in rows]
    used = [pair for pair in known if sum(pair) > 0]
    columns = {
        "prompt": [prompt for prompt, _ in used],
        "completion": [completion for _, completion in used],
        "total": [sum(pair) for pair in used],
    }
    return {"count": len(used)} | {name: _totalled(values) for name, values in columns.items()}


def _totalled(values: Sequence[int]) -> dict[str, Any]:
    return {"total": sum(values), "mean": mean(values), "std": sample_std(values)}


def _attempts(rows: Sequence[Row]) -> dict[str, Any]:
    known = [row.attempts for row in rows if row.attempts is not None]
    return spread(known) | {"total": sum(known), "retried": sum(attempts > 1 for attempts in known)}
