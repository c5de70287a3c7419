"""What a session says of its judges: who judged how many runs, what that cost, and how far people agree with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.safety.text import pluralize, sanitize, truncate

_LONGEST_NAME, _LONGEST_LINE = 80, 300
_MOST_RUNS = 3
NO_CERTIFICATE = "no certificate: how far people agree with this judge is unknown; run webeval calibrate"


def format_judging(judging: Mapping[str, Any]) -> list[str]:
    """A line about the judges, one about runs without a verdict, and one about the certificate."""
    names = ", ".join(map(format_judge, judging["judges"])) or "of requests"
    parts = [f"{pluralize(judging['judged'], 'run')} judged"] if judging["judges"] else []
    parts += [pluralize(judging["proposals"], "proposal")] if judging["proposals"] else []
    parts += _list_costs(judging)
    if judging["agreement"] is not None:
        parts.append(f"votes agree {judging['agreement']:.1%}")
    lines = [f"judge {names}: {', '.join(parts)}"]
    if failures := judging["not_judged"]:
        lines += [f"not judged: {_list_counts(failures)}", *_list_reasons(judging["reasons"])]
    if degraded := judging["degraded"]:
        runs = _format_fallbacks(judging.get("fallbacks", {}))
        lines.append(truncate(f"steps of the judge with a fallback: {runs}{_list_counts(degraded)}", _LONGEST_LINE))
    if judging["judges"]:
        lines.append(format_certificate(judging.get("certificate")))
    return [sanitize(line.replace("\n", " ")) for line in lines]


def _format_fallbacks(fallbacks: Mapping[str, int]) -> str:
    """In how many runs there is no verdict for that, and those with the most fallbacks."""
    if not fallbacks:
        return ""
    most = sorted(fallbacks, key=lambda run: (-fallbacks[run], run))[:_MOST_RUNS]
    more = ", …" if len(fallbacks) > len(most) else ""
    listed = ", ".join(f"{truncate(run, _LONGEST_NAME)} {fallbacks[run]}" for run in most)
    return f"{sum(fallbacks.values())} in {pluralize(len(fallbacks), 'run')} without a verdict ({listed}{more}): "


def _list_reasons(reasons: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """An example for each reason, without the words that all of them begin with."""
    return [
        truncate(
            f"  {name.replace('_', ' ')}: {row['run']}: {str(row['text']).removeprefix('not scored: ')}", _LONGEST_LINE
        )
        for name, row in reasons.items()
    ]


def format_judge(identity: Mapping[str, Any]) -> str:
    """Model, method and version: `gpt-5 (rubric 1)`."""
    models = " and ".join(str(name) for name in (identity["model"], identity["text_model"]) if name)
    votes = f", {identity['votes']} votes" if identity["votes"] != 1 else ""
    return truncate(f"{models} ({identity['method']} {identity['version']}{votes})", _LONGEST_NAME)


def _list_costs(judging: Mapping[str, Any]) -> list[str]:
    tokens = sum(usage.get("prompt", 0) + usage.get("completion", 0) for usage in judging["usage"].values())
    cost = "cost unknown" if judging["cost_usd"] is None else f"${judging['cost_usd']:.4f}"
    return [pluralize(judging["calls"], "reply", "replies"), f"{tokens:,} tokens", cost]


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())


def format_certificate(certificate: Mapping[str, Any] | None) -> str:
    """What a certificate says of the judge, or why it says nothing."""
    if certificate is None:
        return NO_CERTIFICATE
    if certificate["problem"] is not None:
        return f"certificate not valid: {certificate['problem']}"
    parts = [f"agrees with people on {_format_estimate(certificate['accuracy'])} of {certificate['labelled']} runs"]
    parts.append(f"kappa {_format_number(certificate['kappa'])}")
    corrected = certificate["corrected_success_rate"]
    if corrected["value"] is not None:
        parts.append(f"success rate corrected for its errors {_format_estimate(corrected)}")
    return f"certificate: {', '.join(parts)}"


def _format_estimate(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return "unknown"
    return f"{estimate['value']:.1%}{_format_interval(estimate['interval_95'])}"


def _format_interval(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f" (95% interval {interval[0]:.1%} to {interval[1]:.1%})"


def _format_number(estimate: Mapping[str, Any]) -> str:
    return "undefined" if estimate["value"] is None else f"{estimate['value']:.2f}"
