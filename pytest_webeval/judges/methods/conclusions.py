"""Replies that end with a verdict: how they are read, told from quotations of the evidence, counted, and stored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply, JudgeCalls, Request
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.verdicts import JudgedVerdict, decide
from pytest_webeval.rubrics.payload import quote_value
from pytest_webeval.safety.text import escape_surrogates, truncate

Value = TypeVar("Value")
STATUS = {"success": True, "failure": False}  # of WebJudge
LONGEST_REPLY = 200_000  # characters
_LONGEST_REASONING = 50_000  # characters that are stored
# Spaces and quotation marks. Escapes included: an action is JSON, and a judge quotes what it means.
_IGNORED = re.compile(r"\\[nrt]|[\s\\\"'`“”„«»>*-]+")
_PROBLEM = "it only repeats text of the evidence; reply in your own words"
_UNCLEAR_END = "its last line may be a quotation of the evidence; write a sentence of your own before the last line"


class Conclusion(Struct, Generic[Value], frozen=True):
    """The value of the last line of a reply, and the text before that line."""

    value: Value
    reasoning: str


def parse_last_line(text: str, label: str, words: Mapping[str, Value]) -> Conclusion[Value]:
    """What the last line says, which is `label: word`. Raises `InvalidReply`.

    Only the last line counts, as a judge may quote such lines of a page or of an answer before. Quotes around the word,
    `**`, a full stop and the case do not matter; quotes around the line do, for that is how a page is quoted.
    """
    check_length(text)
    reasoning, _, line = text.strip().rpartition("\n")
    names = "|".join(map(re.escape, words))
    pattern = rf"{re.escape(label)}[ \t]*:[ \t]*([\"'`]?)({names})\1\.?"
    match = re.fullmatch(pattern, line.replace("**", "").strip(), re.IGNORECASE | re.ASCII)
    if match is None:
        expected = " or ".join(f"`{label}: {word}`" for word in words)
        raise InvalidReply(f"the last line is {quote_value(line.strip())}; end with one line {expected}")
    by_name = {word.lower(): value for word, value in words.items()}
    return Conclusion(by_name[match[2].lower()], escape_surrogates(reasoning.strip()))


def check_length(text: str) -> None:
    if len(text) > LONGEST_REPLY:
        raise InvalidReply(f"it has {len(text):,} characters; use at most {LONGEST_REPLY:,}")


class Echoes(Struct, frozen=True):
    """The texts of the evidence without spaces, quotation marks and cases. Text in screenshots is not among them."""

    text: str

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Echoes:
        return cls("\n".join(map(_squeeze, texts)))

    def read_verdict(self, reply: str, label: str, words: Mapping[str, bool]) -> Conclusion[bool]:
        """The verdict in the last line of a reply. Raises `InvalidReply`, also for a success that may be a quotation.

        A failure that stands in the evidence as well counts: nobody gains by writing one there.
        """
        conclusion = parse_last_line(reply, label, words)
        if conclusion.value:
            self.refuse_text(reply)
        return conclusion

    def refuse_text(self, reply: str) -> None:
        """Raise `InvalidReply` for a reply without a line of its own, or that may end within a quotation.

        It may if its last two lines stand together in the evidence, or if a line with a colon introduces the last one.
        Quotation marks do not matter.
        """
        lines = [plain for line in reply.split("\n") if (plain := _squeeze(line))]
        if all(line in self.text for line in lines):
            raise InvalidReply(_PROBLEM)
        before, last = lines[-2:] if len(lines) > 1 else ("", *lines)
        if last in self.text and (f"{before}{last}" in self.text or before.endswith(":")):
            raise InvalidReply(_UNCLEAR_END)

    def refuse_object(self, source: str) -> None:
        """Raise `InvalidReply` for a JSON object that stands in the evidence as it is."""
        if _squeeze(source) in self.text:
            raise InvalidReply(_PROBLEM)


def find_echoes(evidence: Evidence) -> Echoes:
    """Of all texts of a run."""
    texts = [evidence.task, evidence.answer, json.dumps(evidence.rubric, ensure_ascii=False, default=str)]
    for step in evidence.steps:
        texts += (step.action, step.thought, step.url, step.observation)
    return Echoes.of_texts(texts)


def _squeeze(text: str) -> str:
    return _IGNORED.sub("", text).casefold()


def ask_votes(calls: JudgeCalls, request: Request[Value], count: int) -> list[Value | None]:
    """The votes of `count` replies; None for one that failed, which is noted.

    Raises the first `JudgeFailed` if so many failed that the others are no majority of all.
    """
    votes = calls.ask_all(replace(request, sample=sample) for sample in range(count))
    failures = {number: vote for number, vote in enumerate(votes, 1) if isinstance(vote, JudgeFailed)}
    if failures and count - len(failures) < count // 2 + 1:
        raise next(iter(failures.values()))
    for number, failure in failures.items():
        calls.note(f"{request.step}, vote {number}", failure.reason)
    return [None if isinstance(vote, JudgeFailed) else vote for vote in votes]


def conclude(
    calls: JudgeCalls, request: Request[Conclusion[bool]], count: int, file_name: str, form: Callable[..., str]
) -> JudgedVerdict:
    """The verdict of most of `count` votes, with the reasoning of the first of them.

    `form` makes the text of a score file of a reasoning and `success`. Raises `JudgeFailed`: see `decide`.
    """
    votes = ask_votes(calls, request, count)
    values = tuple(None if vote is None else vote.value for vote in votes)
    success = decide(values)
    reasoning = next(vote.reasoning for vote in votes if vote is not None and vote.value is success)
    response = form(reasoning, success=success)
    return JudgedVerdict(file_name=file_name, score=int(success), response=response, votes=values)


def shorten_reasoning(reasoning: str) -> str:
    """The reasoning of a judge as a score file without JSON has it."""
    shortened: str = escape_surrogates(truncate(reasoning, _LONGEST_REASONING))
    return shortened
