"""Recording with Playwright's calls that are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from pytest_webeval.recorder.browser import BrowserCapture, BrowserOptions, import_playwright
from pytest_webeval.recorder.interruption import uninterrupted
from pytest_webeval.recorder.recording import Recording

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Playwright

_DEFAULT = BrowserOptions()


@asynccontextmanager
async def open_context_async(
    recording: Recording, options: BrowserOptions = _DEFAULT, playwright: Playwright | None = None
) -> AsyncIterator[BrowserContext]:
    """The same as `sync_recording.open_context` for agents that await their browser."""
    capture = BrowserCapture(recording, options)
    async with AsyncExitStack() as stack:
        with uninterrupted(recording):
            context = await _open(recording, capture, stack, playwright)
        recording.agent_task = asyncio.current_task()
        stack.callback(setattr, recording, "agent_task", None)
        yield context


async def _open(
    recording: Recording, capture: BrowserCapture, stack: AsyncExitStack, playwright: Playwright | None
) -> Any:
    """Open a browser that the stack closes, and record its context."""
    api = import_playwright("async_api")
    stack.callback(capture.remove_profile)
    try:
        playwright = playwright or await stack.enter_async_context(api.async_playwright())
        browser = await capture.launch(playwright)
    except api.Error as error:
        raise capture.build_error(error) from error
    stack.push_async_callback(_run, capture, browser.close, api.Error)
    context = capture.find_context(browser)
    if hasattr(context, "__await__"):
        context = await context
    recording.cdp_url = capture.find_cdp_url()
    for call in capture.start_calls(context):
        await call()
    stack.push_async_callback(_finish_before_closing(capture, context, api.Error))
    return context


def _finish_before_closing(capture: BrowserCapture, context: Any, error_class: type[Exception]) -> Any:
    """What ends the recording once, also before the agent closes context or browser."""

    async def finish() -> None:
        if capture.is_finished:
            return
        capture.is_finished = True
        for call in capture.settle_calls(context):
            with suppress(error_class):
                await call()
        for call in capture.finish_calls(context):
            await _run(capture, call, error_class)
        capture.finish()

    for closable in filter(None, (context, context.browser)):
        _close_after(closable, finish)
    return finish


def _close_after(closable: Any, finish: Any) -> None:
    close = closable.close

    async def finish_and_close(*args: Any, **kwargs: Any) -> None:
        await finish()
        await close(*args, **kwargs)

    vars(closable)["close"] = finish_and_close


async def _run(capture: BrowserCapture, call: Any, error_class: type[Exception]) -> None:
    try:
        await call()
    except error_class as error:
        capture.note_problem(error)
