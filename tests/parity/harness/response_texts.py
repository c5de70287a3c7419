"""Response files as models write them: fenced, in prose, damaged, or no object at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.recording import Recording

COUNT = 7
FENCE = "```"

WRAPPED: Mapping[str, Callable[[str], str]] = {
    "fenced": lambda text: f"{FENCE}json\n{text}\n{FENCE}",
    "fenced, no tag": lambda text: f"{FENCE}\n{text}\n{FENCE}",
    "fenced on one line": lambda text: f"{FENCE}json {text} {FENCE}",
    "fenced without line breaks": lambda text: f"{FENCE}{text}{FENCE}",
    "fenced in prose": lambda text: f"Here is the answer:\n\n{FENCE}json\n{text}\n{FENCE}\nDone.",
    "fenced, CRLF": lambda text: f"{FENCE}json\r\n{text}\r\n{FENCE}\r\n",
    "fenced, tag in capitals": lambda text: f"{FENCE}JSON\n{text}\n{FENCE}",
    "fenced as json5": lambda text: f"{FENCE}json5\n{text}\n{FENCE}",
    "fenced as python": lambda text: f"{FENCE}python\n{text}\n{FENCE}",
    "fence not closed": lambda text: f"{FENCE}json\n{text}\n",
    "fence not opened": lambda text: f"{text}\n{FENCE}",
    "four backticks": lambda text: f"`{FENCE}json\n{text}\n{FENCE}`",
    "tildes": lambda text: f"~~~json\n{text}\n~~~",
    "one backtick": lambda text: f"`{text}`",
    "second of two fences": lambda text: f"{FENCE}\nplan\n{FENCE}\n{FENCE}json\n{text}\n{FENCE}",
    "first of two fences": lambda text: f"{FENCE}json\n{text}\n{FENCE}\n{FENCE}\nplan\n{FENCE}",
    "two equal fences": lambda text: f"{FENCE}json\n{text}\n{FENCE}\n" * 2,
    "empty fence": lambda text: f"{FENCE}json\n{FENCE}\n{text}",
    "fence within a value": lambda text: text.replace('"error_details": null', f'"error_details": "{FENCE}x{FENCE}"'),
    "fence with JSON in a value": lambda text: text.replace(
        '"error_details": null', f'"error_details": {json.dumps(f"{FENCE}json {text}{FENCE}")}'
    ),
    "prose before": lambda text: f"The answer is {text}",
    "prose behind": lambda text: f"{text}\nI hope this helps!",
    "blanks around": lambda text: f" \t\r\n{text}\n\n ",
    "no-break blanks around": lambda text: f"\u00a0{text}\u2003",
    "byte order mark": lambda text: f"\ufeff{text}",
    "zero-width blank before": lambda text: f"\u200b{text}",
    "single quotes": lambda text: text.replace('"', "'"),
    "typographic quotes": lambda text: text.replace('"', "”"),
    "Python literals": lambda text: text.replace("null", "None"),
    "trailing comma": lambda text: text[:-1] + ",}",
    "last brace lost": lambda text: text[:-1],
    "first brace lost": lambda text: text[1:],
    "half": lambda text: text[: len(text) // 2],
    "brace more": lambda text: f"{text}}}",
    "twice": lambda text: text * 2,
    "two lines of JSON": lambda text: f"{text}\n{text}",
    "indented": lambda text: json.dumps(json.loads(text), indent=4),
    "escaped": lambda text: json.dumps(json.loads(text)),
    "no blanks": lambda text: json.dumps(json.loads(text), separators=(",", ":")),
    "encoded twice": json.dumps,
    "encoded twice and fenced": lambda text: f"{FENCE}json\n{json.dumps(text)}\n{FENCE}",
    "backslashes before quotes": lambda text: text.replace('"', '\\"'),
    "comment": lambda text: text[:-1] + " // done\n}",
    "comment in front": lambda text: f"/* answer */ {text}",
    "a line break in a value": lambda text: text.replace('"error_details": null', '"error_details": "a\nb"'),
    "a control character in a value": lambda text: text.replace('"error_details": null', '"error_details": "a\x01b"'),
    "a lone surrogate": lambda text: text.replace('"error_details": null', '"error_details": "\\ud83d"'),
    "NaN in a value": lambda text: text.replace('"error_details": null', '"error_details": NaN'),
    "huge number in a value": lambda text: text.replace('"error_details": null', '"error_details": 1e999'),
    "status twice, last right": lambda text: text.replace("{", '{"status": "UNKNOWN_ERROR", ', 1),
    "status twice, last wrong": lambda text: text[:-1] + ', "status": "UNKNOWN_ERROR"}',
    "data twice, last empty": lambda text: text[:-1] + ', "retrieved_data": []}',
    "YAML": lambda text: "\n".join(f"{key}: {value}" for key, value in json.loads(text).items()),
    "XML": lambda text: f"<answer>{text}</answer>",
    "thoughts": lambda text: f"<think>{{}}</think>{text}",
    "assignment": lambda text: f"answer = {text}",
    "function call": lambda text: f"stop({text})",
}
WHOLE: Mapping[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t",
    "null": b"null",
    "empty object": b"{}",
    "empty list": b"[]",
    "zero": b"0",
    "false": b"false",
    "true": b"true",
    "number": b"42",
    "float": b"1.5e3",
    "text": b'"SUCCESS"',
    "empty text": b'""',
    "NaN": b"NaN",
    "infinity": b"-Infinity",
    "list": b'["RETRIEVE", "SUCCESS"]',
    "list of null": b"[null]",
    "prose": b"I could not find it.",
    "None": b"None",
    "empty fence": b"```json\n```",
    "fenced null": b"```json\nnull\n```",
    "only backticks": b"```",
    "brackets": b"{{}}",
    "only a key": b'{"status"}',
    "NUL": b"\0",
    "deep": b"[" * 300 + b"]" * 300,
    "HTML": b"<html><body>500</body></html>",
}
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7")


def response_texts(draft: Draft) -> Iterator[Recording]:
    """The golden answer in other wrappings, or another text in its place."""
    text = json.dumps(draft.answer, ensure_ascii=False)
    wrapped = {name: wrap(text).encode("utf-8", "surrogatepass") for name, wrap in WRAPPED.items()}
    encoded = {f"in {name}": f"{text[:-1]} }}".encode(name, "replace") for name in ENCODINGS}
    accented = {f"ü in {name}": text.replace("null}", '"ü"}').encode(name, "replace") for name in ENCODINGS}
    every = {**wrapped, **WHOLE, **encoded, **accented}
    for name, response in drawn(every.items(), COUNT, draft.task["task_id"], "response text"):
        yield draft.recording(f"response {name}", response=response)
