"""Which judge was asked in a session, how many runs it judged, what that cost, and what it could not decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_facts import JudgeFacts, ProposalFacts
from pytest_webeval.summary.statistics import mean


def build_judging(records: Iterable[Record]) -> dict[str, Any] | None:
    """The judges of a session, the runs that they judged and those that they did not, tokens and cost."""
    asked = [record for record in records if record.judge is not None or record.proposals]
    facts = [msgspec.convert(record.judge, JudgeFacts) for record in asked if record.judge is not None]
    proposals = [msgspec.convert(row, ProposalFacts) for record in asked for row in record.proposals]
    if not asked:
        return None
    replies: list[JudgeFacts | ProposalFacts] = [*facts, *proposals]
    costs = [row.cost_usd for row in replies]
    agreements = [row.agreement for row in facts if row.agreement is not None]
    lost = {record.run: record.judge for record in asked if record.judge is not None and record.judge["failure"]}
    fallbacks = {run: len(steps) for run in sorted(lost) if (steps := lost[run].get("degraded"))}  # of steps
    return {
        "judges": _list_judges([row for row in facts if row.success is not None] or facts),
        "judged": sum(row.success is not None for row in facts),
        "successes": sum(row.success is True for row in facts),
        "not_judged": dict(sorted(Counter(row.failure for row in facts if row.failure is not None).items())),
        "reasons": _list_reasons(asked),
        "proposals": len(proposals),
        "calls": sum(row.calls for row in replies),
        "usage": _add_usage(replies),
        "cost_usd": None if None in costs else round(sum(cost for cost in costs if cost is not None), 9),
        "degraded": dict(sorted(Counter(step for row in facts for step in row.degraded).items())),
        "agreement": mean(agreements),
    } | ({"fallbacks": fallbacks} if fallbacks else {})


def _list_reasons(records: Sequence[Record]) -> dict[str, dict[str, str | None]]:
    """The first run without a verdict for each kind of failure of a judge, with its reason."""
    reasons: dict[str, dict[str, str | None]] = {}
    for record in records:
        failure = record.judge["failure"] if record.judge is not None else None
        if failure is not None:
            reasons.setdefault(failure, {"run": record.run, "text": record.excluded or record.reason})
    return dict(sorted(reasons.items()))


def _list_judges(facts: Sequence[JudgeFacts]) -> list[dict[str, Any]]:
    judges = {tuple(row.identity.values()): row.identity for row in facts}
    return [judges[key] for key in sorted(judges, key=lambda key: [str(value or "") for value in key])]


def _add_usage(facts: Sequence[JudgeFacts | ProposalFacts]) -> dict[str, dict[str, int]]:
    """Tokens by model and kind."""
    totals: dict[str, Counter[str]] = {}
    for row in facts:
        for model, usage in row.usage.items():
            totals.setdefault(model, Counter()).update(usage)
    return {model: dict(sorted(totals[model].items())) for model in sorted(totals)}
