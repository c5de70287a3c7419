"""What the rubric verifier noted about a task: `task_data.json` (`fara_webeval.md` §2.6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from pytest_webeval.safety.warning_log import WarningLog

_FILE = "task_data.json"
_TEXTS = ("task_proposal", "task_summary", "initial_task_proposal")
_RUBRIC = "precomputed_rubric"
# Truth values and counters that say what went wrong, or how the run went.
FLAGS = (
    "attempted_error_fix",
    "crossed_critical_point",
    "did_agent_access_relevant_information",
    "did_failed_after_attempting_to_fix",
    "did_web_surfing_fail",
    "encountered_captcha",
    "failed_to_solve_captcha",
    "is_web_surfing_done",
    "openai_bad_request_error",
    "preliminary_successful",
    "replanning_exceeded",
    "retroactively_identified_target",
    "rollback_premature_stop_action",
    "web_sufing_steps_exceeded",  # spelled so by its writer
    "web_surfer_forced_into_endstate",
    "web_surfing_at_critical_point",
    "web_surfing_forgot_to_identify_target",
    "web_surfing_identified_target",
    "web_surfing_memorized_fact",
    "web_surfing_stalled",
    "web_surfing_stalled_and_replanned",
    "web_surfing_timed_out",
)


class TaskData(Struct, frozen=True):
    """What is known of a task, for diagnosis only. `flags` holds those of `FLAGS` that are true or count something.

    Numbers with a point or an exponent are `Decimal` in `rubric` and `raw`.
    """

    text: str | None = None
    init_url: str | None = None
    rubric: Mapping[str, Any] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, bool | int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_task_data(content: bytes) -> TaskData:
    """What the bytes of the file say; nothing but a warning if they are damaged (Q43). Never raises."""
    warnings = WarningLog(_FILE)
    raw = _parse_object(content, warnings)
    return TaskData(
        text=next(filter(None, (_read_text(raw, key) for key in _TEXTS)), None),
        init_url=_read_text(raw, "init_url"),
        rubric=_select_rubric(raw.get(_RUBRIC), warnings),
        raw=raw,
        flags={name: raw[name] for name in FLAGS if _is_set(raw.get(name))},
        warnings=warnings.texts,
    )


def _parse_object(content: bytes, warnings: WarningLog) -> dict[str, Any]:
    try:
        document = json.loads(content, parse_float=Decimal, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        warnings.add(f"is not valid JSON: {error}; ignored")
        return {}
    except ArithmeticError:
        warnings.add("has a number with an out-of-range exponent; ignored")
        return {}
    if isinstance(document, dict):
        return document
    warnings.add("is not a JSON object; ignored")
    return {}


def _read_text(raw: Mapping[str, Any], key: str) -> str | None:
    text = raw.get(key)
    return text if isinstance(text, str) and text.strip() else None


def _select_rubric(raw: object, warnings: WarningLog) -> Mapping[str, Any] | None:
    first = next(iter(raw), None) if isinstance(raw, list) else raw
    if first is None or isinstance(first, dict):
        return first
    warnings.add(f"expected an object or a list of objects; the rubric is ignored @ {_RUBRIC}")
    return None


def _is_set(raw: object) -> bool:
    return raw is True or (isinstance(raw, int) and raw > 0)
