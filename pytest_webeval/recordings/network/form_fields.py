"""Fields of a posted form, a JSON object or a multipart message (spec §3.3).

Also those that the reference does not read: types elsewhere or in other letters, `params`, and arrays of JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import BODY_TYPES, Body, Param
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL, Limits

Field = tuple[str, str]

_ANY_NAME = re.compile(r'name="([^"]+)"')
_DISPOSITION = "content-disposition"
_END_OF_HEAD = re.compile(r"\r?\n\r?\n")
_FOLD = re.compile(r"\r?\n[ \t]+")
# A parameter with its value. A quoted value is taken whole, so that nothing in it is a parameter of its own.
_PARAMETER = re.compile(r';\s*([^=;\s"]+)\s*=\s*(?:"([^"]*)"|([^;\s]*))')
_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}  # all that browsers escape in a name
_ESCAPED = re.compile("|".join(_ESCAPES))


def fields_as_written(text: str, delimiter: str) -> Iterator[Field]:
    """Names and values of a form as browsers write it (RFC 7578): an empty value is a value."""
    for part in _split_parts(text, delimiter):
        head, *value = _END_OF_HEAD.split(part, maxsplit=1)
        name = _parse_name(head)
        if value and name is not None:
            yield name, value[0]


def _split_parts(text: str, delimiter: str) -> Iterator[str]:
    """What stands between lines that are delimiters; the line end before each of them is no part of the value.

    The text may lack its last delimiter. Each part keeps the line end before its headers, so that without headers it
    begins with a blank line, as its end of a head does.
    """
    start: int | None = None
    for match in re.finditer(rf"{re.escape(delimiter)}(--)?[ \t]*(?=\r?\n|\Z)", text):
        position = match.start()
        if position and text[position - 1] != "\n":
            continue  # in the middle of a value
        if start is not None and start <= position:
            yield _without_line_end(text[start:position])
        if match[1]:
            return
        start = match.end()
    if start is not None:
        yield _without_line_end(text[start:])


def _without_line_end(part: str) -> str:
    return part.removesuffix("\n").removesuffix("\r") if part.endswith("\n") else part


def _parse_name(head: str) -> str | None:
    for line in _FOLD.sub(" ", head).split("\n"):
        header, _, parameters = line.partition(":")
        if header.strip().lower() == _DISPOSITION:
            for key, quoted, unquoted in _PARAMETER.findall(parameters):
                if key.lower() == "name":
                    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], quoted or unquoted)
            return None
    return None


def fields_as_reference(text: str, delimiter: str) -> Iterator[Field]:
    """Names and values of a form as the reference reads it, with every accident of Q53."""
    for part in text.split(delimiter):
        trimmed = part.strip()
        head, end, value = trimmed.partition("\r\n\r\n" if "\r\n\r\n" in trimmed else "\n\n")
        lines = head.split("\r\n") if end else ()
        disposition = next((line for line in lines if line.lower().startswith(f"{_DISPOSITION}:")), "")
        if name := _ANY_NAME.search(disposition):
            yield name[1], value


# To the reference quotes are part of a boundary, so that it finds no part by it.
_BOUNDARY = re.compile(r'boundary=(?="([^"]+)")?([^\s;]+)')


class FormFields(Struct, frozen=True):
    """Names and values of a body: the `first` value of each name, and all values of those that were `repeated`.

    A form has only texts, so that a list of one looks like a text: `is_form`. `for_reference` holds those that the
    reference finds in the same multipart message, where they are others (Q53). `document` is the array of which the
    fields are an item, `unrecorded` are names of which the value is unknown.
    """

    first: dict[str, Any]
    repeated: dict[str, list[str]] = field(default_factory=dict)
    is_multipart: bool = False
    is_form: bool = False
    for_reference: FormFields | None = None
    document: list[Any] | None = None
    unrecorded: frozenset[str] = frozenset()


def parse_fields(body: Body | None, limits: Limits = USUAL) -> FormFields | None:
    """Names and values in a body, or None where it is of no kind that can be read.

    Raises `EvaluationError` for one that is beyond the limits.
    """
    if body is None or not body.text:
        return None
    for marker, reader in _READERS.items():
        if marker in body.mime and (fields := reader(body, limits)) is not None:
            return fields  # of a type that names several, one that cannot be read leaves the others
    return None


def _parse_form(body: Body, limits: Limits) -> FormFields:
    if body.text.count("&") >= limits.values:
        raise EvaluationError(f"a posted form holds more fields than {limits.values:,}; {limits.describe('values')}")
    return collect_values(parse_qsl(body.text, keep_blank_values=True))


MOST_FIELDS = 500  # of a form that are listed


def list_fields(body: Body) -> list[Field] | None:
    """The first names and values of a form in the order in which they were sent; None for a body of another kind.

    For people: unlike `parse_fields` it has repeated names, and no limit makes it an error.
    """
    if BODY_TYPES[0] in body.mime:
        return parse_qsl("&".join(body.text.split("&", MOST_FIELDS)[:MOST_FIELDS]), keep_blank_values=True)
    boundary = _BOUNDARY.search(body.mime) if BODY_TYPES[2] in body.mime else None
    if boundary is None:
        return None
    quoted, raw = boundary.groups()
    return list(islice(fields_as_written(body.text, f"--{quoted or raw}"), MOST_FIELDS))


def _parse_json(body: Body, limits: Limits) -> FormFields | None:
    document = _load_json(body.text, limits)
    return FormFields(document) if isinstance(document, dict) else None


def _load_json(text: str, limits: Limits) -> Any:
    """The value in a text, None for another text."""
    try:
        return load_bounded(text, limits, "a JSON body in the trace", as_sent=True)
    except ValueError:
        return None


def _parse_multipart(body: Body, limits: Limits) -> FormFields | None:
    boundary = _BOUNDARY.search(body.mime)
    if boundary is None:
        return None
    quoted, raw = boundary.groups()
    as_reference = fields_as_reference(body.text, _build_delimiter(raw, body, limits))
    as_written = fields_as_written(body.text, _build_delimiter(quoted or raw, body, limits))
    for_reference, fields = (collect_values(each, is_multipart=True) for each in (as_reference, as_written))
    return fields if fields == for_reference else replace(fields, for_reference=for_reference)


def _build_delimiter(boundary: str, body: Body, limits: Limits) -> str:
    delimiter = f"--{boundary}"
    if body.text.count(delimiter) > limits.values:
        raise EvaluationError(f"a multipart body holds more parts than {limits.values:,}; {limits.describe('values')}")
    return delimiter


def collect_values(fields: Iterable[Field], *, is_multipart: bool = False) -> FormFields:
    """The fields of a form. Of a name the reference takes the first value, in a multipart message the last (§3.3)."""
    values_by_name: dict[str, list[str]] = {}
    for name, value in fields:
        values_by_name.setdefault(name, []).append(value)
    repeated = {name: values for name, values in values_by_name.items() if len(values) > 1}
    chosen = {name: values[-1 if is_multipart else 0] for name, values in values_by_name.items()}
    return FormFields(chosen, repeated, is_multipart=is_multipart, is_form=True)


_READERS: dict[str, Callable[[Body, Limits], FormFields | None]] = dict(
    zip(BODY_TYPES, (_parse_form, _parse_json, _parse_multipart), strict=True)
)


FORM, JSON, MULTIPART = BODY_TYPES
_BOUNDARY_MARK = re.compile(r";\s*boundary\s*=\s*", re.IGNORECASE)
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
        return [_parse_form(body, limits)]
    if body.text and MULTIPART in mime:
        parsed = _parse_multipart(replace(body, mime=mime), limits)
        return [parsed] if parsed is not None else _parse_params(body.params, is_multipart=True)
    fields = _parse_json_items(body.text, limits) if body.text else None
    if fields is None and body.params:
        return _parse_params(body.params, is_multipart=MULTIPART in mime)
    return [] if fields is None and is_json_type(content_type(body.mime, header)) else fields


def _find_mime(*mimes: str) -> str:
    """The first type that has fields, its names in small letters, with the boundary of whichever has one."""
    mime = next((mime for mime in mimes if content_type(mime) in BODY_TYPES), mimes[0])
    marks = [(mime, mark) for mime in (mime, *mimes) if (mark := _BOUNDARY_MARK.search(mime))]
    boundary = f"; boundary={marks[0][0][marks[0][1].end() :]}" if marks else ""
    return content_type(mime) + boundary


def _parse_json_items(text: str, limits: Limits) -> list[FormFields] | None:
    document = _load_json(text.removeprefix("\ufeff"), limits)
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
    fields = collect_values(pairs if is_multipart else _decode_pairs(pairs), is_multipart=is_multipart)
    return [replace(fields, unrecorded=unrecorded)]


def _decode_pairs(pairs: Sequence[Field]) -> Sequence[Field]:
    """The same fields, decoded if something in them is encoded and nothing is that a form had to encode."""
    texts = [text for pair in pairs for text in pair]
    is_encoded = any("%" in text for text in texts) and all(map(_AS_SENT.fullmatch, texts))
    return [(unquote_plus(name), unquote_plus(value)) for name, value in pairs] if is_encoded else pairs
