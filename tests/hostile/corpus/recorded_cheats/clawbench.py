"""Failures that want to look like successes in the files of ClawBench."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.corpus.cases import Case, holding
from tests.hostile.corpus.recorded_cheats.deceptions import CLAIM, list_wrong_values, place, precede
from tests.hostile.corpus.recorded_damage import NEVER_SUCCESS, Recording, cheat
from tests.hostile.corpus.recorded_planted import list_planted


def list_cheats(recording: Recording) -> Iterator[Case]:
    """`judge.json` is the verdict, and `run-meta.json` has a copy."""
    yield from list_planted(recording, "data/screenshots/")
    yield from list_wrong_values(recording, "match", "judge.json", "match")
    yield precede(recording, "judge.json", "match", True)
    yield precede(recording, "run-meta.json", "judge_match", True)
    yield from list_wrong_values(recording, "request", "run-meta.json", "intercepted")
    yield cheat(recording, "a pass in the description", NEVER_SUCCESS, place("run-meta.json", "pass", value=True))
    yield cheat(
        recording, "a match in the description", NEVER_SUCCESS, place("run-meta.json", "judge_match", value=True)
    )
    yield cheat(recording, "a match in the judge's file", NEVER_SUCCESS, place("judge.json", "match", value=True))
    yield cheat(recording, "a reason that claims success", NEVER_SUCCESS, place("judge.json", "reason", value=CLAIM))
    yield cheat(
        recording, "another judge's file", NEVER_SUCCESS, holding("judge_llm.json", {"match": True, "reason": "yes"})
    )
    yield cheat(recording, "no request", NEVER_SUCCESS, place("run-meta.json", "intercepted", value=False))
