"""A whole body written otherwise: another MIME type, another notation of the same fields, damage."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import quote

from tests.parity.harness.drafts import FORM, JSON, MULTIPART, Body

Edits = Mapping[str, Callable[[Body], Body | None]]


def _in(mime: str) -> Callable[[Body], Body]:
    """The fields in the notation of that MIME type."""
    return lambda body: Body(body.fields, mime)


def _labelled(mime: str) -> Callable[[Body], Body]:
    """The same text under another MIME type."""
    return lambda body: Body(body.fields, mime, body.written())


def _rewritten(edit: Callable[[str], str]) -> Callable[[Body], Body]:
    """Another text under the same MIME type."""
    return lambda body: Body(body.fields, body.mime, edit(body.written()))


def _form(edit: Callable[[str], str]) -> Callable[[Body], Body]:
    """Another text that was a form."""
    return lambda body: Body(body.fields, FORM, edit(Body(body.fields).written()))


def _json(edit: Callable[[str], str]) -> Callable[[Body], Body]:
    """Another text that was JSON."""
    return lambda body: Body(body.fields, JSON, edit(Body(body.fields, JSON).written()))


def _multipart(edit: Callable[[str], str]) -> Callable[[Body], Body]:
    """Another text that was a multipart message."""
    return lambda body: Body(body.fields, MULTIPART, edit(Body(body.fields, MULTIPART).written()))


MIME_EDITS: Edits = {
    "as JSON": _in(JSON),
    "as form": _in(FORM),
    "as multipart": _in(MULTIPART),
    "as multipart, quoted boundary": _in('multipart/form-data; boundary="x-1"'),
    "as multipart, boundary and charset": _in("multipart/form-data; boundary=x1"),
    "multipart, no boundary": lambda body: Body(
        body.fields, "multipart/form-data", Body(body.fields, MULTIPART).written()
    ),
    "multipart, other boundary": lambda body: Body(
        body.fields, "multipart/form-data; boundary=zz", Body(body.fields, MULTIPART).written()
    ),
    "multipart, charset behind": lambda body: Body(
        body.fields, f"{MULTIPART}; charset=utf-8", Body(body.fields, MULTIPART).written()
    ),
    "multipart/mixed": _in("multipart/mixed; boundary=x1"),
    "labelled plain text": _labelled("text/plain"),
    "labelled plain text with charset": _labelled("text/plain;charset=UTF-8"),
    "labelled JSON": _labelled(JSON),
    "labelled form": _labelled(FORM),
    "labelled multipart": _labelled(MULTIPART),
    "labelled octets": _labelled("application/octet-stream"),
    "labelled with nothing": _labelled(""),
    "labelled HTML": _labelled("text/html"),
    "JSON with charset": _in("application/json; charset=utf-8"),
    "JSON in capitals": _in("Application/JSON"),
    "vendor JSON": _in("application/vnd.api+json"),
    "text/json": _in("text/json"),
    "application/json-patch+json": _in("application/json-patch+json"),
    "JSON lines": _in("application/jsonlines"),
    "form with charset": _in(f"{FORM}; charset=UTF-8"),
    "form in capitals": _in(FORM.upper()),
    "form and JSON at once": lambda body: Body(body.fields, f"{FORM}, {JSON}"),
    "JSON and form at once": lambda body: Body(body.fields, f"{JSON}; x={FORM}", Body(body.fields).written()),
    "absent": lambda _: None,
}
STORED_EDITS: Edits = {
    "without type": lambda body: replace(body, raw={"text": body.written()}),
    "type null": lambda body: replace(body, raw={"mimeType": None, "text": body.written()}),
    "without text": lambda body: replace(body, raw={"mimeType": body.mime}),
    "text null": lambda body: replace(body, raw={"mimeType": body.mime, "text": None}),
    "text empty": lambda body: replace(body, raw={"mimeType": body.mime, "text": ""}),
    "text a blank": lambda body: replace(body, raw={"mimeType": body.mime, "text": " "}),
    "text a number": lambda body: replace(body, raw={"mimeType": body.mime, "text": 5}),
    "empty object": lambda body: replace(body, raw={}),
    "only params": lambda body: replace(body, raw={"mimeType": body.mime, "params": _params(body)}),
    "params and text": lambda body: replace(body, raw={**body.stored(), "params": _params(body)}),
    "more members": lambda body: replace(body, raw={**body.stored(), "size": 12, "compression": 0, "comment": ""}),
    "encoding utf-8": lambda body: replace(body, raw={**body.stored(), "encoding": "utf-8"}),
}
TEXT_EDITS: Edits = {
    "cut in half": _rewritten(lambda text: text[: len(text) // 2]),
    "last letter lost": _rewritten(lambda text: text[:-1]),
    "blanks around": _rewritten(lambda text: f"\r\n {text} \r\n"),
    "byte order mark": _rewritten(lambda text: f"\ufeff{text}"),
    "NUL behind": _rewritten(lambda text: f"{text}\0"),
    "twice": _rewritten(lambda text: text * 2),
    "line break in the middle": _rewritten(lambda text: f"{text[: len(text) // 2]}\n{text[len(text) // 2 :]}"),
    "other letters": _rewritten(str.upper),
    "form, blanks as %20": _form(lambda text: text.replace("+", "%20")),
    "form, small escapes": _form(lambda text: text.replace("%5B", "%5b").replace("%5D", "%5d").replace("%2F", "%2f")),
    "form, brackets as they are": _form(lambda text: text.replace("%5B", "[").replace("%5D", "]")),
    "form, everything escaped": _form(lambda text: "".join(f"%{ord(c):02X}" if c.isalpha() else c for c in text)),
    "form, escaped twice": _form(lambda text: text.replace("%", "%25")),
    "form, semicolons": _form(lambda text: text.replace("&", ";")),
    "form, escaped ampersands": _form(lambda text: text.replace("&", "&amp;")),
    "form, empty parts": _form(lambda text: "&&" + text.replace("&", "&&") + "&"),
    "form, question mark": _form(lambda text: "?" + text),
    "form, equals signs lost": _form(lambda text: text.replace("=", "")),
    "form, equals signs doubled": _form(lambda text: text.replace("=", "==")),
    "form, bad escape": _form(lambda text: text + "&a=%zz%"),
    "form, Latin-1 escape": _form(lambda text: text + "&a=%E9"),
    "form, all again with x": _form(lambda text: text + "&" + text.replace("&", "x&") + "x"),
    "form, all before with x": _form(lambda text: text.replace("&", "x&") + "x&" + text),
    "form, all again empty": _form(
        lambda text: text + "".join(f"&{part.partition('=')[0]}=" for part in text.split("&"))
    ),
    "form, names with []": _form(lambda text: text.replace("=", "[]=")),
    "form, line breaks": _form(lambda text: text.replace("&", "\n&")),
    "form, plus signs escaped": _form(lambda text: text.replace("+", "%2B")),
    "form, a field of JSON": _form(lambda text: f"json={quote(text)}"),
    "form, many fields": _form(lambda text: text + "".join(f"&f{n}={n}" for n in range(200))),
    "JSON, indented": _json(lambda text: json.dumps(json.loads(text), indent=2)),
    "JSON, escaped": _json(lambda text: json.dumps(json.loads(text))),
    "JSON, in a list": _json(lambda text: f"[{text}]"),
    "JSON, encoded twice": _json(json.dumps),
    "JSON, under a key": _json(lambda text: f'{{"data": {text}}}'),
    "JSON, number": _json(lambda _: "5"),
    "JSON, null": _json(lambda _: "null"),
    "JSON, empty": _json(lambda _: "{}"),
    "JSON, NaN more": _json(lambda text: f'{{"nan": NaN, {text[1:]}'),
    "JSON, deep more": _json(lambda text: f'{{"deep": {"[" * 200}{"]" * 200}, {text[1:]}'),
    "JSON, trailing comma": _json(lambda text: f"{text[:-1]},}}"),
    "JSON, single quotes": _json(lambda text: text.replace('"', "'")),
    "JSON, prefix": _json(lambda text: f")]}}'\n{text}"),
    "JSON, objects as text": _json(lambda text: json.dumps({k: _flat(v) for k, v in json.loads(text).items()})),
    "JSON, objects as text of text": _json(
        lambda text: json.dumps({k: json.dumps(_flat(v)) for k, v in json.loads(text).items()})
    ),
    "JSON, members twice, last right": _json(lambda text: f"{text[:-1].replace(': ', ': 0, ', 0)}, {text[1:]}"),
    "multipart, LF": _multipart(lambda text: text.replace("\r\n", "\n")),
    "multipart, types of parts": _multipart(
        lambda text: text.replace('"\r\n\r\n', '"\r\nContent-Type: text/plain\r\n\r\n')
    ),
    "multipart, file names": _multipart(lambda text: text.replace('"\r\n\r\n', '"; filename="x.txt"\r\n\r\n')),
    "multipart, plain names": _multipart(lambda text: text.replace('name="', "name=").replace('"\r\n', "\r\n")),
    "multipart, small headers": _multipart(lambda text: text.replace("Content-Disposition", "content-disposition")),
    "multipart, twice": _multipart(lambda text: text.replace("--\r\n", "\r\n") + text),
    "multipart, not closed": _multipart(lambda text: text[:-6]),
    "multipart, preamble": _multipart(lambda text: f"This is a message.\r\n{text}epilogue"),
    "multipart, blank lines in values": _multipart(lambda text: text.replace('"\r\n\r\n', '"\r\n\r\n\r\n')),
}


def _params(body: Body) -> list[dict[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in body.fields.items()]


def _flat(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value
