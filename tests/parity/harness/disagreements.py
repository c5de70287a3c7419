"""Pairs of verdicts that differ, grouped by how they differ, each group with its smallest recording."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from tests.parity.harness.comparison import Pair, Scorers
from tests.parity.harness.recording import Recording
from tests.parity.harness.shrinking import smallest

GROUPS = 6
NAMES = 8
LONGEST = 1500


def difference(pair: Pair) -> tuple[Any, ...]:
    """How two verdicts differ: the task's statuses, and those of the evaluators that differ, however many there are."""
    each = zip_longest(pair.reference.evaluators, pair.ours.evaluators)
    return pair.reference.status, pair.ours.status, frozenset(found for found in each if found[0] != found[1])


def grouped(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Disagreements by what is special about the recording and how the verdicts differ; the largest group first."""
    groups = defaultdict(list)
    for pair in pairs:
        groups[pair.recording.about, difference(pair)].append(pair)
    return sorted(groups.values(), key=len, reverse=True)


def report(pairs: Sequence[Pair], scorers: Scorers, rules: str = "reference", groups: int = GROUPS) -> str:
    """Text about the largest groups of disagreements, with the smallest recording of each."""
    found = grouped(pairs)
    parts = [described(group, scorers, rules) for group in found[:groups]]
    if len(found) > groups:
        parts.append(f"... and {len(found) - groups} more kinds of disagreement")
    return f"{len(pairs)} verdicts differ from the reference's (rules {rules}):\n\n" + "\n\n".join(parts)


def described(group: Sequence[Pair], scorers: Scorers, rules: str = "reference") -> str:
    """Text about one group."""
    pair = reduced(group[0], scorers, rules)
    names = ", ".join(str(one.recording.task["task_id"]) for one in group[:NAMES])
    more = f" and {len(group) - NAMES} more" if len(group) > NAMES else ""
    title = f"{group[0].recording.about!r} ({group[0].recording.kind}): {len(group)} of task {names}{more}"
    return "\n".join([title, *(f"  {line}" for line in _facts(pair))])


def reduced(pair: Pair, scorers: Scorers, rules: str) -> Pair:
    """A pair that differs in the same way, about a recording with as little as possible in it."""
    wanted = difference(pair)

    def differs_alike(candidate: Recording) -> bool:
        return difference(scorers.pair(candidate, rules)) == wanted

    return scorers.pair(smallest(pair.recording, differs_alike), rules)


def _facts(pair: Pair) -> Iterator[str]:
    recording = pair.recording
    yield f"reference: {pair.reference}{_told(pair.reference.reasons)}"
    yield f"ours:      {pair.ours}{_told(pair.ours.reasons)}"
    yield f"response:  {_short(recording.response.decode('utf-8', 'backslashreplace'))}"
    if isinstance(recording.entries, bytes):
        yield f"{recording.trace_name}: {_short(repr(recording.entries))}"
    else:
        yield from (f"entry:     {_short(_json(entry))}" for entry in recording.entries)
    if recording.sites is not None:
        yield f"sites:     {_json(recording.sites)}"
    yield f"of sites:  {_json(recording.task['sites'])}"
    for place in _concerned(pair):
        yield f"eval[{place}]:   {_short(_json(recording.task['eval'][place]))}"


def _concerned(pair: Pair) -> list[int]:
    each = enumerate(zip_longest(pair.reference.evaluators, pair.ours.evaluators))
    found = [place for place, (reference, ours) in each if reference != ours]
    return [place for place in found if place < len(pair.recording.task["eval"])]


def _told(reasons: Sequence[str]) -> str:
    return "".join(f"\n      [{place}] {_short(told)}" for place, told in enumerate(reasons) if told)


_json: Callable[[Any], str] = json.dumps


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)"
