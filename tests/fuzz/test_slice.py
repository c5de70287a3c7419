"""No reader crashes over a few hundred damaged inputs: a slice of what `run.py` does for as long as it is let."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.strategies import STRATEGIES
from tests.fuzz.targets.table import SLOW, TARGETS
from tests.support.default_run import examples

FEW, INPUTS, OF_WHOLE_RUNS = 25, 200, 40
IN_PROCESS = [name for name in TARGETS if name not in SLOW]


@pytest.fixture(autouse=True)
def _quietly():
    """As tasks are scored: what a parser warns of decides nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("most", [FEW, pytest.param(INPUTS, marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", IN_PROCESS)
def test_damaged_documents_are_read_or_refused_in_one_line(name, most):
    corpus = Corpus(TARGETS[name], seed=1, draws=30)
    for number in range(min(most, OF_WHOLE_RUNS) if name == "whole" else most):
        corpus.target.feed(corpus.numbered(number))


@pytest.mark.parametrize("name", IN_PROCESS)
@settings(
    max_examples=examples(100), derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)  # each of them is quick; drawing it may not be
@given(st.data())
def test_drawn_documents_are_read_or_refused_in_one_line(name, data):
    TARGETS[name].feed(data.draw(STRATEGIES[TARGETS[name].shape]))


@pytest.mark.parametrize("name", IN_PROCESS)
def test_each_reader_reads_one_of_its_own_seeds(name):
    target = TARGETS[name]
    assert None in [target.feed(content) for content in Corpus(target).seeds]


@pytest.mark.parametrize("number", [0, pytest.param(9, marks=pytest.mark.whole)])
def test_a_session_over_a_damaged_directory_ends_in_order(number):
    corpus = Corpus(TARGETS["session"], seed=1, draws=1)
    corpus.target.feed(corpus.numbered(number))
