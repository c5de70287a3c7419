"""The context of a browser while it is recorded, with Playwright's blocking calls or those that are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_webeval.recorder.browser import BrowserCapture, BrowserOptions, Calls, import_playwright
from pytest_webeval.recorder.interruption import uninterrupted
from pytest_webeval.recorder.recording import Recording

if TYPE_CHECKING:
    from playwright import async_api
    from playwright.sync_api import BrowserContext

_DEFAULT = BrowserOptions()


@contextmanager
def open_context(recording: Recording, options: BrowserOptions = _DEFAULT) -> Iterator[BrowserContext]:
    """A context of a browser of its own, or of a running one, which is recorded until the block ends, however it does.

    The agent may close the context or the browser itself. Raises `SettingsError` where there is no Playwright or no
    browser.
    """
    capture = BrowserCapture(recording, options)
    with ExitStack() as stack:
        with uninterrupted(recording):
            api = import_playwright("sync_api")
            capture.error_class = api.Error
            make = partial(make_calls, error_class=api.Error)
            stack.callback(capture.remove_profile)
            try:
                browser = capture.launch(stack.enter_context(api.sync_playwright()))
            except api.Error as error:
                raise capture.build_error(error) from error
            stack.callback(make, capture.attempt(browser.close))
            context = make(capture.start(browser))
            capture.finish_before_closing(context, make)
            stack.callback(make, capture.finish(context))
        yield context


@asynccontextmanager
async def open_context_async(
    recording: Recording, options: BrowserOptions = _DEFAULT
) -> AsyncIterator[async_api.BrowserContext]:
    """The same as `open_context` for agents that await their browser."""
    capture = BrowserCapture(recording, options)
    async with AsyncExitStack() as stack:
        with uninterrupted(recording):
            api = import_playwright("async_api")
            capture.error_class = api.Error
            make = partial(await_calls, error_class=api.Error)
            stack.callback(capture.remove_profile)
            try:
                browser = await capture.launch(await stack.enter_async_context(api.async_playwright()))
            except api.Error as error:
                raise capture.build_error(error) from error
            stack.push_async_callback(make, capture.attempt(browser.close))
            context = await make(capture.start(browser))
            capture.finish_before_closing(context, make)
            stack.push_async_callback(make, capture.finish(context))
        recording.agent_task = asyncio.current_task()
        stack.callback(setattr, recording, "agent_task", None)
        yield context


def make_calls(calls: Calls, error_class: type[Exception]) -> Any:
    """Make calls one after the other, and return what they come to."""
    try:
        call = next(calls)
        while True:
            try:
                value = call()
            except error_class as error:
                call = calls.throw(error)
            else:
                call = calls.send(value)
    except StopIteration as end:
        return end.value


async def await_calls(calls: Calls, error_class: type[Exception]) -> Any:
    """The same for calls that are awaited."""
    try:
        call = next(calls)
        while True:
            try:
                value = call()
                if hasattr(value, "__await__"):  # a context that is there already is returned at once
                    value = await value
            except error_class as error:
                call = calls.throw(error)
            else:
                call = calls.send(value)
    except StopIteration as end:
        return end.value
