"""Sessions of `score` over very many runs: what the process that sums up needs for them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.made_session import score_made_runs

GIB = 2**30


@pytest.mark.unchecked_files("the results are made up")
@pytest.mark.parametrize("form", ["files", "shards"])
def test_the_files_of_a_session_over_runs_that_come_in_batches_are_complete(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    session = score_made_runs(tmp_path, 2_500, form)
    assert (len(session.records), session.unscored, session.problems) == (2_500, [], [])
    manifest = tmp_path / "out/eval_results.json"
    counts = [shard["count"] for shard in json.loads(manifest.read_bytes())["shards"]] if form == "shards" else []
    assert counts == ([1_000, 1_000, 500] if form == "shards" else [])


@pytest.mark.whole
@pytest.mark.parametrize("form", ["files", "shards"])
def test_a_million_results_take_less_than_a_gibibyte(tmp_path, form):
    command = [sys.executable, "-m", "tests.support.made_session", str(tmp_path), "1000000", form]
    printed = subprocess.run(command, cwd=Path(__file__).parents[2], check=True, capture_output=True, text=True).stdout
    assert int(printed.split()[-1]) < GIB
