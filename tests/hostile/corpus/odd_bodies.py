"""Bodies that are not what they say: in the trace, encoded, posted, or kept aside."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, recording, run

_MIB = 2**20

_BODY = honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": "1"}}))

_POST = honest.asked(
    ("lamp",), "string", honest.visited("__SHOPPING__/cart", expected={"http_method": "POST", "post_data": {"a": "1"}})
)


def _body(what: str, outcome: str, content: Any, says: str = "") -> Case:
    def made() -> dict[str, Any]:
        return honest.entry(content=content() if callable(content) else content)

    return run(f"a body that is {what}", outcome, recording(made), says, task=_BODY)


def _post(what: str, outcome: str, mime: str, text: Any) -> Case:
    def made() -> dict[str, Any]:
        told = {"mimeType": mime, "text": text() if callable(text) else text}
        return honest.entry("http://shop.test/cart", "POST", post=told)

    return run(f"a post that is {what}", outcome, recording(made), task=_POST)


def _reference(name: str, outcome: str = "error") -> Case:
    return run(
        f"a body kept in {name!r:.60}",
        outcome,
        recording(honest.entry(content={"mimeType": "application/json", "_file": name})),
        "invalid name of a body file|cannot read the side file" if outcome == "error" else "",
        task=_BODY,
    )


def _json(text: str) -> dict[str, str]:
    return {"mimeType": "application/json", "text": text}


def _encoded(content: bytes, encoding: str = "base64") -> dict[str, str]:
    return {"mimeType": "application/json", "text": base64.b64encode(content).decode(), "encoding": encoding}


_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

_REFERENCES = (
    "../../etc/passwd",
    "/etc/passwd",
    "a\x00b",
    "..",
    ".",
    "x/../../y",
    "~/x",
    "file:///etc/passwd",
    "http://192.0.2.1/x",
    "agent_response.json/",
    "n" * 5000,
    "network.har\n",
    "-",
    "\\\\host\\x",
    "%2e%2e/x",
)

CASES: tuple[Case, ...] = (
    _body("good", "success", _json('{"a": "1"}')),
    _body("cut", EITHER, _json('{"a": "1"')),
    _body("nested 600 deep", EITHER, _json('{"a": ' * 600 + "1" + "}" * 600)),
    _body("nested 100,000 deep", EITHER, _json('{"a": ' * 100_000 + "1" + "}" * 100_000)),
    _body("a number of a million digits", EITHER, _json('{"a": ' + "1" * 1_000_000 + "}")),
    _body("NaN", EITHER, _json('{"a": NaN}')),
    _body("another value first", EITHER, _json('{"a": "1", "a": "2"}')),
    _body("damaged base64", EITHER, {"mimeType": _JSON, "text": "%%%", "encoding": "base64"}),
    _body("good base64", "success", _encoded(b'{"a": "1"}')),
    _body("base64 of 70 MiB", "error", lambda: _encoded(b'{"a": "1", "b": "' + b"x" * (70 * _MIB) + b'"}'), "64|16"),
    _body("base64 in base64", EITHER, _encoded(base64.b64encode(b'{"a": "1"}'))),
    _body("said to be gzip", EITHER, _encoded(zlib.compress(b"\x00" * 10 * _MIB, 9, 31))),
    _body("of an unknown encoding", "success|failure|error", _encoded(b'{"a": "1"}', "rot13")),
    _body("of an encoding that is no text", EITHER, {"mimeType": _JSON, "text": "{}", "encoding": 17}),
    _body("a number", EITHER, 17),
    _body("a list", EITHER, [["a", "1"]]),
    _body("a text where an object should be", EITHER, "a=1"),
    _body("markup", EITHER, {"mimeType": "text/html", "text": "<script>window.__pwned=1</script>"}),
    _body(
        "a kind of a megabyte",
        "success|failure|error",
        {"mimeType": "application/json;" * 60_000, "text": '{"a": "1"}'},
    ),
    _post("good", "success", _FORM, "a=1"),
    _post("a hundred thousand fields", "success", _FORM, lambda: "a=1&" + "&".join(f"f{n}=x" for n in range(100_000))),
    _post("the same field a hundred thousand times", EITHER, _FORM, lambda: "a=2&" * 100_000 + "a=1"),
    _post("nested brackets", EITHER, _FORM, "a" + "[x]" * 10_000 + "=1"),
    _post("percent signs that end early", EITHER, _FORM, "a=%" + "%2" * 10_000),
    _post("of a boundary that is missing", EITHER, "multipart/form-data", "--x\r\n\r\n1\r\n--x--"),
    _post("of a boundary that is a pattern", EITHER, "multipart/form-data; boundary=(a+)+$", "--" + "a" * 5000),
    _post(
        "a hundred thousand parts",
        EITHER + "|success",
        "multipart/form-data; boundary=x",
        lambda: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 100_000 + "--x--",
    ),
    _post("JSON 600 deep", EITHER, _JSON, '{"a": ' + "[" * 600 + "]" * 600 + "}"),
    _post("JSON 100,000 deep", EITHER, _JSON, "[" * 100_000),
    _post("a pattern", EITHER, _FORM, "a=^.*$"),
    _post("a list of guesses", EITHER, _JSON, '{"a": ["0", "1", "2"]}'),
    *map(_reference, _REFERENCES),
    _reference("agent_response.json", "failure"),
)
