"""The command `score` for who types it: what it refuses, and how it ends when somebody stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.reports.html import index_page
from pytest_webeval.reports.html.writer import data_name
from pytest_webeval.summary.results.result_files import read_results
from tests.support.recorded import final_answer
from tests.support.unprivileged import MAY_NOT_READ, prefix

RAISING = "def webeval_evaluators(ours):\n    raise ValueError('no\\nevaluators')\n"
SLEEPING = """
import time
import pytest_webeval as webeval

class Sleeping(webeval.ResponseEvaluator):
    def evaluate(self, expectation, case):
        if case.run.task_id >= 104:
            time.sleep(300)
        return super().evaluate(expectation, case)

def webeval_evaluators(ours):
    return [Sleeping()]
"""
WAITING = """
import os, time
from pathlib import Path
import pytest_webeval as webeval

class Waiting(webeval.ResponseEvaluator):
    def evaluate(self, expectation, case):
        if case.run.task_id == 103 and "WAIT" in os.environ:
            Path("waiting").touch()
            time.sleep(300)
        return super().evaluate(expectation, case)

def webeval_evaluators(ours):
    return [Waiting(), *ours[1:]]
"""
KILLING = """
import pytest_webeval as webeval
from tests.support.killing_evaluators import KillingEvaluator

def webeval_evaluators(ours):
    return [KillingEvaluator(102), *ours[1:]]
"""
LEVELED = """
import os
from dataclasses import dataclass
import pytest_webeval as webeval

@dataclass(frozen=True)
class Leveled(webeval.ResponseEvaluator):
    level: str = "1"

    def evaluate(self, expectation, case):
        if self.level == "2":
            raise ValueError("too high")
        return super().evaluate(expectation, case)

def webeval_evaluators(ours):
    return [Leveled(os.environ["LEVEL"]), *ours[1:]]
"""
TITLED = """
import pytest_webeval as webeval

class Titled(webeval.ResponseEvaluator):
    title = "same"

    def evaluate(self, expectation, case):
        return self.result([webeval.Assertion.of("title", self.title == "same", "same", self.title)])

def webeval_evaluators(ours):
    return [Titled(), *ours[1:]]
