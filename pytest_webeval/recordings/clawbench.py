"""ClawBench's runs: `run-meta.json`, `judge.json`, and in `data/` what the browser did and which request was blocked.

PyPI `clawbench-eval` 0.11.0 (GitHub `reacher-z/ClawBench`). `runtime/runtime-server/server.py` writes `actions.jsonl`,
`requests.jsonl`, `screenshots/` and, as soon as a request fits the task, `interception.json`; without that,
`runner/run_support/results.py` writes why the run stopped. `runner/run.py` writes `run-meta.json` at the end. A run
passes if a request was intercepted and the judge says that it does what was asked. Version 0.1.0 has no judge.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from collections.abc import Mapping
from datetime import UTC
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec import structs

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.clawbench_judge import LENIENT
from pytest_webeval.recordings.clawbench_judge import STRICT
from pytest_webeval.recordings.clawbench_judge import read_judge
from pytest_webeval.recordings.network.events import REQUEST_LOG
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.outcome import TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.recorded import RecordedTrajectory
from pytest_webeval.recordings.trajectory.recorded import build_step
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import preview
from pytest_webeval.safety.text import shorten_repr

META = "run-meta.json"
INTERCEPTION, REQUESTS = "data/interception.json", f"data/{REQUEST_LOG}"
ACTIONS, MESSAGES, SCREENSHOTS = "data/actions.jsonl", "data/agent-messages.jsonl", "data/screenshots"
# What the scripts in `runtime/harnesses/` write if a part of theirs does not start. Of `INFRA_STOP_REASONS` in
# `results.py` one is missing: `run-webbrain.sh` writes `webbrain_failed` after an error of the agent as well.
HARNESS_FAILURES = (
    "chrome_cdp_timeout",
    "gateway_failed",
    "opencode_failed",
    "claude_code_failed",
    "codex_failed",
    "browser_use_failed",
    "hermes_failed",
    "pi_failed",
    "proxy_failed",
    "mock_api_failed",
    "bridge_failed",
    "chrome_auth_missing",
    "missing_harness",
    "browser_runtime_setup_failed",
)
STOPPED = ("time_limit_exceeded", "agent_idle")
ENDED = ("agent_exited", "webbrain_failed", "vnc_disconnected", "eval_matched")  # by the agent, or by a person
SUBMIT = "/api/task-submit"  # of the harness, where the agent sends the answer of a task that asks for one
MOST_REASON = 300  # characters
# What to do about files of the harness, about which no judge can do anything.
RESTORE = "copy it from the output of the harness, or record the run again"
COPY_AGAIN = "copy all files from the output of the harness again, or record the run again"
UNJUDGED = Judgement(source=META, judge="strict judge", ungraded="no judge decided whether the request is right")
_DETAILS = ("result_category", "failure_category", "time_limit_minutes", "test_case")
_ARGUMENTS = ("x", "y", "key", "value", "title", "scrollX", "scrollY")
_TARGET = ("tagName", "id", "textContent", "xpath")


class Interception(Struct, frozen=True):
    """What the harness says of the request that it waited for."""

    is_intercepted: bool
    stop_reason: str = ""
    description: str = ""
    request: Mapping[str, Any] | None = None


def read(files: RecordedFiles) -> RecordedTrajectory:
    """The trajectory of a run. Raises `UnreadableTrajectory`."""
    meta = files.read_json(META)
    meta.check_finite("judge", "judge_match", "pass", "failure_reason")
    meta.member("judge").check_finite("match")
    interception = _read_interception(files)
    is_intercepted = _read_flag(meta, META) or _has_failed_after(meta, interception)
    shots = files.list_images(SCREENSHOTS)
    _check_name(files, meta)
    if interception is None and not is_intercepted and not _has_failed(meta):
        files.warnings.add(f"there is no {INTERCEPTION}, which says why the run stopped; {RESTORE}")
    return RecordedTrajectory(
        inputs=files.inputs,
        outcome=_classify(meta, interception, is_intercepted=is_intercepted),
        answer=_read_answer(files, interception),
        steps=tuple(_read_steps(files, {shot.number: shot for shot in shots})),
        screenshots=shots,
        judgements=tuple(_read_judgements(files, meta, interception, is_intercepted=is_intercepted)),
        task_text=meta.text("instruction") or "",
        usage=_read_usage(meta.member("usage")),
        duration=meta.number("duration_seconds"),
        system=meta.text("harness"),
        model=meta.text("model"),
        benchmark="clawbench",
        group=meta.text("metaclass"),
        run_id=meta.text("timestamp"),
        last_error=meta.text("failure_reason"),
        flags=("suspected_api_failure",) if meta.text("failure_category") == "api_or_credit" else (),
        details=_list_details(meta, interception),
    )


def _read_flag(fields: JsonFields, name: str) -> bool:
    """Whether a request was intercepted, on which the verdict depends. Raises `UnreadableTrajectory`."""
    value = fields.raw.get("intercepted")
    if not isinstance(value, bool):
        problem = f"{name} has {shorten_repr(value)} as intercepted, expected true or false"
        raise UnreadableTrajectory("score_unreadable", f"{problem}; record the run again")
    return value


def _read_interception(files: RecordedFiles) -> Interception | None:
    """What is in the file; None where there is none. Raises `UnreadableTrajectory` for a damaged one."""
    if not os.path.lexists(files.path / INTERCEPTION):
        return None
    fields = files.read_json(INTERCEPTION)
    request = fields.member("request").raw
    texts = (fields.text("stop_reason") or "", fields.text("stop_description") or "")
    return Interception(_read_flag(fields, INTERCEPTION), *texts, request or None)


def _has_failed_after(meta: JsonFields, interception: Interception | None) -> bool:
    """Whether the harness failed after the interception: `run.py` then writes that nothing was intercepted."""
    is_stored = interception is not None and interception.is_intercepted
    return is_stored and _has_failed(meta)


def _has_failed(meta: JsonFields) -> bool:
    return bool(meta.text("failure_reason"))


def _classify(meta: JsonFields, interception: Interception | None, *, is_intercepted: bool) -> TrajectoryOutcome:
    """How the run ended, by the harness alone.

    Its `failure_category` is not enough: `api_or_credit` is one if some log or reply has words such as `forbidden` in
    it, and a site can say that too. `infra_failure` counts if nothing at all was done, and a `failure_reason` if the
    run has no ordinary end: `results.py` fails on a line of `actions.jsonl` that a page wrote.
    """
    if is_intercepted:
        return TrajectoryOutcome(OutcomeClass.COMPLETED, (), "the harness intercepted the request that it waited for")
    stop = interception.stop_reason if interception else ""
    text = (interception.description if interception else "") or f"the run stopped: {stop or 'no reason is recorded'}"
    if stop in HARNESS_FAILURES:
        return TrajectoryOutcome(OutcomeClass.ABORTED, (stop,), _shorten(text))
    failure = meta.text("failure_reason")
    if failure and stop not in (*STOPPED, *ENDED):
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("harness_failed",), _shorten(failure))
    if meta.text("failure_category") == "infra_failure" and _is_idle(meta.member("run_metrics")):
        message = "the harness recorded no call of the model, no action and no request"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("nothing_recorded",), message)
    if stop in STOPPED:
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, (stop,), _shorten(text))
    return TrajectoryOutcome(OutcomeClass.COMPLETED, (stop if stop in ENDED else "unknown_stop",), _shorten(text))


def _is_idle(metrics: JsonFields) -> bool:
    return all(metrics.number(name) == 0 for name in ("api_calls", "actions", "requests"))


def _shorten(text: str) -> str:
    return " ".join(text[:MOST_REASON].split())


def _read_judgements(
    files: RecordedFiles, meta: JsonFields, interception: Interception | None, *, is_intercepted: bool
) -> Iterator[Judgement]:
    """The verdicts, of which the first decides; each is a contradiction if the files of the harness do not agree."""
    judged = list(_read_judges(files, meta))
    problems = tuple(_list_contradictions(files, meta, interception, is_intercepted=is_intercepted))
    if not is_intercepted:
        judges = tuple(f"{each.source} judges a request, but none was intercepted; {COPY_AGAIN}" for each in judged)
        yield _build_interceptor_verdict(interception, (*problems, *judges))
        return
    for judgement in judged or [UNJUDGED]:
        yield _add_contradictions(judgement, *problems)


def _build_interceptor_verdict(interception: Interception | None, contradictions: tuple[str, ...]) -> Judgement:
    """A failure, whichever judge is chosen: none is asked about a run without an intercepted request."""
    reason = interception.description if interception else "no request was intercepted"
    return Judgement(
        source=META,
        judge="interceptor",
        success=False,
        reasoning=_shorten(reason),
        contradictions=contradictions,
        replaces=(STRICT, LENIENT),
    )


def _add_contradictions(judgement: Judgement, *problems: str) -> Judgement:
    """The judgement, which counts as one that was made if there are problems, so that they are an error."""
    contradictions = (*judgement.contradictions, *problems)
    return structs.replace(
        judgement, contradictions=contradictions, ungraded=None if contradictions else judgement.ungraded
    )


def _read_judges(files: RecordedFiles, meta: JsonFields) -> Iterator[Judgement]:
    """The verdict of the run, from its file or the copy of it, and a later one. Raises `UnreadableTrajectory`."""
    if os.path.lexists(files.path / STRICT):
        fields = files.read_verdict(STRICT)
        yield _compare_copy(read_judge(fields, STRICT, is_lenient=False), fields, meta)
    elif meta.raw.get("judge") is not None:
        yield read_judge(meta.member("judge"), f"{META} judge", is_lenient=False)
    elif meta.raw.get("judge_match") is not None:
        yield _build_lost_verdict(meta.raw["judge_match"])
    if os.path.lexists(files.path / LENIENT):
        yield read_judge(files.read_verdict(LENIENT), LENIENT, is_lenient=True)


def _build_lost_verdict(match: Any) -> Judgement:
    problem = f"{META} has {shorten_repr(match)} as judge_match, but the reply of the judge is missing"
    success = match if isinstance(match, bool) else None
    contradiction = f"{problem}: there is no {STRICT}; {RESTORE}"
    return Judgement(source=META, judge="strict judge", success=success, contradictions=(contradiction,))


def _compare_copy(judgement: Judgement, fields: JsonFields, meta: JsonFields) -> Judgement:
    """The judgement of a run, which `run-meta.json` repeats unless the run was judged again since."""
    if "rubric" in fields or "judge_match" not in meta or meta.raw["judge_match"] is judgement.success:
        return judgement
    stored = shorten_repr(meta.raw["judge_match"])
    problem = f"{META} has {stored} as judge_match, but {STRICT} has {judgement.success}"
    return _add_contradictions(judgement, problem)


def _list_contradictions(
    files: RecordedFiles, meta: JsonFields, interception: Interception | None, *, is_intercepted: bool
) -> Iterator[str]:
    """Where the files of the harness do not agree. Raises `UnreadableTrajectory` if one of them is damaged."""
    if interception is None:
        if is_intercepted:
            problem = f"{META} says that a request was intercepted, but there is no {INTERCEPTION}, which holds it"
            yield f"{problem}; {RESTORE}"
    elif interception.is_intercepted is not is_intercepted:
        problem = f"intercepted is {is_intercepted} in {META}, but {interception.is_intercepted} in {INTERCEPTION}"
        yield f"{problem}; {COPY_AGAIN}"
    elif is_intercepted:
        yield from _check_request(files, interception.request)
    if meta.raw.get("pass") not in (None, _derive_pass(meta, is_intercepted=is_intercepted)):
        problem = f"{META} has {shorten_repr(meta.raw.get('pass'))} as pass, which its judge_match does not give"
        yield f"{problem}; {COPY_AGAIN}"


def _derive_pass(meta: JsonFields, *, is_intercepted: bool) -> bool:
    """`pass` by the rule of `run.py`."""
    return is_intercepted and ("judge_match" not in meta or meta.raw["judge_match"] is True)


def _check_request(files: RecordedFiles, request: Mapping[str, Any] | None) -> Iterator[str]:
    """Whether the log has the request, which is written before it is blocked. Raises `UnreadableTrajectory`."""
    if request is None:
        yield f"{INTERCEPTION} says that a request was intercepted, but has none; {COPY_AGAIN}"
        return
    if not os.path.lexists(files.path / REQUESTS):
        yield f"there is no {REQUESTS}, which has each request that was intercepted; {RESTORE}"
        return
    try:
        events = load_trace(files.inputs, REQUESTS).events
    except RecordingError as error:
        raise UnreadableTrajectory("file_unreadable", str(error)) from error
    blocked = (request.get("method"), request.get("url"))
    for event in events:
        try:
            if (event.method, event.url) == blocked:
                return
        except EvaluationError:
            continue
    name = preview(f"{blocked[0]} {blocked[1]}", 200)
    yield f"{INTERCEPTION} has the request {name}, which is not in {REQUESTS}; {COPY_AGAIN}"


def _read_steps(files: RecordedFiles, shots: Mapping[int, Screenshot]) -> Iterator[Step]:
    """A step for each event that the harness saw in the page; a screenshot has the event's time for a name."""
    for index, line in enumerate(files.read_lines(ACTIONS), 1):
        stamp = line.count("timestamp")
        target = line.raw.get("target")
        arguments = _keep_plain(line.raw, _ARGUMENTS) | _keep_plain(target if isinstance(target, dict) else {}, _TARGET)
        yield build_step(
            index,
            line.text("type") or "unknown",
            arguments,
            url=line.text("url"),
            timestamp=None if stamp is None else _format_time(stamp),
            after=None if stamp is None else shots.get(stamp),
        )


