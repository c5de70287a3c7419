"""Calls of code that users wrote: evaluators, in which pytest's outcomes and warnings mean something, and hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import pluggy
import pytest

from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_text import shortened_lines
from pytest_webeval.results import EvaluatorResult, Status
from pytest_webeval.safety.text import sanitize
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import failed

REDACTING = pytest.StashKey[Redacting]()
_Style = Literal["short", "long", "native"]
_STYLES: dict[str, _Style] = {"auto": "short", "short": "short", "long": "long", "native": "native"}


@dataclass(eq=False)
class PytestCalls(EvaluatorCalls):
    """Calls in a session of pytest: `pytest.skip` skips the test, `pytest.xfail` and `pytest.fail` are failures."""

    passing: ClassVar[tuple[type[BaseException], ...]] = (pytest.exit.Exception,)

    config: pytest.Config | None = None

    def call(self, evaluate: Callable[[], object], expectation: Expectation, run: Run) -> object:
        """Call an evaluator. Raises `pytest.skip.Exception`: then nothing else is evaluated."""
        with sanitize_warnings(self.config, run):
            try:
                return super().call(evaluate, expectation, run)
            except pytest.xfail.Exception as error:  # a subclass of what pytest.fail raises
                self.expected.append(str(error.msg))
                return _failure(expectation, "evaluator.xfail", str(error.msg))
            except pytest.fail.Exception as error:
                if error.pytrace:
                    self.keep_error(error)
                return _failure(expectation, "evaluator.fail", str(error.msg))


@contextmanager
def sanitize_warnings(config: pytest.Config | None, run: Run | None = None) -> Iterator[None]:
    """Let warnings through to pytest without secrets and control characters."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        for warning in caught:
            _warn(warning, config, run)


def _warn(warning: warnings.WarningMessage, config: pytest.Config | None, run: Run | None) -> None:
    message, original = cast("Warning", warning.message), str(warning.message)
    text = sanitize(original if config is None else config.stash[REDACTING].text(original, run))
    if text != original:
        try:
            message = warning.category(text)
        except TypeError:  # it wants more than a text
            message = UserWarning(text)
    warnings.warn_explicit(message, type(message), warning.filename, warning.lineno)


def _failure(expectation: Expectation, name: str, reason: str) -> EvaluatorResult:
    return EvaluatorResult(
        evaluator_name=expectation.evaluator, status=Status.FAILURE, score=0.0, assertions=[failed(name, reason)]
    )


def with_tracebacks(text: str, errors: Sequence[BaseException], config: pytest.Config) -> str:
    """A reason, then the tracebacks of exceptions in the style of --tb: short by default."""
    return "\n".join(filter(None, [text, *(_traceback(error, config) for error in errors)]))


def _traceback(error: BaseException, config: pytest.Config) -> str:
    """Empty for the styles `line` and `no`: the reason has the line already."""
    is_full = config.getoption("fulltrace", default=False)
    style = "long" if is_full else _STYLES.get(config.getoption("tbstyle", default="auto"))
    if style is None:
        return ""
    traceback = pytest.ExceptionInfo.from_exception(error).getrepr(
        style=style, showlocals=config.getoption("showlocals", default=False), tbfilter=not is_full
    )
    return shortened_lines(str(traceback))


def call_user_hook(hook: pluggy.HookCaller, **arguments: Any) -> str | None:
    """Call a hook. Returns its exception in one line that names the hook, or None.

    Otherwise pytest would end the session without a summary. User code may raise anything, so this is the only broad
    except of the plugin. `pytest.exit` still exits.
    """
    try:
        hook(**arguments)
    except pytest.exit.Exception:
        raise
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001  (see above)
        message = " ".join(str(error).split())
        return sanitize(f"{hook.name} raised {type(error).__name__}: {message}; fix the hook and rerun")
    return None
