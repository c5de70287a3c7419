"""What a result says that the summary needs, as plain JSON: digests, a trajectory, a judge, a grade, a claim.

Hooks and evaluators of users may have written anything into a result, so all of it is validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.results import Status, TaskResult
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import get_member
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    RUBRIC_EVALUATOR,
    STATUSES,
)
from pytest_webeval.values.string import find_equal

_DIGEST_LENGTH = 16  # hexadecimal digits: enough to see a change, and short enough for a summary of many runs
JUDGE_FILES = ("scores/", "rubric.json")


def to_text(value: object) -> str | None:
    """The text; None for an empty one, and for all else that a stored result may hold."""
    return value if isinstance(value, str) and value else None


def format_digests(webeval: Mapping[str, Any]) -> str | None:
    """Digests of recording, judge files and task, of what a result says under `webeval`: `recording=0123 task=4567`.

    One text takes less memory than an object, of which a session has one for each run.
    """
    inputs = webeval.get("inputs")
    files = sorted(inputs.items()) if isinstance(inputs, Mapping) else []
    external = webeval.get("external_verdicts")
    rows = external if isinstance(external, list) else []
    judged = [(str(row.get("file")), row.get("checksum")) for row in rows if isinstance(row, Mapping)]
    checksum = webeval.get("task_checksum")
    digests = {
        "recording": _digest(file for file in files if not file[0].startswith(JUDGE_FILES)),
        "judge": _digest([*(file for file in files if file[0].startswith(JUDGE_FILES)), *judged]),
        "task": checksum[:_DIGEST_LENGTH] if isinstance(checksum, str) else None,
    }
    return " ".join(f"{name}={digest}" for name, digest in digests.items() if digest) or None


def parse_digests(text: str | None) -> dict[str, str]:
    """The digests in such a text by name."""
    parts = (part.partition("=") for part in (text or "").split())
    return {name: digest for name, _, digest in parts}


def _digest(files: Iterable[tuple[str, Any]]) -> str | None:
    text = "\n".join(f"{checksum} {name}" for name, checksum in files)
    return sha256(text.encode("utf-8", "backslashreplace"))[:_DIGEST_LENGTH] if text else None


class ToolFailure(Struct):
    """A step that the agent could not take."""

    code: str


class StoredJudgement(Struct):
    """The verdict fields that the analysis reads."""

    status: str | None = None
    criterion: str | None = None
    flags: list[str] = field(default_factory=list)
    process_score: float | None = None
    process: bool | None = None
    outcome: bool | None = None
    violation: bool | None = None
    degraded_steps: list[str] = field(default_factory=list)
    generation: str | None = None
    failure: dict[str, Any] | None = None
    tool_failures: list[ToolFailure] = field(default_factory=list)
    reason: str | None = None


def build_trajectory_facts(result: TaskResult) -> dict[str, Any] | None:
    """The facts of a result that the analysis needs, as plain JSON; None where the run is not a trajectory."""
    facts: dict[str, Any] | None = result.webeval.get("trajectory")
    if facts is None:
        return None
    try:
        verdict = msgspec.convert(next(_list_judgements(result), None) or {}, StoredJudgement)
    except ValueError:
        verdict = StoredJudgement()
    return facts | {"verdict": msgspec.to_builtins(verdict)}


def _list_judgements(result: TaskResult) -> Iterator[Any]:
    """What each rubric evaluator of a result found."""
    return (each.actual for each in result.evaluators_results if each.evaluator_name == RUBRIC_EVALUATOR)


_IDENTITY = ("model", "text_model", "method", "version", "votes", "threshold", "criterion")


class JudgeFacts(Struct, frozen=True):
    """What a result says of its judge. `failure` says why there is no verdict: see `JudgeFailed`."""

    model: str
    text_model: str | None
    method: str
    version: str
    votes: int
    threshold: str
    criterion: str | None = None
    calls: int = 0
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    cost_usd: float | None = None
    degraded: dict[str, str] = field(default_factory=dict)
    agreement: float | None = None
    failure: str | None = None
    success: bool | None = None
    replied_by: list[str] = field(default_factory=list)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells this judge from others."""
        return {name: getattr(self, name) for name in _IDENTITY}


class ProposalFacts(Struct, frozen=True):
    """What a result says of the replies behind a proposal."""

    calls: int
    usage: dict[str, dict[str, int]]
    cost_usd: float | None


