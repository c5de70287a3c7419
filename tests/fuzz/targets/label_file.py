"""A file of labels that people gave, beside what a few lines of the standard library read from the same bytes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from msgspec import to_builtins

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.verdict_files import HumanLabels, load_labels
from tests.fuzz.targets.definition import stored
from tests.fuzz.targets.target import expect, written

# By the number of a label: whether the run is a success, None for a task that nobody can do.
MEANINGS = {"osu": (False, True, None), "abp": (None, True, False)}
END = "_human_label"
MOST_USED = 50  # labels of one file
PLAIN = [*"012", 0, 1, 2, None]
MOST_DIGITS = 300  # of a number that a reader takes for one
LONGEST = 100_000  # characters of a document that must be read


def read_labels(content: bytes) -> None:
    """Read a file in each coding. It is refused in both or in none: they have the same numbers."""
    refusals = []
    for coding, meanings in MEANINGS.items():
        try:
            with stored(content, "labels.json") as path:
                labels = load_labels(path, coding)
        except SettingsError as refusal:
            expect("\n" not in str(refusal), f"a refusal on several lines: {refusal}")
            refusals.append(refusal)
            continue
        written(labels.describe())
        _compare(labels, content, meanings)
    expect(len(refusals) in (0, len(MEANINGS)), "a file that one coding reads and the other refuses")
    expect(not (refusals and _is_plain(content)), f"a plain file that is refused: {refusals}")
    if refusals:
        raise refusals[0]


def _compare(labels: HumanLabels, content: bytes, meanings: tuple[bool | None, ...]) -> None:
    """Each label means what its number means, and there are no others."""
    expected = _find_labels(content, meanings)
    found = {(task, agent): labels.judge((task, agent)) for task, row in labels.rows.items() for agent in row}
    expect(labels.count == len(found), "a count that is not that of the labels")
    if expected is None:
        return
    expect({key: _meaning(judgement) for key, judgement in found.items()} == expected, "other labels than in the file")
    names = Counter(agent.casefold() for agent in labels.agents)
    for task, agent in list(found)[:MOST_USED]:
        written([task, to_builtins(found[task, agent])])
        is_unique = names[agent.casefold()] == 1
        expect(_find_key(labels, task, agent) == ((task, agent) if is_unique else None), "the label of another run")


def _find_key(labels: HumanLabels, task: str, folder: str) -> tuple[str, str] | None:
    try:
        return labels.find_key(task, (folder,))
    except RecordingError:
        return None


def _meaning(judgement: Judgement) -> bool | None:
    is_unknown = judgement.success is None
    expect(judgement.is_impossible is is_unknown, "a label that is neither a verdict nor impossible")
    expect((judgement.ungraded is not None) is is_unknown, "a label with a verdict and a reason for having none")
    return judgement.success


def _find_labels(content: bytes, meanings: tuple[bool | None, ...]) -> dict[tuple[str, str], bool | None] | None:
    """The labels by task and agent; None for a document with other values that Python's own reader gives up."""
    try:
        rows = json.loads(content, parse_constant=str)  # NaN is a text, as for our reader
    except (ValueError, RecursionError):
        return None
    return {
        (str(row["task_id"]), name.removesuffix(END)): meanings[int(value)]
        for row in rows
        for name, value in row.items()
        if name.endswith(END) and value is not None
    }


def _is_plain(content: bytes) -> bool:
    """Whether a document is so plain that it must be read: a label, and nothing else that a reader may refuse."""
    plain_numbers = {"parse_int": _parse_digits, "parse_float": _refuse, "parse_constant": _refuse}
    try:
        rows = json.loads(content.decode(), object_pairs_hook=_refuse_twice, **plain_numbers)
    except (ValueError, RecursionError):
        return False
    if len(content) > LONGEST or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return False
    if any(isinstance(value, list | dict) for row in rows for value in row.values()):  # which may be deep
        return False
    ids = [row.get("task_id") for row in rows]
    values = [value for row in rows for name, value in row.items() if name.endswith(END)]
    has_ids = all(type(name) in (str, int) for name in ids) and len(set(map(str, ids))) == len(ids)
    return has_ids and bool(values) and all(value in PLAIN and not isinstance(value, bool) for value in values)


def _parse_digits(digits: str) -> int:
    return int(digits) if len(digits) <= MOST_DIGITS else _refuse(digits)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _refuse("a key twice")


def _refuse(what: str) -> Any:
    raise ValueError(what)
