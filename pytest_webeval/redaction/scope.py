"""Which names are secret in some part of a result."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.redaction.names import SAFE_HEADERS
from pytest_webeval.redaction.names import compact
from pytest_webeval.redaction.names import is_secret
from pytest_webeval.redaction.policy import STRICT
from pytest_webeval.redaction.policy import RedactionPolicy


class Scope(Protocol):
    """What is secret in a part of a result, and what is so in its texts whatever its name."""

    @property
    def allowed(self) -> frozenset[str]:
        """Names that the session lets stay readable, in small letters."""
        ...

    @property
    def is_strict(self) -> bool:
        """Whether addresses of persons and opaque words count as secrets too."""
        ...

    def covers(self, kind: str, name: str) -> bool:
        """Whether the value of that name is a secret."""
        ...

    def spares(self, name: str) -> bool:
        """Whether it would be one if the session did not let that name stay readable."""
        ...


@dataclass(frozen=True, slots=True)
class DefaultScope:
    """Secrets by their names, and all cookies."""

    allowed: frozenset[str] = frozenset()  # compact
    is_strict = False

    def covers(self, kind: str, name: str) -> bool:
        """Whether the value of that name is a secret."""
        return (kind == COOKIE or is_secret(name)) and compact(name) not in self.allowed

    def spares(self, name: str) -> bool:
        """Whether it would be one if the session did not let that name stay readable."""
        return bool(self.allowed) and compact(name) in self.allowed


@dataclass(frozen=True, slots=True)
class StrictScope:
    """All but what is known to be harmless, or named by the expectation."""

    allowed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    is_strict = True

    def covers(self, kind: str, name: str) -> bool:
        """Whether the value of that name is a secret."""
        plain = compact(name)
        if plain in self.allowed:
            return False
        if is_secret(name) or kind == COOKIE:
            return True
        if kind == HEADER:
            return plain not in SAFE_HEADERS
        return kind in (FIELD, PARAMETER) and plain not in self.named

    def spares(self, name: str) -> bool:
        """As of the default."""
        return compact(name) in self.allowed


# Members of an answer in either dialect, which every expectation of one names.
_OF_ANSWERS = ("action", "task_type", "performed_operation", "status", "results", "retrieved_data", "error_details")


def scope_of(policy: RedactionPolicy, evaluator: str = "", named: Collection[str] = ()) -> Scope:
    """What is secret in the results of an evaluator, whose expectation names so much."""
    allowed = frozenset(map(compact, policy.allowed.get(evaluator, ())))
    if policy.mode != STRICT:
        return DefaultScope(allowed)
    return StrictScope(allowed, frozenset(map(compact, (*named, *_OF_ANSWERS))))
