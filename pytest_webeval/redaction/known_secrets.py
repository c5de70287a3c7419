"""Secrets of one part of a result, replaced in all other parts of it."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from msgspec import Struct

from pytest_webeval.redaction.json import decode_token, list_tokens
from pytest_webeval.redaction.names import cache_short
from pytest_webeval.redaction.text import LONG_ENOUGH, Span, splice
from pytest_webeval.safety.text import ELLIPSIS
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.text import normalize_text

_MOST = 200  # of a result that an agent filled with secrets the longest are searched everywhere
_HEAD = 16  # characters by which a text that was cut is known
_MESSAGE_LIMIT = 1_000  # more of a text than any message shows before it cuts it
_NOT_ESCAPED = "!'()*~"  # what JavaScript leaves as it is, and Python does not
_NEVER_ESCAPED = re.compile(r"[A-Za-z0-9_.~-]*+")  # in JSON, in Python, in an address
_SIGMAS = "\u03c2", "\u03c3"  # small letters of the one letter whose small letter depends on what stands around it
# Our own words in results are not secrets, even if a password equals one of them.
_OWN_WORDS = frozenset(
    {
        *("aborted", "action", "completed", "criterion", "default", "excluded", "expected", "failure", "mutate"),
        *("navigate", "navigation", "network", "outcome", "over_budget", "partial_match", "process", "redacted"),
        *("redacted-", "reference", "request", "retrieve", "rubric", "skipped", "status", "strict", "success"),
        *("trajectory", "unreadable"),
    }
)


class KnownSecrets(Struct, frozen=True, dict=True):
    """The forms in which secrets may occur in a text, in small letters, each with its replacement."""

    forms: Mapping[str, str]

    @cached_property
    def _heads(self) -> Mapping[str, Sequence[int]]:
        """By the first characters of forms how long those are that begin so, longest first.

        With them, a text is gone through once, however many forms there are.
        """
        lengths: dict[str, set[int]] = {form[:LONG_ENOUGH]: set() for form in self.forms}
        for form in self.forms:
            lengths.setdefault(form[: _HEAD if len(form) >= _HEAD else LONG_ENOUGH], set()).add(len(form))
        return {head: sorted(lengths[head], reverse=True) for head in lengths}

    @cached_property
    def _ordered(self) -> Sequence[str]:
        return sorted(self.forms)

    @classmethod
    def of(cls, secrets: Mapping[str, str], allowed: Iterable[str] = ()) -> KnownSecrets:
        """Those that were replaced, but for values that stay readable."""
        if not secrets:
            return cls({})
        unreplaced = _OWN_WORDS.union(map(fold, allowed))
        secret_values = (secret for secret in secrets if fold(secret) not in unreplaced)
        longest = sorted(secret_values, key=lambda secret: (-len(secret), secret))[:_MOST]
        forms = ((form, secrets[secret]) for secret in longest for form in _forms_of(secret))
        return cls({form: new for form, new in forms if len(form) >= LONG_ENOUGH and form not in unreplaced})

    def replace(self, text: str) -> str:
        """The text without them, in whatever case of letters, also where one was cut."""
        if len(text) < LONG_ENOUGH or not self.forms:
            return text
        return splice(text, _merge_overlaps(self._list_spans(fold(text))))

    def _list_spans(self, text: str) -> Iterator[Span]:
        heads, reached = self._heads, 0
        for start in range(len(text) - LONG_ENOUGH + 1):
            if text[start : start + LONG_ENOUGH] not in heads:
                continue
            form = self._longest_form(text, start)
            cut = self._find_cut_form(text, start) if start >= reached else None
            if cut and cut[1] > start + len(form):
                reached = cut[1]
                yield cut
            elif form:
                reached = max(reached, start + len(form))
                yield start, start + len(form), self.forms[form]

    def _longest_form(self, text: str, start: int) -> str:
        """The longest form that begins there."""
        for head in (_HEAD, LONG_ENOUGH):
            for length in self._heads.get(text[start : start + head], ()):
                if (form := text[start : start + length]) in self.forms:
                    return form
        return ""

    def _find_cut_form(self, text: str, start: int) -> Span | None:
        """A form that is cut off at the end of a text or of a quotation."""
        if text[start : start + _HEAD] not in self._heads:
            return None
        preview = text[start : start + _MESSAGE_LIMIT]
        position = bisect_left(self._ordered, preview)  # what agrees most stands next to it
        lengths = [(_common_length(preview, form), form) for form in self._ordered[max(position - 1, 0) : position + 1]]
        length, form = max(lengths)
        end = start + length
        is_cut = length >= _HEAD and text[end : end + 1] in ("", ELLIPSIS, '"', "'")
        return (start, end, self.forms[form]) if is_cut else None

    def replace_in_json(self, tree: Any, allowed: Container[str] = ()) -> Any:
        """The same in all texts of some JSON, including names unless they are allowed."""
        if not self.forms:
            return tree
        tokens = list_tokens(tree)
        if tokens is None:
            return replace_texts(tree, allowed, self.replace)
        texts = map(decode_token, self._list_with_forms(tokens))
        changed = {text: new for text in texts if (new := self.replace(text)) != text}
        return replace_texts(tree, allowed, lambda text: changed.get(text, text)) if changed else tree

    def _list_with_forms(self, tokens: Collection[bytes]) -> Collection[bytes]:
        """The texts that may have a form in them, whole or cut, in any case of letters: few ones, or none."""
        everything = fold(b"\n".join(tokens).decode())
        beginnings = [beginning for beginning in self._beginnings if beginning in everything]
        if not beginnings:
            return ()
        return [token for token in tokens if has_any(fold(token.decode()), beginnings)]

    @cached_property
    def _beginnings(self) -> Collection[str]:
        """As much of the forms as is left of one that was cut, as JSON spells it, in small letters."""
        return {json.dumps(form[:_HEAD], ensure_ascii=False)[1:-1] for form in self.forms}

    def may_be_in(self, tree: Any) -> bool:
        """Whether some JSON may have one of them in it."""
        tokens = list_tokens(tree)
        return tokens is None or bool(self._list_with_forms(tokens))


def fold(text: str) -> str:
    """The text in small letters, each at the position that it has in the text."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two
        lowered = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return lowered if lowered.isascii() else lowered.replace(*_SIGMAS)


