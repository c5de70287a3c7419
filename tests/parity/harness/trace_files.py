"""The bytes of trace files: HARs and zips as recorders write them, and damaged ones."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.recording import DAMAGED, EMPTY_TRACE, HONEST, UNREADABLE, Recording

Entries = Sequence[Mapping[str, Any]]
HARS, ZIPS = 2, 1
NETWORK = "trace.network"


def har(entries: Entries, **more: Any) -> str:
    """The text of a HAR."""
    return json.dumps({"log": {"version": "1.2", "entries": list(entries), **more}})


def lines(entries: Entries) -> list[str]:
    """The lines of a Playwright trace."""
    return [json.dumps({"type": "resource-snapshot", "snapshot": entry}) for entry in entries]


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """An archive, the same bytes whenever it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _network(text: str | bytes) -> bytes:
    return zipped({NETWORK: text})


def _joined(entries: Entries, *more: str) -> str:
    return "\n".join([*lines(entries), *more])


HAR_FILES: Mapping[str, Callable[[Entries], str | bytes]] = {
    "indented": lambda entries: json.dumps(json.loads(har(entries)), indent=2),
    "with pages and creator": lambda entries: har(entries, pages=[], creator={"name": "x"}, browser=None),
    "not escaped": lambda entries: json.dumps(json.loads(har(entries)), ensure_ascii=False).encode("utf-8", "replace"),
    "with members before": lambda entries: '{"x": [1, {"log": 2}], ' + har(entries)[1:],
    "with a log before": lambda entries: '{"log": {"entries": []}, ' + har(entries)[1:],
    "with a log behind": lambda entries: har(entries)[:-1] + ', "log": {"entries": []}}',
    "NaN times": lambda entries: har([{**entry, "time": float("nan")} for entry in entries]),
    "times as text": lambda entries: har([{**entry, "time": "5", "startedDateTime": 5} for entry in entries]),
    "byte order mark": lambda entries: b"\xef\xbb\xbf" + har(entries).encode(),
    "byte order mark before lines": lambda entries: b"\xef\xbb\xbf" + _joined(entries).encode(),
    "two byte order marks": lambda entries: b"\xef\xbb\xbf" * 2 + har(entries).encode(),
    "byte order mark behind a blank": lambda entries: b" \xef\xbb\xbf" + har(entries).encode(),
    "UTF-16": lambda entries: har(entries).encode("utf-16"),
    "a Latin-1 byte": lambda entries: har(entries).encode().replace(b"test", b"t\xe9st", 1),
    "blanks around": lambda entries: f"\n {har(entries)}\n\n",
    "no log": lambda _: "{}",
    "log null": lambda _: '{"log": null}',
    "log a list": lambda entries: json.dumps({"log": list(entries)}),
    "log without entries": lambda _: '{"log": {}}',
    "no entries": lambda _: har(()),
    "entries null": lambda _: '{"log": {"entries": null}}',
    "entries an object": lambda entries: json.dumps({"log": {"entries": {"0": entries[0]}}}),
    "entries a text": lambda _: '{"log": {"entries": "x"}}',
    "a list": lambda entries: json.dumps(list(entries)),
    "a list of HARs": lambda entries: f"[{har(entries)}]",
    "null": lambda _: "null",
    "a number": lambda _: "5",
    "cut in half": lambda entries: har(entries)[: len(har(entries)) // 2],
    "last brace lost": lambda entries: har(entries)[:-1],
    "text behind": lambda entries: har(entries) + "x",
    "prose": lambda _: "no trace",
    "NUL behind": lambda entries: har(entries) + "\0",
    "trailing comma": lambda entries: har(entries)[:-1] + ",}",
    "Playwright lines": _joined,
    "Playwright lines, CRLF": lambda entries: "\r\n".join(lines(entries)),
    "Playwright lines, last one ended": lambda entries: _joined(entries) + "\n",
    "Playwright lines, one blank": lambda entries: "\n\n".join(lines(entries)),
    "Playwright lines, blanks at the end": lambda entries: _joined(entries) + "\n\n",
    "entries as lines": lambda entries: "\n".join(map(json.dumps, entries)),
    "zero bytes": lambda _: b"",
    "only blanks": lambda _: b" \n",
    "only lines of other types": lambda _: '{"type": "context-options"}',
    "really a zip": lambda entries: _network(_joined(entries)),
    "deep": lambda _: '{"log": ' + "[" * 5000 + "]" * 5000 + "}",
}
ZIP_FILES: Mapping[str, Callable[[Entries], bytes]] = {
    "with other members": lambda entries: zipped({"trace.trace": "{}", NETWORK: _joined(entries), "x/y": b"1"}),
    "with other lines": lambda entries: _network('{"type": "context-options"}\n' + _joined(entries, '{"type": 5}')),
    "last line ended": lambda entries: _network(_joined(entries, "")),
    "CRLF": lambda entries: _network(_joined(entries).replace("\n", "\r\n")),
    "CR": lambda entries: _network(_joined(entries).replace("\n", "\r")),
    "blank line": lambda entries: _network(_joined(entries).replace("\n", "\n\n")),
    "blank line first": lambda entries: _network("\n" + _joined(entries)),
    "blank lines last": lambda entries: _network(_joined(entries, "", "", "")),
    "line separator": lambda entries: _network(_joined(entries).replace("html", "html\u2028")),
    "next line": lambda entries: _network(_joined(entries).replace("html", "html\u0085")),
    "form feeds for line breaks": lambda entries: _network(_joined(entries).replace("\n", "\f")),
    "byte order mark": lambda entries: _network("\ufeff" + _joined(entries)),
    "a Latin-1 byte": lambda entries: _network(_joined(entries).encode().replace(b"html", b"h\xe9ml")),
    "line without type": lambda entries: _network(_joined(entries, '{"snapshot": {}}')),
    "line with type null": lambda entries: _network(_joined(entries, '{"type": null}')),
    "line without snapshot": lambda entries: _network(_joined(entries, '{"type": "resource-snapshot"}')),
    "snapshot null": lambda entries: _network(_joined(entries, '{"type": "resource-snapshot", "snapshot": null}')),
    "snapshot a text": lambda entries: _network(_joined(entries, '{"type": "resource-snapshot", "snapshot": "x"}')),
    "line a list": lambda entries: _network(_joined(entries, "[]")),
    "line null": lambda entries: _network(_joined(entries, "null")),
    "line of prose": lambda entries: _network("x\n" + _joined(entries)),
    "last line cut": lambda entries: _network(_joined(entries)[:-5]),
    "HAR inside": lambda entries: zipped({"network.har": har(entries)}),
    "HAR as network": lambda entries: _network(har(entries)),
    "numbered network": lambda entries: zipped({"0-trace.network": _joined(entries)}),
    "in a folder": lambda entries: zipped({"trace/trace.network": _joined(entries)}),
    "network in capitals": lambda entries: zipped({"TRACE.NETWORK": _joined(entries)}),
    "no members": lambda _: zipped({}),
    "empty network": lambda _: _network(""),
    "blank network": lambda _: _network("\n"),
    "only other lines": lambda _: _network('{"type": "context-options"}'),
    "cut in half": lambda entries: _half(_network(_joined(entries))),
    "damaged": lambda entries: _network(_joined(entries)).replace(b"trace", b"TRACE", 1),
    "garbage before": lambda entries: b"garbage" + _network(_joined(entries)),
    "garbage behind": lambda entries: _network(_joined(entries)) + b"garbage",
    "really a HAR": lambda entries: har(entries).encode(),
    "zero bytes": lambda _: b"",
    "NUL bytes": lambda _: bytes(30),
}
# The default rules take a trace without any event for no trace, and read what is clear though the reference does not.
KINDS: Mapping[str, Sequence[str]] = {
    EMPTY_TRACE: (
        "HAR zero bytes",
        "HAR only blanks",
        "HAR only lines of other types",
        "zip empty network",
        "zip blank network",
        "zip only other lines",
    ),
    UNREADABLE: (
        "HAR byte order mark",
        "HAR byte order mark before lines",
        "HAR two byte order marks",
        "HAR byte order mark behind a blank",
        "HAR Playwright lines, one blank",
        "HAR Playwright lines, blanks at the end",
        "zip blank line",
        "zip blank line first",
        "zip blank lines last",
        "zip line separator",
        "zip next line",
        "zip a Latin-1 byte",
        "zip numbered network",
        "zip in a folder",
    ),
    DAMAGED: ("HAR entries an object", "HAR entries a text"),
}


def trace_files(draft: Draft) -> Iterator[Recording]:
    """The golden run in files as recorders write them, and in damaged ones."""
    entries = [event.entry() for event in draft.events]
    for name, write in drawn(HAR_FILES.items(), HARS, draft.task["task_id"], "har"):
        content = write(entries)
        content = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        about = f"HAR {name}"
        yield draft.recording(about, _kind(about), entries=content)
    for name, write_zip in drawn(ZIP_FILES.items(), ZIPS, draft.task["task_id"], "zip"):
        about = f"zip {name}"
        yield draft.recording(about, _kind(about), entries=write_zip(entries), trace_name="trace.zip")


def _kind(about: str) -> str:
    return next((kind for kind, files in KINDS.items() if about in files), HONEST)


def _half(content: bytes) -> bytes:
    return content[: len(content) // 2]
