"""Very large sessions: how much memory their summaries, comparisons and analyses take."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_webeval.summary import summarize
from pytest_webeval.summary.scored_session import session_of
from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.trajectories.trajectory_analysis import analyse
from pytest_webeval.summary.trajectories.trajectory_rows import build_slim_rows
from tests.support.made_records import make_records, make_trajectories

ROOT = Path(__file__).parents[3]
MEBIBYTE = 2**20
PROGRAM = """
import sys
from pathlib import Path
from pytest_webeval.summary import summarize
from pytest_webeval.summary.store.row_file import RowFile
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import write_summary
from tests.support.made_records import make_records, make_trajectories

count, limit, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
make = make_trajectories if kind == "trajectories" else make_records
summarize.MOST_IN_MEMORY = limit
rows = RowFile()
rows.extend(make_records(count, has_own_ids=True) if kind == "own ids" else make(count))
summary = summarize_records(rows, {"partial": False, "subset": None})
assert len(summary.task_results) == count
write_summary(Path("eval_summary.json"), summary)
if kind in ("gates", "baseline"):
    from pytest_webeval.summary.comparison.baseline import add_comparison, read_baseline
    from pytest_webeval.summary.comparison.gates import GateCase, parse_gate
    from pytest_webeval.summary.scored_session import session_of
    from pytest_webeval.summary.comparison.session_comparison import SessionComparison

    session = session_of(summary)
    assert len(session.runs) == count
    gates = ["success site gitlab >= 10%", "errors <= 900000"]
    comparison = None
    if kind == "baseline":
        comparison = SessionComparison(read_baseline(Path("eval_summary.json")).session, session)
        add_comparison(summary, comparison)
        gates += ["no-regression", "no-regression beyond noise"]
    for gate in map(parse_gate, gates):
        assert gate.evaluate(GateCase(session, comparison)).passed
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024)
"""


def measure_memory(directory: Path, *arguments: object) -> int:
    """The most bytes that a process had while it summarized so many records.

    It asks the kernel, because `ru_maxrss` of a new process is never less than that of the one that started it.
    """
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    return int(subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True).stdout)


@pytest.mark.whole
def test_memory_does_not_grow_with_the_number_of_runs(tmp_path):
    few, many = (measure_memory(tmp_path, count, 5_000, "attempts") for count in (60_000, 90_000))

    assert many - few < 12 * MEBIBYTE  # 30,000 more records would take over 40 MiB


def trace_most(work: Callable[[], object]) -> int:
    """The most bytes that some work has at the same time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def make_rows(records):
    rows = RowFile()
    rows.extend(records)
    return rows


def test_a_row_that_gates_check_takes_few_bytes():
    summary = summarize_records(make_rows(make_records(8_000)), {"partial": False, "subset": None})

    assert trace_most(lambda: session_of(summary)) < 8_000 * 620  # 1,440 as mappings


@pytest.mark.whole
def test_a_trajectory_in_the_analysis_takes_few_bytes():
    rows = make_rows(make_trajectories(8_000))

    assert trace_most(lambda: analyse(build_slim_rows(rows))) < 8_000 * 780


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["attempts", "own ids"])
def test_the_summary_of_1_000_000_runs_needs_less_than_400_mib(tmp_path, kind):
    assert measure_memory(tmp_path, 1_000_000, summarize.MOST_IN_MEMORY, kind) < 400 * MEBIBYTE
    assert (tmp_path / "eval_summary.json").stat().st_size < 64 * MEBIBYTE


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["gates", "trajectories"])
def test_gates_and_trajectories_of_1_000_000_runs_need_less_than_1_gib(tmp_path, kind):
    assert measure_memory(tmp_path, 1_000_000, summarize.MOST_IN_MEMORY, kind) < 1_024 * MEBIBYTE
