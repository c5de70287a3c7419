"""Step 8a: whether the user got what the task requests, by a majority of votes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.replies import ReplyForm, Text
from pytest_webeval.judges.methods.rubric_pipeline.case import Analyses, Case, Step, format_evidence, format_scores
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.methods.rubric_pipeline.critical_points import format_critical_point
from pytest_webeval.judges.verdicts import decide

_GUIDANCE = """\
Decide whether the task was achieved, as an average user would. The points of the criteria do not decide: an agent
may have done its best and still not have delivered.
- primary_intent: what the user mainly wanted. In a task of several steps the result of the last step is what
  counts.
- A wrong result is worse than none. A result that the evidence contradicts, or that the agent invented, is a
  failure.
- An obstacle that prevented the result is a failure, whoever is to blame. To deliver something else without a word
  is one too. Another site than the named one is fine, unless the task insists on it.
- Any criterion with penalty is a failure.
- Trifles of wording or format never make a failure. A date without a year means the year of the recording."""


class OutcomeReply(ReplyForm, frozen=True, kw_only=True):
    primary_intent: Text
    reasoning: Text
    output_success: bool


_OUTCOME = Step("outcome", _GUIDANCE, OutcomeReply)


class Outcome(Struct, frozen=True):
    """The outcome of most votes, the first reply that agrees with it, and all replies, None for a missing one."""

    success: bool
    primary_intent: str
    reasoning: str
    replies: tuple[OutcomeReply | None, ...]

    @property
    def votes(self) -> tuple[bool | None, ...]:
        return tuple(None if reply is None else reply.output_success for reply in self.replies)


def decide_outcome(case: Case, items: Sequence[Item], analyses: Analyses) -> Outcome:
    """The outcome. Raises `JudgeFailed`, `uncertain` without a majority."""
    read = partial(_check_outcome, any(item.get("penalty") is True for item in items))
    parts = (format_critical_point(case.critical_point), format_scores(items), format_evidence(analyses), case.run)
    requests = [case.build_request(_OUTCOME, read, *parts, sample=vote) for vote in range(case.votes)]
    replies = case.ask_votes(requests, "a vote on the outcome is missing")
    return count_votes(replies, case.calls.degraded.get("outcome", ""))


def _check_outcome(has_penalty: bool, reply: OutcomeReply) -> OutcomeReply:  # noqa: FBT001  (bound by position)
    if has_penalty and reply.output_success:
        raise InvalidReply("a criterion with penalty means failure; output_success must be false")
    return reply


def count_votes(replies: Sequence[OutcomeReply | None], problem: str = "") -> Outcome:
    """The outcome by a majority of all votes. Raises `JudgeFailed`: `uncertain` where it is missing, or votes tie.

    `problem` says why votes are missing.
    """
    try:
        success = decide([None if reply is None else reply.output_success for reply in replies])
    except JudgeFailed as error:
        raise JudgeFailed("; ".join(filter(None, (error.reason, problem))), error.outcome) from error
    first = next(reply for reply in replies if reply is not None and reply.output_success is success)
    return Outcome(success, first.primary_intent, first.reasoning, tuple(replies))
