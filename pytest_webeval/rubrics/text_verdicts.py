"""Free text of a judge -> 0 or 1: as its benchmark reads it, and as a careful reader would (`fara_webeval.md` §5.2)."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from pytest_webeval.rubrics.policy import UnreadableVerdict

_MARKS = r"\s\"'“”*_`-"
# Verdicts in capitals. Each run of marks is passed at most twice, whatever the text: no blow-up.
_VERDICT = re.compile(rf"\b(?:([Nn][Oo][Tt])[{_MARKS}]+(?:[Aa][{_MARKS}]+)?)?(SUCCESS|UNSUCCESSFUL|FAILURE)\b")
_NOT_PLAIN = str.maketrans(dict.fromkeys("\"'“”*_`"))
_LIST_MARKS = re.compile(r"[\s>#+•\u2013\u2014-]*(?:[0-9]{1,3}[.)])?[\s>#+•\u2013\u2014-]*")
_STATUS = {"success": 1, "failure": 0, "unsuccessful": 0}
# A status at the end of a reply, with the quotes around its word; and any status before it.
_INLINE = re.compile(
    r"status[\s*_]*[:\uff1a][\s*_]*([\"'`\u201c\u2018]?)(success|failure|unsuccessful)"
    r"\.?([\"'`\u201d\u2019]?)[\s*_.]*\Z",
    re.IGNORECASE,
)
_STATED = re.compile(r"status\W{0,8}(?:(?:is|was|an?)\W{1,4}){0,2}(un)?(success|fail)")
_CLOSERS = " \t\r\n*_\"'\u201d\u2019)]"  # what may stand between the end of the thoughts and a status
_ENDS = tuple(".!?;|-\u2026\u2013\u2014")


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """`compat` is what the benchmark makes of the text, `strict` what it plainly says, None where it says neither."""

    compat: int
    strict: int | None

    @property
    def is_ambiguous(self) -> bool:
        """Whether the benchmark's reading is not what the text plainly says (Q27, Q28)."""
        return self.strict != self.compat


@dataclass(frozen=True, slots=True)
class StatusLine:
    """A line of a judge about the status; `verdict` is None where it cannot be read."""

    verdict: int | None
    text: str


def read_verdict_text(text: str, kind: str, method: str | None) -> TextVerdict:
    """The verdict in the text of a score file of this kind. Raises `UnreadableVerdict` for kinds without such texts."""
    if kind == "gpt_eval":
        return TextVerdict(int("SUCCESS" in text and "NOT SUCCESS" not in text), _read_last_verdict(text))
    if kind == "webjudge" and method == "WebVoyager_eval":
        return TextVerdict(int("FAILURE" not in text), _read_last_verdict(text))
    if kind == "webjudge":  # what stands between the first and the second `status:` decides, `unsuccessful` included
        sections, last = text.lower().split("status:", 2), find_last_status(text)
        compat = int(len(sections) > 1 and "success" in sections[1])  # Q27
        return TextVerdict(compat, None if last is None else last.verdict)
    problem = f"cannot read the free text of a score file of the kind {kind:.80}"
    raise UnreadableVerdict("score_unreadable", problem)


def _read_last_verdict(text: str) -> int | None:
    """What the last verdict in capitals says; a judge may quote the options before it decides."""
    for last in deque(_VERDICT.finditer(text), maxlen=1):
        return int(last[1] is None and last[2] == "SUCCESS")
    return None


def find_last_status(text: str) -> StatusLine | None:
    """The last line that is a status or looks like one; marks of lists, headings and quotes do not matter.

    A line that names a status with a success or failure in a way that cannot be read takes away the certainty of those
    before it: they may be quoted from a page. A status that ends the reply is read behind the thoughts as well.
    """
    for line in reversed(text.split("\n")):
        plain = _normalize(line)
        name, _, word = plain.partition(":")
        if name.strip() == "status":
            return StatusLine(_STATUS.get(word.strip().removesuffix(".")), line)
        if "status" in plain and ("success" in plain or "fail" in plain):
            return StatusLine(_read_inline_status(text), line)
    return None


def _read_inline_status(text: str) -> int | None:
    """What a status says that ends a reply behind the thoughts; None if it may be quoted, or if another one differs."""
    match = _INLINE.search(text)
    if match is None or bool(match[1]) is not bool(match[3]):
        return None
    verdict, before = _STATUS[match[2].lower()], text[: match.start()].rstrip("*_")
    follows_sentence = before.rstrip(_CLOSERS).endswith(_ENDS)  # as in all such replies of o4-mini
    others = _STATED.findall(before.translate(_NOT_PLAIN).lower())
    agrees = all(verdict is int((negation, word) == ("", "success")) for negation, word in others)
    return verdict if before[-1:].isspace() and follows_sentence and agrees else None


def _normalize(line: str) -> str:
    """A line without marks of lists, headings and quotes, in lower case and with plain colons."""
    plain = line.translate(_NOT_PLAIN).strip().lower().replace("\uff1a", ":")
    return plain[_LIST_MARKS.match(plain).end() :]  # type: ignore[union-attr]  # which matches any line
