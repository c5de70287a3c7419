"""A process that scores runs for another process, and what the two send each other.

`python -P -c "..."` calls `main` with the numbers of sockets, and that forks a worker for each. First come the
`WorkerSettings`, then one `Request` for each run, each answered by an `Outcome`. Both ends are processes of one
session, so they send Python objects.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any
from typing import NoReturn

from msgspec import Struct
from msgspec import field
from msgspec.structs import replace

from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.results import TaskResult
from pytest_webeval.rules import Rules
from pytest_webeval.safety.limits import Limits
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.score import format_timeout
from pytest_webeval.scoring.score import limit_time
from pytest_webeval.scoring.scorer import Scorer

PRELOADED_MODULES = (
    "pytest_webeval.diagnostics.tree_diff",
    "pytest_webeval.evaluators.network.body_matcher",
    "pytest_webeval.evaluators.network.event_matcher",
)
if TYPE_CHECKING:
    from pytest_webeval.stores.mirror import MirrorDescription

BUILT_IN_FORMATS = {run_format.name: run_format for run_format in FORMATS}


class WorkerSettings(Struct, frozen=True):
    """What is the same for all runs. `scorer` has no evaluators: a worker has its own. `timeout` is in seconds."""

    scorer: Scorer
    rules: Rules
    limits: Limits
    timeout: float
    evaluator_choice: tuple[str, ...] = ()
    mirrors: tuple[MirrorDescription, ...] = ()  # of runs in stores


class Request(Struct, frozen=True):
    """A run to score. `format` is the name of a built-in format, `external` holds verdicts of files of the session."""

    path: Path
    label: str
    format: str
    definition: Definition
    external: tuple[Judgement, ...] = ()


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


NO_RESULT = Outcome()


def encode(message: object) -> bytes | None:
    """The bytes of a message; None for one that is nested too deep."""
    try:
        return pickle.dumps(message)
    except (RecursionError, ValueError, TypeError, AttributeError, pickle.PicklingError):
        return None


def decode(content: bytes) -> Any:
    """The message in these bytes, which the other process wrote; None for one that is nested too deep."""
    try:
        return pickle.loads(content)  # noqa: S301  (from a process of the same session)
    except (RecursionError, ValueError, TypeError, AttributeError, pickle.UnpicklingError):
        return None


def main(control: int, *handles: int) -> None:
    """Fork a worker for each socket, and send number and exit code of each that ends through the socket `control`.

    The workers share what is loaded: to load it again takes longer than to score some runs. SIGTERM ends them all.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session is interrupted, and ends the workers
    for name in PRELOADED_MODULES:
        import_module(name)
    gc.freeze()  # nothing of it is garbage, and to search it would copy the shared memory
    numbers: dict[int, int] = {}
    signal.signal(signal.SIGTERM, lambda *_: kill_all(numbers))
    for number, handle in enumerate(handles):
        process = os.fork()
        if not process:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for other in {control, *handles} - {handle}:
                os.close(other)
            serve(handle)
        numbers[process] = number
    for handle in handles:
        os.close(handle)
    with Connection(control) as connection:
        while numbers:
            process, status = os.wait()
            number = numbers.pop(process)
            with suppress(OSError):  # the session has ended
                connection.send((number, os.waitstatus_to_exitcode(status)))


def kill_all(processes: Iterable[int]) -> None:
    """Kill processes, of which some may have ended."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def serve(handle: int) -> NoReturn:
    """Answer the requests that come through a socket until it is closed, and exit."""
    with Connection(handle) as connection:
        try:
            settings: WorkerSettings = connection.recv()
            settings = replace(settings, scorer=replace(settings.scorer, evaluators=default_evaluators()))
            if settings.mirrors:
                _attach_mirrors(settings.mirrors)
            while True:
                request: Request | None = decode(connection.recv_bytes())
                outcome = score_request(request, settings) if request else NO_RESULT
                connection.send_bytes(encode(outcome) or pickle.dumps(NO_RESULT))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            sys.exit()


def _attach_mirrors(mirrors: Iterable[MirrorDescription]) -> None:
    from pytest_webeval.stores.mirror import attach  # few sessions have stores

    for description in mirrors:
        attach(description)


def score_request(request: Request, settings: WorkerSettings) -> Outcome:
    """The outcome of a run. Whatever goes wrong with it is left to the session, which knows how to report it."""
    run_format, timeout_message = BUILT_IN_FORMATS[request.format], format_timeout(settings.timeout)
    run, is_loaded = None, False
    try:
        with limit_time(settings.timeout):
            run = run_format.load(request.path, request.label, settings.rules).within(settings.limits)
            run = run.judged(request.external).choosing(settings.evaluator_choice)
            run.check()
            is_loaded = True
            result = settings.scorer.score(run, request.definition)
            return Outcome(result, run.inputs.checksums, run.inputs.salts, run.inputs.durations.seconds)
    except WebEvalError as error:
        is_late = str(error) == timeout_message
        return Outcome(problem=timeout_message, is_loaded=is_loaded) if is_late else NO_RESULT
    except Exception:  # noqa: BLE001  (the session meets it again, where it is an error of this run alone)
        return NO_RESULT
    finally:
        if run is not None:
            run.release()
