"""Directories and files that the user who scores may not read, as containers and other users leave them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import Case, Spoil, all_of, holding, run, tracing, trajectory

ANOTHER = 65534
DENIED = "(?i)permission denied|cannot read|cannot list|unreadable|not readable"


def mode(bits: int, name: str = "") -> Spoil:
    """Takes permissions away, of the directory or of something in it."""

    def spoil(path: Path) -> None:
        (path / name.format(path.name)).chmod(bits)

    return spoil


def given_away(name: str = "") -> Spoil:
    """Makes it another user's, who lets nobody in; without the right to do that nobody may read it at all."""

    def spoil(path: Path) -> None:
        place = path / name.format(path.name)
        if os.geteuid() == 0:
            os.chown(place, ANOTHER, ANOTHER)
        place.chmod(0o700 if os.geteuid() == 0 else 0)

    return spoil


DIRECTORIES = (
    ("that nobody may read", mode(0o000)),
    ("that may be listed and not entered", mode(0o400)),
    ("that may only be written to", mode(0o200)),
    ("that may be listed and written to, but not entered", mode(0o600)),
    ("of another user", given_away()),
)


def _directories() -> Iterator[Case]:
    for what, spoil in DIRECTORIES:
        yield run(f"a run {what}", "error", spoil, DENIED)
        yield trajectory(f"a trajectory {what}", "error", spoil, DENIED)
        if "listed" not in what:  # what may be listed shows the run in it, which is an item of its own
            yield run(f"a run in a directory {what}", "error", _buried(spoil), DENIED)


def _buried(spoil: Spoil) -> Spoil:
    """The run lies one level deeper, below what nobody may read."""

    def deeper(path: Path) -> None:
        inner = path / "inner"
        inner.mkdir()
        for name in (honest.RESPONSE, honest.HAR):
            (path / name).rename(inner / name)
        spoil(path)

    return deeper


_FOLDER = tracing(honest.lines(honest.entry()), "trace/trace.network")
_ZIP = tracing(b"PK\x05\x06" + b"\x00" * 18, honest.ZIP)
_ASIDE = honest.lines(honest.entry(content={"mimeType": "application/json", "_sha1": "body.json"}))
_BODY = honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": "1"}}))
_SIDE = all_of(tracing(_ASIDE, "trace/trace.network"), holding("trace/resources/body.json", b'{"a": "1"}'))
_JUNK = all_of(holding("junk/x", b""), mode(0, "junk"))

CASES: tuple[Case, ...] = (
    *_directories(),
    run("another user's answer", "error", given_away(honest.RESPONSE), honest.RESPONSE),
    run("another user's HAR", "error", given_away(honest.HAR), honest.HAR),
    run("a trace.zip that nobody may read", "error", all_of(_ZIP, mode(0, honest.ZIP)), honest.ZIP),
    run("a trace folder that nobody may read", "error", all_of(_FOLDER, mode(0, "trace")), "trace"),
    run("a trace folder that may be listed and not entered", "error", all_of(_FOLDER, mode(0o400, "trace")), "trace"),
    run(
        "a trace.network that nobody may read",
        "error",
        all_of(_FOLDER, mode(0, "trace/trace.network")),
        "trace.network",
    ),
    run("a body that nobody may read", "error", all_of(_SIDE, mode(0, "trace/resources/body.json")), task=_BODY),
    run("a folder of bodies that nobody may read", "error", all_of(_SIDE, mode(0, "trace/resources")), task=_BODY),
    run("a folder beside the recording that nobody may read", "success", _JUNK),
    trajectory("a folder beside the log that nobody may read", "success", _JUNK),
    trajectory("an answer that nobody may read", "error", mode(0, "{}_final_answer.json"), "answer"),
    trajectory("a log that nobody may read", "error", mode(0, "web_surfer.log"), "log"),
    trajectory("scores/ that nobody may read", "error", mode(0, "scores"), "score"),
    trajectory("scores/ that may be listed and not entered", "error", mode(0o400, "scores"), "score"),
    trajectory("another user's scores/", "error", given_away("scores"), "score"),
    trajectory("a score file that nobody may read", "error", mode(0, "scores/mmrubric_0.8-5-3.json"), "score"),
    trajectory("times that nobody may read", "success", mode(0, "times.json")),
    trajectory("a log of the execution that nobody may read", "success", mode(0, "core.log")),
    trajectory("a screenshot that nobody may read", "success", mode(0, "screenshot0.png")),
)
