"""JSON as no reader likes it: encodings, numbers, nesting and ends, done to a document that was good."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Damage = Callable[[Mapping[str, Any]], bytes]


def _plain(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document).encode()


def _with(value: str, key: str = "extra") -> Damage:
    """The document with one more member, whose value is spelled so."""
    return lambda document: (
        b'{"%s": %s, %s' % (key.encode(), value.encode("utf-8", "surrogatepass"), _plain(document)[1:])
    )


def _twice(document: Mapping[str, Any]) -> bytes:
    """Each key twice; the first time with nothing in it."""
    members = "".join(f"{json.dumps(key)}: null, " for key in document)
    return b"{" + members.encode() + _plain(document)[1:]


def _nested(opening: str, closing: str, depth: int) -> Damage:
    return _with(opening * depth + "1" + closing * depth)


def _long(key: str, value: str) -> Damage:
    """The same with a text that is only made when it is wanted."""

    def spelled(document: Mapping[str, Any]) -> bytes:
        return _with(f'"{value * (17 * 2**20)}"', key)(document)

    return spelled


def _cut(document: Mapping[str, Any]) -> bytes:
    return _plain(document)[:-5]


# Nothing of the document is left that a reader could rely on.
BROKEN: dict[str, Damage] = {
    "UTF-16": lambda document: json.dumps(document).encode("utf-16"),
    "UTF-16 without a mark": lambda document: json.dumps(document).encode("utf-16-be"),
    "UTF-32": lambda document: json.dumps(document).encode("utf-32"),
    "a byte that is no UTF-8": lambda document: b'{"extra": "\xff", ' + _plain(document)[1:],
    "a slash in two bytes": lambda document: b'{"extra": "\xc0\xaf", ' + _plain(document)[1:],
    "nothing but NUL": lambda document: b"\x00" * 400,
    "NUL between all": lambda document: b"\x00" + _plain(document) + b"\x00",
    "nothing": lambda document: b"",
    "nothing but blanks": lambda document: b" \r\n\t" * 50,
    "a cut end": _cut,
    "a cut begin": lambda document: _plain(document)[3:],
    "two documents": lambda document: _plain(document) * 2,
    "rubbish behind": lambda document: _plain(document) + b" x",
    "a list": lambda document: b"[" + _plain(document) + b"]",
    "a text": lambda document: json.dumps(json.dumps(document)).encode(),
    "a number": lambda document: b"17",
    "null": lambda document: b"null",
    "true": lambda document: b"true",
    "NaN": lambda document: b"NaN",
    "100,000 lists in each other": lambda document: b"[" * 100_000 + b"]" * 100_000,
    "100,000 lists that never end": lambda document: b"[" * 100_000,
    "100,000 objects in each other": lambda document: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "100,000 objects that never end": lambda document: b'{"a":' * 100_000,
    "single quotes": lambda document: _plain(document).replace(b'"', b"'"),
    "a comment": lambda document: b"/* */ // x\n" + _plain(document),
    "markup": lambda document: b"<!DOCTYPE html><script>window.__pwned=1</script>",
    "a pickle": lambda document: b"\x80\x04cos\nsystem\n(S'touch obeyed.txt'\ntR.",
}
# A member more, or another spelling of the same.
ODD: dict[str, Damage] = {
    "a mark of order": lambda document: b"\xef\xbb\xbf" + _plain(document),
    "a member NaN": _with("NaN"),
    "a member Infinity": _with("-Infinity"),
    "a number beyond all floats": _with("1e999999"),
    "a number of 5,000 digits": _with("7" * 5000),
    "a number of 1,000,000 digits": _with("7" * 1_000_000),
    "a fraction of 1,000,000 digits": _with("0." + "7" * 1_000_000),
    "an exponent of 5,000 digits": _with("1e" + "9" * 5000),
    "half a surrogate pair": _with('"\\ud800"'),
    "half a surrogate pair as a key": _with("1", "\\udfff"),
    "half a surrogate pair in raw bytes": _with('"\ud800"'),
    "an escaped NUL": _with('"\\u0000"'),
    "a raw NUL in a text": _with('"\x00"'),
    "a raw line feed in a text": _with('"a\nb"'),
    "line separators in a text": _with('"a\u2028b\u2029c\x85d"'),
    "each key twice": _twice,
    "400 lists in each other": _nested("[", "]", 400),
    "600 lists in each other": _nested("[", "]", 600),
    "100,000 lists in a member": _nested("[", "]", 100_000),
    "100,000 objects in a member": _nested('{"a":', "}", 100_000),
    "a text of 17 Mi characters": _long("extra", "x"),
    "100,000 members": lambda document: (
        b"{" + b"".join(b'"k%d": 0,' % n for n in range(100_000)) + _plain(document)[1:]
    ),
    "a key of a million characters": _with("1", "k" * 1_000_000),
    "a key __proto__": _with('{"x": 1}', "__proto__"),
    "blanks by the megabyte": lambda document: b" " * 1_000_000 + _plain(document),
}
