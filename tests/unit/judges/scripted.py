"""A judge that replies as a test says, and evidence to ask about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_webeval.judges.calls import JudgeCalls
from pytest_webeval.judges.evidence import Evidence, StepEvidence
from pytest_webeval.judges.questions import Image, Question, Reply, Role, TokenUsage
from pytest_webeval.safety.files import sha256

Answer = str | Reply | Exception


@dataclass
class ScriptedJudge:
    """Answers with `reply(question)`; an exception is raised. `questions` are those that were asked."""

    reply: Callable[[Question], Answer]
    model: str = "scripted"
    questions: list[Question] = field(default_factory=list)

    def answer(self, question: Question) -> Reply:
        self.questions.append(question)
        answer = self.reply(question)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(text=answer, model=self.model, usage=TokenUsage(prompt=10, completion=2))

    @property
    def steps(self) -> list[str]:
        """The steps of the questions in order."""
        return [question.step for question in self.questions]


def in_order(replies: Iterable[Answer]) -> Callable[[Question], Answer]:
    """One reply after the other, whatever is asked."""
    left = iter(replies)
    return lambda _: next(left)


def calls_of(judge: ScriptedJudge, method: str = "method", version: str = "1", **settings: Any) -> JudgeCalls:
    """The calls of a method that ask the judge in both roles."""
    models = {Role.VISION: judge.model, Role.TEXT: judge.model}
    return JudgeCalls(answer=judge.answer, models=models, method=method, version=version, **settings)


def image(number: int) -> Image:
    content = f"screenshot {number}".encode()
    return Image(f"screenshot{number}.png", sha256(content), lambda: content)


def evidence(steps: int = 3, **changes: Any) -> Evidence:
    """A run of some steps, with a screenshot before each and one after the last."""
    images = [image(number) for number in range(steps + 1)]
    listed = tuple(
        StepEvidence(
            number=at + 1,
            action=f'click({{"x": {at}}})',
            thought=f"thought {at + 1}",
            url="https://shop.test/",
            observation="",
            before=images[at],
            after=images[at + 1],
        )
        for at in range(steps)
    )
    values = {"task": "Find the price of the atlas.", "answer": "It costs 12.50 EUR."} | changes
    return Evidence(**({"steps": listed, "screenshots": tuple(images)} | values))
