"""Measure what a run costs by the size of its recording, the workers and the store, and print the tables of the manual.

    python -m tests.benchmarks.cost_model --scratch DIR [--only NAME ...] [--scale 1.0]

A row is the difference between many runs and a tenth of them, so that the start of a session does not count. The store
is the disk, or a small server of S3 on loopback whose mirror begins empty.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tests.benchmarks.harness.corpora import FAILING, Corpus, mixed, small
from tests.executors.family_cost import FamilyCost, measure_family
from tests.support.faulty_s3 import BUCKET, S3Server

# The sizes of recordings in bytes, and how many runs are measured; 0 for two pages alone, of about 4 kB.
SIZES = {"small": (0, 1_500), "0.1 MB": (100_000, 600), "1 MB": (1_000_000, 120), "10 MB": (10_000_000, 20)}
WORKERS = 1, 2
COMMAND, DISK, BUCKETS = "`score`, disk", "`score_runs`, disk", "`score_runs`, S3"
WAYS = COMMAND, DISK, BUCKETS
PART = 10
HEADER = (
    "| recordings | workers | what reads from where | runs a second | CPU for 1,000 runs | CPU of the session, a run |"
)
PROGRAM = """
import sys
from pytest_webeval import load_sites, load_tasks, score_runs
root, tasks, config, output, executor, batch = sys.argv[1:]
options = {"output": output, "executor": executor, "batch_size": int(batch)}
print(sum(1 for _ in score_runs(root, load_tasks(tasks), load_sites(config), **options)))
"""


@dataclass(frozen=True)
class RunCost:
    """Seconds a run: of wall time, of the processor in all processes, and in the session alone.

    The wall time is None where other jobs of the machine hide it.
    """

    wall: float | None
    cpu: float
    session: float

    @classmethod
    def between(cls, few: FamilyCost, many: FamilyCost, count: int) -> RunCost:
        """The cost of each of the `count` runs that one session has more than another."""
        return cls(
            (many.wall - few.wall) / count if many.wall > few.wall else None,
            (many.cpu - few.cpu) / count,
            (many.session_cpu - few.session_cpu) / count,
        )


def format_row(size: str, workers: int, way: str, cost: RunCost) -> str:
    """A line of the table."""
    rate = "not measured" if cost.wall is None else f"{1 / cost.wall:,.0f}"
    numbers = f"{rate} | {cost.cpu * 1_000:,.1f} s | {cost.session * 1e6:,.0f} us"
    return f"| {size} | {workers} | {way} | {numbers} |"


def write_corpora(size: str, scratch: Path, scale: float) -> tuple[Corpus, Corpus]:
    """Few and many runs with recordings of a size."""
    length, count = SIZES[size]
    many = max(round(count * scale), 2)
    counts = max(many // PART, 1), many
    corpora = [mixed(scratch, each, length) if length else small(scratch, each, FAILING) for each in counts]
    for corpus in corpora:
        corpus.write()
    return corpora[0], corpora[1]


def build_command(way: str, corpus: Corpus, workers: int, output: Path) -> list[str]:
    """The command that scores a corpus. Batches are small enough that all workers have some."""
    batch, executor = str(max(min(corpus.count // (4 * workers), 200), 1)), f"process:{workers}"
    if way == COMMAND:
        options = {
            "tasks": corpus.tasks,
            "config": corpus.config,
            "output": output,
            "executor": executor,
            "batch": batch,
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        return [sys.executable, "-m", "pytest_webeval", "score", str(corpus.runs), *flags]
    root = f"s3://{BUCKET}/{corpus.directory.name}" if way == BUCKETS else corpus.runs
    return [sys.executable, "-c", PROGRAM, *map(str, (root, corpus.tasks, corpus.config, output, executor, batch))]


def measure(
    way: str, corpora: tuple[Corpus, Corpus], workers: int, scratch: Path, variables: dict[str, str]
) -> RunCost:
    """The cost of a run."""
    costs = []
    for corpus in corpora:
        output = scratch / "results"
        for directory in (output, scratch / "caches"):
            shutil.rmtree(directory, ignore_errors=True)
        variables = variables | {"XDG_CACHE_HOME": str(scratch / "caches")}
        command = build_command(way, corpus, workers, output)
        costs.append(measure_family(command, scratch, scratch / "printed.txt", variables=variables))
        written = sum(1 for _ in output.rglob("eval_result.json"))
        if written != corpus.count:
            printed = (scratch / "printed.txt").read_text()[-2_000:]
            raise SystemExit(f"{way} wrote {written} of {corpus.count} results:\n{printed}")
    return RunCost.between(costs[0], costs[1], corpora[1].count - corpora[0].count)


def measure_size(size: str, scratch: Path, scale: float, ways: list[str], workers: list[int]) -> Iterator[str]:
    """The rows of a size."""
    corpora = write_corpora(size, scratch / "corpora", scale)
    place = scratch / "server"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    server = S3Server(place) if BUCKETS in ways else None
    if server is not None:
        for corpus in corpora:
            server.put_tree(corpus.runs, f"{corpus.directory.name}/")
    with server or nullcontext():
        variables = server.environment if server is not None else {}
        for way, count in product(ways, workers):
            yield format_row(size, count, way, measure(way, corpora, count, scratch, variables))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES), metavar="NAME")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="WAY")
    parser.add_argument("--workers", nargs="+", type=int, default=list(WORKERS))
    parser.add_argument("--scale", type=float, default=1.0, help="more or fewer runs")
    options = parser.parse_args(arguments)
    print(HEADER, "| --- " * HEADER.count(" | ") + "| --- |", sep="\n", flush=True)
    for size in options.only:
        for row in measure_size(size, options.scratch, options.scale, options.ways, options.workers):
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
