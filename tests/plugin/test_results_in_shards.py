"""Sessions whose results go to shards: which bytes they hold, whoever writes them, and what a later session does."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec

import pytest

from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.results.result_files import read_results

# Pytester forgets what a session imports, and these cannot be loaded twice.
_LOADED_ONCE = [import_module(name) for name in ("pyarrow", "pandas") if find_spec(name)]
pytestmark = pytest.mark.usefixtures("suite")
_TIME = re.compile(rb'"wall_time":[^,}]+')
OUT = "--webeval-output=out"


@pytest.fixture
def suite(runs):
    for number in (9, 10, 107, 108):
        runs.add(number, passes=number != 107)
    return runs


@pytest.fixture
def score(pytester):
    """A session without pytest."""

    def run(*arguments):
        command = [sys.executable, "-m", "pytest_webeval", "score", "runs", "--no-progress", "--executor=process:1"]
        return pytester.run(*command, "--batch=2", *arguments)

    return run


def read_out(pytester, name="out"):
    """The files of results, times aside."""
    paths = sorted(pytester.path.joinpath(name).rglob("eval_result*"))
    return {str(path.relative_to(pytester.path / name)): _TIME.sub(b"", path.read_bytes()) for path in paths}


def list_lines(pytester, name="out"):
    rows = [
        json.loads(line)
        for path in sorted(pytester.path.joinpath(name).glob("eval_results*.jsonl"))
        for line in path.read_bytes().splitlines()
    ]
    return {row["run"]: row["result"] for row in rows}


def timeless(files):
    """The same without the checksums of files with times in them."""
    return {name: re.sub(rb'"sha256": "[^"]*"', b"", content) for name, content in files.items()}


@pytest.mark.whole
def test_shards_are_the_same_whoever_writes_them(webeval_apart, score, pytester):
    written = []
    for options in ((), ("-n2",)):
        webeval_apart(OUT, "--webeval-results=shards", *options).assert_outcomes(passed=3, failed=1)
        written.append(timeless(read_out(pytester)))
    assert score("--output=other", "--results=shards").ret == 1
    written.append(timeless(read_out(pytester, "other")))
    assert list(written[0]) == ["eval_results-00001.jsonl", "eval_results.json"]
    assert list(list_lines(pytester)) == ["runs/9", "runs/10", "runs/107", "runs/108"]
    assert written == written[:1] * 3


def test_a_line_has_the_content_of_the_file_that_a_session_without_shards_writes(webeval, pytester):
    webeval(OUT)
    files = {path.parent.name: path.read_bytes() for path in pytester.path.glob("out/*/eval_result.json")}
    webeval("--webeval-output=other", "--webeval-results=shards")
    lines = {label.removeprefix("runs/"): to_json_bytes(line) for label, line in list_lines(pytester, "other").items()}
    timed = re.compile(rb'"wall_time": [^,\n]+')
    assert {name: timed.sub(b"", line) for name, line in lines.items()} == {
        name: timed.sub(b"", content) for name, content in files.items()
    }
    assert len(files) == 4


@pytest.mark.libraries
def test_tables_hold_the_same_results(webeval, pytester):
    webeval(OUT, "--webeval-results=parquet")
    assert list(read_out(pytester)) == ["eval_results-00001.parquet", "eval_results.json"]
    result = pytester.run(sys.executable, "-m", "pytest_webeval", "export", "out", "--to=files", "--output=tree")
    assert result.ret == 0
    assert len(list(pytester.path.glob("tree/*/eval_result.json"))) == 4


def test_without_an_output_directory_shards_are_in_the_roots_and_runs_stay_as_they_are(webeval, runs):
    webeval("--webeval-results=shards")
    assert runs.written == ["eval_results-00001.jsonl", "eval_results.json", "eval_summary.json"]
    webeval("--webeval-results=shards").assert_outcomes(passed=3, failed=1)


def test_a_session_that_writes_files_removes_shards_and_one_of_some_runs_does_not(webeval, runs, pytester):
    webeval("--webeval-results=shards")
    partial = webeval("-k", "107")
    partial.stdout.fnmatch_lines(["*runs/eval_results.json: its results count before the files of this session*"])
    assert "eval_results.json" in runs.written
    webeval()
    assert [name for name in runs.written if "eval_results" in name] == []
    assert pytester.path.joinpath("runs/9/eval_result.json").exists()


@pytest.mark.parametrize("options", [["-k", "107"], ["-x"], ["--webeval-subset=few.json"]])
@pytest.mark.parametrize("form", ["shards", "parquet", "files"])
def test_what_a_session_did_not_score_is_still_there(webeval, pytester, options, form):
    (pytester.path / "few.json").write_text('{"task_ids": [107]}')
    webeval(OUT, "--webeval-results=shards")
    before = list_lines(pytester)
    note = "its results count before the files *" if form == "files" else f"{3 - 2 * ('-x' in options)} result* kept"
    webeval(OUT, f"--webeval-results={form}", *options).stdout.fnmatch_lines([f"*/out/eval_results.json: {note}"])
    problems = []
    after = read_results(pytester.path / "out", lambda result, place: (place, result.status), problems)
    assert list(after) == [(label.removeprefix("runs/"), line["status"]) for label, line in before.items()]
    assert len(problems) == (form == "files")


@pytest.mark.whole
def test_a_session_of_score_over_a_subset_keeps_the_other_results(score, pytester):
    (pytester.path / "few.json").write_text('{"task_ids": [9, 107]}')
    score("--output=out", "--results=shards")
    score("--output=out", "--subset=few.json")
    assert list(list_lines(pytester)) == ["runs/9", "runs/10", "runs/107", "runs/108"]
    score("--output=out", "--subset=few.json", "--results=shards")
    assert list(list_lines(pytester)) == ["runs/9", "runs/10", "runs/107", "runs/108"]


def test_a_run_without_a_result_does_not_keep_its_earlier_one(webeval, pytester):
    webeval(OUT, "--webeval-results=shards")
    pytester.makeconftest("""
        import pytest
        def pytest_runtest_setup(item):
            if "107" in item.nodeid:
                pytest.skip("not now")
    """)
    webeval(OUT, "--webeval-results=shards", "-k", "107 or 108")
    assert list(list_lines(pytester)) == ["runs/9", "runs/10", "runs/108"]


@pytest.mark.parametrize("options", [(), ("--webeval-results=files", "--webeval-rules=default")])
def test_shards_without_rows_are_kept_as_well(webeval, pytester, options):
    webeval(OUT, "--webeval-results=shards")
    before = list_lines(pytester)
    (pytester.path / "out/eval_session.sqlite").unlink()
    webeval(OUT, "-k", "108", *options)
    webeval(OUT, "--webeval-results=shards", "-k", "107")
    assert list_lines(pytester).keys() == before.keys()


def test_what_cannot_be_kept_is_named(webeval, pytester):
    webeval(OUT, "--webeval-results=shards")
    (pytester.path / "out/eval_session.sqlite").unlink()
    shard = pytester.path / "out/eval_results-00001.jsonl"
    shard.write_bytes(shard.read_bytes() + b"{}\n")
    result = webeval(OUT, "--webeval-results=shards", "-k", "107")
    problem = "the SHA-256 is not that of the manifest; score again @ eval_results-00001.jsonl"
    result.stdout.fnmatch_lines([f"*not all results of other runs could be kept: {problem}"])
    assert list(list_lines(pytester)) == ["runs/107"]


def test_the_shards_of_a_split_session_keep_their_own_results_alone(webeval, pytester):
    for shard in ("1/2", "2/2"):
        webeval(OUT, "--webeval-results=shards", f"--webeval-shard={shard}")
    before = list_lines(pytester)
    webeval(OUT, "--webeval-results=shards", "--webeval-shard=1/2", "-k", "[9] or [107]")
    webeval(OUT, "--webeval-results=shards", "--webeval-shard=2/2", "-k", "[9] or [107]")
    assert list_lines(pytester).keys() == before.keys()
    lines = [line for path in pytester.path.glob("out/*.jsonl") for line in path.read_bytes().splitlines()]
    assert len([line for line in lines if line.startswith(b'{"run"')]) == 4


@pytest.mark.libraries
@pytest.mark.unchecked_files("one is of another tool")
def test_a_file_of_another_tool_with_the_name_of_the_manifest_stays(webeval, runs, score):
    (runs.root / "eval_results.json").write_text('{"accuracy": 0.5}')
    webeval().assert_outcomes(passed=3, failed=1)
    assert (runs.root / "eval_results.json").read_text() == '{"accuracy": 0.5}'
    problem = f"--*results: {runs.root}/eval_results.json is not a manifest of results; move it, or choose another *"
    webeval("--webeval-results=shards").stderr.fnmatch_lines([f"ERROR: {problem}"])
    result = score("--results=parquet")
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])
    assert result.ret == 4


def test_several_roots_in_any_order_share_the_shards_of_an_output_directory(pytester):
    pytester.path.joinpath("runs").rename(pytester.path / "b")
    (pytester.path / "a").mkdir()
    (pytester.path / "b/108").rename(pytester.path / "a/108")
    (pytester.path / "a/tasks.json").write_bytes((pytester.path / "b/tasks.json").read_bytes())
    roots = ("b", "a")
    pytester.runpytest(*(f"--webeval-runs={root}" for root in roots), OUT, "--webeval-results=shards")
    assert list(list_lines(pytester)) == ["a/108", "b/9", "b/10", "b/107"]
    first = timeless(read_out(pytester))
    command = [sys.executable, "-m", "pytest_webeval", "score", *roots, "--no-progress", "--executor=process:1"]
    assert pytester.run(*command, "--output=other", "--results=shards").ret == 1
    assert timeless(read_out(pytester, "other")) == first


def test_what_python_tests_check_is_in_the_line_of_the_run(webeval, pytester):
    pytester.makepyfile("def test_more(webeval_run, record_evaluation): assert False, 'more'")
    webeval(OUT, "test_what_python_tests_check_is_in_the_line_of_the_run.py", "runs")
    files = {path.parent.name: json.loads(path.read_bytes()) for path in pytester.path.glob("out/*/eval_result.json")}
    webeval(
        "--webeval-output=other",
        "--webeval-results=shards",
        "test_what_python_tests_check_is_in_the_line_of_the_run.py",
        "runs",
    )
    lines = list_lines(pytester, "other")
    for name, content in files.items():
        content["webeval"].pop("wall_time")
        lines[f"runs/{name}"]["webeval"].pop("wall_time")
        assert lines[f"runs/{name}"] == content
    assert len(files) == 4


@pytest.mark.parametrize("before", ["files", "shards", "parquet"])
@pytest.mark.parametrize("after", ["files", "shards"])
def test_results_are_reused_wherever_the_earlier_session_put_them(webeval, pytester, before, after):
    webeval(OUT, "--webeval-reuse", f"--webeval-results={before}")
    again = webeval(OUT, "--webeval-reuse", f"--webeval-results={after}")
    again.stdout.fnmatch_lines(["reused: 4 of 4 results taken from an earlier session"])
    is_sharded = after == "shards"
    names = [name for name in read_out(pytester) if "eval_results" in name]
    assert names == (["eval_results-00001.jsonl", "eval_results.json"] if is_sharded else [])
    assert is_sharded or len(list(pytester.path.glob("out/*/eval_result.json"))) == 4


@pytest.mark.libraries
def test_results_in_tables_are_reused_without_what_reads_tables(webeval, monkeypatch):
    webeval(OUT, "--webeval-reuse", "--webeval-results=parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    webeval(OUT, "--webeval-reuse").stdout.fnmatch_lines(["reused: 4 of 4 *"])


def test_one_session_goes_on_where_another_kind_of_session_began(webeval, score, pytester):
    webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    first = read_out(pytester)
    result = score("--output=out", "--reuse", "--results=shards")
    result.stdout.fnmatch_lines(["reused: 4 of 4 results taken from an earlier session"])
    assert read_out(pytester) == first
    again = webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    again.stdout.fnmatch_lines(["reused: 4 of 4 results taken from an earlier session"])
    assert read_out(pytester) == first


def test_a_shard_that_was_changed_is_written_again(webeval, pytester):
    webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    shard = pytester.path / "out/eval_results-00001.jsonl"
    shard.write_bytes(shard.read_bytes().replace(b'"status":"failure"', b'"status":"success"', 1))
    again = webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    again.stdout.fnmatch_lines(["reused: 4 of 4 results taken from an earlier session"])
    assert list_lines(pytester)["runs/107"]["status"] == "failure"


def test_a_result_that_was_changed_in_its_row_is_scored_again(webeval, pytester):
    webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    with closing(sqlite3.connect(pytester.path / "out/eval_session.sqlite", isolation_level=None)) as connection:
        change = "UPDATE results SET result = replace(result, 'failure', 'success') WHERE run = 'runs/107'"
        assert connection.execute(change).rowcount == 1
    again = webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    again.stdout.fnmatch_lines(["reused: 3 of 4 results taken from an earlier session"])
    assert list_lines(pytester)["runs/107"]["status"] == "failure"


def test_a_killed_session_leaves_what_it_has_scored(webeval, webeval_apart, pytester, monkeypatch):
    pytester.makeconftest("""
        import os
        def pytest_runtest_logfinish(nodeid):
            if "107" in nodeid and "GO_ON" not in os.environ:
                os._exit(9)
    """)
    webeval_apart(OUT, "--webeval-results=shards")
    monkeypatch.setenv("GO_ON", "1")
    again = webeval(OUT, "--webeval-reuse", "--webeval-results=shards")
    again.stdout.fnmatch_lines(["reused: 3 of 4 results taken from an earlier session"])
    assert len(list_lines(pytester)) == 4
