"""What each step of the pipeline works on, and how it asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import JudgeCalls, Prompt, Request, build_messages
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.prompt_parts import build_system
from pytest_webeval.judges.questions import Image, Role
from pytest_webeval.judges.replies import ReplyForm, build_schema, parse_reply

Value = TypeVar("Value")
Form = TypeVar("Form", bound=ReplyForm)
# After these a step goes on with its fallback. Others, such as a server that does not reply, end the pipeline.
_REPLY_PROBLEMS = frozenset({"unparseable", "refused", "filtered", "truncated"})
_EVALUATOR = (
    "You evaluate a recorded run of a web agent, one step of the evaluation at a time. Be exact and fair: rely on what"
    " the material shows, and do not guess what it does not show."
)
_REPLY_RULE = "Reply with exactly one JSON object and no other text. It must conform to this JSON Schema:\n"


class Inquiry(Struct, Generic[Value], frozen=True, kw_only=True):
    """A question of one step. `parse` makes a value of a text and raises `InvalidReply`."""

    step: str
    guidance: str
    parts: tuple[str | Image, ...]
    form: type[ReplyForm]
    parse: Callable[[str], Value]
    role: Role = Role.VISION
    sample: int = 0

    def to_request(self, rubric: str | None) -> Request[Value]:
        """The request with its instructions. `rubric` is the digest of the rubric that it is about."""
        schema = build_schema(self.form)
        system = build_system(f"{_EVALUATOR}\n\n{self.guidance}", _REPLY_RULE + json.dumps(schema))
        prompt = Prompt(
            step=self.step,
            messages=build_messages(system, *self.parts),
            schema=schema,
            rubric=rubric,
            role=self.role,
            sample=self.sample,
        )
        return Request(prompt, self.parse)


def parser_of(form: type[Form], read: Callable[[Form], Value]) -> Callable[[str], Value]:
    """A parser that reads a value from a reply of a form. `read` raises `InvalidReply`."""
    return partial(_parse, form=form, read=read)


def _parse(text: str, form: type[Form], read: Callable[[Form], Value]) -> Value:
    return read(parse_reply(text, form))


class Case(Struct, frozen=True, kw_only=True):
    """One run that is judged.

    `screenshots` are those before each action. `critical_point` is the record of the classification, and `rubric` the
    digest of the criteria, as soon as there is one.
    """

    evidence: Evidence
    calls: JudgeCalls
    screenshots: tuple[Image, ...] = ()
    votes: int = 1
    critical_point: dict[str, Any] = field(default_factory=dict)
    rubric: str | None = None

    def ask(self, inquiry: Inquiry[Value]) -> Value:
        """The value of a reply that the pipeline cannot do without. Raises `JudgeFailed`."""
        return self.calls.ask(inquiry.to_request(self.rubric))

    def ask_each(self, inquiries: Sequence[Inquiry[Value]], fallback: str) -> list[Value | None]:
        """The value of each reply, None where no reply was valid, which is noted with the name of the fallback.

        Raises `JudgeFailed` where it is not the reply that is the problem.
        """
        values: list[Value | JudgeFailed] = self._try_each(inquiries)
        return _replace_failures(values, partial(self.calls.degrade, inquiries[0].step), fallback)

    def ask_votes(self, inquiries: Sequence[Inquiry[Value]], problem: str) -> list[Value | None]:
        """The same for votes. Raises the first `JudgeFailed` where fewer than half of them are valid, too."""
        values: list[Value | JudgeFailed] = self._try_each(inquiries)
        failures = [value for value in values if isinstance(value, JudgeFailed)]
        if failures and len(failures) * 2 >= len(values):
            raise failures[0]
        return _replace_failures(values, partial(self.calls.note, inquiries[0].step), problem)

    def _try_each(self, inquiries: Sequence[Inquiry[Any]]) -> list[Any]:
        values = self.calls.ask_all([inquiry.to_request(self.rubric) for inquiry in inquiries])
        for value in values:
            if isinstance(value, JudgeFailed) and value.outcome not in _REPLY_PROBLEMS:
                raise value
        return values

    def ask_or(self, inquiry: Inquiry[Value], fallback: str) -> Value | None:
        """The value of one reply, or None with a note."""
        return self.ask_each([inquiry], fallback)[0]


def _replace_failures(
    values: Sequence[Value | JudgeFailed], note: Callable[[str], None], problem: str
) -> list[Value | None]:
    failures = [value for value in values if isinstance(value, JudgeFailed)]
    if failures:
        share = f"{len(failures)} of {len(values)} replies, the first: " if len(values) > 1 else ""
        note(f"{problem}: {share}{failures[0].reason}")
    return [None if isinstance(value, JudgeFailed) else value for value in values]
