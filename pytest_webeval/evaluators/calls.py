"""Calls of evaluators that users wrote: once for each expectation, with the exceptions that they raised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import ClassVar

from pytest_webeval.recordings.run import Run
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.tasks.task import Expectation

_PACKAGE = str(Path(__file__).parents[1]) + os.sep  # not a package whose name begins with ours
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(eq=False)
class EvaluatorCalls:
    """The calls for one case. The pytest plugin has its own class, for which pytest's outcomes mean something.

    `base` is what file names in messages are relative to: the current directory if it is None. `raised` are the
    exceptions of evaluators, and `expected` the reasons for which one of them expects a failure.
    """

    passing: ClassVar[tuple[type[BaseException], ...]] = ()  # exceptions that end the session, not an evaluator

    base: Path | None = None
    raised: list[BaseException] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    _results: list[tuple[Expectation, object, EvaluatorResult]] = field(default_factory=list)

    def call(self, evaluate: Callable[[], object], expectation: Expectation, run: Run) -> object:  # noqa: ARG002
        """Call an evaluator that checks an expectation against a run."""
        return evaluate()

    def find_or_evaluate(
        self, evaluator: object, expectation: Expectation, evaluate: Callable[[], EvaluatorResult]
    ) -> EvaluatorResult:
        """The result of an earlier call with the same expectation, or of one that is remembered."""
        for earlier, caller, result in self._results:
            if earlier is expectation and _is_same(caller, evaluator):
                return result
        result = evaluate()
        self._results.append((expectation, evaluator, result))
        return result

    def keep_error(self, error: BaseException) -> str:
        """Remember an exception, its traceback beginning in code that is not ours. Returns its file and line."""
        self.raised.append(error.with_traceback(_skip_own_frames(error.__traceback__)))
        lines = list(_list_foreign_lines(error.__traceback__))
        base = self.base or Path.cwd()
        inside = [f"{path.relative_to(base).as_posix()}:{line}" for path, line in lines if _is_users(path, base)]
        outside = [f"{path.name}:{line}" for path, line in lines]  # the rest of such a path differs by machine
        return next(iter([*inside[-1:], *outside]), "")

    def forget(self) -> None:
        """Release the exceptions, whose tracebacks hold all data of an evaluator."""
        self.raised.clear()


def _is_same(first: object, second: object) -> bool:
    """Whether two evaluators are one or equal. Those whose comparison fails, as with arrays in them, are not."""
    if first is second:
        return True
    try:
        return type(first) is type(second) and bool(first == second)
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RuntimeError):
        return False


def _is_users(path: Path, base: Path) -> bool:
    return path.is_relative_to(base) and not _INSTALLED.intersection(path.relative_to(base).parts)


def _skip_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback below our calls; all of it where nothing else was called."""
    below = traceback
    while below is not None and below.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        below = below.tb_next
    return below or traceback


def _list_foreign_lines(traceback: TracebackType | None) -> Iterator[tuple[Path, int]]:
    """Files and lines outside of our package."""
    for frame, line in walk_tb(traceback):
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE):
            yield Path(name), line
