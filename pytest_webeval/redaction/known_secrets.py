"""Secrets that were found in one place of a result, replaced wherever else they stand in it."""

from __future__ import annotations

import base64
import json
from bisect import bisect_left
from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from urllib.parse import quote_plus

from pytest_webeval.redaction.replacements import LONG_ENOUGH
from pytest_webeval.redaction.text import CUT
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.text import normalize_text

MOST = 200  # of a result that an agent filled with secrets the longest are looked for everywhere
_HEAD = 16  # characters by which a text that was cut is known
_SHOWN = 1_000  # more of a text than any message shows before it cuts it
_NOT_ESCAPED = "!'()*~"  # what JavaScript leaves as it is, and Python does not
# What results say in words of ours is no secret, even if somebody chose it for a password.
_OWN = frozenset(
    {
        "aborted",
        "action",
        "completed",
        "criterion",
        "default",
        "excluded",
        "expected",
        "failure",
        "mutate",
        "navigate",
        "navigation",
        "network",
        "outcome",
        "over_budget",
        "partial_match",
        "process",
        "redacted",
        "redacted-",
        "reference",
        "request",
        "retrieve",
        "rubric",
        "skipped",
        "status",
        "strict",
        "success",
        "trajectory",
        "unreadable",
    }
)


@dataclass(frozen=True, slots=True)
class KnownSecrets:
    """The forms in which secrets may stand in a text, each with what stands there instead.

    `heads` says of the first characters of forms how long forms that begin so are, longest first: a text is gone
    through once, however many forms there are.
    """

    forms: Mapping[str, str]
    heads: Mapping[str, Sequence[int]]
    ordered: Sequence[str]

    @classmethod
    def of(cls, found: Mapping[str, str], spared: Iterable[str] = ()) -> KnownSecrets:
        """Those that were replaced, but for values that stay readable."""
        if not found:
            return cls({}, {}, ())
        kept = set(spared) | _OWN
        secrets = sorted(found.keys() - kept, key=lambda secret: (-len(secret), secret))[:MOST]
        forms = {form: found[secret] for secret in secrets for form in _forms(secret)}
        forms = {form: told for form, told in forms.items() if len(form) >= LONG_ENOUGH and form not in kept}
        return cls(forms, _heads(forms), sorted(forms))

    def replaced(self, text: str) -> str:
        """The text without them, also where one was cut."""
        if len(text) < LONG_ENOUGH or not self.forms:
            return text
        return _spliced(text, self._spans(text))

    def replaced_in_any_case(self, text: str) -> str:
        """The same, also where a secret is spelled in other letters: comparisons make small ones of what they read."""
        told = self.replaced(text)
        lowered = told.lower()
        return _spliced(told, self._spans(lowered)) if self.forms and len(lowered) == len(told) else told

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        heads, reached = self.heads, 0
        for start in range(len(text) - LONG_ENOUGH + 1):
            if text[start : start + LONG_ENOUGH] not in heads:
                continue
            form = self._whole(text, start)
            cut = self._cut(text, start) if start >= reached else None
            if cut and cut[1] > start + len(form):
                reached = cut[1]
                yield cut
            elif form:
                reached = max(reached, start + len(form))
                yield start, start + len(form), self.forms[form]

    def _whole(self, text: str, start: int) -> str:
        """The longest form that begins there."""
        for head in (_HEAD, LONG_ENOUGH):
            for length in self.heads.get(text[start : start + head], ()):
                if (form := text[start : start + length]) in self.forms:
                    return form
        return ""

    def _cut(self, text: str, start: int) -> tuple[int, int, str] | None:
        """A form of which only the beginning is there, at the end of a text or of what a message quotes."""
        if text[start : start + _HEAD] not in self.heads:
            return None
        shown = text[start : start + _SHOWN]
        place = bisect_left(self.ordered, shown)  # what agrees most stands next to it
        lengths = [(_agreeing(shown, form), form) for form in self.ordered[max(place - 1, 0) : place + 1]]
        length, form = max(lengths)
        end = start + length
        is_cut = length >= _HEAD and text[end : end + 1] in ("", CUT, '"', "'")
        return (start, end, self.forms[form]) if is_cut else None

    def replace_in_json(self, tree: Any, kept: Container[str] = (), how: Callable[[str], str] | None = None) -> Any:
        """The same in all texts of some JSON, in names as well but for those that are kept; `how` is for texts."""
        how = how or self.replaced
        if isinstance(tree, str):
            return how(tree)
        if isinstance(tree, list):
            return [self.replace_in_json(one, kept, how) for one in tree]
        if isinstance(tree, dict):
            return {
                name if name in kept else how(name): self.replace_in_json(value, kept, how)
                for name, value in tree.items()
            }
        return tree


def _spliced(text: str, spans: Iterator[tuple[int, int, str]]) -> str:
    """The text with other texts in some places."""
    pieces: list[str] = []
    at = 0
    for start, end, told in _joined(spans):
        pieces += (text[at:start], told)
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


def _heads(forms: Iterable[str]) -> dict[str, list[int]]:
    """By the first characters of forms the lengths of those that begin so, longest first."""
    found: dict[str, set[int]] = {}
    for form in forms:
        lengths = found.setdefault(form[:LONG_ENOUGH], set())
        if len(form) >= _HEAD:
            lengths = found.setdefault(form[:_HEAD], set())
        lengths.add(len(form))
    return {head: sorted(lengths, reverse=True) for head, lengths in found.items()}


def _joined(spans: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The same, those that overlap as one, for which stands what stands for the longest of them."""
    whole: tuple[int, int, str] | None = None
    longest = 0
    for start, end, told in spans:
        if whole is None or start >= whole[1]:
            if whole is not None:
                yield whole
            whole, longest = (start, end, told), end - start
        else:
            whole = whole[0], max(whole[1], end), told if end - start > longest else whole[2]
            longest = max(longest, end - start)
    if whole is not None:
        yield whole


def _forms(secret: str) -> Iterator[str]:
    """The secret as it was sent, as comparisons have it, and escaped."""
    for one in dict.fromkeys((secret, secret.lower(), normalize_text(secret, ParseContext()))):
        shown = json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], repr(one)[1:-1]
        yield from (one, *shown, json.dumps(shown[0])[1:-1])
        raw = one.encode("utf-8", "surrogatepass")
        yield from (quote(raw, safe=""), quote(raw), quote(raw, safe=_NOT_ESCAPED), quote_plus(raw))
        yield quote(quote(raw, safe=""), safe="")
        if len(raw) >= LONG_ENOUGH:
            yield from (base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("="))


def _agreeing(text: str, form: str) -> int:
    """How many characters both begin with, found by halves."""
    least, most = 0, min(len(text), len(form))
    while least < most:
        middle = (least + most + 1) // 2
        if form.startswith(text[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least
