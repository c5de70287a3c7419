"""Replacements of secrets: a salted hash that shows equality, and the length of the secret."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from pytest_webeval.redaction.names import is_secret

LONG_ENOUGH = 6  # to be replaced everywhere; anything shorter is a part of other words
_OPAQUE = 8
_REPLACEMENT = re.compile(r"redacted-(?:[0-9a-f]{8}-)?\d+")
_WORDS = frozenset({"true", "false", "null", "none", "undefined"})

Span = tuple[int, int, str]  # start, end and replacement


def splice(text: str, spans: Iterable[Span]) -> str:
    """The text with other texts in some places, which come in order."""
    pieces: list[str] = []
    at = 0
    for start, end, replacement in spans:
        pieces += (text[at:start], replacement)
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


class Replacements(Struct, frozen=True):
    """Makes replacements, equal ones for equal secrets, and keeps what it replaced.

    `secrets` are replaced everywhere, `allowed` are values that stay readable here. `by_secret` has all replacements.
    """

    salt: bytes | None
    secrets: dict[str, str] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    by_secret: dict[str, str] = field(default_factory=dict)
    listener: Callable[[str, str, str], None] | None = None  # an audit listens: kind, name, replacement

    def of(self, kind: str, name: str, secret: str) -> str:
        """The replacement of a secret. A value that is not one, or was replaced before, stays."""
        if not secret or secret.lower() in _WORDS or _REPLACEMENT.fullmatch(secret):
            return secret
        if secret not in self.by_secret:
            self.by_secret[secret] = replacement_for(secret, self.salt)
        replacement = self.by_secret[secret]
        if self.listener is not None:
            self.listener(kind, name, replacement)
        if _is_unambiguous(name, secret):
            self.secrets[secret] = replacement
        return replacement


def replacement_for(secret: str, salt: bytes | None) -> str:
    """The replacement of a secret; without a salt only its length, against which passwords cannot be tried.

    Secrets that are equal but for case have equal ones: comparisons make small letters of what they compare.
    """
    if salt is None:
        return f"redacted-{len(secret)}"
    digest = hmac.new(salt, secret.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:8]
    return f"redacted-{digest}-{len(secret)}"


def _is_unambiguous(name: str, secret: str) -> bool:
    """Whether a secret is unambiguous enough to be replaced everywhere.

    What is one only by its place, as in a cookie, may be a plain word, or an address.
    """
    if name and not is_secret(name):
        return len(secret) >= _OPAQUE and "://" not in secret and any(map(str.isdigit, secret))
    return len(secret) >= LONG_ENOUGH
