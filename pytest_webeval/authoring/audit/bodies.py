"""Fields of posted and received bodies, and bodies with another value in one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec import Struct

from pytest_webeval.authoring.audit.json_paths import Path, format_path, list_values, replace_value
from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.network.events import BODY_TYPES, Body
from pytest_webeval.recordings.network.form_fields import list_fields
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL

FORM, JSON = BODY_TYPES[0], BODY_TYPES[1]
MOST_FIELDS = 60  # of one body, query or path that are changed
MOST_CHARACTERS = 200_000  # of a body; a larger one is no form that a task is about
_NAME = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^']*)'\]")


class BodyField(Struct, frozen=True):
    """A value in a body and where it stands there."""

    path: Path
    value: Any

    @property
    def name(self) -> str:
        """The place as JSONPath has it without `$.`: `issue.labels[0]`."""
        return format_path(self.path).removeprefix(".")


class Fields(Struct, frozen=True):
    """What a body holds: pairs of a form, or a JSON document."""

    pairs: tuple[tuple[str, str], ...] | None
    document: Any = None

    def list_fields(self) -> list[BodyField]:
        """The values, those of a form under their names."""
        if self.pairs is not None:
            names = dict.fromkeys(name for name, _ in self.pairs)
            values = dict(reversed(self.pairs))
            return [BodyField((name,), values[name]) for name in names][:MOST_FIELDS]
        return [BodyField(path, value) for path, value in list_values(self.document)][:MOST_FIELDS]

    def replace(self, path: Path, value: Any) -> Body:
        """A body with another value in one place; a form has it for each value of the name."""
        if self.pairs is not None:
            pairs = [(name, str(value) if (name,) == path else old) for name, old in self.pairs]
            return Body(FORM, urlencode(pairs))
        return Body(JSON, json.dumps(replace_value(self.document, path, value)))

    def unchanged(self) -> Body:
        """The same body, written anew."""
        return Body(FORM, urlencode(self.pairs)) if self.pairs is not None else Body(JSON, json.dumps(self.document))


def read_fields(body: Body | None) -> Fields | None:
    """The fields of a body; None where it has none that can be read."""
    if body is None:
        return None
    try:
        text = body.read_uncounted()
        if len(text) > MOST_CHARACTERS:
            return None
        if JSON in body.mime:
            document = load_bounded(text, USUAL, "a body")
            return Fields(None, document) if isinstance(document, dict) else None
        pairs = list_fields(Body(body.mime, text))
    except (WebEvalError, ValueError, RecursionError):
        return None
    return Fields(tuple(pairs)) if pairs else None


def read_query(query: str) -> list[tuple[str, str]]:
    """Names and values of the parameters of a URL."""
    return parse_qsl(query, keep_blank_values=True)


def is_named(field: BodyField, keys: Iterable[str]) -> bool:
    """Whether a key of a definition names a field: as a name, or as a plain JSONPath that leads to it or above it."""
    return any(_leads_to(key.strip(), field) for key in keys)


def _leads_to(key: str, field: BodyField) -> bool:
    if (key,) == field.path[:1] or key == field.name:
        return True
    if not key.startswith(("$.", "$[")):
        return False
    steps = [name or quoted or int(index) for name, index, quoted in _NAME.findall(key[1:])]
    return bool(steps) and tuple(steps) == field.path[: len(steps)]
