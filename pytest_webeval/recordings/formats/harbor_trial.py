"""What Harbor itself says of a trial: how it ended, which rewards the verifier gave, and whether Harbor counts it.

PyPI `harbor` 0.26.0 (others compared): `models/trial/result.py`, `models/trial/error_policy.py`, `trial/trial.py`,
`verifier/verifier.py`. `result.json` is written at the end, outside of the container. The reward files are written
inside of it, where the agent may be able to write as well: they are compared with the result, and count only where
there is none.

Its mean, pass@k and viewer leave out a trial if the reward is invalid after an exception of the trial or of one of its
steps. `result.json` has that in `reward_valid` and in the `policy` of the exception. Versions before 0.26 stored
neither: there the name of the exception decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import (
    INVALID_REWARD,
    RANGE,
    Judgement,
    OutcomeClass,
    TrajectoryOutcome,
    build_damage_error,
    check_reward,
    judge_reward,
)
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import preview, to_line

RESULT = "result.json"
LOG = "trial.log"
JUDGE = "verifier"
REWARD = "reward"
REWARD_JSON = "verifier/reward.json"  # read before reward.txt by 0.24.0, after it by 0.1.2 to 0.4.0
REWARD_TEXT = "verifier/reward.txt"
MOST_REWARD_CHARACTERS = 40
MOST_REWARDS = 50  # of a result, in its facts
MOST_ERROR = 300  # characters of the message of an exception
VERSION = 1  # of a result, which those before 0.26 do not name
LIMITS = ("max_turns_reached", "context_overflow")
TIMEOUT = "agent_timeout"
AT_LIMIT = "the agent was stopped at a limit"
SESSION_DEAD = "runtime_session_dead"
TIMEOUTS = ("AgentTimeoutError",)  # the verifier runs after it
NO_FILE = "RewardFileNotFoundError"
Rewards = Mapping[str, float]


def read_result(files: RecordedFiles) -> JsonFields | None:
    """What Harbor stored of the trial; None where the trajectory alone was kept.

    Raises `UnreadableTrajectory` for a damaged result or one of another version, and for a trial without one: Harbor
    writes `trial.log` on the host, so the trial has not ended, or its result was lost. A reward file does not stand in
    for it.
    """
    if RESULT not in files.names and LOG not in files.names:
        return None
    result = files.read_json(RESULT)
    if not any(key in result for key in ("trial_name", "verifier_result", EXCEPTION, "step_results")):
        raise build_damage_error(RESULT, result.raw, "the result of a trial")
    result.check_finite(EXCEPTION, "reward_valid", "schema_version")
    version = result.raw.get("schema_version")
    if version is not None and (isinstance(version, bool) or version != VERSION):
        message = f"{RESULT} is of the version {preview(version, 40)}, expected {VERSION}; convert it"
        raise UnreadableTrajectory("version_unknown", message)
    return result


def classify_trial(result: JsonFields | None, early_end: str | None) -> TrajectoryOutcome:
    """How the trial ended. An exception of the agent does not keep the verifier from judging what it did.

    `early_end` is of the trajectory, which the agent can write: it never makes a run one of a failed environment.
    """
    error, rewards = (None, {}) if result is None else (name_exception(result), _rewards_of(result))
    why, is_rewarded = None if result is None else find_invalid_reward(result), REWARD in rewards
    if why is not None and (is_rewarded or error not in (None, *VERIFIER_ERRORS, *TIMEOUTS)):
        return TrajectoryOutcome(OutcomeClass.ABORTED, (INVALID_REWARD,), why)
    limit = TIMEOUT if error in TIMEOUTS else early_end if early_end in LIMITS else None
    # Harbor counts no trial without a reward; the agent's own file does not let a run go uncounted.
    if limit is not None and (is_rewarded or (limit != TIMEOUT and why is None)):
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, (limit,), AT_LIMIT)
    reasons = (early_end,) if early_end == SESSION_DEAD else ()
    if error is None or error in (*VERIFIER_ERRORS, *TIMEOUTS):
        message = "the trajectory says that the session was lost" if reasons else "the agent stopped by itself"
        return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, message if limit is None else AT_LIMIT)
    if rewards:
        reasons = ("agent_error", *reasons)
        return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, f"the agent raised {error}; it was judged")
    return TrajectoryOutcome(OutcomeClass.ABORTED, ("exception",), f"the trial raised {error}")


def read_judgements(files: RecordedFiles, result: JsonFields | None, outcome: TrajectoryOutcome) -> list[Judgement]:
    """The verdict of the verifier; none where it did not run. Raises `UnreadableTrajectory` for a damaged one."""
    if result is None:
        # The first file counts, in the order of the newest version. A damaged one does not give way.
        stored = ((name, _parse_reward_file(files, name)) for name in (REWARD_JSON, REWARD_TEXT))
        name, found = next(((name, rewards) for name, rewards in stored if rewards is not None), ("", None))
        if found is None:
            return []
        files.warnings.add(f"there is no {RESULT}: {name} alone says what the verifier gave")
        return [_judge(name, found, outcome)]
    if INVALID_REWARD in outcome.reasons:
        return [_ungraded(RESULT, f"invalid reward: {outcome.message}")]
    rewards, error = _rewards_of(result), name_exception(result)
    is_explained = not rewards and error not in (None, NO_FILE, *TIMEOUTS)  # a verifier that failed may leave files
    differences = () if is_explained else tuple(_compare_files(files, result, rewards))
    if rewards or differences:
        return [_judge(f"{RESULT} verifier_result", rewards, outcome, differences)]
    if error in VERIFIER_ERRORS:
        return [_ungraded(f"{RESULT} {EXCEPTION}", f"the verifier failed: {error}")]
    return [_ungraded(RESULT, "the verifier did not run")] if error in (None, *TIMEOUTS) else []


def read_duration(result: JsonFields | None) -> float | None:
    """Seconds that the agent needed, without setup and verifier; None where no clock was recorded."""
    if result is None:
        return None
    phases = [phase.member("agent_execution") for phase in (result, *result.objects("step_results"))]
    spans = [span for span in map(_seconds, phases) if span is not None]
    return sum(spans) if spans else None


def read_error(result: JsonFields | None) -> str | None:
    """What the exception of a trial says, on one line."""
    message = result.member(EXCEPTION).text("exception_message") if result else None
    return to_line(message or "", MOST_ERROR) or None


def describe_trial(result: JsonFields | None) -> dict[str, Any]:
    """Facts of a trial that other formats do not have."""
    if result is None:
        return {}
    rewards = {to_line(name, MOST_NAME): value for name, value in islice(_rewards_of(result).items(), MOST_REWARDS)}
    policy = result.member(EXCEPTION).member("policy")
    flags = {name: policy.flag(name) for name in ("should_retry", "should_grade", _FLAG)}
    stored = {name: flag for name, flag in flags.items() if flag is not None}
    facts = {"rewards": rewards, "exception": name_exception(result), "policy": stored}
    return {name: value for name, value in facts.items() if value}


def _judge(
    source: str, rewards: Rewards, outcome: TrajectoryOutcome, contradictions: tuple[str, ...] = ()
) -> Judgement:
    """The verdict by the reward that is named so; others are notes of the verifier."""
    reward = rewards.get(REWARD)
    if reward is None and contradictions:
        return Judgement(source=source, judge=JUDGE, contradictions=contradictions)
    if reward is None:
        names = ", ".join(sorted(rewards)[:5]) or "nothing"
        return _ungraded(source, f"the verifier gave {to_line(names, MOST_NAME)}, and no number {REWARD!r}")
    return judge_reward(source, JUDGE, reward, contradictions, outcome)


def _ungraded(source: str, why: str) -> Judgement:
    return Judgement(source=source, judge=JUDGE, ungraded=why)


def _rewards_of(result: JsonFields) -> Rewards:
    """The rewards in a result or in that of a step; none where the verifier gave none."""
    result.check_finite("verifier_result")
    result.member("verifier_result").check_finite("rewards")
    members: Mapping[str, Any] = result.raw
    for key in ("verifier_result", "rewards"):
        value = members.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise build_damage_error(f"{result.where} {key}", value, "an object")
        members = value
    return _check_rewards(JsonFields(members, f"{result.where} rewards", result.warnings))


def _check_rewards(fields: JsonFields) -> Rewards:
    """The numbers among rewards. Raises `UnreadableTrajectory` if the one that decides is not from 0 to 1."""
    if REWARD in fields:
        check_reward(fields.raw[REWARD], f"{fields.where} {REWARD}")
    return {name: value for name in fields.raw if (value := fields.number(name)) is not None}


def _compare_files(files: RecordedFiles, result: JsonFields, rewards: Rewards) -> Iterator[str]:
    yield from _compare(files, "", rewards)
    names = set(files.list_names("steps"))
    for step in result.objects("step_results"):
        step_rewards = _rewards_of(step)
        has_failed = not step_rewards and name_exception(step) in VERIFIER_ERRORS
        if (name := step.text("step_name")) in names and not has_failed:
            yield from _compare(files, f"steps/{name}/", step_rewards)


def _compare(files: RecordedFiles, folder: str, rewards: Rewards) -> Iterator[str]:
    """One of two files is enough: which of them was read depends on the version. A damaged one agrees with nothing."""
    stored = {}
    for name in (REWARD_JSON, REWARD_TEXT):
        try:
            content = _parse_reward_file(files, folder + name)
        except UnreadableTrajectory as error:
            files.warnings.add(str(error))
            content = {REWARD: math.nan}  # equal to no number
        if content is not None:
            stored[folder + name] = content
    if stored and all(content.get(REWARD) != rewards.get(REWARD) for content in stored.values()):
        values = ", ".join(f"{name} says {_format_reward(content)}" for name, content in stored.items())
        yield f"{RESULT} says {_format_reward(rewards)}, but {values}"


def _format_reward(rewards: Rewards) -> str:
    return f"{rewards[REWARD]:g}" if math.isfinite(rewards.get(REWARD, math.nan)) else "no reward"


def _parse_reward_file(files: RecordedFiles, name: str) -> Rewards | None:
    """The rewards in a file, None where there is none. Raises `UnreadableTrajectory` for a damaged one, or a link."""
    if name.endswith(".json"):
        fields = files.find_json(name)
        return None if fields is None else _check_rewards(fields)
    text = files.find_text(name)
    if text is None:
        return None
    value = parse_reward(text)
    if value is None:
        raise build_damage_error(name, text.strip()[:MOST_REWARD_CHARACTERS], RANGE)
    return {REWARD: check_reward(value, name)}


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


MOST_NAME = 80  # characters of a name
EXCEPTION = "exception_info"
_FLAG = "has_valid_reward"
# The agent was done when these were raised: nobody judged it.
VERIFIER_ERRORS = frozenset({
    "AddTestsDirError", "DownloadVerifierDirError", "RewardFileEmptyError", "RewardFileNotFoundError",
    "VerifierOutputParseError", "VerifierTimeoutError",
})  # fmt: skip
INVALID_REWARD_ERRORS = VERIFIER_ERRORS | {
    # the environment
    "AgentSetupTimeoutError", "EnvironmentStartTimeoutError", "GKEExecStreamClosedError", "GKEPodNotFoundError",
    "HealthcheckError", "MemoryLimitExceededError", "RuntimeRequestError", "SSHAccessError",
    "SandboxBuildFailedError", "SandboxLikelyOutOfMemoryError",
    # the provider of the model
    "APIConnectionError", "APIError", "APIResponseValidationError", "AgentAuthenticationError",
    "ApiConnectionClosedError", "ApiConnectionError", "ApiError", "ApiInternalServerError", "ApiOverloadedError",
    "ApiProviderResourceNotFoundError", "ApiRateLimitError", "ApiResponseStalledError", "ApiUsageLimitError",
    "AuthenticationError", "BadRequestError", "BudgetExceededError", "InternalServerError", "ModelNotFoundError",
    "NetworkConnectionError", "NotFoundError", "PermissionDeniedError", "RateLimitError", "ServiceUnavailableError",
    "Timeout", "UnknownApiError", "UnprocessableEntityError", "UnsupportedModelParametersError",
    "UnsupportedParamsError",
    # Harbor itself
    "CancelledError", "DspyImportError", "MissingExtraError", "RegradeError", "ServiceOperationsUnsupportedError",
    "VercelScopeError",
}  # fmt: skip


def name_exception(fields: JsonFields) -> str | None:
    """The exception of a trial or step, without its path. Raises `UnreadableTrajectory` for what is no exception."""
    if fields.raw.get(EXCEPTION) is None:
        return None
    info = _read_member(fields, EXCEPTION)
    return to_line(info.text("exception_type") or "", MOST_NAME) or "an exception"


def find_invalid_reward(result: JsonFields) -> str | None:
    """Why the reward of a trial does not count; None where it counts. Raises `UnreadableTrajectory` if that is damaged.

    `reward_valid` decides. It is damaged if it is true and the policy of an exception says otherwise.
    """
    stored = _read_flag(result, "reward_valid")
    names, invalid = [], []
    for fields in (result, *result.objects("step_results")):
        if (name := name_exception(fields)) is not None:
            names.append(name)
            info = _read_member(fields, EXCEPTION)
            flags = (_read_flag(_read_member(info, key), _FLAG) for key in ("policy", "policy_override"))
            flag = next((each for each in flags if each is not None), None)
            if stored and flag is False:
                raise build_damage_error(
                    f"{result.where} reward_valid", stored, f"false, as the policy of {name} has it"
                )
            invalid += [name] if flag is False or (flag is None and name in INVALID_REWARD_ERRORS) else []
    if stored or (stored is None and not invalid):
        return None
    return f"the trial raised {[*invalid, *names][0]}" if names else "reward_valid is false"


def _read_member(fields: JsonFields, key: str) -> JsonFields:
    value = fields.raw.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise build_damage_error(f"{fields.where} {key}", value, "an object")
    return JsonFields(value or {}, f"{fields.where} {key}", fields.warnings)


def _read_flag(fields: JsonFields, key: str) -> bool | None:
    value: Any = fields.raw.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise build_damage_error(f"{fields.where} {key}", value, "true or false")
