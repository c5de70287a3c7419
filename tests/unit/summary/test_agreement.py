"""Agreement of verdicts and labels: by hand, within bounds, and the same as scikit-learn and statsmodels."""

from __future__ import annotations

import random
from math import isnan, sqrt
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.summary.judges.agreement import (
    SHARES,
    ConfusionTable,
    Share,
    compute_fleiss_kappa,
    correct_rate,
    measure_agreement,
)

RANDOM_TABLES = 1_000
SAME = 1e-9
COUNTS = st.integers(min_value=0, max_value=500)
TABLES = st.builds(ConfusionTable, COUNTS, COUNTS, COUNTS, COUNTS)
Z = NormalDist().inv_cdf(0.975)


def draw_tables():
    """Tables of all sizes, with counts of 0 among them."""
    generator = random.Random(6)
    for number in range(RANDOM_TABLES):
        largest = (3, 20, 1_000)[number % 3]
        table = ConfusionTable(*(generator.randint(0, largest) for _ in range(4)))
        if table.total:
            yield table


def is_same(ours, theirs):
    return isnan(theirs) if ours is None else ours == pytest.approx(theirs, abs=SAME)


def test_pairs_are_counted_by_verdict_and_label():
    pairs = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]
    assert ConfusionTable.count(pairs) == ConfusionTable(
        true_positive=4, false_positive=3, false_negative=2, true_negative=1
    )


@pytest.mark.parametrize(
    ("name", "count", "total", "low", "high"),
    [  # of 20 true successes, 5 false ones, 10 missed ones and 15 true failures
        ("accuracy", 35, 50, 0.5625, 0.8090),
        ("precision", 20, 25, 0.6087, 0.9114),
        ("recall", 20, 30, 0.4878, 0.8077),
        ("specificity", 15, 20, 0.5313, 0.8881),
        ("base_rate", 30, 50, 0.4618, 0.7239),
    ],
)
def test_shares_are_those_of_a_textbook_table(name, count, total, low, high):
    share = getattr(ConfusionTable(20, 5, 10, 15), name)
    assert share == Share(count, total)
    assert share.value == count / total
    assert share.interval == pytest.approx((low, high), abs=1e-4)


def test_kappa_is_that_of_a_textbook_table():
    kappa = ConfusionTable(20, 5, 10, 15).kappa
    assert kappa.value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    # Agreeing 0.4 · 0.34² + 0.3 · 0.46², differing 0.6² · (0.1 · 1.1² + 0.2 · 0.9²), less (0.4 - 0.5 · 0.6)².
    variance = (0.4 * 0.34**2 + 0.3 * 0.46**2 + 0.36 * (0.1 * 1.1**2 + 0.2 * 0.9**2) - 0.1**2) / (0.25 * 50)
    assert kappa.standard_error == pytest.approx(sqrt(variance))
    assert kappa.interval == pytest.approx((0.4 - Z * sqrt(variance), 0.4 + Z * sqrt(variance)))


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        (ConfusionTable(), {*SHARES, "kappa"}),
        (ConfusionTable(true_positive=3), {"specificity", "kappa"}),
        (ConfusionTable(true_negative=3), {"precision", "recall", "kappa"}),
        (ConfusionTable(false_positive=3), {"recall"}),
        (ConfusionTable(false_negative=3), {"precision", "specificity"}),
        (ConfusionTable(3, 0, 0, 4), set()),
    ],
)
def test_what_counts_do_not_define_is_none(table, undefined):
    raw = table.to_json()
    assert {name for name in (*SHARES, "kappa") if raw[name] is None or raw[name]["value"] is None} == undefined
    assert all(raw[name]["interval_95"] is None for name in undefined & set(SHARES))


def test_the_json_has_counts_and_shares():
    raw = ConfusionTable(3, 1, 0, 4).to_json()
    assert {name: raw[name] for name in ("true_positive", "false_positive", "false_negative", "true_negative")} == {
        "true_positive": 3,
        "false_positive": 1,
        "false_negative": 0,
        "true_negative": 4,
    }
    assert raw["total"] == 8
    assert raw["recall"] == {
        "value": 1.0,
        "interval_95": [pytest.approx(0.4385, abs=1e-4), 1.0],
        "count": 3,
        "total": 3,
    }
    assert raw["kappa"]["value"] == 0.75
    assert raw["kappa"]["interval_95"] == list(ConfusionTable(3, 1, 0, 4).kappa.interval)
    assert raw["kappa"]["standard_error"] == ConfusionTable(3, 1, 0, 4).kappa.standard_error


VERDICTS, LABELS = [1, 1, 0, 0], [1, 0, 1, 0]


def weigh(table):
    """The counts of a table as the weights of the four pairs of verdict and label."""
    return [table.true_positive, table.false_positive, table.false_negative, table.true_negative]


def score(measure, table, positive):
    nothing = float("nan")
    return measure(LABELS, VERDICTS, pos_label=positive, sample_weight=weigh(table), zero_division=nothing)


