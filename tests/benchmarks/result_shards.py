"""Write and read results as files and in shards, in turns in one process, and print the ratios.

    python -m tests.benchmarks.result_shards [--count 10000] [--rounds 3] [--scratch DIR]

Each way gives the same results. Times are the medians of the rounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from pytest_webeval.storage import to_json_bytes, write_json
from pytest_webeval.summary.results.result_files import read_results
from pytest_webeval.summary.results.result_shards import ResultShardWriter, ShardLayout
from tests.support.stored_results import evaluated, result

WAYS = ("files", "jsonl", "parquet")


class Cost(NamedTuple):
    """Seconds to write and to read all results."""

    writing: float
    reading: float


def contents(count: int) -> Iterator[dict[str, Any]]:
    """Results with about four kilobytes each, as most sessions have."""
    evaluations = [evaluated(evaluator_name=name) for name in "abcd"]
    for number in range(count):
        yield result(number, f"r/{number}", error_msg="x" * 500, evaluators_results=evaluations)


def measure(way: str, count: int, directory: Path) -> Cost:
    """The cost of a way in a new directory."""
    begin = time.perf_counter()
    if way == "files":
        for content in contents(count):
            write_json(directory / content["webeval"]["run"] / "eval_result.json", content)
    else:
        with ResultShardWriter(directory, ShardLayout(way)) as writer:
            for content in contents(count):
                writer.add(content["webeval"]["run"], to_json_bytes(content))
    written = time.perf_counter()
    problems: list[str] = []
    tasks = set(read_results(directory, lambda result, _: result.task_id, problems))
    end = time.perf_counter()
    assert (tasks, problems) == (set(range(count)), [])
    return Cost(written - begin, end - written)


def measure_all(count: int, rounds: int, scratch: str | None) -> dict[str, Cost]:
    """The median costs of all ways, which take turns."""
    costs: dict[str, list[Cost]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                costs[way].append(measure(way, count, Path(folder)))
    return {way: Cost(*map(median, zip(*each, strict=True))) for way, each in costs.items()}


def format_table(costs: dict[str, Cost], count: int) -> str:
    """A row for each way, with its part of the time that files take."""
    files = costs["files"]
    lines = [f"| {count:,} results | writing | to files | reading | to files |", "| --- | --- | --- | --- | --- |"]
    for way, cost in costs.items():
        parts = (cost.writing / files.writing, cost.reading / files.reading)
        name = way if way == "files" else f"result-shards, {way}"
        lines.append(f"| {name} | {cost.writing:.2f} s | {parts[0]:.2f} | {cost.reading:.2f} s | {parts[1]:.2f} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", metavar="DIR")
    options = parser.parse_args(arguments)
    sys.stdout.write(f"{format_table(measure_all(options.count, options.rounds, options.scratch), options.count)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
