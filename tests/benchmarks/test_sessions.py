"""Whole sessions are measured at sizes at which that means nothing, to see that they are measured at all."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.harness import corpora
from tests.benchmarks.harness.comparison import main, named_by
from tests.benchmarks.harness.contestants import Contestant, RecordedWalks, WrongVerdicts, audit, session
from tests.benchmarks.harness.environments import Environments
from tests.benchmarks.harness.figures import figures, table
from tests.benchmarks.harness.line_up import Sizes, empty, line_up
from tests.benchmarks.harness.measuring import measured
from tests.benchmarks.harness.recordings import Example, example
from tests.benchmarks.harness.rounds import measured_in_turns

PROJECT = Path(__file__).parents[2]
TINY = Sizes(
    tasks=4,
    records=2_000,
    fewer_tasks=5,
    recording=120_000,
    large_tasks=2,
    large_recording=200_000,
    few=2,
    many=6,
    items=6,
    walks=1,
)
OURS = Path(sys.executable)
IN_BROWSER = {"recording", "recording-time"}
ON_REFERENCE = {"command-line", "python-api", "loops", "fewer-command", "fewer-api", "large"}


def once(chosen, reference, scratch):
    """The costs of one session of each contestant."""
    known = line_up(Environments(plugin=OURS, bare=OURS, reference=reference), TINY, scratch)
    asked = {name: replace(one, times=1, rounds=1) for name, one in named_by(chosen, known).items()}
    return measured_in_turns(asked, 1)


@pytest.mark.whole
def test_sessions_of_ours_are_measured_and_have_their_rows(tmp_path):
    chosen = [figure for figure in figures(TINY) if figure.name not in ON_REFERENCE | IN_BROWSER]
    costs = once(chosen, Path("none"), tmp_path)
    rows = table(chosen, costs).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == [f"| {figure.what}" for figure in chosen]
    assert "not measured" not in "".join(rows)
    assert all(cost.cpu > 0 and cost.wall > 0 and cost.peak > 10_000_000 for found in costs.values() for cost in found)


@pytest.mark.whole
def test_the_reference_is_measured_and_agrees_about_every_run(tmp_path, reference_python):
    chosen = [figure for figure in figures(TINY) if figure.name in ON_REFERENCE]
    costs = once(chosen, reference_python, tmp_path)
    assert "not measured" not in table(chosen, costs)
    assert {"reference", "reference-api", "reference-large"} < costs.keys()


@pytest.mark.whole
@pytest.mark.browser
@pytest.mark.usefixtures("browser")
def test_recorded_walks_are_measured_and_have_their_rows(tmp_path):
    chosen = [figure for figure in figures(TINY) if figure.name in IN_BROWSER]
    assert "not measured" not in table(chosen, once(chosen, Path("none"), tmp_path))


def test_a_walk_without_its_posts_is_refused(tmp_path):
    recordings = tmp_path / "recordings"
    write = "import json, pathlib; path = pathlib.Path('recordings/0'); path.mkdir(parents=True)\n"
    write += "(path / 'network.har').write_text(json.dumps({'log': {'entries': []}}))"
    contestant = RecordedWalks(command=(sys.executable, "-c", write), directory=tmp_path, recordings=recordings)
    with pytest.raises(WrongVerdicts, match="0 is no recording of a walk: it has 0 of 2 posts"):
        contestant.measured()


@pytest.mark.whole
def test_a_session_that_comes_to_other_verdicts_is_refused(tmp_path):
    wrong = replace(example(101), verdict="failure")
    corpus = corpora.Corpus(tmp_path / "corpus", (wrong, example(109)), 2, Example.cut)
    with pytest.raises(WrongVerdicts, match=r"1 of 2 verdicts of .* are wrong: task 1: success instead of failure"):
        session(OURS, corpus, tmp_path / "session").measured()


@pytest.mark.whole
def test_an_audit_that_finds_nothing_in_a_run_is_refused(tmp_path):
    corpus = corpora.Corpus(tmp_path / "corpus", (example(101), example(109)), 2, lambda *_: b"{}")
    with pytest.raises(WrongVerdicts, match=r"not every run of .* has secrets:\n0 secrets in 0 of 2 runs"):
        audit(OURS, corpus, tmp_path / "session").measured()


@pytest.mark.parametrize("code", [1, 4])
def test_a_command_that_breaks_is_refused_with_the_end_of_what_it_printed(tmp_path, code):
    command = (sys.executable, "-c", f"print('no such runs'); exit({code})")
    with pytest.raises(WrongVerdicts, match=rf"ended with {code}:\nno such runs"):
        Contestant(command=command, directory=tmp_path / "here").measured()


@pytest.mark.whole
def test_settings_of_a_directory_above_are_not_those_of_a_session(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert empty(OURS, tmp_path / "here").measured().code == 0


def test_costs_are_those_of_the_command_and_its_children_alone(tmp_path):
    own = bytearray(200_000_000)  # of this process: none of its business
    grandchild = "import time; own = bytearray(60_000_000)\nwhile time.process_time() < 0.3: pass"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}]); exit(3)"
    cost = measured((sys.executable, "-c", child), tmp_path, tmp_path / "log.txt")
    assert len(own) > cost.peak > 60_000_000
    assert cost.cpu > 0.3
    assert cost.code == 3


def test_what_a_developer_has_set_reaches_no_command(tmp_path, monkeypatch):
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "COVERAGE_PROCESS_START", "WEBEVAL_PARITY"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "1")
    measured((sys.executable, "-c", "import os; print(*os.environ)"), tmp_path, tmp_path / "log.txt")
    found = (tmp_path / "log.txt").read_text().split()
    assert "KEPT" in found
    assert not [name for name in found if name.startswith(("PYTHON", "PYTEST", "COVERAGE", "WEBEVAL"))]


def test_what_runs_in_several_rounds_is_warmed_up_before_and_that_costs_nothing(tmp_path):
    write = (sys.executable, "-c", "open('turns', 'a').write('I')")
    known = {
        "often": Contestant(command=write, directory=tmp_path / "often"),
        "once": Contestant(command=write, directory=tmp_path / "once", rounds=1),
    }
    costs = measured_in_turns(known, 2)
    assert {name: len(found) for name, found in costs.items()} == {"often": 2, "once": 1}
    assert (tmp_path / "often" / "turns").read_text() == "III"
    assert (tmp_path / "once" / "turns").read_text() == "I"


@pytest.mark.whole
def test_the_command_makes_environments_and_prints_a_table_and_every_cost(tmp_path, skip_or_fail):
    command = (OURS, "-m", "tests.benchmarks.sessions")
    options = ("--only", "idle", "--rounds", "2", "--scratch", tmp_path, "--json", tmp_path / "costs.json")
    done = subprocess.run([*command, *options], cwd=PROJECT, capture_output=True, text=True, check=False)
    if "install" in done.stderr and done.returncode:
        skip_or_fail(done.stderr)
    assert done.returncode == 0, done.stderr
    header, _, row = done.stdout.splitlines()
    assert header == "| what | bar | measured | of | sessions | met |"
    assert row.startswith("| one empty test, CPU: plugin installed / not installed | 1.05 or less | ")
    costs = json.loads((tmp_path / "costs.json").read_bytes())
    assert {name: len(found) for name, found in costs.items()} == {"idle": 20, "bare": 20}
    assert all(cost["code"] == 0 and cost["cpu"] > 0 for found in costs.values() for cost in found)


def test_an_unknown_figure_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(SystemExit, match="no figure is called quick"):
        main(["--only", "quick", "--scratch", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
