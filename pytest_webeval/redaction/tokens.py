"""The texts and names of some JSON, each looked at once: most results and pages hold no secret at all."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import msgspec

from pytest_webeval.redaction.json import CONTAINERS
from pytest_webeval.redaction.marks import ALL_MARKS, cache_short, is_generated, may_hold_secrets
from pytest_webeval.redaction.names import COOKIE, compact, is_generated_name, is_secret
from pytest_webeval.redaction.policy import Scope
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.text import TextRedactor

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
# As most events have it. Within a text, a quote stands behind a backslash.
_NO_COOKIES = re.compile(rb'(?<=[{,])"response_cookies":\[\]')
_CACHED = 16_384  # texts: names, paths and messages of ours recur often
_SPACES = re.compile(r"[\W_]+")
_FEW = 200  # texts, of which each is looked up in the cache
_BETWEEN = bytes(code for code in range(128) if not chr(code).isalnum())
_BETWEEN_OF_TOKENS = _BETWEEN.replace(b"\n", b"")  # which have no line break in them
# What `may_hold_secrets` looks for: marks, and a part of each of its other signs.
_ALL_MARKS = (*(mark.encode() for mark in ALL_MARKS), b"@", b"%40")
_MOST_MARKED = 50  # each of which is looked for in each part; with more, all of the JSON is gone through instead
_SHORT = 200  # characters of a text that is searched to say whether it is worth searching
_TEXTS = TextRedactor(Scope(), Replacements(None))


def list_tokens(tree: Any) -> set[bytes] | None:
    """Each text and name once, as JSON spells it: its token. None where the value cannot be encoded."""
    try:
        return find_tokens(msgspec.json.encode(tree))
    except (TypeError, ValueError, RecursionError):  # values of a user's evaluator, or half a surrogate pair
        return None


def find_tokens(encoded: bytes) -> set[bytes]:
    """The same for JSON that is encoded."""
    return set(_TOKEN.findall(_NO_COOKIES.sub(b"", encoded)))


def decode_token(token: bytes) -> str:
    """The text itself."""
    return str(json.loads(token)) if b"\\" in token else token[1:-1].decode()


def may_hold(tokens: Collection[bytes]) -> bool:
    """Whether it is worth looking for secrets in the JSON of a result: in texts, by names, by paths in messages."""
    candidates = _list_candidates(tokens)
    return any(map(_may_be_secret, candidates)) or (
        any(map(_is_generated_name, candidates)) and any(is_generated(decode_token(token)) for token in tokens)
    )


def list_marked(tree: Any) -> frozenset[bytes] | None:
    """The tokens of which `JsonRedactor` needs to know in the default mode; None where they are many, or unknown."""
    tokens = list_tokens(tree)
    if tokens is None:
        return None
    marked = frozenset(filter(_is_marked, _list_candidates(tokens)))
    return marked if len(marked) <= _MOST_MARKED else None


def is_plain_text(text: str) -> bool:
    """Whether neither a text nor any part of it as a name has the mark of a secret, however it is spaced."""
    return not (may_hold_secrets(text) or may_hold_secrets(_drop_spaces(text)) or is_generated_name(text))


def _list_candidates(tokens: Collection[bytes]) -> Collection[bytes]:
    """The texts that may have the mark of a secret in them; many short ones are searched all at once."""
    if len(tokens) <= _FEW:
        return tokens
    everything = b"\n".join(token for token in tokens if len(token) <= _SHORT).lower()
    words = everything.translate(None, _BETWEEN_OF_TOKENS)
    marks = [mark for mark in _ALL_MARKS if mark in everything or (mark.isalnum() and mark in words)]
    return [token for token in tokens if _is_candidate(token, marks)]


def _is_candidate(token: bytes, marks: Collection[bytes]) -> bool:
    if len(token) > _SHORT or not token.isascii() or b"\\" in token or b"%5" in token:
        return True
    lowered = token.lower()
    words = lowered.translate(None, _BETWEEN)
    return any(mark in lowered or mark in words for mark in marks)


@cache_short(_SHORT, _CACHED)
def _is_generated_name(token: bytes) -> bool:
    return len(token) <= _SHORT and is_generated_name(decode_token(token))


@cache_short(_SHORT, _CACHED)
def _may_be_secret(token: bytes) -> bool:
    """Whether a text may hold a secret, or be the name of one, however it is spaced; no address is such a name."""
    text = decode_token(token)
    return may_hold_secrets(text) or ("://" not in text and may_hold_secrets(_drop_spaces(text)))


def _drop_spaces(text: str) -> str:
    """The letters and digits of a text, as `compact` has them."""
    text = text.replace("%5B", "").replace("%5D", "")
    if text.isascii():
        return text.encode().translate(None, _BETWEEN).decode()
    return _SPACES.sub("", text)


@cache_short(_SHORT, _CACHED)
def _is_marked(token: bytes) -> bool:
    """Whether a text has a mark; where it is short, whether the search itself finds something, or a name of secrets."""
    text = decode_token(token)
    if is_plain_text(text):
        return False
    if len(token) > _SHORT or is_secret(text) or is_generated_name(text):
        return True
    return CONTAINERS.get(compact(text)) == COOKIE or not _TEXTS.has_no_secrets(text)
