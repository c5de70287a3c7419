"""What is made of measured costs: medians, ratios, the table, and whose turn it is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.harness.comparison import chosen_figures, named_by
from tests.benchmarks.harness.contestants import Contestant
from tests.benchmarks.harness.environments import Environments
from tests.benchmarks.harness.figures import HEADER, AtLeast, AtMost, figures, table
from tests.benchmarks.harness.line_up import Sizes, line_up
from tests.benchmarks.harness.measures import PeakDifference, ProcessorDifference, ProcessorTimes, WallTimes, medians
from tests.benchmarks.harness.measuring import Cost
from tests.benchmarks.harness.rounds import turns

SLOW, FAST = Cost(wall=30.0, cpu=20.0, peak=90_000_000, code=0), Cost(wall=10.0, cpu=4.0, peak=50_000_000, code=1)


@pytest.mark.parametrize(
    ("measure", "value", "told"),
    [
        (ProcessorTimes(), 5.0, "20.00 s / 4.00 s"),
        (ProcessorTimes(tasks=(10, 1)), 0.5, "20.00 s / 4.00 s"),
        (ProcessorDifference(), 16_000.0, "20.00 s - 4.00 s"),
        (WallTimes(), 3.0, "30.00 s / 10.00 s"),
        (PeakDifference(), 40.0, "90 MB - 50 MB"),
        (PeakDifference(20_000_000, " recordings"), 2.0, "90 MB - 50 MB"),
    ],
)
def test_two_costs_make_a_number(measure, value, told):
    assert measure.value(SLOW, FAST) == value
    assert measure.told(SLOW, FAST) == told


def test_one_slow_session_does_not_move_a_median():
    assert medians([FAST, SLOW, FAST]) == FAST
    assert medians([FAST, SLOW]) == Cost(wall=20.0, cpu=12.0, peak=70_000_000, code=1)


@pytest.mark.parametrize(
    ("kind", "bar", "row"),
    [
        (AtLeast, 5, "| a to b | 5 or more | 5.00 | 20.00 s / 4.00 s | 1 and 2 | yes |"),
        (AtLeast, 5.1, "| a to b | 5.1 or more | 5.00 | 20.00 s / 4.00 s | 1 and 2 | **no** |"),
        (AtMost, 5, "| a to b | 5 or less | 5.00 | 20.00 s / 4.00 s | 1 and 2 | yes |"),
        (AtMost, 4.9, "| a to b | 4.9 or less | 5.00 | 20.00 s / 4.00 s | 1 and 2 | **no** |"),
    ],
)
def test_a_row_tells_the_bar_the_number_its_parts_and_whether_it_is_met(kind, bar, row):
    figure = kind("name", bar, ProcessorTimes(), ("a", "b"), "a to b")
    assert figure.row({"a": [SLOW], "b": [FAST, FAST]}) == row


def test_a_unit_stands_behind_bar_and_number():
    figure = AtMost("name", 25, PeakDifference(), ("a", "b"), "memory")
    assert figure.row({"a": [SLOW], "b": [FAST]}) == (
        "| memory | 25 MB or less | 40.00 MB | 90 MB - 50 MB | 1 and 1 | **no** |"
    )


def test_a_figure_without_one_of_its_costs_was_not_measured():
    figure = AtMost("name", 5, ProcessorTimes(), ("a", "b"), "a to b")
    assert table([figure], {"a": [SLOW], "b": []}) == (
        "| what | bar | measured | of | sessions | met |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| a to b | 5 or less | not measured | | | |"
    )


def test_the_bars_are_those_that_are_published():
    assert [(figure.name, figure.bar, figure.direction) for figure in figures(Sizes())] == [
        ("command-line", 20, "more"),
        ("python-api", 5, "more"),
        ("loops", 7, "more"),
        ("floor", 2.2, "less"),
        ("fewer-command", 14, "more"),
        ("fewer-api", 4, "more"),
        ("one-fails", 1.4, "less"),
        ("zipped", 2, "less"),
        ("large", 4, "more"),
        ("memory", 25, "less"),
        ("memory-large", 3, "less"),
        ("many", 1.1, "less"),
        ("item-memory", 4, "less"),
        ("remote", 3, "less"),
        ("failing", 1.5, "less"),
        ("report", 1.2, "less"),
        ("report-recordings", 1.2, "less"),
        ("report-memory", 1_024, "less"),
        ("summary-million", 400, "less"),
        ("reuse", 0.15, "less"),
        ("audit", 10, "less"),
        ("processes", 1.7, "more"),
        ("large-processes", 1.6, "more"),
        ("start", 120, "less"),
        ("idle", 1.05, "less"),
        ("recording", 1.15, "less"),
        ("recording-time", 1.15, "less"),
    ]


def test_every_contestant_is_in_a_figure_and_every_figure_has_its_contestants():
    anywhere = Path("nowhere")
    known = line_up(Environments(anywhere, anywhere, anywhere), Sizes(), anywhere)
    assert named_by(figures(Sizes()), known).keys() == known.keys()


def test_figures_are_chosen_by_name_in_the_order_of_the_table():
    assert [figure.name for figure in chosen_figures(figures(Sizes()), ["idle", "large"])] == ["large", "idle"]
    assert chosen_figures(figures(Sizes()), []) == list(figures(Sizes()))


def test_an_unknown_figure_is_refused_with_the_names_of_all():
    with pytest.raises(SystemExit, match="no figure is called quick; there are command-line, python-api, loops, "):
        chosen_figures(figures(Sizes()), ["quick", "idle"])


def test_in_each_round_all_take_turns_the_short_ones_more_often_the_long_ones_in_the_first():
    plain = Contestant(command=(), directory=Path())
    known = {"plain": plain, "short": replace(plain, times=3), "long": replace(plain, rounds=1)}
    assert list(turns(known, 2)) == [
        *((1, name) for name in ("plain", "short", "long", "short", "short")),
        *((2, name) for name in ("plain", "short", "short", "short")),
    ]


def test_the_manual_has_a_row_for_each_figure_with_its_bar():
    page = (Path(__file__).parents[2] / "docs/explanation/performance.md").read_text("utf-8")
    assert HEADER in page
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| [\d.]+[^|]* \| [^|]+ \| \d+ and \d+ \| (?:yes|\*\*no\*\*) \|$", page, re.MULTILINE
    )
    published = table(figures(Sizes()), {}).splitlines()[2:]
    assert [f"| {what} | {bar} | not measured | | | |" for what, bar in rows] == published
