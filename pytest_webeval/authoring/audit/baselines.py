"""Attempts without the work that a task asks for. A new one is a function and a line in `BASELINES`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import (
    EMPTY,
    Attempt,
    RecordedRun,
    Trial,
    build_page,
    build_trace,
    write_answer,
)
from pytest_webeval.authoring.audit.examiner import OF_REQUESTS
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR, STATUSES
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

ANYTHING = "^.*$"
LOGIN = "/login"
STATUS, DATA = "status", "retrieved_data"
# Data that are often right.
PLAIN = {"yes": [True], "no": [False], "zero": [0], "the text yes": ["yes"], "the text no": ["no"]}
# What stands in the place of each value of an answer. Lists are guesses, of which a lenient evaluator takes any.
EVERYWHERE: Mapping[str, Any] = {
    "patterns": ANYTHING,
    "inf km": "inf km",
    "inf minutes": "inf minutes",
    "infinity": float("inf"),
    "yes and no": [True, False],
    "five thousand numbers": list(range(5_000)),
    "frequent words": ["yes", "no", "none", "0", "1", "2", "3", "May", "$5", ANYTHING],
}
MOST_OTHERS = 2  # recordings of other tasks that are tried


class Material(Struct, frozen=True):
    """What baselines are made of. `commonest` are answers that most tasks of a set or a template expect.

    `others` are passing runs of other tasks.
    """

    task: Task
    sites: Sites
    expected: Mapping[str, Any]
    right_answer: bytes | None
    commonest: Mapping[str, bytes]
    others: Sequence[RecordedRun]

    @property
    def task_type(self) -> str:
        return self.task.task_type or "RETRIEVE"

    @property
    def required(self) -> list[str]:
        """Names of evaluators of requests that must be made."""
        names = [config["evaluator"] for config in self.task.eval if not config.get("should_not_exist")]
        return [name for name in names if name in OF_REQUESTS]

    def idle(self, *paths: str) -> NetworkTrace:
        """A trace of the start page, and of the pages at these paths of its site."""
        start = self.task.start_urls[:1] or [""]
        url = self.sites.render(start[0], self.task.sites) or start[0] or self.home
        return build_trace([build_page(url), *(build_page(f"{self.home}{path}") for path in paths)])

    @property
    def home(self) -> str:
        """The address of the task's first site."""
        environment = self.sites.environments.get(self.task.sites[0]) if self.task.sites else None
        return environment.url.rstrip("/") if environment else "http://site.invalid"


def _without_work(name: str, answer: bytes, trace: NetworkTrace, field: str = STATUS) -> Trial:
    return Trial(name, Attempt(answer, trace), "passes_without_work", RESPONSE_EVALUATOR, field)


def _claims(material: Material) -> Iterator[Trial]:
    """Nothing is done, whatever is said."""
    trace = material.idle()
    for name, answer in (("no answer", b""), ("an empty answer", b"{}"), ("the answer null", b"null")):
        yield _without_work(name, answer, trace)
    for status in STATUSES:
        is_claim = status == STATUSES[0]
        name, details = ("done", None) if is_claim else (f"refusal {status}", "there is no such thing")
        yield _without_work(name, write_answer(material.task_type, status, details=details), trace)
    yield _without_work("patterns as type and status", write_answer(ANYTHING, ANYTHING), trace)
    yield _without_work("login page only", write_answer(material.task_type, STATUSES[0]), material.idle(LOGIN))


def _guessed_data(material: Material) -> Iterator[Trial]:
    if material.task_type != "RETRIEVE":
        return
    data = material.expected.get(DATA)
    guesses: dict[str, Any] = dict(PLAIN)
    for name, value in EVERYWHERE.items():
        guesses |= {f"{name} everywhere": fill_shape(data, value), name: [value]}
    answers = {name: write_answer("RETRIEVE", STATUSES[0], guess) for name, guess in guesses.items()}
    answers["nothing but patterns"] = write_answer(ANYTHING, ANYTHING, fill_shape(data, ANYTHING))
    answers["an object of patterns"] = write_answer("RETRIEVE", STATUSES[0], [{ANYTHING: ANYTHING}])
    trace = material.idle()
    yield from (_without_work(name, answer, trace, DATA) for name, answer in answers.items())


