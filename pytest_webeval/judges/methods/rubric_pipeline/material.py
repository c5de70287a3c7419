"""The material of prompts: task, criteria, points and evidence as texts. What a run or a reply wrote is in a fence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pytest_webeval.judges.evidence import Evidence, fence
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.prompt_parts import fence_task
from pytest_webeval.safety.text import truncate

Analyses = Mapping[int, Sequence[Mapping[str, Any]]]
_LONGEST_TEXT = 4_000  # characters of a text of an earlier reply
_RUBRIC_KEYS = ("criterion", "description", "condition", "max_points")
_DECISION_KEYS = ("penalty", "is_condition_met", "max_points", "earned_points", "post_image_earned_points")
_NOTE_KEYS = ("criterion", "justification", "reality_notes", "post_image_justification")


def format_task(evidence: Evidence) -> str:
    """The task, where it starts, and when it was recorded."""
    lines = [f"Task of the agent:\n{fence_task(evidence)}"]
    if evidence.start_url and not _is_search_page(evidence.start_url):
        lines.append(f"The browser was opened at this address:\n{fence('start address', evidence.start_url)}")
    if isinstance(recorded := evidence.task_data.get("start_timestamp"), str):
        lines.append(f"The run was recorded at:\n{fence('time', truncate(recorded, 40))}")
    return "\n\n".join(lines)


def _is_search_page(url: str) -> bool:
    """Whether a run started nowhere in particular: on the home page of Bing."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.netloc.removeprefix("www.") == "bing.com" and parts.path.strip("/") == ""


def format_run(evidence: Evidence) -> str:
    """What the agent did and answered."""
    return f"Actions of the agent:\n{evidence.history_with_states}\n\nFinal answer:\n{evidence.fenced_answer}"


def format_rubric(items: Sequence[Item]) -> str:
    """The criteria, a line of JSON each."""
    return f"Criteria:\n{_number_lines(items, _RUBRIC_KEYS)}"


def format_scores(items: Sequence[Item]) -> str:
    """What was decided about each criterion up to now; the reasons in a fence, as they may quote the run."""
    return (
        f"Decisions of earlier steps of this evaluation:\n{_number_lines(items, _DECISION_KEYS)}\n"
        "Their reasons, which may quote the run:\n" + fence("reasons", _number_lines(items, _NOTE_KEYS))
    )


def _number_lines(items: Sequence[Item], keys: Iterable[str]) -> str:
    return "\n".join(f"criterion_idx {index}: {_to_json(item, keys)}" for index, item in enumerate(items))


def format_evidence(analyses: Analyses, indices: Iterable[int] | None = None) -> str:
    """What the screenshots show for each criterion, the later ones last."""
    chosen = sorted(analyses) if indices is None else list(indices)
    lines = [line for index in chosen for line in _format_analyses(index, analyses.get(index, ()))]
    heading = "What earlier steps of this evaluation saw in the screenshots, which may quote the run:"
    return f"{heading}\n" + fence("evidence", "\n".join(lines) or "none")


def _format_analyses(index: int, analyses: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for analysis in sorted(analyses, key=lambda analysis: int(analysis["screenshot_idx"])):
        keys = [key for key in analysis if key != "screenshot_idx"]
        yield f"criterion_idx {index}, screenshot {analysis['screenshot_idx'] + 1}: {_to_json(analysis, keys)}"


def _to_json(fields: Mapping[str, Any], keys: Iterable[str]) -> str:
    values = {key: _shorten(fields[key]) for key in keys if key in fields and fields[key] != ""}
    return json.dumps(values, ensure_ascii=False)


def _shorten(value: object) -> object:
    return truncate(value, _LONGEST_TEXT) if isinstance(value, str) else value
