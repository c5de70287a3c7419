"""The browser of a recording, apart from waiting for it: which one, what it records, and what is left in the end.

Playwright has every call twice, and only in one of them it has to be awaited. So calls are written here, as generators
that get what each call returns or raises, and `contexts` makes them.

The log of the network lies on the disk while the agent works. It is what remains after a crash. When the browser is
closed, Playwright makes a HAR file and an archive of it, which replace it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.recorder.recording import Recording
from pytest_webeval.recordings.action_trace import ARCHIVE, FOLDER
from pytest_webeval.recordings.network.playwright import REQUESTS_LOG, sort_by_time
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.run_directory import find_change, is_link
from pytest_webeval.safety.text import to_line
from pytest_webeval.storage import write_bytes

HAR, REQUESTS_HAR = "network.har", "requests.har"
INSTALL = "install it with pip install 'pytest-webeval[record]'"
# Names of browsers that speak the protocol, where Playwright has installed none.
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PORT_FILE = "DevToolsActivePort"
SETTLING, POLLING = 1.0, 25  # seconds, milliseconds
OWN_CONTEXT = "the agent opened a browser context of its own, whose requests are not recorded"
LOST_REQUESTS = "the requests of page.request and context.request were not recorded"
REPLACED = "the directory of the recording was replaced"
LOST, _CLOSED = "the browser ended before the agent did", "has been closed"
_LONGEST_PROBLEM = 200  # characters

Calls = Generator[Callable[[], Any], Any, Any]


class BrowserOptions(Struct, frozen=True, kw_only=True):
    """Which browser is used. `cdp_url` is the address of a running one; then the others do not matter.

    With `serves_cdp`, another program may connect to the launched browser, under the `cdp_url` of its context.
    """

    executable_path: str | None = None
    headless: bool = True
    args: tuple[str, ...] = ()
    cdp_url: str | None = None
    serves_cdp: bool = False
    context: dict[str, Any] = field(default_factory=dict)  # arguments of Playwright's `new_context`


class BrowserCapture(Struct, eq=False, dict=True):
    """Records what the context of a browser does into the directory of a recording."""

    recording: Recording
    options: BrowserOptions
    problems: list[str] = field(default_factory=list)
    pending: set[Any] = field(default_factory=set)  # requests without a response
    profile: str | None = None  # a directory for the browser's own files
    requests: Any = None  # records what no page sends, where that is something else than the tracing of the context
    error_class: type[Exception] = Exception  # what calls raise
    is_finished: bool = False

    def __post_init__(self) -> None:
        """Raise `SettingsError` for the second browser of a recording."""
        if self.recording.has_browser:
            raise SettingsError("this recording has had its browser, and records no other; open more pages in that one")

    @property
    def folder(self) -> Path:
        """Where Playwright writes while the agent works."""
        return self.recording.directory / FOLDER

    def launch(self, playwright: Any) -> Any:
        """Launch a browser, or connect to one. Returns a browser, or a context that has one for itself alone."""
        options, chromium = self.options, playwright.chromium
        if options.cdp_url is not None:
            # Its owner decides about downloads and media, and Playwright's log is where it is if it launches one.
            return chromium.connect_over_cdp(options.cdp_url, artifacts_dir=self.folder, no_defaults=True)
        launching = {
            "executable_path": options.executable_path or find_browser(chromium.executable_path),
            "headless": options.headless,
            "traces_dir": self.folder,
            "handle_sigint": False,  # the recording ends first
        }
        if not options.serves_cdp:
            return chromium.launch(args=options.args, **launching)
        self.profile = tempfile.mkdtemp(prefix="webeval-profile-")
        arguments = (*options.args, "--remote-debugging-port=0")
        return chromium.launch_persistent_context(self.profile, args=arguments, **launching, **options.context)

    def build_error(self, error: Any) -> SettingsError:
        """The error that says why there is no browser."""
        url = self.options.cdp_url
        reason = to_line(error.message if url is None else hide_access(error.message, url), _LONGEST_PROBLEM)
        place = "start the browser" if url is None else f"connect to {hide_access(url, url)}"
        return SettingsError(f"cannot {place}: {reason}; check its address or path")

    def find_context(self, browser: Any) -> Any:
        """The context to record: the only one, or a new one."""
        if self.options.serves_cdp and self.options.cdp_url is None:
            return browser
        return browser.contexts[0] if self.options.cdp_url is not None else browser.new_context(**self.options.context)

    def find_cdp_url(self) -> str | None:
        """The address under which other programs reach the browser, or None."""
        if self.options.cdp_url is not None or self.profile is None:
            return self.options.cdp_url
        port, _, _ = Path(self.profile, _PORT_FILE).read_text(encoding="ascii").partition("\n")
        return f"http://127.0.0.1:{port}"

    def start(self, browser: Any) -> Calls:
        """Start to record the context of a browser, which is returned."""
        context = yield partial(self.find_context, browser)
        self.recording.cdp_url = self.find_cdp_url()
        self.recording.has_browser = True
        browser = context.browser
        if browser is not None:
            self.recording.note_version("browser", f"{browser.browser_type.name} {browser.version}")
            browser.on("context", lambda _: self.recording.note_unrecorded(OWN_CONTEXT))
        context.on("request", self._begin_request)
        context.on("requestfinished", self._end_request)
        context.on("requestfailed", self._end_request)
        yield lambda: context.tracing.start(name="trace", screenshots=True, snapshots=True)
        yield lambda: context.tracing.start_har(self.folder / HAR, content="embed", mode="full")
        requests = self.requests = find_request_tracing(context)
        if requests is not None:
            yield lambda: requests.start(name=REQUESTS_LOG.removesuffix(".network"), snapshots=True)
            yield lambda: requests.start_har(self.folder / REQUESTS_HAR, content="embed", mode="full")
        return context

    def _begin_request(self, request: Any) -> None:
        self.pending.add(request)

    def _end_request(self, request: Any) -> None:
        self.pending.discard(request)

    def finish_before_closing(self, context: Any, make: Callable[[Calls], Any]) -> None:
        """Let the recording end also before the agent closes context or browser itself."""

        def replace_close(closable: Any) -> None:
            close = closable.close
            vars(closable)["close"] = lambda *args, **more: make(self.finish(context, partial(close, *args, **more)))

        for closable in filter(None, (context, context.browser)):
            replace_close(closable)

    def finish(self, context: Any, close: Callable[[], Any] | None = None) -> Calls:
        """End the recording of a context once, whether it is there or not, and then close something."""
        if not self.is_finished:
            self.is_finished = True
            yield from self._settle(context)
            if self.requests is not None:
                yield from self.attempt(self.requests.stop_har)
                yield from self.attempt(self.requests.stop)
            yield from self.attempt(context.tracing.stop_har)
            yield from self.attempt(partial(context.tracing.stop, path=self.folder / ARCHIVE))
            self.keep_files()
        if close is not None:
            yield close

    def _settle(self, context: Any) -> Calls:
        """Wait for responses to the last action of the agent, for a second at most."""
        deadline = time.monotonic() + SETTLING
        for count, page in enumerate(cycle(context.pages)):
            if count and not (self.pending and time.monotonic() < deadline):
                return
            with suppress(self.error_class):  # one of them may have crashed
                yield partial(page.wait_for_timeout, POLLING)

    def attempt(self, call: Callable[[], Any]) -> Calls:
        """A call that may fail: most likely there is no browser any more then."""
        try:
            yield call
        except self.error_class as error:
            self.problems.append(to_line(str(error), _LONGEST_PROBLEM))

    def keep_files(self) -> None:
        """Keep what Playwright made in the end, or else what it wrote before, which says as much for a verdict."""
        if find_change(self.recording.directory) or is_link(self.folder):  # its files would be those of others
            self.recording.stop(Outcome.BROWSER_LOST, REPLACED)
            return
        if self.problems:
            self.recording.stop(
                Outcome.BROWSER_LOST, LOST if _CLOSED in self.problems[0] else f"{LOST}: {self.problems[0]}"
            )
        if self.requests is not None and (self.folder / HAR).exists():
            try:
                add_requests(self.folder, HAR, REQUESTS_HAR)
            except (WebEvalError, msgspec.MsgspecError, UnicodeDecodeError):
                self.recording.note_unrecorded(LOST_REQUESTS)
        kept = [self._keep(name) for name in (HAR, ARCHIVE)]
        if all(kept):
            shutil.rmtree(self.folder, ignore_errors=True)

    def remove_profile(self) -> None:
        """Remove the browser's own files, once it is closed."""
        if self.profile is not None:
            shutil.rmtree(self.profile, ignore_errors=True)

    def _keep(self, name: str) -> bool:
        try:
            os.replace(self.folder / name, self.recording.directory / name)  # noqa: PTH105  (the name says what it does)
        except OSError:
            return False
        return True


