"""What a method of judging is, and what it comes to: a verdict in the words of the benchmark that it belongs to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Evidence


class JudgeSettings(Struct, frozen=True, kw_only=True):
    """What a session may set of every method.

    `votes` is how often the deciding question is asked, an odd number. `threshold` is the share of rubric points from
    which on a process is a success.
    """

    votes: int = 1
    threshold: Decimal = Decimal("0.8")

    @property
    def threshold_text(self) -> str:
        """The threshold without zeros at its end: 0.80 decides as 0.8 does."""
        return f"{self.threshold.normalize():f}"


class JudgedVerdict(Struct, frozen=True, kw_only=True):
    """A verdict in the shape of a score file of the benchmark (`fara_webeval.md` §5).

    `file_name` is the name that the benchmark gives such a file, `response` the text or the payload in it. `votes` are
    those that decided; None stands for a vote that is neither.
    """

    file_name: str
    score: int | float
    response: str | Mapping[str, Any]
    votes: tuple[bool | None, ...] = ()

    @property
    def agreement(self) -> float | None:
        """The share of votes for the verdict; None of fewer than two."""
        if len(self.votes) < 2:
            return None
        return self.votes.count(bool(self.score)) / len(self.votes)

    def to_score_file(self) -> dict[str, Any]:
        text = self.response if isinstance(self.response, str) else json.dumps(self.response, ensure_ascii=False)
        return {"score": self.score, "gpt_response_text": text}


class JudgingMethod(Struct, frozen=True, kw_only=True):
    """One way of judging: what is asked in which order, and what the replies come to.

    `name` is what `--webeval-judge-method` calls it. `version` is that of its prompts: it changes with every word of
    them, and a certificate is valid for one version. Every text that an agent or a site wrote stands inside a fence.
    `judge` returns the verdict on a run, and raises `JudgeFailed` where there is none. It notes a fallback with
    `calls.degrade`, and then the verdict does not count.
    """

    name: str
    version: str
    judge: Callable[[Evidence, JudgeCalls, JudgeSettings], JudgedVerdict]


def decide(votes: Sequence[bool | None]) -> bool:
    """What most of the votes say. Raises `JudgeFailed`: `uncertain` where fewer than half are valid, or they tie."""
    valid = [vote for vote in votes if vote is not None]
    if len(valid) < len(votes) // 2 + 1 or valid.count(True) * 2 == len(valid):
        raise JudgeFailed(f"the judge is uncertain: {valid.count(True)} of {len(votes)} votes for success", "uncertain")
    return valid.count(True) * 2 > len(valid)
