"""Recording with Playwright's blocking calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pytest_webeval.recorder.browser import BrowserCapture, BrowserOptions, import_playwright
from pytest_webeval.recorder.interruption import uninterrupted
from pytest_webeval.recorder.recording import Recording

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Playwright

_DEFAULT = BrowserOptions()


@contextmanager
def open_context(
    recording: Recording, options: BrowserOptions = _DEFAULT, playwright: Playwright | None = None
) -> Iterator[BrowserContext]:
    """A context of a browser of its own, or of a running one, which is recorded until the block ends, however it does.

    The agent may close the context or the browser itself. `playwright` is for threads that have started it already.
    Raises `SettingsError` where there is no Playwright or no browser.
    """
    capture = BrowserCapture(recording, options)
    with ExitStack() as stack:
        with uninterrupted(recording):
            context = _open(recording, capture, stack, playwright)
        yield context


def _open(recording: Recording, capture: BrowserCapture, stack: ExitStack, playwright: Playwright | None) -> Any:
    """Open a browser that the stack closes, and record its context."""
    api = import_playwright("sync_api")
    stack.callback(capture.remove_profile)
    try:
        playwright = playwright or stack.enter_context(api.sync_playwright())
        browser = capture.launch(playwright)
    except api.Error as error:
        raise capture.build_error(error) from error
    stack.callback(_run, capture, browser.close, api.Error)
    context = capture.find_context(browser)
    recording.cdp_url = capture.find_cdp_url()
    for call in capture.start_calls(context):
        call()
    stack.callback(_finish_before_closing(capture, context, api.Error))
    return context


def _finish_before_closing(capture: BrowserCapture, context: Any, error_class: type[Exception]) -> Any:
    """What ends the recording once, also before the agent closes context or browser."""

    def finish() -> None:
        if capture.is_finished:
            return
        capture.is_finished = True
        for call in capture.settle_calls(context):
            with suppress(error_class):
                call()
        for call in capture.finish_calls(context):
            _run(capture, call, error_class)
        capture.finish()

    for closable in filter(None, (context, context.browser)):
        _close_after(closable, finish)
    return finish


def _close_after(closable: Any, finish: Any) -> None:
    close = closable.close

    def finish_and_close(*args: Any, **kwargs: Any) -> None:
        finish()
        close(*args, **kwargs)

    vars(closable)["close"] = finish_and_close


def _run(capture: BrowserCapture, call: Any, error_class: type[Exception]) -> None:
    try:
        call()
    except error_class as error:
        capture.note_problem(error)
