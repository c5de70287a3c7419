"""Stored verdicts of all kinds, derived again by every policy."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from zlib import crc32

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.trajectory.layout import parse_name
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import CRITERIA, UnreadableVerdict, VerdictPolicy, parse_fraction
from pytest_webeval.rubrics.score_files import choose, read_rubric_file, read_score_file, stored_rubric
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from pytest_webeval.rubrics.verdict_report import assertions_of, verdict_to_json
from pytest_webeval.safety.json import load_exact
from tests.fuzz.targets.target import expect, written

_FACTS = RunFacts("done", 4, True)  # noqa: FBT003  (an old judgement)
_NAMES = ("mmrubric_0.8-5-3.json", "0.8-5-3.json", "gpt_eval.json", "WebJudge_eval-3.json")
POLICIES = (
    *(VerdictPolicy(criterion) for criterion in (None, *CRITERIA)),
    VerdictPolicy(strict_texts=True, threshold=Decimal("0.5")),
)


def read_scores(content: bytes) -> None:
    """A score file by one kind of name or another."""
    name = _NAMES[crc32(content) % len(_NAMES)]
    use_verdict(read_score_file(f"scores/{name}", content))


def read_rubric(content: bytes) -> None:
    """A `rubric.json`, which may be a payload or a score file."""
    stored = read_rubric_file("rubric.json", content)
    use_verdict(stored)
    if stored.payload is not None:
        with suppress(UnreadableVerdict):
            use_verdict(stored_rubric("task_data.json", stored.payload))


def use_verdict(stored: StoredVerdict) -> None:
    """Derive it by each policy; what is derived must add up and be fit to be written."""
    for policy in POLICIES:
        with suppress(UnreadableVerdict):
            verdict = derive(stored, policy, _FACTS)
            found = verdict_to_json(verdict, stored, None)
            told = assertions_of(verdict, found["failure"])
            written([found, [one.to_json() for one in told]])
            expect(verdict.score in (0, 1, None), f"a score of {verdict.score}")


def read_numbers(content: bytes) -> None:
    """JSON with exact numbers."""
    with suppress(ValueError):
        load_exact(content.decode("utf-8", "replace"))


def read_score_names(content: bytes) -> None:
    """Names of files in `scores/`, of which one counts; the last is what somebody asked for."""
    names = content.decode("utf-8", "surrogateescape").split("\n")
    for name in names:
        parse_name(name)
    with suppress(SettingsError):
        parse_fraction(names[-1])
    with suppress(UnreadableVerdict):
        choose(names, None)
    choose(names, names[-1])
