"""`LiveRecording`: a recording with the browser of its agent, which opens when it is first used."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, SettingsError
from pytest_webeval.recorder.browser import BrowserOptions
from pytest_webeval.recorder.contexts import open_context, open_context_async
from pytest_webeval.recorder.recording import Recording
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.tasks.sites import PLACEHOLDER, Sites, placeholder
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from playwright import async_api
    from playwright.sync_api import BrowserContext, Page


CLOSING = 60  # seconds that a browser may take to close


class LiveRecording(Recording):
    """A recording whose browser opens when the agent asks for `page`, `context`, `connect` or `open_async`."""

    def __init__(
        self,
        directory: Path,
        task: Task | None = None,
        sites: Sites | None = None,
        max_steps: int | None = None,
        options: BrowserOptions | None = None,
    ) -> None:
        super().__init__(directory, task, sites, max_steps)
        self.options = options or BrowserOptions()
        self._stack = ExitStack()

    @property
    def start_url(self) -> str | None:
        """The page on which the agent of the task starts; None for a task of no site.

        Raises `SettingsError` for a site without an address, with which a browser would raise an error of its own.
        """
        url, sites = super().start_url, self.task.sites if self.task is not None else ()
        start = placeholder(sites[0]) if url is None and sites else url
        if start is not None and PLACEHOLDER.match(start):
            problem = f"no URL for {start!r:.80}, where task {self.state.task_id} starts"
            raise SettingsError(f"{problem}; pass a file with the site URLs: --webeval-config=FILE")
        return url

    @cached_property
    def context(self) -> BrowserContext:
        """The recorded context of a browser, with Playwright's blocking calls. Raises `SettingsError`."""
        return self._stack.enter_context(open_context(self, self.options))

    @cached_property
    def page(self) -> Page:
        """The first page of the context."""
        return self.context.pages[0] if self.context.pages else self.context.new_page()

    def connect(self, cdp_url: str) -> BrowserContext:
        """The default context of a running browser, recorded from now on. Raises `SettingsError`."""
        context = self._stack.enter_context(open_context(self, replace(self.options, cdp_url=cdp_url)))
        vars(self)["context"] = context
        return context

    def open_async(self, **changes: Any) -> AbstractAsyncContextManager[async_api.BrowserContext]:
        """The recorded context of a browser for `async with`, with calls that are awaited.

        `cdp_url` connects to a running browser. `serves_cdp=True` lets another program connect to `self.cdp_url`.
        """
        return open_context_async(self, replace(self.options, **changes))

    def crash(self, error: BaseException) -> None:
        """Close the browser, and note that the agent raised an exception; unless that came of a lost browser."""
        self.close_browser()
        super().crash(error)

    def close(self) -> None:
        """Close the browser, then the recording."""
        try:
            self.close_browser()
        finally:
            super().close()

    def close_browser(self) -> None:
        """Close the browser of `context`, if it is open. One that does not close in time is left alone."""
        try:
            with time_limit(CLOSING, f"the browser did not close in {CLOSING} s"):
                self._stack.close()
        except EvaluationError as error:
            self.stop(Outcome.BROWSER_LOST, str(error))
