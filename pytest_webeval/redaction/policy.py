"""The redaction policy: the mode of a session and the names that stay readable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.names import COOKIE, HEADER, MEMBER, SAFE_HEADERS, compact, is_generated_name, is_secret

REDACTED = "redacted"  # the key of the mode in a redacted result
DEFINITION = "definition"  # the key of the task's definition in what is shown with a result
OFF, DEFAULT, STRICT = "off", "default", "strict"
MODES = (DEFAULT, OFF, STRICT)


class RedactionPolicy(Struct, frozen=True):
    """What a session replaces. `allowed` are names that stay readable, by the evaluator in whose results they do."""

    mode: str = DEFAULT
    allowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_off(self) -> bool:
        """Whether everything stays as it is."""
        return self.mode == OFF

    @property
    def is_strict(self) -> bool:
        """Whether more is taken for a secret than is surely one."""
        return self.mode == STRICT

    @property
    def steps(self) -> Iterator[RedactionPolicy]:
        """What is applied one after the other: strict goes over what the default left, so that it replaces no less."""
        if self.is_strict:
            yield RedactionPolicy(DEFAULT, self.allowed)
        if not self.is_off:
            yield self


def allowed_names(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names in lines such as `NetworkEventEvaluator: form_key, x-csrf-token`. Raises `SettingsError`."""
    allowed: dict[str, tuple[str, ...]] = {}
    for line in lines:
        evaluator, colon, names_text = line.partition(":")
        names = set(filter(None, map(str.strip, names_text.split(","))))
        if not colon or not names or not evaluator.strip() or len(evaluator.split()) > 1:
            raise SettingsError(
                f"invalid webeval_redact_allow {line!r}; use a line such as "
                "NetworkEventEvaluator: form_key, x-csrf-token"
            )
        allowed[evaluator.strip()] = tuple(sorted(names.union(allowed.get(evaluator.strip(), ()))))
    return allowed


class Scope(Struct, frozen=True):
    """Secrets by their names, and all cookies; strictly everything but harmless names and those that are expected."""

    allowed: frozenset[str] = frozenset()  # compact
    expected: frozenset[str] | None = None  # compact; None unless all others are secrets

    @property
    def is_strict(self) -> bool:
        """Whether more is taken for a secret than is surely one."""
        return self.expected is not None

    def covers(self, kind: str, name: str) -> bool:
        """Whether the value of that name is a secret."""
        plain = compact(name)
        if plain in self.allowed:
            return False
        is_unknown = self.expected is not None and plain not in (SAFE_HEADERS if kind == HEADER else self.expected)
        return kind == COOKIE or is_secret(name) or (is_unknown and kind != MEMBER)

    def covers_generated(self, name: str) -> bool:
        """Whether the value of that name is a secret if it looks generated."""
        return is_generated_name(name) and compact(name) not in self.allowed

    def allows(self, name: str) -> bool:
        """Whether it would be one if the session or the task did not let that name stay readable."""
        return bool(self.allowed) and compact(name) in self.allowed


# Members of an answer in either dialect, which every expectation of one names.
ANSWER_NAMES = ("action", "task_type", "performed_operation", "status", "results", "retrieved_data", "error_details")


def build_scope(policy: RedactionPolicy, evaluator: str = "", expected_names: Collection[str] = ()) -> Scope:
    """The scope for the results of an evaluator with these names in its expectation."""
    generated = filter(is_generated_name, expected_names)  # such as the `code` of a coupon, which the task asks for
    allowed = frozenset(map(compact, (*policy.allowed.get(evaluator, ()), *generated)))
    expected = frozenset(map(compact, (*expected_names, *ANSWER_NAMES))) if policy.is_strict else None
    return Scope(allowed, expected)