@pytest.mark.libraries
def test_random_tables_have_the_numbers_of_scikit_learn():
    import sklearn.metrics

    for table in draw_tables():
        accuracy = sklearn.metrics.accuracy_score(LABELS, VERDICTS, sample_weight=weigh(table))
        assert is_same(table.accuracy.value, accuracy), table
        assert is_same(table.precision.value, score(sklearn.metrics.precision_score, table, 1)), table
        assert is_same(table.recall.value, score(sklearn.metrics.recall_score, table, 1)), table
        assert is_same(table.specificity.value, score(sklearn.metrics.recall_score, table, 0)), table
        if table.kappa is not None:
            kappa = sklearn.metrics.cohen_kappa_score(VERDICTS, LABELS, sample_weight=weigh(table))
            assert is_same(table.kappa.value, kappa), table


@pytest.mark.libraries
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_random_tables_have_the_intervals_of_statsmodels():
    from statsmodels.stats import inter_rater
    from statsmodels.stats.proportion import proportion_confint

    for table in draw_tables():
        kappa = inter_rater.cohens_kappa([weigh(table)[:2], weigh(table)[2:]])
        assert is_same(table.kappa and table.kappa.value, kappa.kappa), table
        if table.kappa is not None:
            assert table.kappa.standard_error**2 == pytest.approx(kappa.var_kappa, abs=SAME), table
            if kappa.var_kappa > SAME:  # of 0, it has a rounding error, which may be negative
                limits = max(-1, kappa.kappa_low), min(1, kappa.kappa_upp)
                assert table.kappa.interval == pytest.approx(limits, abs=SAME), table
        for share in (getattr(table, name) for name in SHARES):
            if share.total:
                limits = proportion_confint(share.count, share.total, method="wilson")
                assert share.interval == pytest.approx(limits, abs=SAME), table


@pytest.mark.libraries
def test_random_labels_have_the_fleiss_kappa_of_statsmodels():
    from statsmodels.stats import inter_rater

    generator = random.Random(7)
    for _ in range(200):
        raters = generator.randint(2, 6)
        successes = [generator.randint(0, raters) for _ in range(generator.randint(2, 40))]
        table = [(count, raters - count) for count in successes]
        if 0 < sum(successes) < raters * len(successes):
            assert is_same(compute_fleiss_kappa(successes, raters), inter_rater.fleiss_kappa(table))


@given(TABLES)
def test_numbers_are_within_their_bounds(table):
    for name in SHARES:
        share = getattr(table, name)
        if share.total:
            low, high = share.interval
            assert 0 <= low <= high <= 1
            assert low - SAME <= share.value <= high + SAME
    if table.kappa is not None:
        low, high = table.kappa.interval
        assert -1 <= low <= table.kappa.value <= high <= 1


@given(TABLES)
def test_kappa_does_not_depend_on_which_side_is_the_judge_or_which_word_is_positive(table):
    swapped = ConfusionTable(table.true_positive, table.false_negative, table.false_positive, table.true_negative)
    renamed = ConfusionTable(table.true_negative, table.false_negative, table.false_positive, table.true_positive)
    assert table.kappa == swapped.kappa == renamed.kappa


@given(TABLES, st.integers(0, 300), st.integers(0, 300))
def test_a_corrected_rate_is_a_rate(table, successes, failures):
    corrected = correct_rate(Share(successes, successes + failures), table)
    if corrected is not None:
        assert 0 <= corrected.value <= 1
        low, high = corrected.interval or (0, 1)
        assert 0 <= low <= high <= 1


@given(TABLES)
def test_the_corrected_rate_of_labelled_runs_is_the_rate_of_their_labels(table):
    corrected = correct_rate(table.precision and Share(table.precision.total, table.total), table)
    if corrected is not None:
        assert corrected.value == pytest.approx(table.base_rate.value)


def test_the_rate_of_a_judge_is_corrected_by_its_errors():
    table = ConfusionTable(true_positive=18, false_positive=6, false_negative=2, true_negative=24)
    corrected = correct_rate(Share(50, 100), table)
    assert corrected.value == pytest.approx((0.5 + 0.8 - 1) / (0.9 + 0.8 - 1))
    # With z² = 3.8415 and one success and one failure more in each sample of labels: 19 of 22, and 25 of 32.
    rate = (0.5 + 25 / 32 - 1) / (19 / 22 + 25 / 32 - 1)
    by_recall, by_specificity = 19 / 22 * (3 / 22) / 22, 25 / 32 * (7 / 32) / 32
    variance = 0.25 / 103.8415 + rate**2 * by_recall + (1 - rate) ** 2 * by_specificity
    centre = rate + 2 * 3.8415 * (rate * by_recall - (1 - rate) * by_specificity)
    half = 1.95996 * sqrt(variance) / (19 / 22 + 25 / 32 - 1)
    assert corrected.interval == pytest.approx((centre - half, centre + half), abs=1e-5)
    assert corrected.to_json() == {"value": corrected.value, "interval_95": list(corrected.interval)}


