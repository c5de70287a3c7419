"""What stands below the success rate: excluded runs, rates with another denominator, and mean scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.safety.text import pluralize


def format_other_rates(webeval: Mapping[str, Any]) -> list[str]:
    """A line for each, from `webeval` of a summary; none where the success rate says all."""
    return [*_format_impossible(webeval), *_format_scores(webeval)]


def _format_impossible(webeval: Mapping[str, Any]) -> Iterator[str]:
    """The rates with and without impossible runs, the rate of the session first: leaderboards print either."""
    if "impossible" not in webeval:
        return
    impossible = webeval["impossible"]
    rates = {"counted as 0": impossible["as_zero"], "excluded": impossible["excluded"]}
    ordered = list(rates.items())[:: 1 if impossible["counted"] else -1]
    shares = [f"{treatment}: {_format_rate(rate)}" for treatment, rate in ordered]
    yield f"{pluralize(impossible['count'], 'impossible run')} {'; '.join(shares)}"


def _format_rate(rate: Mapping[str, Any]) -> str:
    share = rate["success_rate"]
    return f"{'no rate' if share is None else f'{share:.1%}'} of {rate['denominator']}"


def _format_scores(webeval: Mapping[str, Any]) -> Iterator[str]:
    """The mean score, if an evaluator gives partial scores."""
    if "scores" in webeval:
        scores = webeval["scores"]
        yield f"mean score {scores['mean_score']:.2f} over {pluralize(scores['run_count'], 'run')} with a score"


def format_excluded(webeval: Mapping[str, Any]) -> str:
    """Return how many runs are in no rate, by reason, from `webeval` of a summary."""
    reasons = list_exclusions(webeval)
    return f"{webeval['excluded_count']} excluded" + (f" ({reasons})" if reasons else "")


def list_exclusions(webeval: Mapping[str, Any]) -> str:
    """Return how many runs are in no rate for each reason."""
    counts = webeval.get("excluded_counts", {})
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items())