def has_any(text: str, parts: Iterable[str]) -> bool:
    """Whether any of these is a part of a text."""
    return any(part in text for part in parts)


def replace_texts(tree: Any, allowed: Container[str], replace: Callable[[str], str]) -> Any:
    """Some JSON with all texts replaced, including names unless they are allowed."""
    if isinstance(tree, str):
        return replace(tree)
    if isinstance(tree, list):
        return [replace_texts(child, allowed, replace) for child in tree]
    if isinstance(tree, dict):
        return {
            name if name in allowed else replace(name): replace_texts(value, allowed, replace)
            for name, value in tree.items()
        }
    return tree


def _merge_overlaps(spans: Iterable[Span]) -> Iterator[Span]:
    """The same spans; overlapping ones are merged, with the replacement of the longest of them."""
    merged: Span | None = None
    longest = 0
    for start, end, replacement in spans:
        if merged is None or start >= merged[1]:
            if merged is not None:
                yield merged
            merged, longest = (start, end, replacement), end - start
        else:
            merged = merged[0], max(merged[1], end), replacement if end - start > longest else merged[2]
            longest = max(longest, end - start)
    if merged is not None:
        yield merged


@cache_short(1_000, _MOST)
def _forms_of(secret: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_list_forms(secret)))


def _list_forms(secret: str) -> Iterator[str]:
    """The secret as it was sent, as it was before that, as comparisons have it, and escaped; each in small letters."""
    for text in dict.fromkeys((secret, *_list_unescaped(secret))):
        for variant in dict.fromkeys((text, text.lower(), text.upper(), normalize_text(text, ParseContext()))):
            yield fold(variant)
            raw = variant.encode("utf-8", "surrogatepass")
            if not _NEVER_ESCAPED.fullmatch(variant):
                yield from map(fold, _list_escaped(variant, raw))
            if len(raw) >= LONG_ENOUGH:
                encoded = (base64.b64encode(raw), base64.urlsafe_b64encode(raw))
                yield from (form.decode().rstrip("=").lower() for form in encoded)


def _list_unescaped(secret: str) -> Iterator[str]:
    """What a text may have been before it was put into a form, into JSON or into a page."""
    if "%" in secret or "+" in secret:
        yield from (unquote(secret), unquote_plus(secret))
    if "\\" in secret:
        with suppress(ValueError):
            yield str(json.loads(f'"{secret}"'))
    if "&" in secret:
        yield html.unescape(secret)


def _list_escaped(text: str, raw: bytes) -> Iterator[str]:
    escaped = json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]
    yield from (*escaped, json.dumps(escaped[0])[1:-1], html.escape(text))
    yield from (quote(raw, safe=""), quote(raw), quote(raw, safe=_NOT_ESCAPED), quote_plus(raw))
    yield quote(quote(raw, safe=""), safe="")


def _common_length(text: str, form: str) -> int:
    """The length of the common prefix, by binary search."""
    least, most = 0, min(len(text), len(form))
    while least < most:
        middle = (least + most + 1) // 2
        if form.startswith(text[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least
