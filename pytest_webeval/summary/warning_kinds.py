"""Which kind of warning a text is, and all warnings of a session by kind, so that no kind drowns among others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

OTHER = "other"
# How our own warnings begin or what is in them, by the kind that they are of.
_KINDS_BY_PHRASE = {
    "no URL configured for": "guessed_sites",
    "the task definition comes from the run directory": "own_definition",
    "is not defined in": "undefined_task",
    "is not a field of": "unknown_field",
    "counts, not": "several_verdicts",
    "which does not count": "overruled_verdict",
}
_NUMBERED = re.compile(r"(?:^|: )([QR]\d{1,3})(?: \(|: )")  # a quirk of the rules, or a check of a stored verdict
_DECIDED = re.compile(r"(\S{1,9}) \([a-z_]{1,40}\) changed this verdict to [a-z_]{1,20}: ")  # by a rule
_SEARCHED = 300  # characters


def warning_kind(text: str) -> str:
    """The number of the rule that it is about, such as `Q14`; one of our few other kinds; or `other`."""
    match = _DECIDED.match(text) or _NUMBERED.search(text[:_SEARCHED])
    if match:
        return match[1]
    return next((kind for phrase, kind in _KINDS_BY_PHRASE.items() if phrase in text), OTHER)


def warning_groups(warnings: Mapping[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Warnings by kind, from those of each run: first what decided verdicts, then the most frequent, `other` last."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for run, texts in warnings.items():
        for text in texts:
            kinds.setdefault(warning_kind(text), []).append((run, text))
    groups = [_group(kind, entries) for kind, entries in kinds.items()]
    return sorted(groups, key=lambda row: (not row["decided"], row["kind"] == OTHER, -row["count"], row["kind"]))


def _group(kind: str, entries: list[tuple[str, str]]) -> dict[str, Any]:
    """One kind with its first warning. `decided` counts the verdicts that it made other than the reference's."""
    run, text = entries[0]
    return {
        "kind": kind,
        "count": len(entries),
        "decided": sum(_DECIDED.match(text) is not None for _, text in entries),
        "runs": list(dict.fromkeys(run for run, _ in entries)),
        "example": {"run": run, "text": text},
    }
