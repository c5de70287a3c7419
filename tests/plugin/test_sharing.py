"""Run directories that change between the collections of two workers: all workers collect the same."""

from __future__ import annotations

import sys

import pytest

from pytest_webeval.plugin.snapshots import Snapshots, restore, snapshot
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.recordings.run_tree import Branch, Kind
from tests.support.sessions import PLAIN
from tests.support.unprivileged import MAY_NOT_READ, prefix

LAST = '''
import os, pathlib, pytest, shutil, time

def worker(config):
    return getattr(config, "workerinput", {}).get("workerid")

def pytest_collection_finish(session):
    if worker(session.config) == "gw0":
        (session.config.rootpath / "collected").touch()

@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Let one worker collect after the other, and what it finds be another then."""
    if worker(session.config) == "gw1":
        end = time.monotonic() + 60
        while not (session.config.rootpath / "collected").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        change(session.config.rootpath / "runs")
'''
FIRST = '''
import os, pathlib, pytest, shutil

def pytest_sessionstart(session):
    """Change what both workers find, before either of them looks."""
    if hasattr(session.config, "workerinput"):
        change(session.config.rootpath / "runs")
'''
NAMELESS = "cannot open {}: No such file or directory; check that it is a readable directory"
DENIED = "cannot open {}: Permission denied; check that it is a readable directory"


@pytest.fixture
def changing(pytester, runs):
    """Writes a conftest.py that changes the run root for one worker, or for both before they collect."""

    def write(change, *, when=LAST, more=""):
        pytester.makeconftest(f"{when}\ndef change(runs):\n    {change}\n\n{more}")

    yield write
    for path in runs.root.iterdir():
        path.chmod(0o755)


@pytest.fixture
def four(runs):
    """Runs of which one is a failure, and one lies deeper than the others."""
    for number in (1, 3, 4):
        runs.add(number, passes=number != 4)
    runs.add(2, name="nested/2")
    return runs


@pytest.fixture
def spread(pytester):
    """A session of two workers that may read only what modes allow."""
    command = (*prefix(*MAY_NOT_READ), sys.executable, "-m", "pytest", *PLAIN, "-n2")

    def run(*arguments, root="runs"):
        result = pytester.run(*command, f"--webeval-runs={root}", *arguments)
        result.stdout.no_fnmatch_line("*Different tests were collected*")
        result.stdout.no_fnmatch_line("*INTERNALERROR*")
        return result

    return run


def reasons(runs):
    return {name: reason.replace("runs/", "", 1) for name, reason in runs.reasons.items() if name != "4"}


def first_or_last(*changes):
    """A change before either worker looks, and one between them. By default the first change between them runs."""
    cases = [
        pytest.param(when, *change, marks=() if (when, change) == (LAST, changes[0]) else pytest.mark.whole)
        for when in (FIRST, LAST)
        for change in changes
    ]
    names = [f"{place}-{change[0]}" for place in ("first", "last") for change in changes]
    return pytest.mark.parametrize(("when", "name", "change", "reason"), cases, ids=names)


@pytest.mark.whole
@first_or_last(
    ("vanished", "shutil.rmtree(runs / 'nested/2', ignore_errors=True)", NAMELESS),
    ("locked", "(runs / 'nested').chmod(0)", DENIED),
)
def test_a_run_that_vanishes_or_is_locked_before_a_worker_collects_is_one_error(
    four, spread, changing, when, name, change, reason
):
    changing(change, when=when)
    spread().assert_outcomes(passed=2, failed=1, errors=1)
    assert (name, four.counts) == (name, (2, 1, 1))
    assert reasons(four) == {"2": reason.format("nested/2")}


HOOK = "def pytest_webeval_recognize(path, config): pass"


@pytest.mark.whole
@pytest.mark.parametrize("more", ["", pytest.param(HOOK, marks=pytest.mark.whole)], ids=["ours", "hook"])
def test_what_appears_after_one_worker_collected_is_left_out(four, spread, changing, more):
    changing(
        "shutil.copytree(runs / '1', runs / '5'); (runs / '6/deep').mkdir(parents=True); os.remove(runs / 'logs/a')",
        more=more,
    )
    (four.root / "logs").mkdir()
    (four.root / "logs/a").touch()
    spread().assert_outcomes(passed=3, failed=1)
    assert four.counts == (3, 1, 0)
    assert four.summary["webeval"]["without_runs"] == ["runs/logs"]


RECOGNIZE = """
from pytest_webeval.recordings.webarena_verified import WebArenaVerified

class Own(WebArenaVerified):
    name = "own"

def pytest_webeval_recognize(path, config):
    if (path / "own.txt").exists():
        return Own()
"""


@pytest.mark.whole
def test_a_run_that_a_hook_knew_and_that_vanishes_is_one_error(four, spread, changing):
    for name in ("1", "nested/2"):
        (four.root / name / "own.txt").touch()
    changing("shutil.rmtree(runs / 'nested/2')", more=RECOGNIZE)
    spread().assert_outcomes(passed=2, failed=1, errors=1)
    assert four.result(1)["webeval"]["format"] == "own"
    assert list(reasons(four)) == ["2"]


