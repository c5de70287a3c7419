"""Our statistics have the figures that scipy, statsmodels and scikit-learn give, which `write_figures.py` wrote."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.summary.comparison.gate_checks import fisher_exact
from pytest_webeval.summary.comparison.paired_statistics import (
    binomial_tail,
    detectable_difference,
    holm,
    mcnemar_exact,
    newcombe_unpaired_interval,
)
from pytest_webeval.summary.judges.agreement import ConfusionTable, compute_fleiss_kappa
from pytest_webeval.summary.statistics import wilson
from tests.unit.summary import write_figures

FIGURES = json.loads(write_figures.FIGURES.read_text("utf-8"))
SAME = 1e-9


def list_shares(*counts):
    table = ConfusionTable(*counts)
    shares = (table.accuracy, table.precision, table.recall, table.specificity)
    return [share and share.value for share in shares]


def describe_kappa(*counts):
    kappa = ConfusionTable(*counts).kappa
    return [kappa.value, kappa.standard_error**2]


def as_list(figures):
    return figures if isinstance(figures, list | tuple) else [figures]


OURS = {
    "mcnemar_exact": mcnemar_exact,
    "binomial_tail": binomial_tail,
    "wilson": wilson,
    "newcombe_unpaired_interval": lambda before, after: newcombe_unpaired_interval(tuple(before), tuple(after)),
    "holm": lambda *p_values: list(holm(dict(enumerate(p_values))).values()),
    "detectable_difference": detectable_difference,
    "fisher_exact": fisher_exact,
    "shares": list_shares,
    "kappa": describe_kappa,
    "fleiss_kappa": compute_fleiss_kappa,
}


def test_each_function_has_figures():
    assert FIGURES.keys() == OURS.keys() == write_figures.LISTS.keys()
    assert min(map(len, FIGURES.values())) > 5


@pytest.mark.parametrize("name", OURS)
def test_ours_are_the_figures_of_the_libraries(name):
    # One is the end of a search, which stops when it is near enough.
    tolerance = {"rel": 1e-3} if name == "detectable_difference" else {"abs": SAME}
    for arguments, expected in FIGURES[name]:
        ours = OURS[name](*arguments)
        for value, figure in zip(*map(as_list, (ours, expected)), strict=True):
            assert value == (None if figure is None else pytest.approx(figure, **tolerance)), arguments


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_the_committed_figures_are_those_that_the_libraries_give():
    for name, rows in write_figures.list_figures().items():
        assert [arguments for arguments, _ in rows] == [arguments for arguments, _ in FIGURES[name]]
        for (_, now), (_, committed) in zip(rows, FIGURES[name], strict=True):
            assert now == pytest.approx(committed, abs=SAME), name
