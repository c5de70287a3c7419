"""The whole path: a directory drawn from bytes, scored by all rules, written, read back and summarised."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_webeval import api
from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.evaluators import RubricEvaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.recordings.run import Run
from pytest_webeval.reports.failure_text import failure_text, reason
from pytest_webeval.results import EvaluatorResult, TaskResult
from pytest_webeval.rules import RULE_SETS
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.storage import write_json
from pytest_webeval.summary.summarize import summarize
from pytest_webeval.tasks.dataset import TaskSet, load_untrusted_tasks
from pytest_webeval.tasks.sites import Sites, load_sites
from pytest_webeval.tasks.task import Expectation
from tests.fuzz.engine.parts import files
from tests.fuzz.targets.answer import harmless_told
from tests.fuzz.targets.definition import memory
from tests.fuzz.targets.target import Misbehaved, expect, written

_NOT_A_NAME = re.compile(r"(^|/)\.*(/|$)|\0")
_SESSION = (
    "-q",
    "-W",
    "error",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:hypothesispytest",
    "--webeval-runs=runs",
    "--webeval-output=out",
)
_EXPECTED_CODES = (0, 1, 2, 4, 5)  # passed, failed, interrupted by collection errors, bad option, nothing collected
LONGEST_SESSION = 60.0


class _Watched:
    """An evaluator whose crashes are told, instead of becoming an error of its expectation."""

    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        try:
            return super().evaluate(expectation, case)
        except WebEvalError:
            raise
        except Exception as error:
            raise Misbehaved(f"{type(error).__name__} in an evaluator") from error


@dataclass(frozen=True)
class _Response(_Watched, ResponseEvaluator):
    pass


@dataclass(frozen=True)
class _NetworkEvent(_Watched, NetworkEventEvaluator):
    pass


@dataclass(frozen=True)
class _Rubric(_Watched, RubricEvaluator):
    pass


_EVALUATORS = (_Response(), _NetworkEvent(), _Rubric())


@contextmanager
def directory(content: bytes) -> Iterator[Path]:
    """A directory with the files of an input, as far as they can have such names."""
    root = Path(tempfile.mkdtemp(dir=memory()))
    try:
        for name, inner in files(content).items():
            if not _NOT_A_NAME.search(name):
                _put(root / name, inner)
        yield root
    finally:
        shutil.rmtree(root)


def _put(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError:  # a name that is too long, or that of a directory or of a file
        return


def score_directory(content: bytes) -> None:
    """Find, score, write, read back and summarise."""
    with directory(content) as root:
        tasks, sites = _tasks(root), _sites(root)
        for rules in RULE_SETS:
            results = [_scored(run, tasks, sites) for run in api.find_runs(root, rules)]
            for number, result in enumerate(results):
                check_result(result, root / f"result-{number}")
            summary = summarize(results)
            skipped = summary.webeval["excluded_count"]
            expect(summary.total + skipped == len(results), "a run is in no count")
            written(summary.to_json())
            shutil.rmtree(root / "written", ignore_errors=True)


def _tasks(root: Path) -> TaskSet | None:
    try:
        return load_untrusted_tasks(root, "tasks.json", "tasks.json")
    except WebEvalError:
        return None


def _sites(root: Path) -> Sites:
    try:
        return load_sites(root / "config.json")
    except SettingsError:
        return Sites()


def _scored(run: Run, tasks: TaskSet | None, sites: Sites) -> TaskResult:
    try:
        return api.score(run, tasks, sites, _EVALUATORS)
    except WebEvalError as error:
        return build_error_result(run, None, str(error))


def check_result(result: TaskResult, path: Path) -> None:
    """Write a result, read it back, and tell it; none of that may fail or harm."""
    expect("\n" not in (result.error_msg or ""), f"an error on several lines: {result.error_msg!r:.300}")
    written(result.to_json())
    write_json(path, result.to_json())
    found = TaskResult.read(json.loads(path.read_bytes()))
    path.unlink()
    expect(found.status == result.status and found.task_id == result.task_id, "a result is read as another")
    for text in (failure_text(result), reason(result) or ""):
        harmless_told(text)


def session(content: bytes) -> None:
    """A pytest session over the directory, in a process of its own, with all reports."""
    with directory(content) as root:
        (root / "runs").mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pytest", *_SESSION, "--junitxml=out/junit.xml", "--rootdir=.", "."]
        options = [f"--webeval-config={name}" for name in ("config.json",) if (root / "runs" / name).exists()]
        (root / "pytest.ini").write_text("[pytest]\n")
        asked = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
        told = subprocess.run(
            [*command, *options], cwd=root, env=asked, capture_output=True, timeout=LONGEST_SESSION, check=False
        )
        text = (told.stdout + told.stderr).decode("utf-8", "replace")
        expect(told.returncode in _EXPECTED_CODES, f"exit code {told.returncode}: {text[-2000:]}")
        expect("INTERNALERROR" not in text and "Traceback" not in text, text[-2000:])
        for path in (root / "out").rglob("*.json"):
            json.loads(path.read_bytes())
