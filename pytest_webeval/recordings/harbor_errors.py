"""Which trials Harbor counts: those whose reward is valid.

PyPI `harbor` 0.26.0, `models/trial/error_policy.py` and `result.py`. Its mean, pass@k and viewer leave out a trial if
the reward is invalid after an exception of the trial or of one of its steps. `result.json` has that in `reward_valid`
and in the `policy` of the exception. Versions before 0.26 stored neither: there the name of the exception decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.trajectory.rewards import build_damage_error
from pytest_webeval.safety.text import to_line

MOST_NAME = 80  # characters of a name
EXCEPTION = "exception_info"
_FLAG = "has_valid_reward"
# The agent was done when these were raised: nobody judged it.
VERIFIER_ERRORS = frozenset(
    {
        "AddTestsDirError",
        "DownloadVerifierDirError",
        "RewardFileEmptyError",
        "RewardFileNotFoundError",
        "VerifierOutputParseError",
        "VerifierTimeoutError",
    }
)
INVALID_REWARD_ERRORS = VERIFIER_ERRORS | {
    # the environment
    "AgentSetupTimeoutError",
    "EnvironmentStartTimeoutError",
    "GKEExecStreamClosedError",
    "GKEPodNotFoundError",
    "HealthcheckError",
    "MemoryLimitExceededError",
    "RuntimeRequestError",
    "SSHAccessError",
    "SandboxBuildFailedError",
    "SandboxLikelyOutOfMemoryError",
    # the provider of the model
    "APIConnectionError",
    "APIError",
    "APIResponseValidationError",
    "AgentAuthenticationError",
    "ApiConnectionClosedError",
    "ApiConnectionError",
    "ApiError",
    "ApiInternalServerError",
    "ApiOverloadedError",
    "ApiProviderResourceNotFoundError",
    "ApiRateLimitError",
    "ApiResponseStalledError",
    "ApiUsageLimitError",
    "AuthenticationError",
    "BadRequestError",
    "BudgetExceededError",
    "InternalServerError",
    "ModelNotFoundError",
    "NetworkConnectionError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServiceUnavailableError",
    "Timeout",
    "UnknownApiError",
    "UnprocessableEntityError",
    "UnsupportedModelParametersError",
    "UnsupportedParamsError",
    # Harbor itself
    "CancelledError",
    "DspyImportError",
    "MissingExtraError",
    "RegradeError",
    "ServiceOperationsUnsupportedError",
    "VercelScopeError",
}


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
            flag = _read_policy_flag(_read_member(fields, EXCEPTION))
            if stored and flag is False:
                raise build_damage_error(
                    f"{result.where} reward_valid", stored, f"false, as the policy of {name} has it"
                )
            invalid += [name] if flag is False or (flag is None and name in INVALID_REWARD_ERRORS) else []
    if stored or (stored is None and not invalid):
        return None
    return f"the trial raised {[*invalid, *names][0]}" if names else "reward_valid is false"


def describe_policy(result: JsonFields) -> dict[str, bool]:
    """What Harbor does after the exception of a trial, by the names that it stores: to try again, to grade."""
    policy = result.member(EXCEPTION).member("policy")
    flags = {name: policy.flag(name) for name in ("should_retry", "should_grade", _FLAG)}
    return {name: flag for name, flag in flags.items() if flag is not None}


def _read_policy_flag(info: JsonFields) -> bool | None:
    """Whether the stored policy of an exception lets the reward count; None where none is stored."""
    flags = (_read_flag(_read_member(info, key), _FLAG) for key in ("policy", "policy_override"))
    return next((flag for flag in flags if flag is not None), None)


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
