"""Which cases of a table run by default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import hypothesis
import pytest


def examples(count: int) -> int:
    """So many examples of a property with the profile `whole`, and a tenth of them in the default run."""
    return count // 10 if hypothesis.settings.get_current_profile_name() == "default run" else count


def first_by_default(cases: Iterable[Any], count: int) -> list[Any]:
    """The cases for `parametrize`: the first few run by default, the others in the suites marked `whole`.

    A tuple is a row of several arguments, as it is for `parametrize`.
    """
    rows = list(cases)
    others = (case if type(case) is tuple else (case,) for case in rows[count:])
    return [*rows[:count], *(pytest.param(*case, marks=pytest.mark.whole) for case in others)]


def group_rows(items: Iterable[Any]) -> Iterator[list[Any]]:
    """The rows of each test, in the order in which they were collected."""
    return (list(rows) for _, rows in groupby(items, key=lambda item: item.nodeid.partition("[")[0]))


def thin(rows: list[Any], every: int | None = None) -> None:
    """Mark the rows of a test `whole`, but for those that the default run needs: every eighth, for example.

    Without a number they are as many as there are values in the longest list of a product, so that each value of each
    list occurs.
    """
    indices = number_values([row.callspec._idlist for row in rows])
    if every:
        kept = set(indices[::every])
    else:
        sizes = [max(column) + 1 for column in zip(*indices, strict=True)]
        # Each list is shifted when it begins again, so that a value meets more than one of another list.
        kept = {tuple((row + row // size) % size for size in sizes) for row in range(max(sizes))}
    for row, index in zip(rows, indices, strict=True):
        if index not in kept:
            row.add_marker(pytest.mark.whole)


def number_values(rows: list[list[str]]) -> list[tuple[int, ...]]:
    """The rows with the position of each value in its list instead of the value's id."""
    columns = [
        {name: number for number, name in enumerate(dict.fromkeys(column))} for column in zip(*rows, strict=True)
    ]
    return [tuple(column[name] for column, name in zip(columns, row, strict=True)) for row in rows]
