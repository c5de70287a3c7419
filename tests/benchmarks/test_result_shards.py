"""Results as files and in shards are measured in turns, and shards take one shard's room however many there are."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from pytest_webeval.summary.results.result_files import read_results
from tests.benchmarks.result_shards import WAYS, Cost, format_table, measure
from tests.support.stored_results import result, write_shards

pytestmark = pytest.mark.unchecked_files("results have only what the readers need")


@pytest.mark.libraries
def test_the_command_prints_a_row_for_each_way(tmp_path):
    command = [sys.executable, "-m", "tests.benchmarks.result_shards", "--count=20", "--rounds=1", "--scratch"]
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    _, _, *rows = done.stdout.splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| files", "| result-shards, jsonl", "| result-shards, parquet"]


def test_a_row_has_the_part_of_the_time_that_files_take():
    table = format_table({"files": Cost(4, 2), "jsonl": Cost(1, 3)}, 10)
    assert table.splitlines()[-1] == "| result-shards, jsonl | 1.00 s | 0.25 | 3.00 s | 1.50 |"


@pytest.mark.parametrize("way", WAYS)
def test_each_way_gives_all_results(timed, tmp_path, way):
    assert min(timed(measure, way, 100, tmp_path / "out")) > 0


@pytest.mark.whole
def test_reading_takes_the_room_of_one_shard(tmp_path):
    write_shards(tmp_path, *(result(number, f"r/{number}", error_msg="x" * 1_000) for number in range(5_000)))
    shard = max(path.stat().st_size for path in tmp_path.iterdir())
    assert len(json.loads((tmp_path / "eval_results.json").read_text())["shards"]) == 5
    tracemalloc.start()
    try:
        count = sum(read_results(tmp_path, lambda _, place: bool(place), []))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 5_000
    assert peak < 2.5 * shard
