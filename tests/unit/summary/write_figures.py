"""Figures of scipy, statsmodels and scikit-learn, with which the default tests compare ours.

`python -m tests.unit.summary.write_figures` writes them to `figures.json`. It needs the extra `libraries`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
COUNT = 40  # of each function
EDGES = [(0, 0, 1, 0), (0, 7, 0, 0), (3, 0, 0, 9), (0, 0, 0, 4), (900, 1, 2, 3_000)]
Row = tuple[list[Any], Any]


def draw_tables() -> list[tuple[int, int, int, int]]:
    """Both, worse, better, neither: small, large and very uneven tables."""
    generator = random.Random(7)
    sizes = [generator.choice((3, 30, 300, 3_000)) for _ in range(COUNT - len(EDGES))]
    return EDGES + [tuple(generator.randint(0, most) for _ in range(4)) for most in sizes]


def list_exact_tests() -> Iterator[Row]:
    """Worse and better, and the p value of McNemar's exact test."""
    from statsmodels.stats.contingency_tables import mcnemar

    for both, worse, better, neither in draw_tables():
        if worse + better:
            yield [worse, better], min(1.0, mcnemar([[both, worse], [better, neither]], exact=True).pvalue)


def list_binomial_tails() -> Iterator[Row]:
    """Successes and trials, and how likely so few are."""
    from scipy.stats import binomtest

    for _, worse, better, _ in draw_tables():
        if worse + better:
            yield [better, worse + better], binomtest(better, worse + better, alternative="less").pvalue


def list_wilson_intervals() -> Iterator[Row]:
    """Successes and trials, and the interval of their share."""
    from statsmodels.stats.proportion import proportion_confint

    for both, worse, _, _ in draw_tables():
        if both + worse:
            yield [both, both + worse], proportion_confint(both, both + worse, method="wilson")


def list_newcombe_intervals() -> Iterator[Row]:
    """Successes and trials before and after, and the interval of the difference."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    for both, worse, better, neither in draw_tables():
        before, after = (both, both + worse + 1), (better, better + neither + 1)
        yield [before, after], confint_proportions_2indep(*after, *before, method="newcomb", compare="diff")


def list_adjusted_p_values() -> Iterator[Row]:
    """Families of p values, adjusted by Holm's method."""
    from statsmodels.stats.multitest import multipletests

    generator = random.Random(8)
    for count in range(1, 30, 4):
        p_values = [generator.choice((0.01, generator.random())) for _ in range(count)]
        yield p_values, list(multipletests(p_values, method="holm")[1])


def list_detectable_differences() -> Iterator[Row]:
    """Pairs, and the share of regressions of which 80 of 100 sessions have more than five."""
    from scipy.optimize import brentq
    from scipy.stats import binom

    for pairs in (6, 7, 20, 100, 812, 5_000):
        yield [pairs, 0], brentq(lambda share, pairs=pairs: binom.sf(5, pairs, share) - 0.8, 1e-9, 1 - 1e-9)


def list_tests_of_shares() -> Iterator[Row]:
    """Successes and runs before and after, and the p value of Fisher's exact test."""
    from scipy.stats import fisher_exact

    generator = random.Random(5)
    for _ in range(COUNT):
        runs, runs_now = generator.randint(1, 20), generator.randint(1, 20)
        successes, successes_now = generator.randint(0, runs), generator.randint(0, runs_now)
        table = [[successes_now, runs_now - successes_now], [successes, runs - successes]]
        yield [successes, runs, successes_now, runs_now], fisher_exact(table, alternative="less").pvalue


def list_shares() -> Iterator[Row]:
    """True and false positives, false and true negatives; accuracy, precision, recall and specificity."""
    from sklearn.metrics import accuracy_score, precision_score, recall_score

    verdicts, labels = [1, 1, 0, 0], [1, 0, 1, 0]
    for table in draw_tables():
        accuracy = accuracy_score(labels, verdicts, sample_weight=table)
        settings = {"sample_weight": table, "zero_division": float("nan")}
        scores = [precision_score(labels, verdicts, **settings), recall_score(labels, verdicts, **settings)]
        scores.append(recall_score(labels, verdicts, pos_label=0, **settings))
        yield list(table), [accuracy, *(None if score != score else score for score in scores)]  # noqa: PLR0124  (NaN)


def list_kappas() -> Iterator[Row]:
    """The same counts, and the value and the variance of Cohen's kappa."""
    from statsmodels.stats.inter_rater import cohens_kappa

    for table in draw_tables():
        verdicts, labels = (table[0] + table[1], table[2] + table[3]), (table[0] + table[2], table[1] + table[3])
        if not any(set(sides) <= {0, sum(table)} for sides in (verdicts, labels)):
            kappa = cohens_kappa([table[:2], table[2:]])
            yield list(table), [kappa.kappa, kappa.var_kappa]


def list_fleiss_kappas() -> Iterator[Row]:
    """Successes by item and the number of raters, and Fleiss' kappa."""
    from statsmodels.stats.inter_rater import fleiss_kappa

    generator = random.Random(7)
    for _ in range(COUNT):
        raters = generator.randint(2, 6)
        successes = [generator.randint(0, raters) for _ in range(generator.randint(2, 20))]
        if 0 < sum(successes) < raters * len(successes):
            yield [successes, raters], fleiss_kappa([(count, raters - count) for count in successes])


LISTS = {
    "mcnemar_exact": list_exact_tests,
    "binomial_tail": list_binomial_tails,
    "wilson": list_wilson_intervals,
    "newcombe_unpaired_interval": list_newcombe_intervals,
    "holm": list_adjusted_p_values,
    "detectable_difference": list_detectable_differences,
    "fisher_exact": list_tests_of_shares,
    "shares": list_shares,
    "kappa": list_kappas,
    "fleiss_kappa": list_fleiss_kappas,
}


def list_figures() -> dict[str, list[Any]]:
    """Arguments and figures of each function, as they are written."""
    return json.loads(json.dumps({name: list(rows()) for name, rows in LISTS.items()}, default=float))


def write() -> None:
    """Write the figures, one row a line."""
    blocks = [
        f'  "{name}": [\n' + ",\n".join(f"    {json.dumps(row)}" for row in rows) + "\n  ]"
        for name, rows in list_figures().items()
    ]
    FIGURES.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
