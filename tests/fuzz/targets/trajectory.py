"""Files of a trajectory. None but the answer may refuse anything."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import PurePosixPath

from pytest_webeval.recordings.formats.fara_trajectory import classify_answered
from pytest_webeval.recordings.trajectory.actions import StepText, quotes_step, read_action, read_text
from pytest_webeval.recordings.trajectory.answer import answer_name, name_warning, read_answer, read_usage, total_usage
from pytest_webeval.recordings.trajectory.layout import locate
from pytest_webeval.recordings.trajectory.log import read_log
from pytest_webeval.recordings.trajectory.screenshots import align, find_screenshots
from pytest_webeval.recordings.trajectory.side_files import read_core_log, read_task_data, read_times
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.json import InvalidJson, shorten_json
from pytest_webeval.safety.json import load_lenient as read_json
from pytest_webeval.safety.warning_log import WarningLog
from tests.fuzz.targets.target import NOWHERE, expect, written


def read_web_surfer_log(content: bytes) -> None:
    """The log of actions: `web_surfer.log`."""
    log = read_log(content)
    written(list(log.warnings))
    for step in log.steps:
        written([step.action, step.arguments, step.thought, step.observation, step.url])


def read_core(content: bytes) -> None:
    """The log of the execution: `core.log`."""
    log = read_core_log(content)
    written([log.crash, log.last_error, log.session_seconds, log.attempts, log.is_long, list(log.warnings)])


def read_time(content: bytes) -> None:
    """Start and end: `times.json`."""
    times = read_times(content)
    written([times.start, times.end, times.duration, list(times.warnings)])


def read_final_answer(content: bytes) -> None:
    """The answer file, with the screenshots that it lists and the outcome that it tells."""
    answer = read_answer("7_final_answer.json", content)
    shots = find_screenshots(answer.screenshots, answer.is_rel_paths, ["screenshot1.png", "screenshot2.png"], NOWHERE)
    expect(all(".." not in PurePosixPath(shot.name).parts for shot in shots.all), "a screenshot elsewhere")
    written([answer.final_answer, answer.is_answered, list(answer.warnings), list(shots.warnings)])
    align((), shots.all)
    total_usage(answer.token_usage)
    outcome = classify_answered(answer, (), 3)
    written([outcome.kind, list(outcome.reasons), outcome.message])


def read_names(content: bytes) -> None:
    """Names in a directory, the first of which is its own."""
    first, *names = content.decode("utf-8", "surrogateescape").replace("\0", "").split("\n")
    locate(PurePosixPath("/") / first)
    _ = find_screenshots(names[:3], True, names, NOWHERE).warnings  # noqa: FBT003  (as the answer has it)
    with suppress(UnreadableTrajectory):
        name_warning(first, answer_name(first, names))


def read_data(content: bytes) -> None:
    """What the verifier noted: `task_data.json`."""
    found = read_task_data(content)
    written([found.text, found.init_url, list(found.warnings)])


def read_tokens(content: bytes) -> None:
    """What components say that they used."""
    with suppress(ValueError, RecursionError):
        raw = json.loads(content)
        usage = read_usage(raw if isinstance(raw, dict) else {"FaraAgent": raw}, WarningLog("a test"))
        total = total_usage(usage)
        written([total.prompt_tokens, total.total_tokens, total.num_calls])


def read_thought(content: bytes) -> None:
    """A message that may be a thought with its action."""
    text = content.decode("utf-8", "replace")
    quotes_step(text)
    found = read_text(text)
    action = read_action(found.action if isinstance(found, StepText) else text)
    written([action.tool, action.arguments, list(action.problems)])


def read_lenient(content: bytes) -> None:
    """JSON that is nearly that."""
    with suppress(InvalidJson):
        found = read_json(content.decode("utf-8", "replace"))
        written(found.value)
        shorten_json(found.value)
