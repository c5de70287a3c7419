"""What a stored verdict is, and what a reader may demand of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from decimal import InvalidOperation
from typing import Any

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError

CRITERIA = ("outcome", "process", "both", "safe_outcome")
OVER_BUDGET = ("stored", "zero")


class VerdictUnreadable(RecordingError):
    """A stored verdict that cannot be read. `code` is a reason code, such as `score_unreadable`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class VerdictPolicy:
    """How stored verdicts are read where a session decides. None leaves it to what was stored, or to the default.

    `criterion` is one of `CRITERIA`; `threshold` the share of points that a process success needs; `score_file` the
    name of the file in `scores/` that counts; `over_budget` is `stored` (a stored score stands) or `zero`.
    Raises `SettingsError` for anything else.
    `strict_texts` takes a judge's free text by its words, not as the benchmark's own parser does (§5.2).
    """

    criterion: str | None = None
    threshold: Decimal | None = None
    score_file: str | None = None
    over_budget: str = "stored"
    strict_texts: bool = False

    def to_json(self) -> dict[str, Any]:
        """What was asked for, as a summary has it."""
        threshold = None if self.threshold is None else float(self.threshold)
        asked = {"criterion": self.criterion, "threshold": threshold, "score_file": self.score_file}
        return asked | {"over_budget": self.over_budget}

    def __post_init__(self) -> None:
        if self.criterion not in (None, *CRITERIA):
            raise SettingsError(f"{self.criterion!r} is no criterion; choose one of {', '.join(CRITERIA)}")
        if self.over_budget not in OVER_BUDGET:
            raise SettingsError(f"over_budget {self.over_budget!r} is unknown; choose one of {', '.join(OVER_BUDGET)}")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", share(self.threshold))  # who writes Python writes 0.8


def share(raw: Decimal | float | str) -> Decimal:
    """A share of points as somebody wrote it, which 0.8 in binary is not. Raises `SettingsError`."""
    try:
        found = Decimal(str(raw))
    except InvalidOperation:
        found = Decimal(-1)
    if not (found.is_finite() and 0 <= found <= 1):
        raise SettingsError(f"the threshold {raw!r} is no share; write a number from 0 to 1, such as 0.8")
    return found


@dataclass(frozen=True, slots=True)
class ScoreFileName:
    """What the name of a score file says (`fara_webeval.md` §5.1). Equal for names that mean the same configuration."""

    kind: str  # mmrubric, heldout, gpt_eval, webjudge, other
    threshold: Decimal | None = None
    max_images: int | None = None
    keypoint: int | None = None
    method: str | None = None


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """What one file says about a run, before anything is added up.

    `source` is the file's name below the run directory. `score` is the top-level score. Exactly one of `payload` (a
    JSON object, numbers with a point or exponent read as `Decimal`) and `text` (free text of a judge) is given.
    """

    source: str
    name: ScoreFileName
    score: Decimal | int | None
    payload: Mapping[str, Any] | None
    text: str | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What the run itself says that a stored verdict may contradict; None where it says nothing."""

    final_answer: str | None = None
    action_count: int | None = None
    is_stale: bool | None = None  # the verdict is older than the answer


@dataclass(frozen=True, slots=True)
class Check:
    """A contradiction or oddity of a stored verdict. `rule` is R1 to R17 (`fara_webeval.md` §6.3)."""

    rule: str
    message: str

    @property
    def is_contradiction(self) -> bool:
        """Whether it makes the verdict inconsistent (R1-R7) rather than odd."""
        return int(self.rule[1:]) <= 7