"""
ADVICE = "use a module that is installed or on PYTHONPATH, or the path of a .py file"


@pytest.fixture
def complain(runs, capsys, monkeypatch):
    """The last line of what the command says about arguments that it refuses."""
    runs.add(101)
    monkeypatch.chdir(runs.root.parent)

    def run(*arguments):
        try:
            code = main(["score", *arguments])
        except SystemExit as error:
            code = error.code
        assert code == 4
        output, errors = capsys.readouterr()
        assert not output
        return errors.splitlines()[-1]

    return run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: RUNS"),
        (["nowhere"], "RUNS: directory not found: {here}/nowhere; pass the directory of the recorded runs"),
        (["runs", "runs/101"], "RUNS: {here}/runs/101 lies inside {here}/runs; pass only one of them"),
        (["--webeval-runs=runs"], "--webeval-runs is not an option of this command; pass the directory alone, *"),
        (["runs", "--judge=gpt"], "--judge is not an option of this command; ask judges with pytest, e.g. *"),
        (["runs", "--webeval-judge-mode", "live"], "--webeval-judge-mode is not an option of this command; ask *"),
        (["runs", "-n", "4"], "-n is not an option of this command; use --executor process:N"),
        (["runs", "-k", "107"], "-k is not an option of this command; use --subset, or select runs with pytest"),
        (["runs", "--shard=1/2"], "--shard is not an option of this command; use --executor, *"),
        (["runs", "--executor=magic"], "invalid executor 'magic'; use process, process:N, local:N or *"),
        (["runs", "--batch=0"], "invalid --batch '0'; use a number from 1 to 10,000"),
        (["runs", f"--batch={'9' * 5000}"], "invalid --batch '999*; use a number from 1 to 10,000"),
        (["runs", "--gates-decide"], "--gates-decide was removed; leave it out: gates alone decide the exit code"),
        (["runs", "--gate=errors"], "invalid gate 'errors': incomplete; quote it: --gate='errors <= 2'"),
        (["runs", "--known-failures"], "--known-failures requires a baseline; pass --baseline=SESSION"),
        (["runs", "--report-embed=1MB"], "--report-embed requires a report; pass --report=DIR"),
        (["runs", "--report=runs/101/new"], "--report: {here}/runs/101 is a recorded run; choose a separate *"),
        (["runs", "--output=runs/101/new"], "--output: {here}/runs/101 is a recorded run; choose a separate *"),
        (["runs", "--output="], "invalid --output ''; use a path"),
        (["runs", "--limits=size = 1"], "--limits: unknown limit 'size'; use one of file_size, *"),
        (["runs", "--redact-allow=x"], "invalid --redact-allow 'x'; use a line such as *"),
        (["runs", "--rules=lax"], "invalid --rules 'lax'; use auto, default, reference or strict"),
        (["runs", "--evaluators=mine"], "--evaluators: unknown evaluator 'mine'; use response, *"),
        (["runs", "--evaluators-from=nope"], f"cannot import nope: ModuleNotFoundError: *; {ADVICE}"),
        (["runs", "--evaluators-from=nope.py"], f"cannot import *nope.py: FileNotFoundError: *; {ADVICE}"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_in_the_words_of_the_command(complain, pytester, arguments, message):
    expected = f"ERROR: {message.format(here=pytester.path)}"
    pytest.LineMatcher([complain(*arguments)]).fnmatch_lines([expected.replace("[", "[[]")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no function webeval_evaluators; let it take our evaluators and return those to use"),
        ("1 / 0", f"ZeroDivisionError: division by zero; {ADVICE}"),
        ("raise SystemExit(0)", f"SystemExit: 0; {ADVICE}"),
        (RAISING, "webeval_evaluators raised ValueError: no evaluators; fix it"),
        ("def webeval_evaluators(ours): raise SystemExit(0)", "webeval_evaluators raised SystemExit: 0; fix it"),
        (
            "def webeval_evaluators(ours): return None",
            "returned None, which is not an Evaluator; return a list of evaluators",
        ),
        (
            "def webeval_evaluators(ours): return ['x']",
            "returned 'x', which is not an Evaluator; return a list of evaluators",
        ),
        (
            "import pytest\n@pytest.fixture\ndef webeval_evaluators(): return []",
            "webeval_evaluators is a fixture, which only pytest can call; name a module with a function that *",
        ),
    ],
)
def test_a_module_without_evaluators_is_refused_before_anything_is_scored(complain, pytester, content, message):
    (pytester.path / "own.py").write_text(content)
    pytest.LineMatcher([complain("runs", "--evaluators-from=own.py")]).fnmatch_lines([f"ERROR: *own.py*{message}"])
    assert not list(pytester.path.rglob("eval_*"))


def test_a_module_takes_the_place_of_no_other(runs, monkeypatch, capsys):
    runs.add(101)
    monkeypatch.chdir(runs.root.parent)
    (runs.root.parent / "json.py").write_text("def webeval_evaluators(ours):\n    return ours\n")
    assert main(["score", "runs", "--executor=process:1", "--evaluators-from=json.py"]) == 0
    assert "1 success" in capsys.readouterr().out
    assert hasattr(sys.modules["json"], "dumps")


@pytest.mark.whole
def test_more_runs_than_one_file_has_room_for_are_refused_before_they_are_scored(complain, runs, monkeypatch, capsys):
    for number in (102, 103):
        runs.add(number)
    (runs.root.parent / "few.json").write_text('{"task_ids": [101, 102]}')
    monkeypatch.setattr(index_page, "MOST_ROWS", 2)
    embedding = ("runs", "--report=report", "--report-embed=1MB")
    message = "ERROR: --report-embed: 3 runs are too many for one file; share the directory of the report instead of *"
    pytest.LineMatcher([complain(*embedding)]).fnmatch_lines([message])
    assert runs.written == []
    assert main(["score", *embedding, "--subset=few.json", "--executor=process:1"]) == 0
    assert "report.html" in capsys.readouterr().out


def test_an_edited_evaluator_is_the_cause_of_a_change_also_where_a_run_has_no_evaluators(runs, monkeypatch, capsys):
    runs.add(101)
    runs.add(102, defined=False)
    monkeypatch.chdir(runs.root.parent)
    for name in ("before", "after"):
        content = f"{TITLED}# {name}\n" + ("" if name == "before" else "Titled.title = 'other'\n")
        (runs.root.parent / "titled.py").write_text(content)
        main(["score", "runs", "--evaluators-from=titled.py", f"--output={name}"])
    capsys.readouterr()
    assert main(["compare", "before", "after"]) == 0
    assert "101: other evaluator code; success -> failure" in capsys.readouterr().out


def test_a_failure_names_its_runs_and_the_command_that_scores_them_again(runs, monkeypatch, capsys):
    for number in (101, 102):
        runs.add(number, passes=number == 101)
    monkeypatch.chdir(runs.root.parent)
    assert main(["score", "runs", "--executor=process:1", "--today=2026-01-02", "--rules=strict"]) == 1
    output = capsys.readouterr().out
    assert "1  AgentResponse: status differs: 102\n" in output
    command = "pytest --webeval-runs=runs --webeval-today=2026-01-02 --webeval-rules=strict -k '[102]'"
    assert f"         {command}\n" in output


@pytest.fixture
def roots(runs, another_root, monkeypatch):
    """Two run roots with different results."""
    other = another_root("more/runs")
    for root, number, passes in ((runs, 101, True), (runs, 102, False), (other, 103, True)):
        root.add(number, passes=passes)
    monkeypatch.chdir(runs.root.parent)
    return runs, other


@pytest.mark.parametrize("form", ["files", "shards"])
def test_each_of_several_roots_has_the_summary_and_the_results_of_its_own_runs(roots, form):
    names = ["runs", "more/runs"]
    assert main(["score", *names, "--executor=process:1", "--no-progress", f"--results={form}"]) == 1
    assert [root.counts for root in roots] == [(1, 1, 0), (1, 0, 0)]
    listed = [[row["run"] for row in root.summary["task_results"]] for root in roots]
    assert listed == [["runs/101", "runs/102"], ["more/runs/103"]]
    assert [root.summary["webeval"]["unscored_count"] for root in roots] == [0, 0]
    found = [list(read_results(root.root, lambda _, path: path, [])) for root in roots]
    assert found == [["101", "102"], ["103"]]


@pytest.mark.unchecked_files("one is a directory")
def test_a_file_that_cannot_be_written_takes_no_other_along(roots, capsys):
    runs, other = roots
    (runs.root / "eval_results-00001.jsonl").mkdir()
    (runs.root / "eval_results-00001.jsonl/mine").touch()
    assert main(["score", "runs", "more/runs", "--executor=process:1", "--no-progress", "--gate=errors <= 9"]) == 1
    assert [root.counts for root in roots] == [(1, 1, 0), (1, 0, 0)]
    output = capsys.readouterr().out
    assert f"cannot remove {runs.root}/eval_results-00001.jsonl: Is a directory; choose another directory" in output
    assert f"summary: {other.root}/eval_summary.json" in output


def start(runs, *options, **streams):
    command = [sys.executable, "-m", "pytest_webeval", "score", "runs", "--executor=process:2", "--batch=1", *options]
    return subprocess.Popen(command, cwd=runs.root.parent, start_new_session=True, text=True, **streams)


def wait_for_pages(report, count):
    """Wait until so many runs are scored and have a page, which is written last."""
    end = time.monotonic() + 60
    while len(list(report.glob("data/task-*[0-9a-f].js"))) < count and time.monotonic() < end:
        time.sleep(0.02)


def count_processes(group):
    """How many processes of a session are left."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return 1
    return 0


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("stop", "name"),
    [
        (lambda process: os.killpg(process.pid, signal.SIGINT), "KeyboardInterrupt"),
        (lambda process: process.send_signal(signal.SIGINT), "KeyboardInterrupt"),
        (lambda process: process.send_signal(signal.SIGTERM), "Terminated"),
    ],
    ids=["Ctrl-C", "SIGINT", "SIGTERM"],
)
def test_who_stops_it_has_the_files_of_what_was_scored(runs, stop, name):
    for number in range(101, 108):
        runs.add(number)
    (runs.root.parent / "sleeping.py").write_text(SLEEPING)
    options = ("--evaluators-from=sleeping.py", "--report=report", "--no-progress")
    process = start(runs, *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_pages(runs.root.parent / "report", 3)
    time.sleep(0.5)
    stop(process)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 2, output + errors
    assert errors == ""
    assert "3 scored: 3 success" in output
    summary = runs.summary["webeval"]
    assert (summary["stopped"], summary["partial"], summary["unscored_count"]) == (name, True, 4)
    assert (runs.root.parent / "report/index.html").exists()
    time.sleep(0.2)
    assert count_processes(process.pid) == 0


@pytest.mark.whole
@pytest.mark.parametrize("is_resumed", [True, False])
def test_who_stops_it_keeps_the_results_of_an_earlier_session_in_shards(runs, monkeypatch, is_resumed):
    for number in range(101, 106):
        runs.add(number)
    place = runs.root.parent
    (place / "waiting.py").write_text(WAITING)
    monkeypatch.chdir(place)
    options = ["--evaluators-from=waiting.py", "--no-progress", "--results=shards", *(["--reuse"] * is_resumed)]
    assert main(["score", "runs", "--executor=process:1", *options]) == 0
    if is_resumed:
        (runs.root / "eval_results.json").unlink()  # as of a session that was killed
        with (runs.root / "103/network.har").open("a") as recording:
            recording.write("\n")
    monkeypatch.setenv("WAIT", "1")
    process = start(runs, *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while not (place / "waiting").exists() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 2, output
    assert "2 scored: 2 success" in output
    assert "eval_results.json: 3 results of other runs kept" in output
    assert "could be kept" not in output
    problems = []
    statuses = list(read_results(runs.root, lambda result, path: f"{path} {result.status}", problems))
    assert statuses == [f"{number} success" for number in range(101, 106)]
    assert problems == []


@pytest.mark.parametrize(("how", "code"), [("skip", 0), ("xfail", 0), ("fail", 1)])
def test_an_aborted_run_fails_the_session_only_if_it_is_to(tree, runs, monkeypatch, how, code):
    tree("a", answer=final_answer("<no_answer>", is_aborted=True))
    monkeypatch.chdir(runs.root.parent)
    assert main(["score", "runs", "--executor=process:1", "--no-progress", f"--aborted={how}"]) == code
    assert runs.summary["webeval"]["excluded_count"] == 1


def test_the_page_of_a_run_that_kills_workers_is_made_without_its_recording(runs, monkeypatch):
    for number in (101, 102):
        runs.add(number)
    place = runs.root.parent
    (place / "killing.py").write_text(KILLING)
    monkeypatch.chdir(place)
    options = ("--executor=process:1", "--no-progress", "--evaluators-from=killing.py", "--report=report")
    assert main(["score", "runs", *options]) == 1
    assert runs.counts == (1, 0, 1)
    pages = [(place / f"report/data/{data_name(f'runs/{number}')}.js").read_text() for number in (101, 102)]
    assert ['"network":null' in page.replace("\\", "") for page in pages] == [False, True]


def test_a_result_by_an_evaluator_in_another_state_is_not_reused(runs, monkeypatch):
    runs.add(101)
    (runs.root.parent / "leveled.py").write_text(LEVELED)
    monkeypatch.chdir(runs.root.parent)
    for level, counts in (("1", (1, 0, 0)), ("1", (1, 0, 0)), ("2", (0, 0, 1))):
        monkeypatch.setenv("LEVEL", level)
        main(["score", "runs", "--executor=process:1", "--no-progress", "--evaluators-from=leveled.py", "--reuse"])
        assert runs.counts == counts


def test_a_reader_that_goes_away_loses_no_file(runs):
    for number in (101, 102):
        runs.add(number)
    read, write = os.pipe()
    process = start(runs, "--report=report", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert runs.counts == (2, 0, 0)
    assert (runs.root.parent / "report/index.html").exists()


def test_a_directory_that_nobody_may_read_is_an_error_of_its_run(runs):
    for number in (101, 102):
        runs.add(number)
    (runs.root / "101").chmod(0)
    command = [*prefix(*MAY_NOT_READ), sys.executable, "-m", "pytest_webeval", "score", "runs", "--executor=process:1"]
    try:
        done = subprocess.run(command, cwd=runs.root.parent, capture_output=True, text=True, check=False)
    finally:
        (runs.root / "101").chmod(0o755)
    assert (done.returncode, done.stderr) == (1, "")
    assert runs.counts == (1, 0, 1)
    assert runs.written == ["102/eval_result.json", "eval_summary.json"]


def test_the_help_is_readable(capsys):
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("usage: webeval score RUNS")
    assert lines[1] == ""
    assert not [line for line in lines if "judge" in line and "--webeval-" in line]
