"""Multipart forms: parts spelled in every way, empty, blank and repeated, in every order, held against expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tests.parity.harness.drafts import FETCH, JSON, Body, Event
from tests.parity.harness.grids import SHOP, Grid, page
from tests.parity.harness.recording import HONEST, MULTIPART, Recording

BOUNDARY = "----WebKitFormBoundaryx1"
MIME = f"multipart/form-data; boundary={BOUNDARY}"
FIRST = 120_000
_NAMED = 'Content-Disposition: form-data; name="n"'
_TYPE = "Content-Type: text/plain"

# The head of a part, and what stands between it and the value.
HEADS: Mapping[str, str] = {
    "plain": f"{_NAMED}\r\n\r\n",
    "with a type": f"{_NAMED}\r\n{_TYPE}\r\n\r\n",
    "type first": f"{_TYPE}\r\n{_NAMED}\r\n\r\n",
    "with a file name": f'{_NAMED}; filename="a.txt"\r\n\r\n',
    "with an empty file name": f'{_NAMED}; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n',
    "file name first": 'Content-Disposition: form-data; filename="a.txt"; name="n"\r\n\r\n',
    "file name alone": 'Content-Disposition: form-data; filename="n"\r\n\r\n',
    "extended file name": f"{_NAMED}; filename*=UTF-8''n.txt\r\n\r\n",
    "another parameter": 'Content-Disposition: form-data; x-name="m"; name="n"\r\n\r\n',
    "name in the type": f'Content-Type: text/plain; name="n"\r\n{_NAMED[:-2]}m"\r\n\r\n',
    "name in the type alone": 'Content-Type: text/plain; name="n"\r\n\r\n',
    "name in a header of its own": 'Content-Disposition: form-data\r\nX-Name: name="n"\r\n\r\n',
    "no disposition": "X-Part: 1\r\n\r\n",
    "no header": "\r\n",
    "two dispositions": f'Content-Disposition: form-data; name="m"\r\n{_NAMED}\r\n\r\n',
    "first disposition without name": f"Content-Disposition: form-data\r\n{_NAMED}\r\n\r\n",
    "LF": f"{_NAMED}\n\n",
    "LF, type first": f"{_TYPE}\n{_NAMED}\n\n",
    "LF, type behind": f"{_NAMED}\n{_TYPE}\n\n",
    "LF between CRLF": f"{_NAMED}\n{_TYPE}\r\n\r\n",
    "LF and CRLF": f"{_NAMED}\n\r\n",
    "CRLF and LF": f"{_NAMED}\r\n\n",
    "CR": f"{_NAMED}\r\r",
    "empty name": 'Content-Disposition: form-data; name=""\r\n\r\n',
    "empty name first": 'Content-Disposition: form-data; name=""; name="n"\r\n\r\n',
    "two names": 'Content-Disposition: form-data; name="n"; name="m"\r\n\r\n',
    "folded": 'Content-Disposition: form-data;\r\n name="n"\r\n\r\n',
    "folded by a tab": 'Content-Disposition: form-data;\r\n\tname="n"\r\n\r\n',
    "blank before the colon": 'Content-Disposition : form-data; name="n"\r\n\r\n',
    "blank before the header": f" {_NAMED}\r\n\r\n",
    "no blanks": 'Content-Disposition:form-data;name="n"\r\n\r\n',
    "blanks around the equals sign": 'Content-Disposition: form-data; name = "n"\r\n\r\n',
    "small letters": 'content-disposition: form-data; name="n"\r\n\r\n',
    "capitals": 'CONTENT-DISPOSITION: FORM-DATA; NAME="n"\r\n\r\n',
    "single quotes": "Content-Disposition: form-data; name='n'\r\n\r\n",
    "no quotes": "Content-Disposition: form-data; name=n\r\n\r\n",
    "quote not closed": 'Content-Disposition: form-data; name="n\r\n\r\n',
    "escaped quote": 'Content-Disposition: form-data; name="n%22"\r\n\r\n',
    "quoted quote": 'Content-Disposition: form-data; name="n\\"m"\r\n\r\n',
    "attachment": 'Content-Disposition: attachment; name="n"\r\n\r\n',
    "vertical tab": f"X: y\x0b{_NAMED}\r\n\r\n",
    "blank line first": f"\r\n{_NAMED}\r\n\r\n",
    "no blank line": f"{_NAMED}\r\n",
    "nothing but the name": _NAMED,
}
VALUES = {
    "1": "1",
    "empty": "",
    "blank": " \t",
    "no-break blank": "\u00a0",
    "line breaks": "\r\n\r\n",
    "blank lines before": "\r\n\r\n1",
    "blank lines behind": "1\r\n\r\n",
    "blank lines inside": "1\r\n\r\n1",
    "LF inside": "1\n\n1",
    "hyphens": "--",
    "another delimiter": "1\r\n--X\r\n1",
    "separator": "\x1c",
}
_OTHER = 'Content-Disposition: form-data; name="form_key"\r\n\r\nz'
EXPECTED: tuple[Mapping[str, Any], ...] = (
    *({"n": value} for value in ("1", None, "", 0, "z", "^1.*$")),
    {"$.n": "1"},
    {"$.n": None},
    {"$.^n|m$": "1"},
    {"$.^n|m$": None},
    {"a.txt": "1"},
    {"m": "1"},
    {"form_key": "z"},
    {"form_key": "z", "n": None},
    {"form_key": "z", "n": ""},
    {"": "1"},
    {"absent": None},
)
_LISTED = {"post_data_schema": {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "string"}}}}}
EXPECTATIONS = [
    *({"expected": page(http_method="POST", response_status=302, post_data=wanted)} for wanted in EXPECTED),
    {"expected": page(http_method="POST", response_status=302, post_data={"n": ["1"]}), **_LISTED},
    {
        "expected": page(http_method="POST", response_status=302, post_data={"n": None, "form_key": "z"}),
        "ignored_post_data_params_patterns": ["^form_key$"],
    },
]


def message(*parts: str, end: str = f"--{BOUNDARY}--\r\n") -> str:
    """A message of these parts, each with its head."""
    return "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts) + end


def _spelled() -> Iterator[tuple[str, str]]:
    """Each spelling of a head with each value, alone and beside another field."""
    for (head, start), (value, text) in product(HEADS.items(), VALUES.items()):
        part = start + text
        yield f"{head}, {value}", message(part)
        yield f"{head}, {value}, another behind", message(part, _OTHER)
        yield f"{head}, {value}, another before", message(_OTHER, part)


def _repeated() -> Iterator[tuple[str, str]]:
    """Two to four values of one field in every order."""
    plain = {name: f"{_NAMED}\r\n\r\n{VALUES[name]}" for name in ("1", "empty", "blank")}
    plain["2"] = f"{_NAMED}\r\n\r\n2"
    for count in (2, 3, 4):
        for names in product(plain, repeat=count):
            yield f"repeated: {', '.join(names)}", message(*(plain[name] for name in names), _OTHER)


def _framed() -> Iterator[tuple[str, str]]:
    """Messages with more or less around their parts."""
    one, empty = f"{_NAMED}\r\n\r\n1", f"{_NAMED}\r\n\r\n"
    for name, parts in {"1": [one], "empty": [empty], "both": [one, _OTHER], "all": [one, empty, _OTHER]}.items():
        text = message(*parts)
        yield f"as it is, {name}", text
        yield f"not closed, {name}", message(*parts, end="")
        yield f"no hyphens at the end, {name}", message(*parts, end=f"--{BOUNDARY}\r\n")
        yield f"preamble, {name}", f"preamble\r\n{text}"
        yield f"part before, {name}", f"{one[:-1]}2\r\n{text}"
        yield f"part behind, {name}", f"{text}{one[:-1]}2\r\n"
        yield f"LF, {name}", text.replace("\r\n", "\n")
        yield f"CR, {name}", text.replace("\r\n", "\r")
        yield f"blanks behind delimiters, {name}", text.replace(f"{BOUNDARY}\r\n", f"{BOUNDARY} \t\r\n")
        yield f"on one line, {name}", text.replace(f"{BOUNDARY}\r\n", f"{BOUNDARY} ")
        yield f"twice, {name}", text + text
        yield f"last line break lost, {name}", text[:-2]
        yield f"in capitals, {name}", text.upper()
    yield "closed at once", f"--{BOUNDARY}--\r\n"
    yield "only line breaks", "\r\n\r\n"
    yield "only delimiters", f"--{BOUNDARY}\r\n--{BOUNDARY}\r\n"


_TEXTS = {"a part": _spelled, "parts": _repeated, "a message": _framed}
_MIMES = {
    "quoted": f'multipart/form-data; boundary="{BOUNDARY}"',
    "in capitals": MIME.upper(),
    "boundary in capitals": f"multipart/form-data; BOUNDARY={BOUNDARY}",
    "charset before": f"multipart/form-data; charset=utf-8; boundary={BOUNDARY}",
    "charset behind": f"{MIME}; charset=utf-8",
    "comma behind": f"{MIME},",
    "no boundary": "multipart/form-data",
    "empty boundary": "multipart/form-data; boundary=",
    "empty quotes": 'multipart/form-data; boundary=""',
    "half quoted": f'multipart/form-data; boundary="{BOUNDARY}',
    "blanks in quotes": 'multipart/form-data; boundary="a b"',
    "other boundary": "multipart/form-data; boundary=zz",
    "shorter boundary": f"multipart/form-data; boundary={BOUNDARY[:-1]}",
    "JSON as well": f"{JSON}; {MIME}",
    "mixed": f"multipart/mixed; boundary={BOUNDARY}",
}


def _posted(text: str, mime: str = MIME) -> list[Event]:
    return [Event(f"{SHOP}/a", "POST", 302, FETCH, Body({}, mime, text))]


def _grids() -> Iterator[tuple[Grid, str]]:
    for about, texts in _TEXTS.items():
        runs = {name: _posted(text) for name, text in texts()}
        yield Grid(about, EXPECTATIONS, runs, most=520 if about == "a part" else 200), MULTIPART
    framed = dict(_framed())
    labelled = {
        f"{label}, {name}": _posted(framed[name], mime)
        for label, mime in _MIMES.items()
        for name in ("as it is, 1", "as it is, empty", "as it is, all")
    }
    yield Grid("a type", EXPECTATIONS, labelled, most=60), MULTIPART
    plain = {
        f"{head}, {value}": _posted(message(HEADS[head] + value, _OTHER))
        for head in ("plain", "with a type", "with a file name", "small letters", "LF", "LF, type behind")
        for value in ("1", " 1 ", "2", "1\r\n")
    }
    yield Grid("a form of a browser", EXPECTATIONS, plain), HONEST


def made_up_forms() -> Iterator[Recording]:
    """Every expectation against forms of each kind. Forms without an oddity get the same verdict by all rules."""
    for place, (grid, kind) in enumerate(_grids()):
        for draft, about in grid.drafts(FIRST + 1000 * place):
            yield draft.recording(f"multipart, {about}", kind)
