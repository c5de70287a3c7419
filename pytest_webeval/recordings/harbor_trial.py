"""What Harbor itself says of a trial: how it ended, and which rewards the verifier gave.

PyPI `harbor` 0.24.0 (others compared): `models/trial/result.py`, `trial/trial.py`, `verifier/verifier.py`.
`result.json` is written at the end, outside of the container. The reward files are written inside of it, where the
agent may be able to write as well: they are compared with the result, and count only where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.outcome import TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement

RESULT = "result.json"
REWARD = "reward"
REWARD_JSON = "verifier/reward.json"  # read before reward.txt by 0.24.0, after it by 0.1.2 to 0.4.0
REWARD_TEXT = "verifier/reward.txt"
MOST_REWARD_CHARACTERS = 40
TIMEOUTS = ("AgentTimeoutError",)
# The agent was done when these were raised: nobody judged it.
VERIFIER_ERRORS = (
    "AddTestsDirError",
    "DownloadVerifierDirError",
    "RewardFileEmptyError",
    "RewardFileNotFoundError",
    "VerifierOutputParseError",
    "VerifierTimeoutError",
)
Rewards = Mapping[str, float]


def classify_trial(result: JsonFields | None, early_end: str | None) -> TrajectoryOutcome:
    """How the trial ended. An exception of the agent does not keep the verifier from judging what it did."""
    error = _exception(result)
    is_judged = result is not None and bool(_rewards_of(result))
    if error in TIMEOUTS or early_end in ("max_turns_reached", "context_overflow"):
        reason = "agent_timeout" if error in TIMEOUTS else str(early_end)
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, (reason,), "the agent was stopped at a limit")
    if early_end == "runtime_session_dead":
        return TrajectoryOutcome(OutcomeClass.ABORTED, (early_end,), "the environment of the agent died")
    if error is None or error in VERIFIER_ERRORS:
        return TrajectoryOutcome(OutcomeClass.COMPLETED, (), "the agent stopped by itself")
    if is_judged:
        return TrajectoryOutcome(OutcomeClass.COMPLETED, ("agent_error",), f"the agent raised {error}; it was judged")
    return TrajectoryOutcome(OutcomeClass.ABORTED, ("exception",), f"the trial raised {error}")


def read_judgements(files: RecordedFiles, result: JsonFields | None) -> list[Judgement]:
    """The verdict of the verifier; none where it did not run."""
    if result is None:
        name, rewards = _read_reward_file(files)
        if name is None:
            return []
        files.warnings.add(f"there is no {RESULT}: {name} alone says what the verifier gave")
        return [_judge(name, rewards)]
    rewards = _rewards_of(result)
    if rewards:
        return [_judge(f"{RESULT} verifier_result", rewards, tuple(_compare_files(files, result, rewards)))]
    error = _exception(result)
    if error in VERIFIER_ERRORS:
        return [_ungraded(f"{RESULT} exception_info", f"the verifier failed: {error}")]
    return [_ungraded(RESULT, "the verifier did not run")] if error is None else []


def read_duration(result: JsonFields | None) -> float | None:
    """Seconds that the agent needed, without setup and verifier; None where no clock was recorded."""
    if result is None:
        return None
    phases = [phase.member("agent_execution") for phase in (result, *result.objects("step_results"))]
    spans = [span for span in map(_seconds, phases) if span is not None]
    return sum(spans) if spans else None


def describe_trial(result: JsonFields | None) -> dict[str, Any]:
    """Facts of a trial that other formats do not have."""
    if result is None:
        return {}
    message = result.member("exception_info").text("exception_message")
    facts = {"rewards": dict(_rewards_of(result)), "exception": _exception(result), "exception_message": message}
    return {name: value for name, value in facts.items() if value}


def _judge(source: str, rewards: Rewards, contradictions: tuple[str, ...] = ()) -> Judgement:
    """A reward of 1 is a success. Harbor sets no range: outside of 0 to 1 nobody can say what a success is."""
    reward = rewards.get(REWARD)
    if reward is None:
        names = ", ".join(sorted(rewards)[:5]) or "nothing"
        return _ungraded(source, f"the verifier gave {names:.80}, and no number {REWARD!r}")
    if not 0 <= reward <= 1:
        return _ungraded(source, f"the reward is {reward:g}; only one from 0 to 1 says what a success is")
    reasoning = f"reward {reward:g}"
    return Judgement(
        source=source,
        judge="verifier",
        success=reward >= 1,
        score=reward,
        reasoning=reasoning,
        contradictions=contradictions,
    )


def _ungraded(source: str, why: str) -> Judgement:
    return Judgement(source=source, judge="verifier", ungraded=why)


def _exception(result: JsonFields | None) -> str | None:
    """The name of the exception, without its path."""
    if result is None or result.raw.get("exception_info") is None:
        return None
    return (result.member("exception_info").text("exception_type") or "an exception")[:80]


def _rewards_of(result: JsonFields) -> Rewards:
    return _numbers(result.member("verifier_result").member("rewards"))


def _numbers(fields: JsonFields) -> Rewards:
    return {name: value for name in fields.raw if (value := fields.number(name)) is not None}


def _compare_files(files: RecordedFiles, result: JsonFields, rewards: Rewards) -> Iterator[str]:
    """What the reward files say otherwise than the result; that of a step is compared with that of the same step."""
    yield from _compare(files, "", rewards)
    names = set(files.list_names("steps"))
    for step in result.objects("step_results"):
        if (name := step.text("step_name")) in names:
            yield from _compare(files, f"steps/{name}/", _rewards_of(step))


def _compare(files: RecordedFiles, folder: str, rewards: Rewards) -> Iterator[str]:
    """One of two files is enough: which of them was read depends on the version."""
    stored = {}
    for name in (REWARD_JSON, REWARD_TEXT):
        found = _parse_reward_file(files, folder + name)
        if found is not None:
            stored[folder + name] = found
    if stored and all(found.get(REWARD) != rewards.get(REWARD) for found in stored.values()):
        values = ", ".join(f"{name} says {_show(found)}" for name, found in stored.items())
        yield f"{RESULT} says {_show(rewards)}, but {values}"


def _show(rewards: Rewards) -> str:
    return f"{rewards[REWARD]:g}" if REWARD in rewards else "no reward"


def _read_reward_file(files: RecordedFiles) -> tuple[str | None, Rewards]:
    """The first reward file that there is, in the order of the newest version."""
    for name in (REWARD_JSON, REWARD_TEXT):
        rewards = _parse_reward_file(files, name)
        if rewards is not None:
            return name, rewards
    return None, {}


def _parse_reward_file(files: RecordedFiles, name: str) -> Rewards | None:
    """The rewards in a file; None where it is missing, and none where it holds no number."""
    if name.endswith(".json"):
        found = files.read_optional_json(name)
        return None if found is None else _numbers(found)
    text = files.read_text(name)
    if text is None:
        return None
    value = parse_reward(text)
    if value is None:
        files.warnings.add(f"{name} holds {text.strip()[:MOST_REWARD_CHARACTERS]!r}, expected a number")
    return {} if value is None else {REWARD: value}


def parse_reward(text: str) -> float | None:
    """The number that a reward file holds and nothing else; None for any other text, and for one without an end."""
    text = text.strip()
    if len(text) > MOST_REWARD_CHARACTERS or "_" in text or not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _seconds(phase: JsonFields) -> float | None:
    started, finished = phase.text("started_at"), phase.text("finished_at")
    if started is None or finished is None:
        return None
    try:
        seconds = (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError, OverflowError):  # no times, or one of them without a zone
        return None
    return seconds if seconds >= 0 else None
