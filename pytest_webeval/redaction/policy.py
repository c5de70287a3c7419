"""How much is replaced, and what stays readable: the mode of a session and its lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from pytest_webeval.errors import SettingsError

REDACTED = "redacted"  # what a result without secrets tells the mode under
OFF, DEFAULT, STRICT = "off", "default", "strict"
MODES = (DEFAULT, OFF, STRICT)


@dataclass(frozen=True, slots=True)
class RedactionPolicy:
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


def allowed_names(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The names in lines such as `NetworkEventEvaluator: form_key, x-csrf-token`. Raises `SettingsError`."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        evaluator, colon, listed = line.partition(":")
        names = set(filter(None, map(str.strip, listed.split(","))))
        if not colon or not names or not evaluator.strip() or len(evaluator.split()) > 1:
            raise SettingsError(
                f"webeval_redact_allow: {line!r} names no evaluator with what stays readable in its results; "
                "write a line such as NetworkEventEvaluator: form_key, x-csrf-token"
            )
        found[evaluator.strip()] = tuple(sorted(names.union(found.get(evaluator.strip(), ()))))
    return found
