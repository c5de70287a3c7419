"""One question asked several times, and the vote that most of the others agree with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import JudgeCalls, Request
from pytest_webeval.judges.replies import Conclusion
from pytest_webeval.judges.verdicts import decide

Value = TypeVar("Value")


def ask_votes(calls: JudgeCalls, request: Request[Value], count: int) -> list[Value | None]:
    """The votes of `count` replies; None for one that failed, which is noted.

    Raises the first `JudgeFailed` if so many failed that the others are no majority of all.
    """
    step = request.prompt.step
    votes = calls.ask_all(replace(request, prompt=replace(request.prompt, sample=sample)) for sample in range(count))
    failures = {number: vote for number, vote in enumerate(votes, 1) if isinstance(vote, JudgeFailed)}
    if failures and count - len(failures) < count // 2 + 1:
        raise next(iter(failures.values()))
    for number, failure in failures.items():
        calls.note(f"{step}, vote {number}", failure.reason)
    return [None if isinstance(vote, JudgeFailed) else vote for vote in votes]


def choose_conclusion(votes: Sequence[Conclusion[bool] | None]) -> Conclusion[bool]:
    """The first vote for what most of them say. Raises `JudgeFailed`: see `decide`."""
    success = decide(list_values(votes))
    return next(vote for vote in votes if vote is not None and vote.value is success)


def list_values(votes: Sequence[Conclusion[bool] | None]) -> tuple[bool | None, ...]:
    """What each vote says."""
    return tuple(None if vote is None else vote.value for vote in votes)
