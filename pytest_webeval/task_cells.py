"""What single cells of a task file hold. A cell that is wrong costs what it says, with a warning, but not the task."""

from __future__ import annotations

import json
from typing import Any

from pytest_webeval.oddities import Warnings

REPHRASED = "_rephrased_"


def rubric_in(raw: object, odd: Warnings) -> dict[str, Any] | None:
    """A rubric, as JSON text or as what that holds; the first one of a list."""
    found = _decoded(raw, "precomputed_rubric", odd) if isinstance(raw, str) else raw
    first = found[0] if isinstance(found, list) and found else found
    if first is not None and not isinstance(first, dict):
        odd.add("precomputed_rubric is no JSON object; it is left out")
    return first if isinstance(first, dict) else None


def rephrasings_in(raw: object, odd: Warnings) -> tuple[str, ...]:
    """Texts in their order: a JSON list, or text of one a line. Blank where an entry of the list is of no use."""
    if isinstance(raw, str) and not raw.lstrip().startswith(("[", "{")):
        return tuple(line.strip() for line in raw.splitlines() if line.strip())
    found = _decoded(raw, "task_rephrasings", odd) if isinstance(raw, str) else raw
    if found is not None and not isinstance(found, list):
        odd.add("task_rephrasings is no list of texts; it is left out")
    texts = [one if isinstance(one, str) else "" for one in found] if isinstance(found, list) else []
    for index, text in enumerate(texts):
        if not text.strip():
            odd.add(f"task_rephrasings[{index}] is no text; it is left out")
    return tuple(text if text.strip() else "" for text in texts)


def length_in(raw: object, odd: Warnings) -> int | None:
    """The number of steps that somebody needed, as a number or as digits."""
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 10:
        return int(raw)
    if type(raw) is int and raw >= 0:
        return raw
    if raw not in (None, ""):
        odd.add("reference_length is no whole number; it is left out")
    return None


def label_in(raw: object, name: str, odd: Warnings) -> str | None:
    """A name that results are grouped by, or None where it is blank."""
    if raw is not None and not isinstance(raw, str):
        odd.add(f"{name} is no text; it is left out")
    return raw if isinstance(raw, str) and raw.strip() else None


def rephrased_id(task_id: str) -> tuple[str, int] | None:
    """Original id and number in the id of a task in other words, such as `books_find_7_rephrased_2`, or None."""
    original, _, number = task_id.rpartition(REPHRASED)
    is_number = number.isascii() and number.isdigit() and len(number) < 10  # more digits than any file has lines
    return (original, int(number)) if original and is_number else None


def _decoded(raw: str, name: str, odd: Warnings) -> object:
    try:
        return json.loads(raw) if raw.strip() else None
    except (ValueError, RecursionError) as error:
        odd.add(f"{name} is no JSON: {error}; it is left out")
        return None
