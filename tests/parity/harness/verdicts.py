"""What a scorer says about a run, and how ours comes to it."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path

from pytest_webeval.api import load_run
from pytest_webeval.errors import RecordingError, SettingsError, TaskDefinitionError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.network.readers import load_trace
from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from pytest_webeval.results import EvaluatorResult, TaskResult
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.sites import Sites, parse_sites
from pytest_webeval.tasks.task import read_task
from tests.parity.harness.run_directories import RunDirectory

TODAY = date(2026, 3, 21)  # as in oracle_worker.py
SECONDS = 20
SUCCESS, FAILURE, ERROR = "success", "failure", "error"
UNVISITED = "no request to a configured URL"
ABSENT = f"cannot decide whether a forbidden request was sent: {UNVISITED}"
HANG, CRASH = "hang", "crash"  # neither is a verdict: the scorer never finished, or raised what it should not


@dataclass(frozen=True)
class Verdict:
    """Status of a task and of each of its evaluators, in order. `reasons` are for people and decide nothing.

    `refused` is set where the reference refused the very definition of the task. It can score no run of a data set with
    such a task; ours is an error of the evaluator that the definition is wrong about. `rules` are the rows of our table
    that a warning names as those that decided.
    """

    status: str
    evaluators: tuple[tuple[str, str], ...] = ()
    reasons: tuple[str, ...] = field(default=(), compare=False)
    refused: bool = field(default=False, compare=False)
    rules: frozenset[str] = field(default=frozenset(), compare=False)

    def agrees_with(self, reference: Verdict) -> bool:
        """Whether it is the reference's. Where that one never finishes, anything but a success will do (Q49)."""
        if reference.status == HANG:
            return self.status in {FAILURE, ERROR}
        return self.status == ERROR if reference.refused else self == reference

    @property
    def by_any_address(self) -> Verdict:
        """The same with the reference's verdict for each error about a site that was not visited (Q59, §4.7)."""
        each = [
            (name, FAILURE if reason.startswith(UNVISITED) else SUCCESS if reason.startswith(ABSENT) else status)
            for (name, status), reason in zip(self.evaluators, self.reasons, strict=False)
        ]
        if tuple(each) == self.evaluators:
            return self
        statuses = {status for _, status in each}
        worst = next((status for status in (ERROR, FAILURE) if status in statuses), SUCCESS)
        return replace(self, status=worst, evaluators=tuple(each))

    def __str__(self) -> str:
        each = ", ".join(f"{name} {status}" for name, status in self.evaluators) or "no evaluator"
        return f"{self.status} ({each})"


class TookTooLong(BaseException):
    """Not an `Exception`: the core takes those for an evaluator's error."""


def our_verdict(run: RunDirectory, rules: str = "reference") -> Verdict:
    """What pytest_webeval says. A run or task that cannot be scored at all is an error without evaluators."""
    try:
        with time_limit():
            return verdict_of(our_result(run, rules))
    except (RecordingError, TaskDefinitionError, SettingsError) as error:
        return Verdict(ERROR, (), (str(error),))
    except Exception as error:  # noqa: BLE001  (a crash is a disagreement to report, not the end of the comparison)
        return Verdict(CRASH, (), (f"{type(error).__name__}: {error} @ {_place(error)}",))
    except TookTooLong:
        return Verdict(HANG, (), (f"no verdict within {SECONDS} s",))


def our_result(run: RunDirectory, rules: str) -> TaskResult:
    """The result of pytest_webeval's core. Raises `WebEvalError`."""
    task = read_task(run.task, "the parity suite")
    loaded = load_run(run.path, rules)
    if run.trace_name not in TRACE_NAMES:  # the run format knows no such name, the trace readers do
        loaded = replace(loaded, load_trace=lambda inputs: load_trace(inputs, run.trace_name))
    case = Case(loaded, task, _sites(run.config), today=TODAY)
    return score(case, default_evaluators())


def verdict_of(result: TaskResult) -> Verdict:
    """The part of a result that is compared."""
    found = result.evaluators_results
    decided = [text.partition(" (") for text in result.webeval["warnings"] if ") changed this verdict to " in text]
    return Verdict(
        str(result.status),
        tuple((one.evaluator_name, str(one.status)) for one in found),
        tuple(map(_reason, found)),
        rules=frozenset(number for number, _, _ in decided),
    )


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


@cache
def _sites(config: Path) -> Sites:
    return parse_sites(config.read_bytes(), str(config))


def _reason(found: EvaluatorResult) -> str:
    wrong = [one for one in found.assertions or () if one.status != "success"]
    told = "; ".join(f"{one.assertion_name} {', '.join(one.assertion_msgs or ())}" for one in wrong)
    return found.error_msg or told


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise `TookTooLong` in the body after a while."""

    def stop(signum, frame):
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
