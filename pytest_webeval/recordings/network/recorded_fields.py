"""Fields of bodies that the reference does not read: types elsewhere or in other letters, `params`, arrays of JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote_plus

from msgspec.structs import replace

from pytest_webeval.recordings.network.events import BODY_TYPES, Body, Param
from pytest_webeval.recordings.network.form_fields import (
    Field,
    FormFields,
    collect_first_values,
    collect_last_values,
    parse_fields,
)
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import Limits

FORM, JSON, MULTIPART = BODY_TYPES
_BOUNDARY = re.compile(r";\s*boundary\s*=\s*", re.IGNORECASE)
_NO_TYPES = ("", "x-unknown", "application/octet-stream")  # as recorders write that there was no Content-Type
# A name or value as a form sends it. What HAR keeps of it, some recorders decode and others do not.
_AS_SENT = re.compile(r"(?:[^\s\x7f-\U0010ffff&=#\"<>%]|%[0-9A-Fa-f]{2})*+")


def content_type(*mimes: str) -> str:
    """The type of a body without parameters, in small letters: of several the first that is one."""
    types = (mime.partition(";")[0].strip().lower() for mime in mimes)
    return next((name for name in types if name not in _NO_TYPES), "")


def is_json_type(name: str) -> bool:
    """Whether a type means JSON, such as `application/graphql+json`."""
    return name.endswith(("/json", "+json", "/x-json"))


def parse_recorded(body: Body, header: str, limits: Limits) -> list[FormFields] | None:
    """Names and values in a body, of an array of JSON those of each item; None for a body that is not read.

    `header` is the header Content-Type, which counts where the recorder kept no type of the body that has fields.
    Raises `EvaluationError` for a body that is beyond the limits.
    """
    mime = _find_mime(body.mime, header)
    if body.text and FORM in mime:
        return _list_fields(replace(body, mime=FORM), limits)
    if body.text and MULTIPART in mime:
        return _list_fields(replace(body, mime=mime), limits) or _parse_params(body.params, is_multipart=True)
    fields = _parse_json(body.text, limits) if body.text else None
    if fields is None and body.params:
        return _parse_params(body.params, is_multipart=MULTIPART in mime)
    return [] if fields is None and is_json_type(content_type(body.mime, header)) else fields


def _list_fields(body: Body, limits: Limits) -> list[FormFields] | None:
    fields = parse_fields(body, limits)
    return None if fields is None else [fields]


def _find_mime(*mimes: str) -> str:
    """The first type that has fields, its names in small letters, with the boundary of whichever has one."""
    mime = next((mime for mime in mimes if content_type(mime) in BODY_TYPES), mimes[0])
    marks = [(mime, mark) for mime in (mime, *mimes) if (mark := _BOUNDARY.search(mime))]
    boundary = f"; boundary={marks[0][0][marks[0][1].end() :]}" if marks else ""
    return content_type(mime) + boundary


def _parse_json(text: str, limits: Limits) -> list[FormFields] | None:
    """The objects in a text; None where it is no JSON, or neither an object nor an array."""
    try:
        document = load_bounded(text.removeprefix("\ufeff"), limits, "a JSON body in the trace", as_sent=True)
    except ValueError:
        return None
    if isinstance(document, dict):
        return [FormFields(document)]
    if not isinstance(document, list):
        return None
    items = [item for item in document if isinstance(item, dict)] or [{}]
    return [FormFields(item, document=document) for item in items]


def _parse_params(params: Sequence[Param], *, is_multipart: bool) -> list[FormFields] | None:
    """The fields that the recorder read itself. A file of which it kept the name alone has no value to compare."""
    if not params:
        return None
    unrecorded = frozenset(param.name for param in params if param.value is None and param.file_name is not None)
    pairs = [(param.name, param.value or "") for param in params if param.name not in unrecorded]
    if is_multipart:
        return [replace(collect_last_values(pairs), unrecorded=unrecorded)]
    return [replace(collect_first_values(_decode_pairs(pairs)), unrecorded=unrecorded)]


def _decode_pairs(pairs: Sequence[Field]) -> Sequence[Field]:
    """The same fields, decoded if something in them is encoded and nothing is that a form had to encode."""
    texts = [text for pair in pairs for text in pair]
    is_encoded = any("%" in text for text in texts) and all(map(_AS_SENT.fullmatch, texts))
    return [(unquote_plus(name), unquote_plus(value)) for name, value in pairs] if is_encoded else pairs
