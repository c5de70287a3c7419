"""Proposed definitions without the secrets of their recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_webeval.authoring.proposal.golden_run import GoldenRun
from pytest_webeval.redaction.policy import DEFINITION
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import TaskResult

_NOTES = "notes"
_TYPED = ("intent", "intent_template")  # by the author, who knows what is in them


def redact_definition(
    definition: dict[str, Any],
    notes: Sequence[str],
    results: Sequence[tuple[GoldenRun, TaskResult]],
    redacting: Redacting,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A definition and its notes without secrets, and a note for each place where one was replaced.

    `results` are those of the runs under this definition: a secret in one of them is one in the definition.
    """
    shown: dict[str, Any] = {
        DEFINITION: {name: value for name, value in definition.items() if name not in _TYPED},
        _NOTES: list(notes),
    }
    for run, result in results:
        _, shown = redacting.redact_with_attachment(result, run.run, shown, [run.data])
        redacting.forget()
    safe = {name: shown[DEFINITION].get(name, value) for name, value in definition.items()}
    replaced = (
        f"{path}: a secret was replaced; to keep it, pass --redact=off" for path in _list_changes(definition, safe)
    )
    return safe, (*shown[_NOTES], *replaced)


def _list_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The places in which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for name, value in before.items():
            yield from _list_changes(value, after[name], f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (value, other) in enumerate(zip(before, after, strict=True)):
            yield from _list_changes(value, other, f"{path}[{index}]")
    elif before != after:
        yield path
