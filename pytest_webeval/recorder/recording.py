"""`Recording`: one run of an agent that is being recorded, and what the agent itself reports of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import structs

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.recorder.run_directory import create_run_directory
from pytest_webeval.recorder.step_log import append_step
from pytest_webeval.recordings.recording_state import STATE, Outcome, RecordingState
from pytest_webeval.recordings.webarena_verified import RESPONSE
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.safety.text import pluralize
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.storage import write_json, write_text
from pytest_webeval.tasks.expectations import STATUSES
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

_ADVICE = "choose another directory"
SUCCESS, DEFAULT_TYPE = "SUCCESS", "RETRIEVE"
_TYPES = ("task_type", "action", "performed_operation")
_DATA = ("retrieved_data", "results")


class BudgetExceeded(BaseException):
    """The agent takes more steps than it may. No `Exception`, which agents catch to go on."""


class Recording:
    """One run that is being recorded into a new directory. `task` is None for a run of no task.

    What is answered and logged is on the disk when the call returns. A recording that nobody closes says so.
    """

    def __init__(
        self, directory: Path, task: Task | None = None, sites: Sites | None = None, max_steps: int | None = None
    ) -> None:
        self.directory = directory
        self.task = task
        self.sites = sites or Sites()
        self.max_steps = max_steps
        self.step_count = 0
        self.opened = ExitStack()
        self.is_closed = False
        self.has_browser = False  # one, even after it is closed: another one would overwrite its traffic
        self.agent_task: asyncio.Task[Any] | None = None  # of an agent that awaits its browser, while that is open
        self.interrupter: Any = None  # an `Interrupter` while the agent can be interrupted
        self.cdp_url: str | None = None  # of the browser, while it is open and other programs may connect to it
        self.state = RecordingState(
            outcome=Outcome.RECORDING,
            task_id=None if task is None else task.task_id,
            start_url=render_start_url(task, self.sites),
            started=_now(),
            versions={"pytest-webeval": own_version()},
        )
        self._write_state()

    @classmethod
    def create(
        cls,
        root: Path,
        task: Task | None = None,
        sites: Sites | None = None,
        max_steps: int | None = None,
        name: str = "",
    ) -> Recording:
        """A recording in a new directory below a root, named after the task or, without one, by `name`.

        Raises `SettingsError`, and `EvaluationError` for a start page whose site has no address.
        """
        if task is None and not name:
            raise SettingsError("a recording without a task requires a name; pass name=")
        render_start_url(task, sites or Sites())  # an error leaves no directory
        directory = create_run_directory(root, task.task_id if task is not None else name)
        recording = cls(directory, task, sites, max_steps)
        recording.opened.enter_context(open_run_directory(directory, root))  # until it is closed
        return recording

    @property
    def start_url(self) -> str | None:
        """The page on which the agent of the task starts; None without a task or address."""
        return self.state.start_url

    @property
    def outcome(self) -> Outcome:
        """How the recording ended; `Outcome.RECORDING` as long as it did not."""
        return self.state.outcome

    @property
    def has_answer(self) -> bool:
        """Whether the agent has answered."""
        return (self.directory / RESPONSE).exists()

    def answer(self, value: Any = None, *, status: str | None = None, error: str | None = None) -> None:
        """Write what the agent answers, over an earlier answer.

        A response, as an object or as a text around one, is written as it is. Anything else is the data of a response
        of the type of the task, with the status SUCCESS or `status`. Raises `SettingsError`.
        """
        if self.is_closed:
            raise SettingsError(f"the recording in {self.directory} is closed; answer before it ends")
        response = build_response(value, self.task, status, error)
        if isinstance(response, str):
            write_text(self.directory / RESPONSE, response, advice=_ADVICE)
        else:
            write_json(self.directory / RESPONSE, response, advice=_ADVICE)

    def step(
        self,
        action: str,
        thought: str | None = None,
        screenshot: bytes | str | os.PathLike[str] | None = None,
        **arguments: Any,
    ) -> None:
        """Log a step before the agent takes it: what it does with which arguments, why, and what it sees.

        The screenshot is the content or the path of a picture. `url` and `observation` among the arguments are shown
        as such. Raises `SettingsError`, and `BudgetExceeded` for a step too many.
        """
        if self.max_steps is not None and self.step_count >= self.max_steps:
            reason = f"the budget of {pluralize(self.max_steps, 'step')} was exceeded"
            self.stop(Outcome.BUDGET, reason)
            raise BudgetExceeded(reason)
        page = {name: arguments.pop(name) for name in ("url", "observation") if name in arguments}
        step: dict[str, Any] = {"action": action, "arguments": arguments, "thought": thought}
        append_step(self.directory, self.step_count + 1, step | page | {"timestamp": _now()}, screenshot)
        self.step_count += 1

    def stop(self, outcome: Outcome | str, reason: str | None = None) -> None:
        """Note how the run ended, unless that is known already. The first reason counts."""
        if self.outcome is Outcome.RECORDING:
            self.state = structs.replace(self.state, outcome=Outcome(outcome), reason=reason)

    def crash(self, error: BaseException) -> None:
        """Note that the agent raised an exception. One of ours is no fault of the agent: it got no browser, perhaps."""
        if isinstance(error, WebEvalError):
            self.stop(Outcome.INTERRUPTED, str(error))
        self.stop(Outcome.CRASHED, f"the agent crashed: {type(error).__name__}: {error}")

    def note_version(self, name: str, version: str) -> None:
        """Note the version of a program that takes part."""
        self.state = structs.replace(self.state, versions={**self.state.versions, name: version})
        self._write_state()

    def note_unrecorded(self, what: str) -> None:
        """Note requests that are not recorded: then the run says nothing about requests. The first note counts."""
        if self.state.unrecorded is None:
            self.state = structs.replace(self.state, unrecorded=what)
            self._write_state()

    def close(self) -> None:
        """End the recording: from now on it says how it ended. Does nothing the second time."""
        if self.is_closed:
            return
        self.stop(Outcome.CLOSED)
        self.is_closed = True
        self.state = structs.replace(self.state, ended=_now())
        with self.opened:
            self._write_state()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.stop(Outcome.INTERRUPTED)
        elif error is not None:
            self.crash(error)
        self.close()

    def _write_state(self) -> None:
        """Write the state; while it is being recorded, what is known of its end stays in memory."""
        state = self.state if self.is_closed else structs.replace(self.state, outcome=Outcome.RECORDING, reason=None)
        write_json(self.directory / STATE, msgspec.to_builtins(state), advice=_ADVICE)


def render_start_url(task: Task | None, sites: Sites) -> str | None:
    """The page on which the agent of a task starts, None without a task or address. Raises `EvaluationError`."""
    return None if task is None else sites.find_start_url(task.start_urls, task.sites)


def build_response(
    value: Any, task: Task | None, status: str | None = None, error: str | None = None
) -> dict[str, Any] | str:
    """The response for an answer: a text around a response as it is, anything else as an object with all keys.

    Raises `SettingsError` for an unknown status, and for a status or an error next to a response, which has its own.
    """
    if status is not None and status.upper() not in STATUSES:
        raise SettingsError(f"unknown status {status!r}; use one of {', '.join(STATUSES)}")
    task_type = (task.task_type if task is not None else None) or DEFAULT_TYPE
    response = value
    if isinstance(value, str):  # models write a text around one
        response = parse_response(value.encode("utf-8", "replace"), find_rules("default")).fields
    if not isinstance(response, Mapping) or not _is_response(response):
        data = list(value) if isinstance(value, list | tuple) else None if value is None else [value]
        return {"task_type": task_type, "status": status or SUCCESS, "retrieved_data": data, "error_details": error}
    if status is not None or error is not None:
        raise SettingsError("status and error belong to data, but the answer is a response; put them into the response")
    if isinstance(value, str):
        return value
    head = {} if any(name in response for name in _TYPES) else {"task_type": task_type}
    return {"status": SUCCESS} | head | dict(response)


def _is_response(fields: Mapping[str, Any]) -> bool:
    """Whether an object has a valid status, or type and data. One with other keys only is a datum."""
    has_status = isinstance(fields.get("status"), str) and fields["status"].upper() in STATUSES
    return has_status or all(any(name in fields for name in names) for names in (_TYPES, _DATA))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
