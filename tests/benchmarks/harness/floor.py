"""The least that scoring could cost: reads, decodes and hashes the files of a run root, and decides nothing.

    python floor.py RUNS

The structs name what evaluation reads of a request and its response; bodies are skipped.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec


class Pair(msgspec.Struct):
    """A header or a cookie."""

    name: str
    value: str


class Request(msgspec.Struct):
    """What was sent."""

    method: str
    url: str
    headers: list[Pair]


class Response(msgspec.Struct):
    """What came back."""

    status: int
    cookies: list[Pair]


class Entry(msgspec.Struct):
    """One entry of a HAR."""

    request: Request
    response: Response
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")


class Log(msgspec.Struct):
    """All entries."""

    entries: list[Entry]


class Har(msgspec.Struct):
    """The whole file."""

    log: Log


def main(runs: Path) -> None:
    """Go through the run directories."""
    har, answer = msgspec.json.Decoder(Har), msgspec.json.Decoder()
    for run in sorted(path for path in runs.iterdir() if path.is_dir()):  # a session before wrote its summary here
        for name, decoder in (("agent_response.json", answer), ("network.har", har)):
            content = (run / name).read_bytes()
            hashlib.sha256(content).hexdigest()
            if content.startswith(b"{"):  # not an answer in a fence
                decoder.decode(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