def list_proposals(result: TaskResult) -> list[dict[str, Any]]:
    """The facts of all proposals of a judge about requests in a result."""
    rows = result.webeval.get("proposals")
    try:
        facts = [msgspec.convert(row["judge"], ProposalFacts) for row in rows or ()]
    except (KeyError, TypeError, ValueError):
        return []
    return [msgspec.to_builtins(each) for each in facts]


def find_judge(result: TaskResult) -> dict[str, Any] | None:
    """What a result says of the judge that was asked in its session; None if none was."""
    candidates = [get_member(value, "judge") for value in _list_judgements(result)]
    raw = next((value for value in (*candidates, result.webeval.get("judge")) if value is not None), None)
    try:
        return None if raw is None else msgspec.to_builtins(msgspec.convert(raw, JudgeFacts))
    except ValueError:
        return None


_BUILT_IN = frozenset({NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR})


def find_grade(result: TaskResult) -> dict[str, Any] | None:
    """The mean score of a run that an evaluator of a user checked, as plain JSON; None for others, and for an error.

    `partial` names the evaluators that gave a partial score, `evaluators` also those that may do so in other runs.
    """
    partial = {row.evaluator_name for row in result.evaluators_results if row.is_partial}
    evaluators = partial | {row.evaluator_name for row in result.evaluators_results} - _BUILT_IN
    if not evaluators or result.mean_score is None:
        return None
    return {"score": result.mean_score, "evaluators": sorted(evaluators), "partial": sorted(partial)}


SUCCESS, FAILURE, NO_ANSWER, INVALID = "SUCCESS", "FAILURE", "no answer", "invalid"


class Claim(StrEnum):
    """How the report of an agent compares with the verdict."""

    HONEST = "honest"
    OVER = "over_claiming"  # it reports success, the verdict is a failure
    UNDER = "under_claiming"  # it reports no success, and everything that it did is as expected


def find_reported(result: TaskResult) -> str | None:
    """How the agent reports that the task went; None if it does not: a text alone claims nothing.

    For responses it is one of `STATUSES`, read as the evaluator reads it, or `invalid`; for trajectories `SUCCESS`,
    `FAILURE` or `no answer`.
    """
    for evaluated in result.evaluators_results:
        if evaluated.evaluator_name == RESPONSE_EVALUATOR and evaluated.actual and isinstance(evaluated.actual, dict):
            return find_equal(evaluated.actual.get("status"), STATUSES) or INVALID
    facts = result.webeval.get("trajectory")
    return _find_in_trajectory(facts) if isinstance(facts, dict) else None


_ENDED = ("completed", "impossible", "ungraded")  # classes of trajectories in which the agent stopped by itself


def _find_in_trajectory(facts: dict[str, Any]) -> str | None:
    """The status with which the agent ended; None if the run was aborted, cannot be read, or its agent raised."""
    reasons, details = facts.get("reasons") or (), facts.get("details")
    if facts.get("class") == "over_budget":
        return NO_ANSWER
    if facts.get("class") not in _ENDED or "agent_error" in reasons:
        return None
    if "self_reported_failure" in reasons:
        return FAILURE
    if isinstance(details, dict) and details.get("self_reported_success") is True:
        return SUCCESS
    return NO_ANSWER if "empty_answer" in reasons else None


def find_claim(result: TaskResult, reported: str | None) -> Claim | None:
    """The claim of the agent; None without a verdict or a report, and for no answer, which claims nothing."""
    if reported in (None, NO_ANSWER) or result.status is Status.ERROR:
        return None
    if reported == SUCCESS:
        return Claim.HONEST if result.status is Status.SUCCESS else Claim.OVER
    return Claim.UNDER if _has_succeeded_all_the_same(result) else Claim.HONEST


def _has_succeeded_all_the_same(result: TaskResult) -> bool:
    """Whether only the report is wrong: a judge found a success, or all other evaluators did.

    A success without a judge is one of a task that expects to be impossible: the report is right.
    """
    others = [evaluated for evaluated in result.evaluators_results if evaluated.evaluator_name != RESPONSE_EVALUATOR]
    has_response = len(others) < len(result.evaluators_results)
    if "trajectory" in result.webeval and not has_response:
        return result.status is Status.SUCCESS
    is_failure = result.status is not Status.SUCCESS
    return is_failure and bool(others) and all(evaluated.status is Status.SUCCESS for evaluated in others)
