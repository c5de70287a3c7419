"""Sessions of `score` over very many runs: what the process that sums up needs for them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import count, islice
from pathlib import Path

import pytest

from pytest_webeval.errors import ExecutorError
from pytest_webeval.sessions.runs.session_rows import SessionRows
from pytest_webeval.summary.store.row_database import is_unfinished
from tests.support.made_session import MadeReplies, list_labels, score_made_runs

GIB = 2**30


@pytest.mark.unchecked_files("the results are made up")
@pytest.mark.parametrize("form", ["files", "shards"])
def test_the_files_of_a_session_over_runs_that_come_in_batches_are_complete(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    session, _ = score_made_runs(tmp_path, 2_500, form)
    assert (len(session.records), session.unscored, session.problems) == (2_500, [], [])
    manifest = tmp_path / "out/eval_results.json"
    counts = [shard["count"] for shard in json.loads(manifest.read_bytes())["shards"]] if form == "shards" else []
    assert counts == ([1_000, 1_000, 500] if form == "shards" else [])


@pytest.mark.whole
@pytest.mark.unchecked_files("the results are made up")
def test_a_run_that_is_being_kept_when_somebody_stops_is_in_all_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers, keep = count(1), SessionRows.keep

    def interrupt(*arguments, **options):
        if next(numbers) == 1_500:
            signal.raise_signal(signal.SIGINT)
        keep(*arguments, **options)

    monkeypatch.setattr(SessionRows, "keep", interrupt)
    session, _ = score_made_runs(tmp_path, 2_000, "shards")
    assert (session.stopped, len(session.records), len(session.unscored)) == ("KeyboardInterrupt", 1_500, 500)
    assert json.loads((tmp_path / "out/eval_results.json").read_bytes())["count"] == 1_500
    assert session.unscored[0] == next(islice(list_labels(2_000), 1_500, None))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class LostReplies(MadeReplies):
    """An executor that replies once."""

    taken = 0

    def read(self, future):
        self.taken += 1
        if self.taken == 2:
            raise ExecutorError("lost the connection; start it again, and reuse results")
        return super().read(future)


@pytest.mark.unchecked_files("the results are made up")
def test_what_was_scored_before_the_executor_failed_is_summed_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session, code = score_made_runs(tmp_path, 2_500, "shards", executor=LostReplies)
    assert json.loads((tmp_path / "out/eval_results.json").read_bytes())["count"] == 1_000
    summary = json.loads((tmp_path / "out/eval_summary.partial.json").read_bytes())
    facts = summary["webeval"]
    assert (facts["partial"], facts["unscored_count"], facts["stopped"]) == (True, 1_500, session.problems[0])
    assert session.problems == ["lost the connection; start it again, and reuse results"]
    assert code == 1
    assert is_unfinished(tmp_path / "out/eval_session.sqlite")


@pytest.mark.whole
@pytest.mark.parametrize("form", ["files", "shards"])
def test_a_million_results_take_less_than_a_gibibyte(tmp_path, form):
    command = [sys.executable, "-m", "tests.support.made_session", str(tmp_path), "1000000", form]
    printed = subprocess.run(command, cwd=Path(__file__).parents[2], check=True, capture_output=True, text=True).stdout
    assert int(printed.split()[-1]) < GIB
