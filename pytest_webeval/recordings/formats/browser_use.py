"""Histories of browser-use: `AgentHistory.json`, `screenshots/step_<N>.png`, and a HAR or trace next to them.

The writer is `AgentHistoryList.save_to_file` of PyPI `browser-use` (`agent/views.py`), which `Agent.save_history` calls
with `AgentHistory.json` as its default; 0.1.40, 0.2.7, 0.5.11, 0.9.6 and 0.13.14 compared. `Agent.run` adds an entry
when the steps are used up (since 0.2), and a judgement to the last result (`agent/judge.py`, since 0.9.6). It adds
nothing when it gives up after failures, is stopped or loses the browser: such a history just ends.

`record_har_path` is a HAR of Playwright's in 0.2 to 0.5, and one of `har_recording_watchdog.py` since 0.11.9: requests
over HTTPS only, without the headers that tell a page from other requests, and of a redirect only the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from pytest_webeval.recordings.formats.browser_use_steps import find_images, is_end_mark, read_duration, read_steps
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.signatures import FileSign
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import Judgement, OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import list_first, pluralize, preview, truncate

DEFAULT_NAME = "AgentHistory.json"
NAMES = "*[Hh]istory*.json"  # what people call it
HISTORY = FileSign(NAMES, ("history", "model_output", "result", "state"))
MOST_NAMES = 10
MOST_LISTED = 3  # in a message
JUDGE = "browser-use judge"
FLAGS = ("impossible_task", "reached_captcha")
RATE_LIMIT_ERROR = "Rate limit reached. Waiting before retry."  # `AgentError`, in place of the provider's message
MOST_ERROR = 300  # characters
# What judges write if there is no reason of a failure; what follows "n/a" says why.
_NO_FAILURE = re.compile(
    r"(none|null|no failures?|-*|n/a([^a-z0-9].*)?|not applicable([^a-z0-9].*)?)[.!]?", re.IGNORECASE | re.DOTALL
)
_TASK_BEGIN, _TASK_END = "<user_request>\n", "\n</user_request>"


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a history. Raises `UnreadableTrajectory`."""
    name = _find_history(files)
    document = files.read_json(name)
    if not isinstance(document.raw.get("history"), list):
        raise UnreadableTrajectory("json_invalid", f"{name} has no list history; save the history again")
    entries = document.objects("history")
    last = _read_last_result(files, name, entries)
    images = find_images(files, name, entries)
    steps = tuple(read_steps(entries, images))
    judgements = tuple(_read_judgements(name, last))
    results = [result for entry in entries for result in entry.items("result") if isinstance(result, dict)]
    others = sum(result.get("judgement") is not None and result is not last.raw for result in results)
    if others:
        files.warnings.add(f"{name} has {pluralize(others, 'judgement')} of earlier results; ignored")
    models = list(document.member("usage").member("by_model").raw)
    errors = _list_last_errors(entries)
    is_done = last.raw.get("is_done") is True
    return Trajectory(
        inputs=files.inputs,
        outcome=_classify(entries, last, judgements, len(steps)),
        answer=last.text("extracted_content") or "" if is_done else None,
        steps=steps,
        screenshots=images.all,
        judgements=judgements,
        task_text=_read_task(entries),
        usage=_read_usage(document),
        duration=read_duration(entries),
        system="browser-use",
        model=models[0] if len(models) == 1 else None,
        last_error=truncate(errors[-1], MOST_ERROR) if errors else None,
        flags=("missing_screenshots",) if images.missing else (),
        details=_describe(document, entries, last),
        load_image=images.load if images.encoded else None,
    )


def _find_history(files: RecordedFiles) -> str:
    """The name of the history. Raises `UnreadableTrajectory` for several: an agent may have written one of them."""
    names = [name for name in files.names if fnmatchcase(name, NAMES) and name.isprintable()]
    if len(names) > MOST_NAMES:
        raise _build_ambiguity(f"{len(names)} files may be the history", names)
    histories = [name for name in names if name == DEFAULT_NAME or HISTORY.has_keys(files.path, name)]
    if len(histories) > 1:
        raise _build_ambiguity(f"{len(histories)} histories", histories)
    return next(iter(histories), DEFAULT_NAME)


def _build_ambiguity(problem: str, names: Sequence[str]) -> UnreadableTrajectory:
    listed = list_first(names, MOST_LISTED, lambda name: preview(name, 80))
    return UnreadableTrajectory("history_ambiguous", f"{problem}: {listed}; keep only that of the run")


def _read_last_result(files: RecordedFiles, name: str, entries: Sequence[JsonFields]) -> JsonFields:
    """The last result of the last entry, in which the library stores the end and the verdict; an empty one if none.

    Raises `UnreadableTrajectory` if it is damaged, for it could have held a verdict.
    """
    nothing = JsonFields({}, "result", files.warnings)
    if not entries:
        return nothing
    results = entries[-1].raw.get("result")
    if not isinstance(results, list):
        raise _build_error(f"{preview(results, 40)} as result of its last entry", name, "a list")
    if not results:
        return nothing
    if not isinstance(results[-1], dict):
        raise _build_error(f"{preview(results[-1], 40)} as its last result", name, "an object")
    last = entries[-1].objects("result")[-1]
    last.check_finite("is_done", "judgement")
    if not isinstance(last.raw.get("is_done"), bool | None):
        raise _build_error(f"{preview(last.raw['is_done'], 40)} as is_done of its last result", name, "true or false")
    return last


