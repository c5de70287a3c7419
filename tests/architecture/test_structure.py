"""How much one has to read does not grow unseen: counts of `python -m tests.benchmarks.structure`, never times.

A bound is a count plus 2 %. Whoever makes a count smaller lowers its bound.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.structure import count_calls, count_sources

BOUNDS = {
    "lines": 71_120,
    "modules": 461,
    "modules of the largest folder": 16,
    "private functions used once, %": 16.8,
    "calls of one failing run": 4_459,
    "modules of one failing run": 107,
    "calls that one value visits": 434,
    "modules that one value visits": 48,
}


@pytest.fixture(scope="module")
def counts():
    return count_sources() | count_calls()


@pytest.mark.parametrize("name", BOUNDS)
def test_no_count_is_above_its_bound(counts, name):
    assert 0 < counts[name] <= BOUNDS[name]


def test_each_count_has_a_bound(counts):
    assert counts.keys() == BOUNDS.keys()


def test_a_private_function_that_is_used_once_is_counted(tmp_path):
    (tmp_path / "values").mkdir()
    (tmp_path / "values/a.py").write_text("def _once(): pass\ndef _twice(): pass\n_once()\n_twice()\n_twice()\n")
    (tmp_path / "b.py").write_text("class B:\n    def __init__(self): pass\n    def all(self): pass\n")
    assert list(count_sources(tmp_path).values()) == [8, 2, 1, 25.0]
