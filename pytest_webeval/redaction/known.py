"""Secrets that were found in one place of a result, replaced wherever else they stand in it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from urllib.parse import quote_plus

from pytest_webeval.redaction.replacements import LONG_ENOUGH
from pytest_webeval.redaction.texts import CUT
from pytest_webeval.values.base import Reading
from pytest_webeval.values.text import prepared

MOST = 200  # of a result that an agent filled with secrets the longest are looked for everywhere
_HEAD = 16  # characters by which a text that was cut is known
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
    """The forms in which secrets may stand in a text, with what stands there instead, longest first."""

    forms: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, found: Mapping[str, str], spared: Iterable[str] = ()) -> KnownSecrets:
        """Those that were replaced, but for values that stay readable."""
        kept = set(spared) | _OWN
        secrets = sorted(found.keys() - kept, key=lambda secret: (-len(secret), secret))[:MOST]
        forms = {form: found[secret] for secret in secrets for form in _forms(secret) if form not in kept}
        forms.pop("", None)
        return cls(tuple(sorted(forms.items(), key=lambda form: (-len(form[0]), form[0]))))

    def replaced(self, text: str) -> str:
        """The text without them, also where one was cut."""
        if len(text) < LONG_ENOUGH:
            return text
        for form, told in self.forms:
            if form in text:
                text = text.replace(form, told)
            if len(form) > _HEAD and form[:_HEAD] in text:
                text = _without_cut(text, form, told)
        return text

    def everywhere(self, tree: Any) -> Any:
        """The same in all texts of some JSON."""
        if isinstance(tree, str):
            return self.replaced(tree)
        if isinstance(tree, list):
            return [self.everywhere(one) for one in tree]
        if isinstance(tree, dict):
            return {self.replaced(name): self.everywhere(value) for name, value in tree.items()}
        return tree


def _forms(secret: str) -> Iterator[str]:
    """The secret as it was sent, as comparisons have it, and escaped."""
    for one in dict.fromkeys((secret, secret.lower(), prepared(secret, Reading()))):
        shown = json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], repr(one)[1:-1]
        yield from (one, *shown, json.dumps(shown[0])[1:-1])
        raw = one.encode("utf-8", "surrogatepass")
        yield from (quote(raw, safe=""), quote(raw), quote(raw, safe=_NOT_ESCAPED), quote_plus(raw))
        yield quote(quote(raw, safe=""), safe="")
        if len(raw) >= LONG_ENOUGH:
            yield from (base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("="))


def _without_cut(text: str, form: str, told: str) -> str:
    """A secret of which only the beginning is there, at the end of a text or of what a message quotes."""
    start = text.find(form[:_HEAD])
    while start >= 0:
        end = start + _agreeing(text, start, form)
        if text[end : end + 1] in ("", CUT, '"', "'"):
            text, end = f"{text[:start]}{told}{text[end:]}", start + len(told)
        start = text.find(form[:_HEAD], end)
    return text


def _agreeing(text: str, start: int, form: str) -> int:
    """How many characters a text has in common with a form from some place on."""
    pairs = enumerate(zip(text[start : start + len(form)], form, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(form), len(text) - start))
