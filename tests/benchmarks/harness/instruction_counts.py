"""How many instructions it takes to score a recording: unlike seconds, the same on a busy machine.

They are counted in a process that scores once and in one that scores `TIMES` times, so that startup does not count.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.benchmarks.harness.corpora import Corpus
from tests.benchmarks.harness.counters import COUNTERS, CannotCount, InstructionCounter
from tests.benchmarks.harness.measuring import environment
from tests.benchmarks.harness.recordings import Example, example

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]
RECORDED = HERE.parent / "instructions.json"
AGAIN = "python -m tests.benchmarks.instructions"
TASK = 108  # visits to pages, then a form that is posted
SIZE = 900_000
TIMES = 6
SLACK = 10  # per cent


@dataclass(frozen=True, order=True, slots=True)
class Conditions:
    """What decides how many instructions there are besides our code: counts are compared where these are the same."""

    python: str
    machine: str
    counter: str

    @classmethod
    def here(cls, counter: InstructionCounter) -> Conditions:
        """Those of this process."""
        return cls(".".join(platform.python_version_tuple()[:2]), platform.machine(), counter.name)


Counts = dict[Conditions, int]


def check(directory: Path, known: Counts) -> str:
    """What is wrong with the number of instructions, or nothing. Raises `CannotCount` where no counter is of use."""
    reasons = []
    for counter in COUNTERS:
        try:
            wanted = recorded_under(Conditions.here(counter), known)
            return complaint(counted(counter, directory), wanted)
        except CannotCount as error:
            reasons.append(str(error))
    raise CannotCount("; ".join(reasons))


def recorded_under(conditions: Conditions, known: Counts) -> int:
    """The count to compare with. Raises `CannotCount` where there is none."""
    if conditions not in known:
        told = f"{conditions.counter} on {conditions.machine} under Python {conditions.python}"
        raise CannotCount(f"no count of {told} is recorded; record one with {AGAIN}")
    return known[conditions]


def complaint(instructions: int, wanted: int) -> str:
    """What is wrong with a count, or nothing."""
    if instructions <= wanted * (100 + SLACK) // 100:
        return ""
    return (
        f"scoring a recording takes {instructions:,} instructions; recorded are {wanted:,}, and {SLACK} % more is "
        f"allowed. Make it cheaper, or say why it costs more and record the new count with {AGAIN}"
    )


def counted(counter: InstructionCounter, directory: Path) -> int:
    """The instructions that one recording takes here. The directory is for files. Raises `CannotCount`."""
    corpus = Corpus(directory, (example(TASK),), 1, partial(Example.grown, size=SIZE))
    corpus.write()
    command = [sys.executable, str(HERE / "hot_path.py"), str(directory)]
    # No verdict depends on the order of hashes, but the cost does. The package is the one beside this file.
    variables = environment() | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(PROJECT)}
    # Leaves bytecode, which otherwise the first of the two would write and the second read.
    subprocess.run([*command, "1"], env=variables, check=True, capture_output=True)
    once, often = (counter.count([*command, str(times)], variables) for times in (1, TIMES))
    return (often - once) // (TIMES - 1)


def recorded() -> Counts:
    """What is committed."""
    rows = json.loads(RECORDED.read_bytes())
    return {Conditions(row["python"], row["machine"], row["counter"]): row["instructions"] for row in rows}


def record(conditions: Conditions, instructions: int) -> None:
    """Put a count into the place of the one under the same conditions."""
    rows = [
        asdict(one) | {"instructions": count} for one, count in sorted({**recorded(), conditions: instructions}.items())
    ]
    RECORDED.write_text(json.dumps(rows, indent=2) + "\n")


def main() -> None:
    """Record with each counter that counts here."""
    for counter in COUNTERS:
        with tempfile.TemporaryDirectory() as directory:
            try:
                found = counted(counter, Path(directory))
            except CannotCount as error:
                print(error)
                continue
        record(Conditions.here(counter), found)
        print(f"{counter.name}: {found:,} instructions")
