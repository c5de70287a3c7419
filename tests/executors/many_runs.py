"""Score very many small runs in several ways, one with a worker that is killed half-way, and compare what they leave.

    python -m tests.executors.many_runs [--count 100000] [--batch 200] --scratch DIR [--way WAY ...]

The ways write their results into directories of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from pytest_webeval.safety.files import sha256
from pytest_webeval.summary.summary_file import SIDE_FILES, load_side_lists, restore_lists
from tests.benchmarks.harness.corpora import FAILING, Corpus, small
from tests.executors.family_cost import measure_family
from tests.support.sessions import PLAIN, without_times

PYTEST, PROCESSES, CLUSTER = "pytest -n2", "process:2", "local:2"
WAYS = PYTEST, PROCESSES, CLUSTER


@dataclass(frozen=True)
class ManyRuns:
    """The runs, and a directory for each way to score them."""

    corpus: Corpus
    directory: Path

    @classmethod
    def write(cls, scratch, count):
        """Make the runs. A third of them fails."""
        corpus = small(scratch / "corpora", count, FAILING)
        corpus.write()
        return cls(corpus, scratch)

    def output(self, way):
        """Where a way writes."""
        return self.directory / f"results-{way.split()[0].replace(':', '-')}"

    def score(self, way, batch=None, *, is_killed=False):
        """The cost of a way; with `is_killed` a worker dies when half of the results are there."""
        output, corpus = self.output(way), self.corpus
        options = {"tasks": corpus.tasks, "config": corpus.config, "output": output}
        if way == PYTEST:
            flags = [f"--webeval-{name}={value}" for name, value in options.items()]
            command = [
                "pytest",
                "-q",
                *PLAIN,
                "--tb=no",
                f"--webeval-runs={corpus.runs}",
                "-n2",
                *flags,
            ]
        else:
            flags = [f"--{name}={value}" for name, value in options.items()]
            batches = [f"--batch={batch}"] if batch else []
            command = ["pytest_webeval", "score", corpus.runs, f"--executor={way}", *batches, *flags]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "pytest.ini").write_text("[pytest]\n")
        return measure_family(
            [sys.executable, "-m", *command],
            self.directory,
            self.directory / "printed.txt",
            corpus.count // 2 if is_killed else 0,
            output / "eval_session.sqlite",
        )

    @property
    def printed(self):
        """The end of what the last way printed."""
        return (self.directory / "printed.txt").read_text()[-2_000:]

    def list_results(self, way):
        """The result files of a way."""
        return list(self.output(way).rglob("eval_result.json"))

    def differing(self, way, other=PYTEST):
        """The places of the files of two ways that differ, times aside."""
        ours, theirs = (digest_files(self.output(each)) for each in (way, other))
        return sorted(place for place in ours.keys() | theirs.keys() if ours.get(place) != theirs.get(place))


def digest_files(directory):
    """Checksums of all files by their place. A summary is read with its side files."""
    paths = (path for path in directory.rglob("*") if path.is_file() and path.suffix not in (".jsonl", ".sqlite"))
    places = {path.relative_to(directory).as_posix(): path for path in paths}
    return {place: digest(path) for place, path in places.items()}


def digest(path):
    content = load_side_lists(restore_lists(json.loads(path.read_bytes()), path, path.name))
    content["webeval"].pop(SIDE_FILES, None)  # their names change with times
    return sha256(json.dumps(without_times(content), default=load_side_lists).encode())


def format_row(way, count, cost):
    """A line of the table."""
    per_run = f"{cost.session_cpu / count * 1e6:.0f} us"
    killed = f"{' and '.join(cost.killed)} after {cost.done:,}" if cost.killed else "none"
    numbers = f"{cost.wall:.1f} s | {cost.cpu:.1f} s | {per_run} | {cost.session_peak / 1e6:.0f} MB"
    return f"| {way} | {numbers} | {killed} |"


HEADER = "| way | wall time | processor time of all | of the session, a run | memory of the session | killed |"


def main(arguments):
    """Print a line for each way, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--way", choices=WAYS, nargs="+", default=WAYS)
    parser.add_argument("--no-kill", action="store_true")
    options = parser.parse_args(arguments)
    runs = ManyRuns.write(options.scratch, options.count)
    print(HEADER, "| --- " * HEADER.count(" | ") + "| --- |", sep="\n")
    for way in options.way:
        is_killed = way == CLUSTER and not options.no_kill
        print(format_row(way, options.count, runs.score(way, options.batch, is_killed=is_killed)), flush=True)
    for way in WAYS[1:]:
        if all(runs.output(each).is_dir() for each in (way, PYTEST)):
            print(f"{way}: {len(runs.differing(way))} files differ from those of pytest")


if __name__ == "__main__":
    main(sys.argv[1:])
