"""What the names of Fara's score files say about the verdicts in them (`fara_webeval.md` §2.7, §5.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

MMRUBRIC = "mmrubric"  # the kind that WebTailBench stores
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,20})?)"
_INTEGER = r"([0-9]{1,9})(?:\.0+)?"
_RUBRIC_NAME = re.compile(rf"(mmrubric_)?{_NUMBER}-{_INTEGER}-{_INTEGER}\.json")
_WEBJUDGE_NAME = re.compile(rf"([A-Za-z0-9_]+_eval)-{_NUMBER}\.json")


@dataclass(frozen=True, slots=True)
class ScoreFileName:
    """What the name of a score file says (`fara_webeval.md` §5.1). Equal for names that mean the same configuration."""

    kind: str  # mmrubric, heldout, gpt_eval, webjudge, other
    threshold: Decimal | None = None
    max_images: int | None = None
    keypoint: int | None = None
    method: str | None = None


def parse_name(name: str) -> ScoreFileName:
    """The configuration that the name of a file in `scores/` stands for; of kind `other` where it stands for none."""
    if name == "gpt_eval.json":
        return ScoreFileName("gpt_eval")
    if match := _RUBRIC_NAME.fullmatch(name):
        kind = MMRUBRIC if match[1] else "heldout"
        return ScoreFileName(kind, _parse_number(match[2]), max_images=int(match[3]), keypoint=int(match[4]))
    if match := _WEBJUDGE_NAME.fullmatch(name):
        return ScoreFileName("webjudge", _parse_number(match[2]), method=match[1])
    return ScoreFileName("other")


def _parse_number(number: str) -> Decimal:
    """The number without trailing zeros, so that 1 and 1.0 also look the same in a message."""
    return Decimal(number.rstrip("0").rstrip(".") if "." in number else number)
