"""How far annotators agree with each other: the most that a judge can be expected to agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from msgspec import Struct

from pytest_webeval.summary.agreement import ConfusionTable, Share

Votes = Mapping[str, bool]  # whether a run is a success, by annotator


class AnnotatorAgreement(Struct, frozen=True):
    """The tables of all pairs of annotators who labelled the same runs, by their names; and Fleiss' kappa of all.

    `fleiss_kappa` is over the `complete` runs: those that all annotators labelled.

    Labels that exclude a run are not counted: they say nothing that a verdict could agree with.
    """

    pairs: Mapping[tuple[str, str], ConfusionTable]
    fleiss_kappa: float | None
    complete: int

    @property
    def share(self) -> Share:
        """The share of equal labels among all pairs of labels of the same run."""
        tables = self.pairs.values()
        return Share(sum(table.accuracy.count for table in tables), sum(table.total for table in tables))

    @property
    def mean_kappa(self) -> float | None:
        """The mean of Cohen's kappa over pairs of annotators, each with the weight of the runs that both labelled.

        A third annotator often sees only what two others differ on. Without weights that would count like all else.
        """
        kappas = [(table.kappa.value, table.total) for table in self.pairs.values() if table.kappa is not None]
        total = sum(weight for _, weight in kappas)
        return sum(kappa * weight for kappa, weight in kappas) / total if total else None

    def to_json(self) -> dict[str, Any]:
        """The numbers in plain JSON. Pairs of labels of one run are not independent, so the share has no interval."""
        return {
            "agreement": self.share.value,
            "pair_count": self.share.total,
            "mean_kappa": self.mean_kappa,
            "fleiss_kappa": self.fleiss_kappa,
            "complete_count": self.complete,
            "pairs": [{"annotators": list(names)} | table.to_json() for names, table in self.pairs.items()],
        }


def measure_agreement(runs: Sequence[Votes]) -> AnnotatorAgreement | None:
    """The agreement of annotators over runs; None where no run has labels of two of them."""
    tables: dict[tuple[str, str], ConfusionTable] = {}
    labels: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for votes in runs:
        for names, pair in _list_pairs(votes):
            labels.setdefault(names, []).append(pair)
    for names in sorted(labels):
        tables[names] = ConfusionTable.count(labels[names])
    annotators = {name for votes in runs for name in votes}
    complete = [sum(votes.values()) for votes in runs if len(votes) == len(annotators)]
    kappa = compute_fleiss_kappa(complete, len(annotators)) if len(annotators) > 2 else None
    return AnnotatorAgreement(tables, kappa, len(complete)) if tables else None


def _list_pairs(votes: Votes) -> Iterator[tuple[tuple[str, str], tuple[bool, bool]]]:
    for first, second in combinations(sorted(votes), 2):
        yield (first, second), (votes[first], votes[second])


def compute_fleiss_kappa(successes: Sequence[int], raters: int) -> float | None:
    """Fleiss' kappa (Fleiss 1971) of runs with as many labels each, of which so many are successes.

    None without runs, with fewer than two labels of each, and where all labels are the same.
    """
    if not successes or raters < 2:
        return None
    share = Fraction(sum(successes), len(successes) * raters)
    expected = share**2 + (1 - share) ** 2
    if expected == 1:
        return None
    equal_pairs = sum(count * (count - 1) + (raters - count) * (raters - count - 1) for count in successes)
    agreed = Fraction(equal_pairs, len(successes) * raters * (raters - 1))
    return float((agreed - expected) / (1 - expected))
