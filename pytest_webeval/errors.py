"""What can go wrong, one class per thing a caller may want to catch.

::

    WebEvalError
    ├── ExecutorError         the engine on which runs are scored: unreachable, or without workers
    ├── SettingsError         an option, ini value or configuration file
    │   └── DiskFull          a file for which there is no room on the disk
    ├── TaskDefinitionError   the definition of a task: missing, duplicate or invalid
    ├── RecordingError        what an agent left behind: missing, damaged, unknown
    │   └── StoreError        an object in a store that cannot be read, listed or written
    ├── RunExcluded           a run that says nothing about the agent: aborted
    │   └── RunUnjudged       no judge has a verdict on it that counts
    │       └── JudgeFailed   a judge that was asked has come to no verdict
    ├── EvaluationError       an evaluator that cannot come to a verdict
    └── ValueParseError       one datum that its value type does not understand

Each message is one line: what is wrong, what to do, where. Whoever needs one of these reads it from the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class WebEvalError(Exception):
    """Base of every error that this package raises on purpose.

    Its text is made of the `problem`, the `advice` and `where` the problem is. `code` says which error it is.
    `rule` names the switch of the rule set without which there would have been none.
    """

    def __init__(
        self, problem: str, rule: str | None = None, *, advice: str = "", where: str = "", code: str = ""
    ) -> None:
        advised = f"{problem}; {advice}" if advice else problem
        super().__init__(f"{advised} @ {where}" if where else advised)
        self.problem, self.advice, self.where, self.code = problem, advice, where, code
        self.rule = rule


class SettingsError(WebEvalError):
    """An option, an ini value or the configuration file is wrong."""


class ExecutorError(WebEvalError):
    """An engine that scores runs cannot be reached, has lost its workers, or has workers of another version."""


class DiskFull(SettingsError):
    """The disk is too full for the file `path`. `reason` is the message of the system."""

    def __init__(self, message: str, path: Path, reason: str) -> None:
        super().__init__(message)
        self.path = path
        self.reason = reason

    @property
    def no_room(self) -> dict[str, str]:
        """The same as JSON: reasons by path."""
        return {str(self.path): self.reason}


class TaskDefinitionError(WebEvalError):
    """A task definition is missing, defined twice or invalid."""


class RecordingError(WebEvalError):
    """A recording is missing, damaged or of an unknown layout."""


class StoreError(RecordingError):
    """An object in a store that cannot be read, listed or written, for good. It names no credentials."""


class RunExcluded(WebEvalError):
    """A run that says nothing about the agent, so that it is neither a success nor a failure.

    `kind` is what it is counted as: `aborted`, `impossible`, `invalid_reward`, `superseded`, `ungraded`, `not_recorded`
    or `not_evaluated`.
    """

    kind = "aborted"

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind or self.kind


class RunUnjudged(RunExcluded):
    """A run on which no judge has a verdict that counts, for a `reason`. Its other expectations may score it."""

    kind = "ungraded"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"not scored: {self.reason}"


class JudgeFailed(RunUnjudged):
    """A judge that was asked came to no verdict, which says nothing about the agent.

    `outcome` is `unparseable`, `refused`, `filtered`, `truncated`, `uncertain`, `unreachable` (no reply of the server),
    `forgotten` (no remembered reply, and the session asks nobody), `over_limit` (the session may spend no more) or
    `unjudgeable` (nothing to judge). `facts` say which judge it was, and what it cost, as plain JSON.
    """

    def __init__(self, reason: str, outcome: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.facts = facts or {}


class EvaluationError(WebEvalError):
    """An evaluator cannot come to a verdict: neither success nor failure."""


class UnavailableBody(EvaluationError):
    """A body that the trace itself does not hold as text, and that cannot be read where it lies."""


class ValueParseError(WebEvalError):
    """A datum that its value type does not understand."""


class TaskFailed(AssertionError):
    """A task or one of its checks did not succeed. The text says why.

    `raised` are the exceptions of evaluators. The traceback ends where the first was raised: there stops --pdb.
    """

    def __init__(self, message: str, raised: Sequence[BaseException] = ()) -> None:
        super().__init__(message)
        self.raised = tuple(raised)
        self.__traceback__ = self.raised[0].__traceback__ if self.raised else None