@pytest.mark.parametrize(
    ("raw", "table", "value"),
    [
        (Share(9, 10), ConfusionTable(8, 0, 2, 10), 1.0),  # more successes than the judge can recognize
        (Share(1, 10), ConfusionTable(10, 2, 0, 8), 0.0),  # fewer than it makes of failures
    ],
)
def test_a_corrected_rate_is_clipped(raw, table, value):
    assert correct_rate(raw, table).value == value


@pytest.mark.parametrize(
    ("raw", "table"),
    [
        (Share(0, 0), ConfusionTable(8, 1, 2, 9)),
        (Share(5, 10), ConfusionTable(8, 0, 2, 0)),
        (Share(5, 10), ConfusionTable(0, 2, 0, 8)),
        (Share(5, 10), ConfusionTable(5, 5, 5, 5)),
        (Share(5, 10), ConfusionTable(1, 5, 9, 5)),
    ],
)
def test_a_rate_is_not_corrected_by_errors_that_are_unknown_or_those_of_chance(raw, table):
    assert correct_rate(raw, table) is None


def test_the_interval_is_undefined_where_the_adjusted_rates_are_those_of_chance():
    corrected = correct_rate(Share(5, 10), ConfusionTable(true_positive=1, false_positive=90, true_negative=30))
    assert corrected.interval is None
    assert corrected.to_json()["interval_95"] is None


def test_a_judge_without_an_error_among_few_labels_is_not_taken_for_faultless():
    low, high = correct_rate(Share(30, 60), ConfusionTable(true_positive=5, true_negative=5)).interval
    assert (low < 0.4, high > 0.6) == (True, True)


@pytest.mark.parametrize(("rate", "recall", "specificity", "labels"), [(0.3, 0.85, 0.9, 60), (0.6, 0.95, 0.7, 40)])
def test_the_interval_holds_the_rate_in_about_95_of_100_samples(rate, recall, specificity, labels):
    generator = random.Random(8)
    held = 0
    for _ in range(1_000):
        table = ConfusionTable.count(
            (generator.random() < (recall if label else 1 - specificity), label)
            for label in (generator.random() < rate for _ in range(labels))
        )
        positive = rate * recall + (1 - rate) * (1 - specificity)
        corrected = correct_rate(Share(sum(generator.random() < positive for _ in range(200)), 200), table)
        low, high = corrected.interval
        held += low <= rate <= high
    assert 0.94 <= held / 1_000 <= 0.99


FLEISS = [{"a": True, "b": True, "c": True}, {"a": True, "b": False, "c": True}, {"a": False, "b": False, "c": False}]


def test_annotators_agree_in_pairs():
    agreement = measure_agreement([*FLEISS, {"a": True, "b": False}, {"c": True}])
    assert agreement.pairs == {
        ("a", "b"): ConfusionTable(true_positive=1, false_positive=2, true_negative=1),
        ("a", "c"): ConfusionTable(true_positive=2, true_negative=1),
        ("b", "c"): ConfusionTable(true_positive=1, false_negative=1, true_negative=1),
    }
    assert agreement.share == Share(7, 10)
    assert agreement.mean_kappa == pytest.approx((0.2 * 4 + 1.0 * 3 + 0.4 * 3) / 10)
    # Of three complete runs: 14 of 18 ordered pairs agree, and 5 of 9 labels are successes.
    expected = (5 / 9) ** 2 + (4 / 9) ** 2
    assert agreement.fleiss_kappa == pytest.approx((14 / 18 - expected) / (1 - expected))
    raw = agreement.to_json()
    assert (raw["agreement"], raw["pair_count"], raw["mean_kappa"]) == (0.7, 10, agreement.mean_kappa)
    assert (raw["fleiss_kappa"], raw["complete_count"]) == (agreement.fleiss_kappa, 3)
    assert [pair["annotators"] for pair in raw["pairs"]] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert raw["pairs"][0]["kappa"]["value"] == pytest.approx(0.2)


def test_two_annotators_have_no_fleiss_kappa():
    assert measure_agreement([{"a": True, "b": True}, {"a": False, "b": True}]).fleiss_kappa is None


def test_annotators_who_say_one_word_only_have_no_kappa():
    agreement = measure_agreement([{"a": True, "b": True, "c": True}])
    assert (agreement.share.value, agreement.mean_kappa, agreement.fleiss_kappa) == (1.0, None, None)


@pytest.mark.parametrize("runs", [[], [{"a": True}, {"b": False}]])
def test_runs_with_one_label_each_say_nothing_about_annotators(runs):
    assert measure_agreement(runs) is None


@pytest.mark.parametrize(("successes", "raters"), [([], 3), ([1, 0], 1), ([3, 3], 3), ([0], 2)])
def test_fleiss_kappa_is_undefined_without_pairs_and_variation(successes, raters):
    assert compute_fleiss_kappa(successes, raters) is None
