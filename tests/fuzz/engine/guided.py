"""The same targets under atheris, which looks for inputs that reach other code: `pip install '.[fuzz]'`."""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.findings import Finding
from tests.fuzz.engine.watch import MEMORY, MOST_FINDINGS, Report
from tests.fuzz.targets.definition import forget

_CHILD = "tests.fuzz.engine.guided_child"
_PROJECT = Path(__file__).parents[3]
_FIGURES = re.compile(r"^stat::(\w+):\s+(\d+)", re.MULTILINE)
_KINDS = {"timeout": "hang", "oom": "memory", "crash": "death", "slow": "slow"}


def guided(corpus: Corpus, inputs: int, seconds: float) -> Report:
    """Feed a target until the inputs are read or the time is up, again after each input that libFuzzer ended."""
    report, began = Report(corpus.target.name), time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "corpus").mkdir()
        (place / "found").mkdir()
        for number, content in enumerate(corpus.documents):
            (place / "corpus" / f"{number:04}").write_bytes(content)
        while report.inputs < inputs and len(report.findings) < MOST_FINDINGS:
            left = int(seconds - (time.monotonic() - began))
            if left < 1 or not _run(corpus, place, report, inputs - report.inputs, left):
                break
    report.seconds = time.monotonic() - began
    return report


def _run(corpus: Corpus, place: Path, report: Report, inputs: int, seconds: int) -> bool:
    """Whether to go on: it ended before the time was up, for an input that is now among the findings."""
    limits = {
        "max_total_time": seconds,
        "runs": min(inputs, 2**31 - 1),
        "timeout": int(corpus.target.seconds),
        "rss_limit_mb": MEMORY // 2**20,
        "max_len": 2**16,
        "print_final_stats": 1,
        "verbosity": 0,
        "artifact_prefix": f"{place}/found/",
    }
    options = [f"-{name}={value}" for name, value in limits.items()]
    command = [sys.executable, "-m", _CHILD, corpus.target.name, str(place), *options, str(place / "corpus")]
    done = subprocess.Popen(command, cwd=_PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told = done.communicate()[1].decode("utf-8", "replace")
    forget(done.pid)
    before = len(report.findings)
    _gather(place, report, told)
    if done.returncode and len(report.findings) == before:
        raise SystemExit(f"atheris ended with {done.returncode}: {told[-2000:]}")
    return done.returncode != 0


def _gather(place: Path, report: Report, told: str) -> None:
    figures = {name: int(number) for name, number in _FIGURES.findall(told)}
    report.inputs += figures.get("number_of_executed_units", 0)
    report.peak = max(report.peak, figures.get("peak_rss_mb", 0) * 2**20)
    report.slowest = max(report.slowest, float(figures.get("slowest_unit_time_sec", 0)))
    for path in sorted((place / "found").iterdir()):
        if path.suffix == ".pickle":
            found = pickle.loads(path.read_bytes())
        else:
            kind = _KINDS.get(path.name.partition("-")[0], "death")
            found = Finding(report.target, kind, f"{kind} {path.name}", told[-8000:], path.read_bytes())
        report.findings.setdefault(found.signature, found)
    shutil.rmtree(place / "found")
    (place / "found").mkdir()
