"""Which trials of Harbor count: by `reward_valid`, the stored policy, or else the name of the exception."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval import load_run
from pytest_webeval.recordings.formats.atif import read
from pytest_webeval.recordings.formats.harbor_trial import INVALID_REWARD_ERRORS
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory

SUCCESS = Path(__file__).parents[3] / "recorded/atif/shop-success__aB3dE5f"
# Of `models/trial/error_policy.py` in PyPI `harbor` 0.26.0: whether a reward counts after each exception.
COUNTED = [
    "AgentSafetyRefusalError",
    "AgentTimeoutError",
    "ContentPolicyViolationError",
    "ContextLengthExceededError",
    "ContextWindowExceededError",
    "NonZeroAgentExitCodeError",
    "OutputLengthExceededError",
    "OutputTokenExceededError",
]
NOT_COUNTED = [
    "APIConnectionError",
    "APIError",
    "APIResponseValidationError",
    "AddTestsDirError",
    "AgentAuthenticationError",
    "AgentSetupTimeoutError",
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
    "CancelledError",
    "DownloadVerifierDirError",
    "DspyImportError",
    "EnvironmentStartTimeoutError",
    "GKEExecStreamClosedError",
    "GKEPodNotFoundError",
    "HealthcheckError",
    "InternalServerError",
    "MemoryLimitExceededError",
    "MissingExtraError",
    "ModelNotFoundError",
    "NetworkConnectionError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RegradeError",
    "RewardFileEmptyError",
    "RewardFileNotFoundError",
    "RuntimeRequestError",
    "SSHAccessError",
    "SandboxBuildFailedError",
    "SandboxLikelyOutOfMemoryError",
    "ServiceOperationsUnsupportedError",
    "ServiceUnavailableError",
    "Timeout",
    "UnknownApiError",
    "UnprocessableEntityError",
    "UnsupportedModelParametersError",
    "UnsupportedParamsError",
    "VercelScopeError",
    "VerifierOutputParseError",
    "VerifierTimeoutError",
]
VALID, INVALID = {"has_valid_reward": True}, {"has_valid_reward": False}


def raised(name="ApiRateLimitError", **fields):
    return {"exception_type": name, "exception_message": "m"} | fields


@pytest.fixture
def trial(tmp_path):
    """A trial with changed members of its result and this reward, None for none."""

    def write(reward=1.0, **members):
        path = tmp_path / "shop__aB3dE5f"
        shutil.copytree(SUCCESS, path)
        rewards = None if reward is None else {"rewards": {"reward": reward}}
        result = json.loads((path / "result.json").read_text()) | {"verifier_result": rewards} | members
        (path / "result.json").write_text(json.dumps(result))
        (path / "verifier/reward.txt").unlink()
        return path

    return write


def load(path):
    return read(RecordedFiles(RunInputs(path))).judged()


def is_counted(trajectory):
    verdicts = [judgement.success for judgement in trajectory.judgements]
    return trajectory.outcome.is_scored and verdicts[:1] not in ([], [None])


def test_the_names_are_those_of_harbor():
    assert set(NOT_COUNTED) == INVALID_REWARD_ERRORS
    assert (len(NOT_COUNTED), INVALID_REWARD_ERRORS.isdisjoint(COUNTED)) == (50, True)


@pytest.mark.thinned
@pytest.mark.parametrize("place", ["trial", "step"])
@pytest.mark.parametrize("name", [*COUNTED, "WeirdError", *NOT_COUNTED])
def test_where_nothing_is_stored_the_name_of_an_exception_decides(trial, name, place):
    members = {"exception_info": raised(name)}
    if place == "step":
        members = {"step_results": [{"step_name": "a"}, {"step_name": "b", "exception_info": raised(name)}]}
    trajectory = load(trial(**members))
    assert is_counted(trajectory) is (name not in NOT_COUNTED)
    if name in NOT_COUNTED:
        assert (trajectory.outcome.kind, trajectory.outcome.reasons) == ("aborted", ("invalid_reward",))
        assert trajectory.judgements[0].ungraded == f"invalid reward: the trial raised {name}"


@pytest.mark.thinned
@pytest.mark.parametrize("stored", [{}, {"reward_valid": False}, {"reward_valid": True}])
@pytest.mark.parametrize("name", [None, *COUNTED, "WeirdError", *NOT_COUNTED])
def test_a_trial_without_a_reward_never_counts(trial, name, stored):
    assert not is_counted(load(trial(None, exception_info=name and raised(name), **stored)))


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"reward_valid": True}, None),
        ({"reward_valid": False}, "reward_valid is false"),
        ({"reward_valid": None, "exception_info": raised("WeirdError")}, None),
        ({"reward_valid": False, "exception_info": raised("WeirdError")}, "the trial raised WeirdError"),
        ({"reward_valid": True, "exception_info": raised()}, None),
        ({"exception_info": raised(policy=VALID)}, None),
        ({"exception_info": raised(policy_override=VALID)}, None),
        ({"exception_info": raised(policy=INVALID, policy_override=VALID)}, "the trial raised ApiRateLimitError"),
        (
            {"exception_info": raised(policy={"should_grade": True}, policy_override={})},
            "the trial raised ApiRateLimitError",
        ),
        ({"exception_info": raised("WeirdError", policy=INVALID)}, "the trial raised WeirdError"),
        ({"exception_info": raised("WeirdError", policy_override=INVALID)}, "the trial raised WeirdError"),
        (
            {"exception_info": raised("WeirdError"), "step_results": [{"exception_info": raised("APIError")}]},
            "the trial raised APIError",
        ),
        ({"exception_info": {"exception_message": "m"}}, None),
        ({"schema_version": 1}, None),
        ({"schema_version": None}, None),
    ],
)
@pytest.mark.parametrize("reward", [1.0, 0.0, 0.5])
def test_what_is_stored_counts_before_the_name(trial, reward, members, why):
    trajectory = load(trial(reward, **members))
    assert is_counted(trajectory) is (why is None)
    assert why is None or trajectory.outcome.message == why


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"reward_valid": "false"}, 'result.json reward_valid is "false", expected true or false'),
        ({"reward_valid": 0}, "result.json reward_valid is 0, expected true or false"),
        ({"exception_info": raised(policy=[1])}, "result.json exception_info policy is [1], expected an object"),
        (
            {"exception_info": raised(policy={"has_valid_reward": 1})},
            "result.json exception_info policy has_valid_reward is 1, expected true or false",
        ),
        (
            {"reward_valid": True, "exception_info": raised("WeirdError", policy=INVALID)},
            "result.json reward_valid is true, expected false, as the policy of WeirdError has it",
        ),
    ],
)
def test_what_is_damaged_is_an_error(trial, members, problem):
    with pytest.raises(UnreadableTrajectory) as caught:
        load(trial(**members))
    assert str(caught.value) == f"{problem}; run the task again, or fix the file"


@pytest.mark.parametrize("version", [2, 0, "1", True, 1.5])
def test_a_result_of_another_version_is_refused(trial, version):
    with pytest.raises(UnreadableTrajectory, match=r"result\.json is of the version .*, expected 1; convert it"):
        load(trial(schema_version=version))


def test_the_reason_and_the_policy_are_named(trial):
    policy = {"should_retry": True, "should_grade": False} | INVALID
    path = trial(exception_info=raised(policy=policy), reward_valid=False)
    run = load_run(path)
    assert run.exclusion == "invalid reward: the trial raised ApiRateLimitError"
    assert run.exclusion_kind == "invalid_reward"
    assert run.trajectory.details["policy"] == policy
