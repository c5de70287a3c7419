"""URLs as data: an answer such as the address to clone a repository from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl
from urllib.parse import unquote
from urllib.parse import urlsplit

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import ValueUnreadable
from pytest_webeval.values.base import Reading
from pytest_webeval.values.base import Value
from pytest_webeval.values.refusal import refuse_overlong
from pytest_webeval.values.refusal import unreadable


@dataclass(frozen=True, slots=True)
class UrlValue(Value):
    """A URL in the normal form of spec §5.14: base in lower case, and the first value of each parameter."""

    type_name = "url"

    @classmethod
    def canonical(cls, raw: object, reading: Reading) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Base and parameters. Raises `ValueUnreadable` for anything but text."""
        from pytest_webeval.urls import normalized  # answers are seldom URLs

        if not isinstance(raw, str) or not raw.strip():
            raise unreadable(raw, "is not a URL; write it in full")
        refuse_overlong(raw, "URL")
        try:
            base, _, rest = reading.derender(normalized(raw.strip().rstrip("/"))).partition("?")
        except EvaluationError as error:
            raise ValueUnreadable(str(error)) from error
        query = rest.partition("#")[0]
        pairs = sorted((unquote(name), unquote(value).lower().strip()) for name, value in parse_qsl(query))
        fragment = urlsplit(f"//x?{rest}").fragment
        shown = f"{base}#{fragment}" if fragment else base
        return shown.lower().rstrip("/"), tuple(dict(reversed(pairs)).items())

    def to_json(self) -> str:
        """The URL with its parameters as text."""
        base, pairs = self.alternatives[0]
        query = "&".join(f"{name}={value}" for name, value in pairs)
        return f"{base}?{query}" if query else str(base)