def _keep_plain(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: fields[name] for name in names if isinstance(fields.get(name), str | int | float) and fields[name] != ""
    }


def _format_time(milliseconds: int) -> str | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _read_answer(files: RecordedFiles, interception: Interception | None) -> str | None:
    """The text that was sent to the harness; otherwise the last one of the model in the transcript, if it is there."""
    request = (interception.request if interception else None) or {}
    body, url = request.get("body"), request.get("url")
    if isinstance(body, dict) and isinstance(url, str) and url.endswith(SUBMIT):
        answer = body.get("answer")
        return answer if isinstance(answer, str) else None
    texts = [text for line in files.read_lines(MESSAGES) if (text := _read_reply(line.raw))]
    return texts[-1] if texts else None


def _read_reply(line: Mapping[str, Any]) -> str:
    """The text of a message of the model, in the transcripts of harnesses that have a role and a content."""
    inner = line.get("message")
    message = inner if isinstance(inner, dict) else line
    if message.get("role") != "assistant":
        return ""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _read_usage(usage: JsonFields) -> Usage | None:
    """Tokens of all calls; None where the harness of the agent did not count them."""
    if not usage.count("total_tokens"):
        return None
    prompt = sum(usage.count(f"{name}_tokens") or 0 for name in ("input", "cache_read", "cache_write"))
    completion = usage.count("output_tokens") or 0
    return Usage(prompt, completion, usage.count("reasoning_tokens"), usage.count("api_calls"))


def _list_details(meta: JsonFields, interception: Interception | None) -> dict[str, Any]:
    facts = {name: meta.raw.get(name) for name in _DETAILS}
    facts |= {"intercepted": meta.raw.get("intercepted"), "stop_reason": interception and interception.stop_reason}
    return {name: value for name, value in facts.items() if isinstance(value, str | int | float) and value != ""}


def _check_name(files: RecordedFiles, meta: JsonFields) -> None:
    """Warn of a test case that is not that of the path."""
    case = meta.text("test_case")
    if case and case not in files.path.absolute().name:
        quoted = preview(case, 80, is_ascii=True)
        files.warnings.add(f"{META} is of the test case {quoted}; the directory's name is used as the task id")
