"""The calls that a method makes about one run: prompts become questions, replies become values, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock, Thread
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.questions import Ending, Image, Message, Question, Reply, Role, TokenUsage
from pytest_webeval.safety.text import pluralize, to_line

Item = TypeVar("Item")
Value = TypeVar("Value")
_LONGEST_PROBLEM = 500  # characters of a message about a reply
MOST_ATTEMPTS = 5  # `fara_webeval.md` §6.4


class Judge(Protocol):
    """Answers questions. A judge of one's own needs these two members.

    `model` is the name by which results, memory and certificates know the judge.
    """

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    def answer(self, question: Question) -> Reply:
        """The reply to a question. Raises `JudgeFailed` where there is none, `ReplyLost` if it may cost money.

        `KeyRefused` ends the session.
        """
        ...


class ReplyLost(JudgeFailed):
    """There is no reply that counts, but the server may charge for one: a limit on the spending counts the question."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "unreachable")


class KeyRefused(JudgeFailed):
    """The server does not accept the key, so that it replies to no question of the session, which ends."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "unreachable")


def build_messages(system: str, *parts: str | Image) -> tuple[Message, ...]:
    """A system message with instructions, and a user message with texts and pictures."""
    return (Message("system", (system,)), Message("user", parts))


class InvalidReply(ValueError):
    """A reply that is not of the requested form. The message tells the model what is wrong."""


class Request(Struct, Generic[Value], frozen=True):
    """One question of a method, before it is known which model answers it: see `Question`.

    `parse` makes a value of the text of a reply. It raises `InvalidReply`.
    """

    step: str
    messages: tuple[Message, ...]
    parse: Callable[[str], Value]
    schema: Mapping[str, Any] | None = None
    rubric: str | None = None
    role: Role = Role.VISION
    sample: int = 0
    attempts: int = MOST_ATTEMPTS


class Asked(Struct):
    """One reply that a method was given. `is_valid` says whether it is complete and of the requested form."""

    step: str
    key: str
    model: str
    usage: TokenUsage
    replied_by: str = ""  # the model as the server names it
    is_valid: bool = False


class JudgeCalls(Struct, eq=False):
    """All that a method asks about one run.

    `answer` is asked, `models` says which model has which role. `asked` collects the replies, those that were not valid
    included, and `degraded` the steps in which the method had to do without one: each with its reason. `fallbacks` are
    those in which something else took its place.
    """

    answer: Callable[[Question], Reply]
    models: Mapping[Role, str]
    method: str
    version: str
    concurrency: int = 1
    asked: list[Asked] = field(default_factory=list)
    degraded: dict[str, str] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)

    def ask(self, request: Request[Value]) -> Value:
        """The value of a reply. A reply that is not valid is sent back with what is wrong, up to `attempts` times.

        Raises `JudgeFailed`: `unparseable` after the last attempt, `refused`, `filtered` or `truncated`, or as the
        judge fails.
        """
        return self._ask(request, self.asked)

    def ask_all(self, requests: Iterable[Request[Value]]) -> list[Value | JudgeFailed]:
        """The value of each request in their order, or why there is none. They are sent at the same time.

        Equal questions, such as those about two equal screenshots, are one. Votes have numbers, so they differ.
        """
        keyed = [(self._build_question(request).key, request) for request in requests]
        waiting = {key: (request, list[Asked]()) for key, request in keyed}

        def answer(pair: tuple[Request[Value], list[Asked]]) -> Value | JudgeFailed:
            try:
                return self._ask(*pair)
            except JudgeFailed as error:
                return error

        try:
            values = dict(zip(waiting, map_in_threads(answer, list(waiting.values()), self.concurrency), strict=True))
        finally:
            for _, asked in waiting.values():
                self.asked += asked
        return [values[key] for key, _ in keyed]

    def note(self, step: str, reason: str) -> None:
        """Note that a method did without something in a step, such as one of several votes: its verdict counts."""
        self.degraded.setdefault(step, to_line(reason, _LONGEST_PROBLEM))

    def degrade(self, step: str, reason: str) -> None:
        """Note that a method used a fallback in a step, so that it comes to no verdict: see `check`."""
        self.note(step, reason)
        if step not in self.fallbacks:
            self.fallbacks.append(step)

    def check(self) -> None:
        """Raise `JudgeFailed`, `uncertain`, if a step used a fallback or most replies were not valid."""
        if self.fallbacks:
            steps, first = pluralize(len(self.fallbacks), "step"), self.fallbacks[0]
            raise JudgeFailed(f"the judge used a fallback in {steps}: {first}: {self.degraded[first]}", "uncertain")
        invalid = sum(not asked.is_valid for asked in self.asked)
        if invalid * 2 > len(self.asked):
            problem = f"{invalid} of {len(self.asked)} replies of the judge were not valid"
            raise JudgeFailed(f"{problem}; use another model, or another method", "uncertain")

    @property
    def usage(self) -> dict[str, TokenUsage]:
        """The tokens of all replies, by model."""
        totals: dict[str, TokenUsage] = {}
        for asked in self.asked:
            totals[asked.model] = totals.get(asked.model, TokenUsage()) + asked.usage
        return totals

    def _ask(self, request: Request[Value], asked: list[Asked]) -> Value:
        question, problem = self._build_question(request), ""
        for _ in range(request.attempts):
            reply = self.answer(question)
            asked.append(Asked(request.step, question.key, question.model, reply.usage, reply.model))
            if not reply.is_complete:
                raise JudgeFailed(f"{_ENDINGS[reply.ending]} @ {request.step}", reply.ending.value)
            try:
                value = request.parse(reply.text)
            except InvalidReply as error:
                problem = to_line(str(error), _LONGEST_PROBLEM)
                advice = "Reply again, with the whole answer in the requested form."
                correction = Message("user", (f"The reply is not valid: {problem}\n{advice}",))
                messages = (*question.messages, Message("assistant", (reply.text,)), correction)
                question = replace(question, messages=messages)
            else:
                asked[-1].is_valid = True
                return value
        raise JudgeFailed(f"no valid reply in {request.attempts} attempts @ {request.step}: {problem}", "unparseable")

    def _build_question(self, request: Request[Any]) -> Question:
        return Question(
            model=self.models[request.role],
            method=self.method,
            version=self.version,
            step=request.step,
            messages=request.messages,
            schema=request.schema,
            rubric=request.rubric,
            sample=request.sample,
        )


_ENDINGS = {
    Ending.TRUNCATED: "the reply was cut at the limit of tokens; use a model with a higher limit",
    Ending.FILTERED: "the content filter of the server suppressed the reply",
    Ending.REFUSED: "the model refused to answer",
}


def map_in_threads(function: Callable[[Item], Value], items: Sequence[Item], count: int) -> list[Value]:
    """What a function returns for each item, in their order, of which `count` are worked on at the same time.

    Raises the first exception of the function; then no further item is begun. Ctrl-C is raised at once: the threads are
    daemons, unlike those of `concurrent.futures`, for which Python waits when it ends.
    """
    if count < 2 or len(items) < 2:
        return [function(item) for item in items]
    values: dict[int, Value] = {}
    errors: list[BaseException] = []
    waiting, lock = iter(enumerate(items)), Lock()

    def work() -> None:
        while not errors:
            with lock:
                at, item = next(waiting, (-1, None))
            if at < 0 or item is None:
                return
            try:
                values[at] = function(item)
            except BaseException as error:  # noqa: BLE001  (raised again by the thread that waits)
                errors.append(error)

    threads = [Thread(target=work, name="webeval-judge", daemon=True) for _ in range(min(count, len(items)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:
        errors.append(error)  # so that no thread begins another item
        raise
    if errors:
        raise errors[0]
    return [values[at] for at in range(len(items))]
