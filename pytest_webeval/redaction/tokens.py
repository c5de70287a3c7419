"""The texts in some JSON, found without going through it: most results hold no secret, and that is soon known."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import msgspec

from pytest_webeval.redaction.marks import may_hold_secrets
from pytest_webeval.redaction.names import is_code
from pytest_webeval.redaction.names import is_next_to_code

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_KEPT = 16_384  # texts whose answers are kept: names, paths and messages of our own come again and again


def tokens(tree: Any) -> set[bytes] | None:
    """Each text and name as JSON spells it, once; None where that cannot be told."""
    try:
        return set(_TOKEN.findall(msgspec.json.encode(tree)))
    except (TypeError, ValueError, RecursionError):  # what somebody's evaluator found, or half a surrogate pair
        return None


@lru_cache(maxsize=1024)
def text_of(token: bytes) -> str:
    """The text itself."""
    return str(json.loads(token)) if b"\\" in token else token[1:-1].decode()


def may_hold(tree: Any) -> bool:
    """Whether it is worth looking for secrets in some JSON, in texts and by names."""
    found = tokens(tree)
    if found is None or any(map(_may_be_one, found)):
        return True
    return any(map(_names_code, found)) and any(map(_stands_next_to_code, found))


@lru_cache(maxsize=_KEPT)
def _names_code(token: bytes) -> bool:
    return is_code(text_of(token))


@lru_cache(maxsize=_KEPT)
def _stands_next_to_code(token: bytes) -> bool:
    return is_next_to_code(text_of(token))


@lru_cache(maxsize=_KEPT)
def _may_be_one(token: bytes) -> bool:
    """Whether a text may hold a secret, or be the name of one, however it is spaced; no address is such a name."""
    text = text_of(token)
    return may_hold_secrets(text) or ("://" not in text and may_hold_secrets("".join(filter(str.isalnum, text))))