def _classify(
    entries: Sequence[JsonFields], last: JsonFields, judgements: Sequence[Judgement], count: int
) -> TrajectoryOutcome:
    """A run ends with `done`, or without an answer. What the model or a page can write makes no run an aborted one."""
    if all(map(is_end_mark, entries)):  # an action leaves an entry, unless its step timed out (0.13: 180 seconds)
        message = "the history has no step: the browser did not start, or every step timed out"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("no_steps",), message)
    if last.raw.get("is_done") is True:
        return _classify_done(last, judgements)
    is_without_output = entries[-1].raw.get("model_output") is None
    if is_without_output and last.raw.get("error") == RATE_LIMIT_ERROR:
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("rate_limit",), "the model's provider refused further calls")
    message = f"the agent gave no answer in {pluralize(count, 'step')}"
    if is_end_mark(entries[-1]):
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("no_answer", "max_steps"), message)
    reason = "no_model_output" if is_without_output else "no_done"
    return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("no_answer", reason), message)


def _classify_done(last: JsonFields, judgements: Sequence[Judgement]) -> TrajectoryOutcome:
    """A run that the agent ended itself. What it reports of its success is no verdict."""
    notes = judgements[0].notes if judgements else {}
    conditions = {
        "empty_answer": not (last.text("extracted_content") or "").strip(),
        "self_reported_failure": last.flag("success") is False,
        "reached_captcha": notes.get("reached_captcha", False),
    }
    reasons = tuple(reason for reason, holds in conditions.items() if holds)
    if notes.get("impossible_task") and judgements[0].success is False:
        message = "the judge says that the task cannot be done"
        return TrajectoryOutcome(OutcomeClass.IMPOSSIBLE, ("impossible_task", *reasons), message)
    return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, "the agent answered")


def _read_judgements(name: str, last: JsonFields) -> Iterator[Judgement]:
    raw = last.raw.get("judgement")
    if raw is None:
        return
    if not isinstance(raw, dict):
        raise _build_error(f"{preview(raw, 40)} as judgement of its last result", name, "an object")
    verdict = raw.get("verdict")
    if not isinstance(verdict, bool):
        raise _build_error(f"{preview(verdict, 40)} as verdict of its judgement", name, "true or false")
    last.member("judgement").check_finite("failure_reason", *FLAGS)
    reason = raw.get("failure_reason")
    if not isinstance(reason, str | None):  # of a success, it denies that
        raise _build_error(f"{preview(reason, 40)} as failure_reason of its judgement", name, "a string")
    for flag in FLAGS:  # which versions before them did not store
        if not isinstance(raw.get(flag), bool | None):
            raise _build_error(f"{preview(raw[flag], 40)} as {flag} of its judgement", name, "true or false")
    failure, notes = (reason or "").strip(), {flag: raw.get(flag) is True for flag in FLAGS}
    judged = last.member("judgement")
    reasoning = [text for text in (failure, (judged.text("reasoning") or "").strip()) if text]
    yield Judgement(
        source=f"{name} judgement",
        judge=JUDGE,
        success=verdict,
        reasoning="\n".join(reasoning),
        notes=notes,
        contradictions=tuple(_list_contradictions(last, failure, notes)) if verdict else (),
    )


def _list_contradictions(last: JsonFields, failure: str, notes: Mapping[str, bool]) -> Iterator[str]:
    """What no success has: the judge is told to call an impossible task a failure, and to give a success no reason."""
    if notes["impossible_task"]:
        yield "verdict is true, but impossible_task is true"
    if not _NO_FAILURE.fullmatch(failure):
        yield f"verdict is true, but failure_reason is {preview(failure, 80)}"
    if last.raw.get("is_done") is not True:
        yield "verdict is true, but the agent is not done"


def _build_error(found: str, name: str, expected: str) -> UnreadableTrajectory:
    return UnreadableTrajectory("score_unreadable", f"{name} has {found}, expected {expected}; save the history again")


def _read_task(entries: Sequence[JsonFields]) -> str:
    """The task at the beginning of a message to the model, since 0.12. Elsewhere the model may have written it."""
    message = entries[0].text("state_message") if entries else None
    if message is None or not message.startswith(_TASK_BEGIN):
        return ""
    task, mark, _ = message.removeprefix(_TASK_BEGIN).partition(_TASK_END)
    return task.strip() if mark else ""


def _read_usage(document: JsonFields) -> Usage | None:
    """Tokens of all calls, which `save_to_file` leaves out and pydantic's own `model_dump_json` keeps."""
    usage = document.member("usage")
    prompt, completion = usage.count("total_prompt_tokens"), usage.count("total_completion_tokens")
    if prompt is None or completion is None:
        return None
    return Usage(prompt, completion, num_calls=usage.count("entry_count"))


def _list_last_errors(entries: Sequence[JsonFields]) -> list[str]:
    """The errors of the last entry that has any, without those of the mark that the steps were used up."""
    for entry in reversed(entries):
        errors = [text for result in entry.objects("result") if (text := result.text("error"))]
        if errors and not is_end_mark(entry):
            return errors
    return []


def _describe(document: JsonFields, entries: Sequence[JsonFields], last: JsonFields) -> dict[str, Any]:
    """Facts that other formats do not have; tokens of the input were estimated until 0.2."""
    counts = [entry.member("metadata").count("input_tokens") for entry in entries]
    facts = {
        "self_reported_success": last.flag("success") if last.raw.get("is_done") is True else None,
        "estimated_input_tokens": sum(filter(None, counts)) if any(counts) else None,
        "cost_usd": document.member("usage").number("total_cost"),
    }
    return {name: value for name, value in facts.items() if value is not None}
