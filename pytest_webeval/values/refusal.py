"""How a datum is refused: named, shortened, in one line."""

from __future__ import annotations

from reprlib import Repr

from pytest_webeval.errors import ValueUnreadable

# Third-party parsers take time that grows faster than their input.
LONGEST_PARSED = 10_000

_SHORTENED = Repr()
_SHORTENED.maxstring = _SHORTENED.maxother = 80


def unreadable(raw: object, problem: str, rule: str | None = None) -> ValueUnreadable:
    """The error for a datum that starts by showing it: ``unreadable(5, "is not a date")``."""
    return ValueUnreadable(f"{_shown(raw)} {problem}", rule)


def refuse_overlong(text: str, wanted: str, longest: int = LONGEST_PARSED) -> None:
    """Raise `ValueUnreadable` for a text that no parser should be given."""
    if len(text) > longest:
        raise unreadable(text, f"is no {wanted}: it has {len(text)} characters; write at most {longest}")


def _shown(raw: object) -> str:
    try:
        return _SHORTENED.repr(raw)
    except ValueError:  # an int with more digits than Python agrees to print
        return f"a huge {type(raw).__name__}"
