"""The line that says how a long session is doing, on a terminal and nowhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress

import pytest

from pytest_webeval.reports.status_line import Tally, status_line
from pytest_webeval.summary.record import Record

LINE = re.compile(r"  \d+/\d+  \d+\.\d% success")
LETTERS = re.compile(r"[.FEs]{5,}|runs/\d+ [.FE]")
COLUMNS = 70


@pytest.fixture
def watched(pytester):
    """Runs pytest on a pseudo terminal; what it shows there."""

    def run(*arguments, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        plain = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "CI", "NO_COLOR"}}
        command = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "--webeval-runs=runs", *arguments]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with subprocess.Popen(command, cwd=pytester.path, env=plain | {"TERM": "xterm"} | environment, **streams):
            os.close(theirs)
            pieces = []
            with suppress(OSError):  # which a terminal raises when nobody is left on its other side
                while piece := os.read(ours, 65536):
                    pieces.append(piece)
        os.close(ours)
        return re.sub(r"\x1b\[[0-9;]*m|\x1b\].*?\x1b\\", "", b"".join(pieces).decode())

    return run


@pytest.fixture
def many(runs):
    """60 runs on two sites, of which every third fails; one cannot be read."""
    for number in range(100, 160):
        site = "gitlab" if number % 2 else "shopping"
        runs.tasks.append(runs.definition(number, site=site))
        runs.add(number, passes=bool(number % 3), site=site, defined=False)
    (runs.root / "159/network.har").write_text("{")
    runs.define()
    return runs


def seen(shown):
    """What is left to see of each line once all of it was written over."""
    lines = []
    for line in shown.split("\n"):
        left = ""
        for piece in line.split("\r"):
            left = piece + left[len(piece) :]
        lines.append(left.rstrip())
    return lines


@pytest.mark.parametrize(
    "options",
    [
        (),
        *(
            pytest.param(options, marks=pytest.mark.whole)
            for options in (
                ("-n2",),
                ("--no-header",),
                ("--color=no",),
                ("--color=yes",),
                ("-o", "console_output_style=classic"),
                ("-o", "console_output_style=count"),
                ("--tb=no", "--no-summary"),
            )
        ),
    ],
)
def test_a_long_session_shows_one_line_that_is_gone_at_its_end(many, watched, options):
    shown = watched(*options)
    assert LINE.search(shown)
    assert not [line for line in seen(shown) if LINE.search(line)]
    assert not LETTERS.search(shown)
    assert "FAILED runs/102::task" in shown or "--no-summary" in options
    assert "60 scored: 40 success, 19 failure, 1 error, 0 excluded" in shown or "--no-summary" in options
    assert re.search(r"19 failed, 40 passed, 1 error in", shown)
    assert max(len(piece) for line in shown.split("\n") if LINE.search(line) for piece in line.split("\r")) < COLUMNS


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    "options",
    [
        ("-v",),
        ("-q",),
        *(
            pytest.param(options, marks=pytest.mark.whole)
            for options in (("-s",), ("--setup-show",), ("--pdb", "--deselect=runs"), ("-p", "no:terminal"))
        ),
    ],
)
def test_who_wants_more_or_less_gets_what_pytest_shows(many, watched, options):
    assert not LINE.search(watched(*options, "--maxfail=1"))


@pytest.mark.whole
def test_a_short_session_shows_what_pytest_shows(runs, watched):
    for number in range(49):
        runs.add(number)
    assert not LINE.search(watched())


@pytest.mark.whole
def test_a_dumb_terminal_shows_what_pytest_shows(many, watched):
    shown = watched(TERM="dumb")
    assert not LINE.search(shown)
    assert LETTERS.search(shown)


def test_without_a_terminal_nothing_changes(many, webeval_apart):
    result = webeval_apart()
    assert not LINE.search(result.stdout.str())
    assert [line for line in result.outlines if re.fullmatch(r"runs/101 \. +\[  3%\]", line)]


@pytest.mark.whole
def test_other_tests_of_the_session_are_counted_and_told(many, watched, pytester):
    pytester.makepyfile(test_other="import time\ndef test_no():\n    time.sleep(0.2); assert 0\ndef test_yes(): pass")
    shown = watched("test_other.py", "runs")
    assert re.search(r"  \d+/62.* \| 1 failed test\b", shown)
    assert "FAILED test_other.py::test_no" in shown
    assert re.search(r"20 failed, 41 passed, 1 error in", shown)


@pytest.mark.whole
def test_what_others_write_stands_on_lines_of_its_own(many, watched, pytester):
    pytester.makeconftest(
        """
        import time
        def pytest_runtest_logreport(report):
            if report.when == "call" and report.nodeid.startswith("runs/101"):
                time.sleep(0.2)
        def pytest_runtest_logfinish(nodeid):
            if nodeid.startswith("runs/101"):
                terminal.write_line("a word of somebody")
        def pytest_sessionstart(session):
            global terminal
            terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        """
    )
    assert "a word of somebody" in seen(watched())


def record(number, status, site="shopping", **changed):
    told = {"task_id": number, "status": status, "score": 0.0, "sites": site.split("-"), "template": 1, "warnings": []}
    told |= dict.fromkeys(("task_type", "reason"))
    told |= dict.fromkeys(("rules", "version", "evaluator_checksum", "data_checksum"), "")
    return Record(f"runs/{number}", wall_time=0.0, **(told | changed))


def tallied(*records):
    tally = Tally(expected=812)
    for one in records:
        tally.keep(one)
    return tally


FORGE = [record(number, "success" if number % 3 else "failure", "gitlab") for number in range(30)]
SHOP = [record(number, "success" if number % 2 else "failure") for number in range(100, 170)]


@pytest.mark.parametrize(
    ("records", "width", "line"),
    [
        ([], 80, "  0/812"),
        (FORGE + SHOP, 80, "  100/812  55.0% success | shopping 50% of 70 | gitlab 67% of 30"),
        (FORGE + SHOP, 60, "  100/812  55.0% success | shopping 50% of 70 | …"),
        (FORGE + SHOP, 40, "  100/812  55.0% success | …"),
        (FORGE + SHOP, 20, "  100/812  55.0% suc"),
        ([record(1, "error"), record(2, "success")], 80, "  2/812  50.0% success | shopping 50% of 2 | 1 error"),
        ([record(1, "error", skipped=True)], 80, "  1/812"),
        ([record(1, "error", excluded="aborted")], 80, "  1/812 | 1 error"),
        ([record(1, "success", site="\x1b[31m\u202eé")], 80, "  1/812  100.0% success | ?[31m\\u202e\\xe9 100% of 1"),
        ([record(1, "success", site="")], 80, "  1/812  100.0% success"),
        ([record(1, "failure"), record(1, "success")], 80, "  1/812  100.0% success | shopping 100% of 1"),
    ],
)
def test_the_line_tells_rate_sites_and_errors_as_far_as_there_is_room(records, width, line):
    assert status_line(tallied(*records), width) == line


def test_a_test_that_fails_twice_counts_once():
    tally = Tally(expected=2)
    for has_failed in (True, True, False):
        tally.keep_other("test_it.py::test", has_failed=has_failed)
    assert status_line(tally, 80) == "  1/2 | 1 failed test"
