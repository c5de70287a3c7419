"""Replies that only repeat the evidence: a page that writes a verdict must not have it read as the judge's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from msgspec import Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.evidence import Evidence

_SPACE = re.compile(r"\\[nrt]|[\s\\]+")  # escapes included: an action is JSON, and a judge quotes what it means
_QUOTES = "\"'`“”„«»>*-"
_PROBLEM = "it only repeats text of the evidence; reply in your own words"


class Echoes(Struct, frozen=True):
    """The texts that an agent or a site wrote, without spaces and cases. Text in screenshots is not known."""

    text: str

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Echoes:
        """Of some texts."""
        return cls("\n".join(map(_squeeze, texts)))

    def refuse_text(self, reply: str) -> None:
        """Raise `InvalidReply` for a reply without a line of its own, quotation marks aside."""
        lines = (_squeeze(line).strip(_QUOTES) for line in reply.split("\n"))
        if all(line in self.text for line in lines if line):
            raise InvalidReply(_PROBLEM)

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
    return _SPACE.sub("", text).casefold()
