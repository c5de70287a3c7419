"""What stands in place of a secret: a salted hash that shows equality, and its length."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field

from pytest_webeval.redaction.names import is_secret

LONG_ENOUGH = 6  # to be looked for wherever it may stand; anything shorter is a part of other words
_OPAQUE = 8
_REPLACEMENT = re.compile(r"redacted-(?:[0-9a-f]{8}-)?\d+")
_WORDS = frozenset({"true", "false", "null", "none", "undefined"})


@dataclass(frozen=True, slots=True)
class Replacements:
    """Makes replacements, equal ones for equal secrets, and keeps what it replaced.

    `found` are secrets to be replaced wherever else they stand, `spared` what stays readable here.
    """

    salt: bytes | None
    found: dict[str, str] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)
    made: dict[str, str] = field(default_factory=dict)
    told: Callable[[str, str, str], None] | None = None  # an audit listens: kind, name, replacement

    def of(self, kind: str, name: str, secret: str) -> str:
        """What stands in place of a secret; what is none, or was replaced before, stays."""
        if not secret or secret.lower() in _WORDS or _REPLACEMENT.fullmatch(secret):
            return secret
        if secret not in self.made:
            self.made[secret] = replaced(secret, self.salt)
        replacement = self.made[secret]
        if self.told is not None:
            self.told(kind, name, replacement)
        if _is_telling(name, secret):
            self.found[secret] = replacement
        return replacement

    def spare(self, secret: str) -> None:
        """Keep in mind that a value stays readable."""
        self.spared.add(secret)


def replaced(secret: str, salt: bytes | None) -> str:
    """The replacement of a secret; without a salt only its length, which nobody can try passwords on.

    Secrets that are equal but for case have equal ones: comparisons make small letters of what they compare.
    """
    if salt is None:
        return f"redacted-{len(secret)}"
    told = hmac.new(salt, secret.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:8]
    return f"redacted-{told}-{len(secret)}"


def _is_telling(name: str, secret: str) -> bool:
    """Whether a secret is to be replaced wherever it stands.

    What is one only by its place, as in a cookie, may be a plain word, or an address.
    """
    if name and not is_secret(name):
        return len(secret) >= _OPAQUE and "://" not in secret and any(map(str.isdigit, secret))
    return len(secret) >= LONG_ENOUGH