@pytest.mark.whole
def test_keywords_select_a_run_that_vanished(four, spread, changing):
    changing("shutil.rmtree(runs / 'nested/2', ignore_errors=True); (runs / '3').chmod(0)", when=FIRST)
    spread("-k", "[2] or shopping and [3]").assert_outcomes(errors=2)
    assert reasons(four) == {"2": NAMELESS.format("nested/2"), "3": DENIED.format("3")}


@pytest.mark.whole
def test_python_tests_over_a_run_that_vanished_are_errors(four, spread, changing, pytester):
    changing("shutil.rmtree(runs / 'nested/2')")
    pytester.makepyfile(test_checks="def test_it(webeval_run): webeval_run.response")
    spread("test_checks.py", "runs").assert_outcomes(passed=5, failed=1, errors=2)
    assert reasons(four) == {"2": NAMELESS.format("nested/2")}


@pytest.mark.whole
def test_missing_tasks_are_those_that_the_first_look_missed(four, spread, changing):
    four.define(four.definition(5), four.definition(6))
    changing("shutil.rmtree(runs / 'nested/2'); shutil.copytree(runs / '1', runs / '5')")
    spread("--webeval-require-all").assert_outcomes(passed=2, failed=1, errors=3)
    told = "no recording of task {} in runs; record it, or omit --webeval-require-all"
    assert reasons(four) == {"2": NAMELESS.format("nested/2"), "5": told.format(5), "6": told.format(6)}


@pytest.mark.whole
def test_a_run_that_an_argument_names_may_vanish(four, spread, changing):
    changing("shutil.rmtree(runs / 'nested/2')")
    spread("runs/4", "runs/nested/2::task", "runs/1").assert_outcomes(passed=1, failed=1, errors=1)
    assert reasons(four) == {"2": NAMELESS.format("nested/2")}


@pytest.mark.whole
def test_a_conftest_that_only_workers_load_leaves_out_the_same_in_all_of_them(runs, spread, changing, pytester):
    pytester.makeini("[pytest]\n")
    for number in (1, 2, 3):
        runs.add(number, name=f"data/{number}")
    (runs.root / "tasks.json").rename(runs.root / "data/tasks.json")
    (runs.root / "conftest.py").write_text("collect_ignore = ['data/1']\n")
    changing("shutil.rmtree(runs / 'data/2')")
    spread(root="runs/data").assert_outcomes(passed=1, errors=1)


@pytest.mark.whole
def test_a_worker_that_stands_in_for_another_collects_the_same(four, spread, changing):
    more = """
def pytest_runtest_call(item):
    if "::" in item.nodeid and item.path.name == "3":
        shutil.rmtree(item.config.rootpath / "runs/1")
        os._exit(9)
"""
    changing("pass", more=more)
    spread("--maxprocesses=1").assert_outcomes(passed=2, failed=2)
    assert reasons(four) == {"3": "xdist worker crashed while scoring this run; rerun it alone to see the cause"}


@pytest.mark.whole
@pytest.mark.parametrize("is_shared", [True, pytest.param(False, marks=pytest.mark.whole)])
def test_nothing_is_left_behind_and_nothing_is_needed(four, spread, pytester, monkeypatch, is_shared):
    place = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(pytester.path))
    told = "def pytest_webeval_scored(item): assert os.listdir({0!r})" if is_shared else ""
    broken = "import tempfile\ndef refuse(**about): raise OSError\ntempfile.TemporaryDirectory = refuse"
    pytester.makeconftest(f"import os\n{told.format(str(place)) or broken}")
    spread().assert_outcomes(passed=3, failed=1)
    assert four.counts == (3, 1, 0)
    assert list(place.iterdir()) == []


def test_a_process_that_cannot_share_is_alone(tmp_path):
    assert Snapshots(tmp_path / "nowhere").agree("key", lambda: b"mine") == b"mine"


def test_the_first_process_decides_for_all(tmp_path):
    shared = Snapshots(tmp_path)

    def look():
        Snapshots(tmp_path).agree("key", lambda: b"first")  # another looked at the same time, and was faster
        return b"second"

    assert shared.agree("key", look) == b"first"
    assert shared.agree("key", lambda: b"third") == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["key.json"]


def test_a_tree_is_restored_as_it_was(tmp_path):
    odd = tmp_path / "\udcff\n"
    run, broken = Branch(odd / "1", Kind.RUN), Branch(odd / "2", Kind.BROKEN, "why")
    tree = Branch(tmp_path, Kind.GROUP, None, (Branch(odd, Kind.GROUP, None, (run, broken)),), (tmp_path / "logs",))
    found, formats = restore(snapshot(tree, {run.path: FORMATS[0]}), tmp_path)
    assert found == tree
    assert formats == {run.path: FORMATS[0]}