def fill_shape(data: Any, value: Any) -> list[Any]:
    """Data of the same shape with one value in each place. A list in a list is one place: it has alternatives."""

    def fill(item: Any) -> Any:
        if not isinstance(item, dict):
            return value
        return {key: fill_shape(member, value) if isinstance(member, list) else value for key, member in item.items()}

    return list(map(fill, data)) if isinstance(data, list) and data else [value]


def _commonest(material: Material) -> Iterator[Trial]:
    for name, answer in material.commonest.items():
        yield Trial(name, Attempt(answer, material.idle()), "commonest_answer_passes", RESPONSE_EVALUATOR, DATA)


def _right_answer(material: Material) -> Iterator[Trial]:
    """The right answer without the requests: of a retrieve task on its start page, since others answer `done`."""
    answer = material.right_answer
    if answer is None:
        return
    if material.required and material.task_type == "RETRIEVE":
        attempt = Attempt(answer, material.idle())
        yield Trial("the right answer, start page only", attempt, "start_page_passes", material.required[0], "")
    if any(config["evaluator"] in OF_REQUESTS for config in material.task.eval):
        yield Trial("an empty trace", Attempt(answer, EMPTY), "empty_trace_passes", NETWORK_EVALUATOR, "")


def _other_runs(material: Material) -> Iterator[Trial]:
    """A passing run of another task as it is, and its requests with the right answer to this one."""
    evaluator = next(iter(material.required), RESPONSE_EVALUATOR)
    for other in material.others:
        attempts = {f"run of task {other.task_id}": other.attempt}
        if material.right_answer is not None and material.required:
            attempts[f"requests of task {other.task_id}"] = Attempt(material.right_answer, other.attempt.trace)
        for name, attempt in attempts.items():
            yield Trial(name, attempt, "other_run_passes", evaluator, "")


BASELINES: tuple[Callable[[Material], Iterable[Trial]], ...] = (
    _claims,
    _guessed_data,
    _commonest,
    _right_answer,
    _other_runs,
)


def list_baselines(material: Material) -> Iterator[Trial]:
    for baseline in BASELINES:
        yield from baseline(material)


def read_expected(task: Task) -> Mapping[str, Any]:
    """What the first response expectation of a task expects, with the status that it may omit; empty without one."""
    for config in task.eval:
        if config["evaluator"] == RESPONSE_EVALUATOR:
            expected = config.get("expected")
            return {STATUS: STATUSES[0], **expected} if isinstance(expected, dict) else {}
    return {}


class AnswerCounts:
    """How many tasks of a set, and of each of its templates, expect which answer."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._by_group: dict[Any, Counter[bytes]] = {}
        for task in tasks:
            answer = _write_expected(task)
            for group in ("the set", template_of(task)):
                if answer is not None and group is not None:
                    self._by_group.setdefault(group, Counter())[answer] += 1

    def commonest(self, task: Task) -> dict[str, bytes]:
        """The answers that most tasks of the set and of the task's template expect, if several tasks do."""
        groups = {"the commonest answer of its template": template_of(task), "the commonest answer of all": "the set"}
        answers = {}
        for name, group in groups.items():
            counts = self._by_group.get(group, Counter())
            answer = min(counts, key=lambda answer: (-counts[answer], answer), default=None)
            if answer is not None and counts[answer] > 1:
                answers[name] = answer
        return answers


def template_of(task: Task) -> int | str | None:
    """The template of a task, None where it has none."""
    template = task.intent_template_id
    return None if template in (None, -1) else template


def _write_expected(task: Task) -> bytes | None:
    """The expected data of a task that asks for some; an answer without data is another baseline."""
    answer = build_right_answer(task)
    if answer is None or task.task_type != "RETRIEVE" or not answer[DATA]:
        return None
    try:
        return msgspec.json.encode(answer, order="deterministic")
    except (UnicodeEncodeError, RecursionError):
        return None


def build_right_answer(task: Task) -> dict[str, Any] | None:
    """What a task expects as an answer, with the first of several alternatives in each place; None for no answer."""
    expected = read_expected(task)
    status, data = expected.get("status"), expected.get(DATA)
    if not isinstance(status, str):
        return None
    if isinstance(data, list):
        data = [item[0] if isinstance(item, list) and item else item for item in data]
    return {"task_type": task.task_type, "status": status.upper(), DATA: data or None}
