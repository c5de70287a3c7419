"""What a worker process does for a session, and what the two send each other.

All workers have the `WorkerSettings`. Each `Request` for a run is answered by an `Outcome`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.results import TaskResult
from pytest_webeval.rules import Rules
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.run_directory import find_identity, open_run_directory
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import TIMED_OUT, limit_time
from pytest_webeval.scoring.scorer import Scorer

PRELOADED_MODULES = (
    "pytest_webeval.diagnostics.tree_diff",
    "pytest_webeval.evaluators.network.body_matcher",
    "pytest_webeval.evaluators.network.event_matcher",
)
if TYPE_CHECKING:
    from pytest_webeval.stores.mirror import Mirror

BUILT_IN_FORMATS = {run_format.name: run_format for run_format in FORMATS}


class WorkerSettings(Struct, frozen=True):
    """What is the same for all runs. `scorer` has no evaluators: a worker has its own. `timeout` is in seconds."""

    scorer: Scorer
    rules: Rules
    limits: Limits
    timeout: float
    evaluator_choice: tuple[str, ...] = ()
    mirrors: tuple[Mirror, ...] = ()  # of runs in stores


class Request(Struct, frozen=True):
    """A run to score. `format` is the name of a built-in format, `external` holds verdicts of files of the session."""

    path: Path
    label: str
    format: str
    definition: Definition
    external: tuple[Judgement, ...] = ()
    root: Path | None = None  # from which on no link leads to the directory


class Outcome(Struct, frozen=True):
    """What a worker found out about a run: its result with what was read for it, or why there is none.

    Without a result and a problem, the run cannot be scored as it is, and the session finds out why. `seconds` are
    those of each phase. `is_loaded`: the recording was read before the problem.
    """

    result: TaskResult | None = None
    checksums: dict[str, str] = field(default_factory=dict)
    salts: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    problem: str | None = None
    is_loaded: bool = False
    identity: tuple[int, int] | None = None  # of the directory that was scored


NO_RESULT = Outcome()


_own_evaluators = cache(default_evaluators)


def score_requests(settings: WorkerSettings, requests: Sequence[Request]) -> list[Outcome]:
    """The outcomes of runs: the function of the job that worker processes have."""
    settings = replace(settings, scorer=replace(settings.scorer, evaluators=_own_evaluators()))
    return [_score_fetched(request, settings) for request in requests]


def _score_fetched(request: Request, settings: WorkerSettings) -> Outcome:
    """The outcome of a run, which is fetched if it is in a store; none if it cannot be, which the session finds out."""
    mirror = next((mirror for mirror in settings.mirrors if mirror.holds(request.path)), None)
    if mirror is None:
        return score_request(request, settings)
    with mirror.using(request.path):
        return NO_RESULT if mirror.find_problem(request.path) else score_request(request, settings)


def score_request(request: Request, settings: WorkerSettings) -> Outcome:
    """The outcome of a run. Whatever goes wrong with it is left to the session, which knows how to report it."""
    run_format = BUILT_IN_FORMATS[request.format]
    run, is_loaded = None, False
    try:
        with open_run_directory(request.path, request.root), limit_time(settings.timeout):
            run = run_format.load(request.path, request.label, settings.rules).within(settings.limits)
            run = run.judged(request.external).choosing(settings.evaluator_choice).for_task(request.definition.task)
            run.check()
            is_loaded = True
            result = settings.scorer.score(run, request.definition)
            inputs, identity = run.inputs, find_identity(request.path)
            return Outcome(result, inputs.checksums, inputs.salts, inputs.durations.seconds, identity=identity)
    except WebEvalError as error:
        return Outcome(problem=str(error), is_loaded=is_loaded) if error.code == TIMED_OUT else NO_RESULT
    except Exception:  # noqa: BLE001  (the session meets it again, where it is an error of this run alone)
        return NO_RESULT
    finally:
        if run is not None:
            run.release()
