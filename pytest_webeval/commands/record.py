"""`webeval record`: a run of a person in a browser, such as the first that passes a new task."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from pytest_webeval.commands.command import ALTERNATIVES, argument, print_text, read_sites, switch
from pytest_webeval.errors import EvaluationError, SettingsError
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.safety.text import sanitize, to_line
from pytest_webeval.summary.results.redacted_results import redact_text
from pytest_webeval.tasks.dataset import LONGEST_NUMBER, load_tasks
from pytest_webeval.tasks.expectations import STATUSES, TASK_TYPES
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from pytest_webeval.recorder.browser import BrowserOptions
    from pytest_webeval.recorder.person import Interrupts, Person
    from pytest_webeval.recorder.recording import Recording

HELP = "record what a person does in a browser as a run of a task"
OUTPUT = "webeval-runs"
RETRIEVE, SUCCESS = TASK_TYPES[0], STATUSES[0]
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_LONGEST_PROBLEM = 200  # characters
ARGUMENTS = (
    argument("--task", "ID", "the id of the task", required=True),
    argument("--tasks", "FILE", "the file that defines the task; without one, pass --url"),
    argument("--config", "FILE", "URLs of the sites, as for --webeval-config"),
    argument("--output", "DIR", f"the run root to write to (default: {OUTPUT})", default=OUTPUT),
    argument("--url", "URL", "open this page instead of the task's start page"),
    argument("--answer", "ANSWER", "the answer, as JSON or text, instead of asking for it"),
    argument("--browser", "PATH", "the browser to use (default: Playwright's Chromium)"),
    switch("--headless", "open no window, and print where DevTools can connect", group=ALTERNATIVES),
    argument("--cdp", "URL", "record in a running Chromium with a debugging port", group=ALTERNATIVES),
)


def run(arguments: argparse.Namespace) -> int:
    """Record a run and print where it lies. Returns the exit code: 1 if the browser ended too early.

    Raises `SettingsError` or `TaskDefinitionError`.
    """
    from pytest_webeval.recorder.browser import import_playwright  # no other command records
    from pytest_webeval.recorder.person import count_interrupts
    from pytest_webeval.recorder.recording import Recording
    from pytest_webeval.recorder.run_directory import remove_run_directory

    task, start_url = _find_task(arguments)
    import_playwright("sync_api")
    options = _choose_browser(arguments)
    started = None if task is None else structs.replace(task, start_urls=[start_url], sites=[])
    recording = Recording.create(Path(arguments.output), started, name=arguments.task)
    print_text(sanitize(redact_text(f"task {arguments.task}: {task.intent if task else start_url}")))
    with recording.opened:
        try:
            with count_interrupts() as interrupts:
                _record(recording, options, start_url, arguments.answer, interrupts)
        except SettingsError:
            remove_run_directory(recording.directory)  # nothing was recorded
            raise
        recording.close()
    return _report(recording, arguments.config)


def _find_task(arguments: argparse.Namespace) -> tuple[Task | None, str]:
    """The task, unless it is to be defined by this run, and the page to open. Raises `WebEvalError`."""
    if arguments.tasks is None:
        if arguments.url is None:
            raise SettingsError("no definition of the task; pass --tasks, or --url to record a run before it has one")
        return None, arguments.url
    text = arguments.task
    is_number = text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER
    task = load_tasks(arguments.tasks).get(int(text) if is_number else text)
    sites = read_sites(arguments.config) or Sites()
    return task, arguments.url or find_start_url(task, sites)


def find_start_url(task: Task, sites: Sites) -> str:
    """The address of the first start page of a task, or else of its site. Raises `SettingsError`."""
    try:
        url = sites.find_start_url(task.start_urls, task.sites)
    except EvaluationError:
        url = task.start_urls[0]
    if url is None:
        raise SettingsError(f"task {task.task_id} has no start page; pass --url, or --config with its site")
    if "://" not in url:
        raise SettingsError(f"no URL for {url!r}, where task {task.task_id} starts; pass --config or --url")
    return url


def _choose_browser(arguments: argparse.Namespace) -> BrowserOptions:
    from pytest_webeval.recorder.browser import BrowserOptions

    has_display = sys.platform != "linux" or any(map(os.environ.get, _DISPLAYS))
    if not (has_display or arguments.headless or arguments.cdp):
        raise SettingsError("no display to open a window on; pass --headless, or --cdp for a running Chromium")
    return BrowserOptions(
        executable_path=arguments.browser,
        headless=arguments.headless,
        # Chromium has no sandbox for root.
        args=("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else (),
        cdp_url=arguments.cdp,
        serves_cdp=arguments.headless,
        # A browser that serves others has one context, which has one page; a window is as large as its person wants.
        context={} if arguments.headless else {"no_viewport": True},
    )


def _record(
    recording: Recording, options: BrowserOptions, start_url: str, answer_text: str | None, interrupts: Interrupts
) -> None:
    """Open the start page, wait until the person is done, and ask for the answer. Raises `SettingsError`."""
    from playwright.sync_api import Error

    from pytest_webeval.recorder.contexts import open_context
    from pytest_webeval.recorder.person import Person, TypedLines

    with open_context(recording, options) as context:
        page = next(iter(context.pages), None) or context.new_page()
        try:
            page.goto(start_url, wait_until="commit")
        except Error as error:
            problem = f"cannot open the start page: {to_line(error.message, _LONGEST_PROBLEM)}"
            raise SettingsError(f"{problem}; start the site, or pass another --url") from error
        person = Person(TypedLines(sys.stdin), interrupts, _build_wait(context))
        where = f"through {recording.cdp_url}" if recording.cdp_url else "in the window"
        print_text(f"browse {where}; when you are done, press Enter here or close the page")
        person.wait_until_done()
        answer(recording, person, answer_text)


def _build_wait(context: BrowserContext) -> Callable[[float], bool]:
    """A function that lets the browser work for some seconds, and returns whether it has a page."""
    from playwright.sync_api import Error

    def wait(seconds: float) -> bool:
        try:
            for page in context.pages[-1:]:
                page.wait_for_timeout(seconds * 1_000)
        except Error:  # this page was closed
            pass
        return bool(context.pages)

    return wait


def answer(recording: Recording, person: Person, text: str | None) -> None:
    """Write the answer that an option has as a text, or that the person types."""
    if text is not None:
        recording.answer(parse_answer(text))
        return
    response = _ask_response(person, recording.task)
    if response is not None:
        recording.answer(response)


def _ask_response(person: Person, task: Task | None) -> dict[str, Any] | None:
    """The response that the person types, or None where the person does not."""
    task_type = _ask_choice(person, "task type", TASK_TYPES, (task.task_type if task else None) or RETRIEVE)
    status = _ask_choice(person, "status", STATUSES, SUCCESS) if task_type else None
    if status is None:
        return None
    response: dict[str, Any] = {"task_type": task_type, "status": status, "retrieved_data": None, "error_details": None}
    if status != SUCCESS:
        response["error_details"] = person.ask("what went wrong") or None
    elif task_type == RETRIEVE:
        text = person.ask("answer, as JSON or text")
        if text is None:
            return None
        data = parse_answer(text) if text else None
        response["retrieved_data"] = data if data is None or isinstance(data, list) else [data]
    return response


def _ask_choice(person: Person, question: str, choices: Sequence[str], default: str) -> str | None:
    """One of some words, in any case; Enter for the default."""
    while (line := person.ask(f"{question} [{default}]")) is not None:
        choice = line.upper() or default
        if choice in choices:
            return choice
        print_text(sanitize(f"invalid {question} {line!r:.80}; use one of {', '.join(choices)}"))
    return None


def parse_answer(text: str) -> Any:
    """The JSON value of a text, or the text itself."""

    def refuse_constant(name: str) -> Any:
        raise ValueError(name)  # NaN is a text

    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return text


def _report(recording: Recording, config: str | None) -> int:
    directory = sanitize(str(recording.directory))
    proposing = ["new-task", directory, *(["--config", config] if config else [])]
    is_lost = recording.outcome is not Outcome.CLOSED
    if is_lost:
        print_text(sanitize(redact_text(f"warning: {recording.state.summary}; record the run again")))
    if not recording.has_answer:
        print_text(f"warning: no answer; write {directory}/agent_response.json, or record the run again")
    print_text(f"recorded {directory}")
    print_text(sanitize(f"next: webeval {shlex.join(proposing)}"))
    return 1 if is_lost else 0