def find_request_tracing(context: Any) -> Any:
    """What records the requests of a context that no page sends; None where the tracing of the context does it.

    Since version 1.63 Playwright records the requests of `page.request` and `context.request` with a tracing of their
    own; before, they were in the HAR of the context.
    """
    tracing = getattr(context.request, "tracing", None)
    return None if tracing is context.tracing else tracing


def add_requests(folder: Path, har: str, requests: str) -> None:
    """Add the entries of a second HAR to the first, in the order of time.

    Raises `WebEvalError`, and `MsgspecError` for damaged files.
    """
    added = _read_har(folder, requests)[2]
    if not added:
        return
    content, log, entries = _read_har(folder, har)
    merged = sort_by_time([[(entry, False) for entry in part] for part in (entries, added)])
    log["entries"] = msgspec.Raw(msgspec.json.encode([entry for entry, _ in merged]))
    content["log"] = msgspec.Raw(msgspec.json.encode(log))
    write_bytes(folder / har, msgspec.json.encode(content), "record again")


def _read_har(folder: Path, name: str) -> tuple[dict[str, msgspec.Raw], dict[str, msgspec.Raw], list[msgspec.Raw]]:
    """A HAR, its log and its entries. Raises the same."""
    content = msgspec.json.decode(read_file_inside(folder, name, sys.maxsize), type=dict[str, msgspec.Raw])
    log = msgspec.json.decode(content.get("log", b"{}"), type=dict[str, msgspec.Raw])
    return content, log, msgspec.json.decode(log.get("entries", b"[]"), type=list[msgspec.Raw])


def hide_access(text: str, url: str) -> str:
    """A text without the credentials and the query of a URL, which may be the key to somebody's browsers."""
    _, _, rest = url.partition("://")
    authority, _, query = rest.partition("?")
    credentials, _, _ = authority.partition("/")[0].rpartition("@")
    for secret in (f"{credentials}@" if credentials else "", f"?{query}" if query else ""):
        text = text.replace(secret, "") if secret else text
    return text


def find_browser(installed: str) -> str:
    """The browser that Playwright has installed, or else one of the system. Raises `SettingsError`."""
    candidates = [installed, *filter(None, map(shutil.which, _BROWSERS))]
    for candidate in candidates:
        if os.path.exists(candidate):  # noqa: PTH110  (a text stays a text)
            return candidate
    raise SettingsError("no Chromium to record with; run `playwright install chromium`, or name a browser")


def import_playwright(api: str) -> ModuleType:
    """Playwright's module `sync_api` or `async_api`. Raises `SettingsError` that says what to install."""
    from importlib import import_module  # only for recordings

    try:
        return import_module(f"playwright.{api}")
    except ImportError as error:
        raise SettingsError(f"recording requires Playwright; {INSTALL}") from error
