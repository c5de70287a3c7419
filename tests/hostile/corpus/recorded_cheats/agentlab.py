"""Failures that want to look like successes in the files of AgentLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.hostile.corpus.cases import Case, holding
from tests.hostile.corpus.recorded_cheats.deceptions import CLAIM, ERROR, FAILURE, list_wrong_values, place, precede
from tests.hostile.corpus.recorded_damage import NEVER_SUCCESS, Recording, cheat, claim, edited
from tests.hostile.corpus.recorded_planted import list_planted


def list_cheats(recording: Recording) -> Iterator[Case]:
    """`cum_reward` is the verdict."""
    file = "summary_info.json"
    yield from list_planted(recording, "screenshot_step_")
    yield from list_wrong_values(recording, "reward", file, "cum_reward")
    yield precede(recording, file, "cum_reward", 1)
    for reward in (-1, 2, None):
        yield claim(recording, f"a reward of {reward}", ERROR, place(file, "cum_reward", value=reward))
    yield cheat(recording, "an own key for the raw reward", FAILURE, place(file, "cum_raw_reward", value=1))
    yield cheat(recording, "an error that is a text", NEVER_SUCCESS, place(file, "err_msg", value=CLAIM))
    for key in ("terminated", "truncated", "n_steps", "err_msg", "stack_trace"):
        for value in ("true", [True], {"a": 1}, 0.5):
            told = f"{value!r} as its {key}"
            yield cheat(recording, told, NEVER_SUCCESS, place(file, key, value=value))
    yield cheat(recording, "no end", NEVER_SUCCESS, edited(file, _remove_end))
    yield cheat(recording, "a reward of 1 without a step", NEVER_SUCCESS, edited(file, _reward_nothing))
    yield cheat(recording, "pickled code", FAILURE, holding("exp_args.pkl", b"cos\nsystem\n(S'touch obeyed.txt'\ntR."))
    yield cheat(recording, "a log that claims success", FAILURE, holding("experiment.log", CLAIM * 1000))


def _remove_end(document: Any) -> Any:
    return {key: value for key, value in document.items() if key not in ("terminated", "truncated")}


def _reward_nothing(document: Any) -> Any:
    return {**document, "cum_reward": 1, "n_steps": 0}
