"""Replies that only repeat the evidence: a page that writes a verdict must not have it read as the judge's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.replies import Conclusion, parse_last_line

# Spaces and quotation marks. Escapes included: an action is JSON, and a judge quotes what it means.
_IGNORED = re.compile(r"\\[nrt]|[\s\\\"'`“”„«»>*-]+")
_PROBLEM = "it only repeats text of the evidence; reply in your own words"
_UNCLEAR_END = "its last line may be a quotation of the evidence; write a sentence of your own before the last line"


class Echoes(Struct, frozen=True):
    """The texts of the evidence without spaces, quotation marks and cases. Text in screenshots is not among them."""

    text: str

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Echoes:
        """Of some texts."""
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
