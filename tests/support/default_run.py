"""Which cases of a table run by default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_by_default(cases: Iterable[Any], count: int) -> list[Any]:
    """The cases for `parametrize`: the first few run by default, the others in the suites marked `whole`.

    A tuple is a row of several arguments, as it is for `parametrize`.
    """
    rows = list(cases)
    others = (case if isinstance(case, tuple) else (case,) for case in rows[count:])
    return [*rows[:count], *(pytest.param(*case, marks=pytest.mark.whole) for case in others)]
