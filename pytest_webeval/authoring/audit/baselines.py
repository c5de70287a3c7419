"""Attempts without the work that a task asks for. A new one is a function and a line in `BASELINES`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import EMPTY, Attempt, build_page, build_trace, write_answer
from pytest_webeval.authoring.audit.findings import Demand, Trial
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, STATUSES
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Task

ANYTHING = "^.*$"
LOGIN = "/login"
STATUS, DATA = "status", "retrieved_data"
# Data that are often right.
PLAIN: Mapping[str, list[Any]] = {
    "yes": [True],
    "no": [False],
    "zero": [0],
    "the text yes": ["yes"],
    "the text no": ["no"],
}
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


class OtherRun(Struct, frozen=True):
    """A passing run of another task."""

    name: str
    attempt: Attempt


class Material(Struct, frozen=True):
    """What baselines are made of. `commonest` are answers that most tasks of a set or a template expect."""

    task: Task
    sites: Sites
    expected: Mapping[str, Any]
    right_answer: bytes | None
    commonest: Mapping[str, bytes]
    others: Sequence[OtherRun]

    @property
    def task_type(self) -> str:
        """What the agent is asked to do."""
        return self.task.task_type or "RETRIEVE"

    @property
    def expects_data(self) -> bool:
        """Whether an answer needs data."""
        return self.task_type == "RETRIEVE"

    @property
    def required(self) -> list[str]:
        """Names of evaluators of requests that must be made."""
        return [config["evaluator"] for config in self.task.eval if _is_required(config)]

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


def _is_required(config: Mapping[str, Any]) -> bool:
    return config["evaluator"] in (NETWORK_EVALUATOR, REQUEST_EVALUATOR) and not config.get("should_not_exist")


def _without_work(name: str, answer: bytes, trace: NetworkTrace, field: str) -> Trial:
    return Trial(name, Attempt(answer, trace), Demand.FAIL, "passes_without_work", RESPONSE_EVALUATOR, field)


def _nothing_done(material: Material) -> Iterator[Trial]:
    trace = material.idle()
    yield _without_work("no answer", b"", trace, STATUS)
    yield _without_work("an empty answer", b"{}", trace, STATUS)
    yield _without_work("the answer null", b"null", trace, STATUS)


def _claims(material: Material) -> Iterator[Trial]:
    trace = material.idle()
    for status in STATUSES:
        is_claim = status == STATUSES[0]
        name, details = ("done", None) if is_claim else (f"refusal {status}", "there is no such thing")
        yield _without_work(name, write_answer(material.task_type, status, details=details), trace, STATUS)
    yield _without_work("patterns as type and status", write_answer(ANYTHING, ANYTHING), trace, STATUS)


def _plain_data(material: Material) -> Iterator[Trial]:
    trace = material.idle()
    for name, data in PLAIN.items() if material.expects_data else ():
        yield _without_work(name, write_answer("RETRIEVE", STATUSES[0], data), trace, DATA)


def _everywhere(material: Material) -> Iterator[Trial]:
    if not material.expects_data:
        return
    trace, data = material.idle(), material.expected.get(DATA)
    for name, value in EVERYWHERE.items():
        yield _without_work(
            f"{name} everywhere", write_answer("RETRIEVE", STATUSES[0], fill_shape(data, value)), trace, DATA
        )
        yield _without_work(name, write_answer("RETRIEVE", STATUSES[0], [value]), trace, DATA)
    patterns = fill_shape(data, ANYTHING)
    yield _without_work("nothing but patterns", write_answer(ANYTHING, ANYTHING, patterns), trace, DATA)
    objects = write_answer("RETRIEVE", STATUSES[0], [{ANYTHING: ANYTHING}])
    yield _without_work("an object of patterns", objects, trace, DATA)


def fill_shape(data: Any, value: Any) -> list[Any]:
    """Data of the same shape with one value in each place. A list in a list is one place: it has alternatives."""
    return [_fill_item(item, value) for item in data] if isinstance(data, list) and data else [value]


def _fill_item(item: Any, value: Any) -> Any:
    if not isinstance(item, dict):
        return value
    return {key: fill_shape(member, value) if isinstance(member, list) else value for key, member in item.items()}


def _commonest(material: Material) -> Iterator[Trial]:
    for name, answer in material.commonest.items():
        attempt = Attempt(answer, material.idle())
        yield Trial(name, attempt, Demand.FAIL, "commonest_answer_passes", RESPONSE_EVALUATOR, DATA)


def _login_page(material: Material) -> Iterator[Trial]:
    answer = write_answer(material.task_type, STATUSES[0])
    yield _without_work("login page only", answer, material.idle(LOGIN), STATUS)


def _start_page(material: Material) -> Iterator[Trial]:
    """The right answer of a retrieve task without its requests; what other tasks answer is `done`."""
    if material.right_answer is not None and material.required and material.expects_data:
        attempt = Attempt(material.right_answer, material.idle())
        name = "the right answer, start page only"
        yield Trial(name, attempt, Demand.FAIL, "start_page_passes", material.required[0], "")


def _empty_trace(material: Material) -> Iterator[Trial]:
    checks_requests = any(
        config["evaluator"] in (NETWORK_EVALUATOR, REQUEST_EVALUATOR) for config in material.task.eval
    )
    if material.right_answer is not None and checks_requests:
        attempt = Attempt(material.right_answer, EMPTY)
        yield Trial("an empty trace", attempt, Demand.FAIL, "empty_trace_passes", NETWORK_EVALUATOR, "")


def _other_runs(material: Material) -> Iterator[Trial]:
    """A passing run of another task as it is, and its requests with the right answer to this one."""
    evaluator = next(iter(material.required), RESPONSE_EVALUATOR)
    for other in material.others:
        attempts = {f"run of task {other.name}": other.attempt}
        if material.right_answer is not None and material.required:
            attempts[f"requests of task {other.name}"] = Attempt(material.right_answer, other.attempt.trace)
        for name, attempt in attempts.items():
            yield Trial(name, attempt, Demand.FAIL, "other_run_passes", evaluator, "")


BASELINES: tuple[Callable[[Material], Iterable[Trial]], ...] = (
    _nothing_done,
    _claims,
    _plain_data,
    _everywhere,
    _commonest,
    _login_page,
    _start_page,
    _empty_trace,
    _other_runs,
)


def list_baselines(material: Material) -> Iterator[Trial]:
    """All baselines of a task."""
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
        answers = {name: self._find_commonest(group) for name, group in groups.items()}
        return {name: answer for name, answer in answers.items() if answer is not None}

    def _find_commonest(self, group: Any) -> bytes | None:
        counts = self._by_group.get(group)
        if not counts:
            return None
        answer, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return answer if count > 1 else None


def template_of(task: Task) -> int | str | None:
    """The template of a task, None where it has none."""
    template = task.intent_template_id
    return None if template in (None, -1) else template


def _write_expected(task: Task) -> bytes | None:
    """The expected data of a task that asks for some; an answer without data is another baseline."""
    expected = read_expected(task)
    data = expected.get(DATA)
    if task.task_type != "RETRIEVE" or not isinstance(expected.get("status"), str) or not data:
        return None
    answer = {"task_type": "RETRIEVE", "status": expected["status"].upper(), DATA: choose_first(data)}
    try:
        return msgspec.json.encode(answer, order="deterministic")
    except (UnicodeEncodeError, RecursionError):
        return None


def choose_first(data: Any) -> Any:
    """Expected data with the first of several alternatives in each place."""
    if not isinstance(data, list):
        return data
    return [item[0] if isinstance(item, list) and item else item for item in data]
