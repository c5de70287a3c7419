"""`--webeval-durations` shows where the time of a session went."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace

import pytest

from pytest_webeval.plugin.reporting.durations import lines
from pytest_webeval.recordings import inputs as durations

PHASES = "read {} s ({}), decode {} s ({}), load task {} s ({}), evaluate {} s ({}), write {} s ({})"
LINE = re.compile(r" +\d+\.\d{3} s  (\S+)  read \S+, decode \S+, load task \S+, evaluate \S+, write \S+")


def slowest(result) -> list[str]:
    return [found.group(1) for line in result.outlines if (found := LINE.fullmatch(line))]


@pytest.mark.parametrize(("option", "count"), [("1", 1), ("2", 2), ("7", 3), ("0", 3)])
def test_it_shows_the_phases_of_as_many_runs_as_were_asked_for(runs, webeval, option, count):
    for number in (1, 2, 3):
        runs.add(number, passes=number != 2)
    result = webeval(f"--webeval-durations={option}")
    result.stdout.fnmatch_lines(["*= webeval durations =*", "* s in 3 runs: read * s (*), *write * s (*)"])
    assert len(slowest(result)) == count
    assert set(slowest(result)) <= {"runs/1", "runs/2", "runs/3"}


def test_every_phase_of_a_scored_run_takes_time(runs, webeval, monkeypatch):
    runs.add(1)
    ticks = itertools.count()  # a clock that moves on when it is read: a phase that began and ended took time
    monkeypatch.setattr(durations, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    (line,) = filter(LINE.fullmatch, webeval("--webeval-durations=1").outlines)
    seconds = {phase: float(count) for phase, count in re.findall(r"([a-z ]+) (\d+\.\d{3})(?:,|$)", line)}
    assert [phase.strip() for phase in seconds] == ["read", "decode", "load task", "evaluate", "write"]
    assert all(count >= 1 for count in seconds.values())


def test_nothing_is_shown_unless_somebody_asks(runs, webeval):
    runs.add(1)
    webeval().stdout.no_fnmatch_line("*durations*")


@pytest.mark.whole
def test_workers_tell_the_controller(runs, webeval_apart):
    for number in (1, 2, 3):
        runs.add(number)
    assert len(slowest(webeval_apart("-n2", "--webeval-durations=0"))) == 3


def test_the_number_may_stand_in_the_ini_file(pytester, runs, webeval):
    runs.add(1)
    pytester.makeini("[pytest]\nwebeval_durations = 1\n")
    assert slowest(webeval()) == ["runs/1"]


@pytest.mark.parametrize("odd", ["-1", "many", "1.5"])
def test_what_is_no_count_is_refused(runs, webeval, odd):
    runs.add(1)
    result = webeval(f"--webeval-durations={odd}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*invalid --webeval-durations '{odd}'; use a non-negative integer (0 shows all runs)"]
    )


def test_the_slowest_come_first_and_shares_are_of_the_whole():
    by_run = {"a": {"read": 1.0}, "b": {"read": 1.0, "decode": 2.0}, "c": {"evaluate": 1.0}}
    assert lines(by_run, 2) == [
        "5.00 s in 3 runs: " + PHASES.format("2.00", "40%", "2.00", "40%", "0.00", "0%", "1.00", "20%", "0.00", "0%"),
        "   3.000 s  b  read 1.000, decode 2.000, load task 0.000, evaluate 0.000, write 0.000",
        "   1.000 s  a  read 1.000, decode 0.000, load task 0.000, evaluate 0.000, write 0.000",
    ]


def test_runs_that_took_no_time_at_all_have_no_share_of_it():
    assert lines({"a": {}}, 0)[0] == "0.00 s in 1 run: " + PHASES.format(*["0.00", "0%"] * 5)
