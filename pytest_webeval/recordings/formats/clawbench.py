"""ClawBench's runs: `run-meta.json`, `judge.json`, and in `data/` what the browser did and which request was blocked.

PyPI `clawbench-eval` 0.11.0 (GitHub `reacher-z/ClawBench`). `runtime/runtime-server/server.py` writes `actions.jsonl`,
`requests.jsonl`, `screenshots/` and, as soon as a request fits the task, `interception.json`; without that,
`runner/run_support/results.py` writes why the run stopped. `runner/run.py` writes `run-meta.json` at the end. A run
passes if a request was intercepted and the judge says that it does what was asked. Version 0.1.0 has no judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.recordings.formats.clawbench_verdicts import (
    INTERCEPTION,
    META,
    RESTORE,
    Interception,
    read_flag,
    read_interception,
    read_judgements,
    shorten,
)
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles, join_texts
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, build_step, format_time
from pytest_webeval.safety.files import exists_no_follow

ACTIONS, MESSAGES, SCREENSHOTS = "data/actions.jsonl", "data/agent-messages.jsonl", "data/screenshots"
# What the scripts in `runtime/harnesses/` write if a part of theirs does not start. Of `INFRA_STOP_REASONS` in
# `results.py` one is missing: `run-webbrain.sh` writes `webbrain_failed` after an error of the agent as well.
HARNESS_FAILURES = (
    "chrome_cdp_timeout", "gateway_failed", "opencode_failed", "claude_code_failed", "codex_failed",
    "browser_use_failed", "hermes_failed", "pi_failed", "proxy_failed", "mock_api_failed", "bridge_failed",
    "chrome_auth_missing", "missing_harness", "browser_runtime_setup_failed",
)  # fmt: skip
STOPPED = ("time_limit_exceeded", "agent_idle")
ENDED = ("agent_exited", "webbrain_failed", "vnc_disconnected", "eval_matched")  # by the agent, or by a person
SUBMIT = "/api/task-submit"  # of the harness, where the agent sends the answer of a task that asks for one
_DETAILS = ("result_category", "failure_category", "time_limit_minutes", "test_case")
_ARGUMENTS = ("x", "y", "key", "value", "title", "scrollX", "scrollY")
_TARGET = ("tagName", "id", "textContent", "xpath")


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a run. Raises `UnreadableTrajectory`."""
    meta = files.read_json(META)
    meta.check_finite("judge", "judge_match", "pass", "failure_reason")
    meta.member("judge").check_finite("match", "raw")
    interception = read_interception(files)
    has_failed = bool(meta.text("failure_reason"))
    # A harness that fails after the interception writes that nothing was intercepted.
    is_stored = interception is not None and interception.is_intercepted
    is_intercepted = read_flag(meta, META) or (is_stored and has_failed)
    shots = files.list_images(SCREENSHOTS)
    facts = {name: meta.raw.get(name) for name in (*_DETAILS, "intercepted")}
    facts["stop_reason"] = interception and interception.stop_reason
    case = meta.text("test_case")
    if case and case not in files.path.absolute().name:
        files.warn_of_name(META, "test case", case)
    if interception is None and not is_intercepted and not has_failed:
        files.warnings.add(f"there is no {INTERCEPTION}, which says why the run stopped; {RESTORE}")
    return Trajectory(
        inputs=files.inputs,
        outcome=_classify(meta, interception, is_intercepted=is_intercepted),
        answer=_read_answer(files, interception),
        steps=tuple(_read_steps(files, {shot.number: shot for shot in shots})),
        has_steps=exists_no_follow(files.path / ACTIONS),
        screenshots=shots,
        judgements=tuple(read_judgements(files, meta, interception, is_intercepted=is_intercepted)),
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
        details={name: fact for name, fact in facts.items() if isinstance(fact, str | int | float) and fact != ""},
    )


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
        return TrajectoryOutcome(OutcomeClass.ABORTED, (stop,), shorten(text))
    failure = meta.text("failure_reason")
    if failure and stop not in (*STOPPED, *ENDED):
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("harness_failed",), shorten(failure))
    metrics = meta.member("run_metrics") if meta.text("failure_category") == "infra_failure" else None
    if metrics and all(metrics.number(name) == 0 for name in ("api_calls", "actions", "requests")):
        message = "the harness recorded no call of the model, no action and no request"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("nothing_recorded",), message)
    if stop in STOPPED:
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, (stop,), shorten(text))
    return TrajectoryOutcome(OutcomeClass.COMPLETED, (stop if stop in ENDED else "unknown_stop",), shorten(text))


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
            timestamp=None if stamp is None else format_time(stamp / 1000),
            after=None if stamp is None else shots.get(stamp),
        )


def _keep_plain(fields: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: fields[name] for name in names if isinstance(fields.get(name), str | int | float) and fields[name] != ""
    }


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
    return join_texts(message.get("content")).strip()


def _read_usage(usage: JsonFields) -> Usage | None:
    sent, completion = usage.count("input_tokens"), usage.count("output_tokens")
    if not usage.count("total_tokens") or sent is None or completion is None:
        return None
    prompt = sent + sum(usage.count(f"{name}_tokens") or 0 for name in ("cache_read", "cache_write"))
    return Usage(prompt, completion, usage.count("reasoning_tokens"), usage.count("api_calls"))
