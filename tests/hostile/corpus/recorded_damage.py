"""Damage that any file of a run may have, and copies of honest runs in which one file has it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.hostile.corpus.cases import Case, Spoil, encoded
from tests.hostile.corpus.markup import TEXTS

Change = Callable[[bytes], bytes]
NEVER_SUCCESS = "failure|error"
MARKED = (0, 2, 9, 10, 11, 12, 14, 15)  # of the texts that somebody would obey
TECHNICAL = frozenset({"role", "schema_version", "source", "type", "status", "screenshot", "screenshotPath", "path"})


@dataclass(frozen=True)
class Recording:
    """Honest runs of a format: where a success and a failure lie, and what else is written beside them.

    `files` are those that the format reads, each with the outcome of a success in which it cannot be read. `verdicts`
    are the files that say whether the run is a success. `texts` are members that hold a text in other runs.
    `difference` is the file that alone tells the failure from the success, if there is such a file.
    """

    name: str
    success: Spoil
    failure: Spoil
    files: Mapping[str, str]
    verdicts: tuple[str, ...]
    texts: tuple[str, ...] = ()
    difference: str | None = None


def copied(source: Path, **more: Any) -> Spoil:
    """Writes a copy of a run with further files; `__` in a name is a slash, and `_json` its ending."""

    def write(path: Path) -> None:
        shutil.copytree(source, path, copy_function=shutil.copyfile)
        for name, content in more.items():
            place = path / name.replace("__", "/").replace("_json", ".json").replace("_txt", ".txt")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(encoded(content))

    return write


def changed(name: str, change: Change) -> Spoil:
    """Replaces the content of a file by what a function makes of it, which must be another content."""

    def spoil(path: Path) -> None:
        content = (path / name).read_bytes()
        spoilt = change(content)
        assert spoilt != content, f"the change leaves {name} of {path} as it is; remove the case or change the run"
        (path / name).write_bytes(spoilt)

    return spoil


def edited(name: str, edit: Callable[[Any], Any]) -> Spoil:
    """Replaces the JSON in a file by what a function makes of it."""
    return changed(name, lambda content: encoded(json.dumps(edit(json.loads(content)))))


def _member(text: bytes) -> Change:
    """A further member of the first object."""
    return lambda content: content.replace(b"{", b'{"unknown": ' + text + b", ", 1)


# Nothing of what was in the file is left.
ERASED: Mapping[str, Change] = {
    "empty": lambda content: b"",
    "a hundred thousand levels deep": lambda content: b"[" * 100_000,
    "deep and closed": lambda content: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number": lambda content: b"17",
    "a text": lambda content: b'"success"',
    "null": lambda content: b"null",
    "NUL bytes": lambda content: b"\0" * 1000,
}
# No reader can know what was in the file.
DESTROYED: Mapping[str, Change] = {
    "cut in half": lambda content: content[: len(content) // 2],
    **ERASED,
    "in UTF-16": lambda content: content.decode("utf-8", "replace").encode("utf-16"),
}
# All that was in the file is still there.
ODD: Mapping[str, Change] = {
    "a member that is no number": _member(b"NaN"),
    "a number beyond all": _member(b"1e999999"),
    "a number of ten thousand digits": _member(b"9" * 10_000),
    "bytes that are no UTF-8": _member(b'"\xff\xc3"'),
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "a key twice": _member(b'1, "unknown": 2'),
    "half a surrogate pair": _member(b'"\\ud800"'),
    "a text of ten million characters": _member(b'"' + b"x" * 10_000_000 + b'"'),
}


def _link(place: Path) -> None:
    place.symlink_to("/etc/passwd")


def _link_to_copy(place: Path) -> None:
    """The honest content, but outside of the run."""
    above = next(above for above in place.parents if (above / "bystanders").is_dir())
    place.symlink_to(above / "bystanders" / "victim.json")


# What stands in the place of the file.
INSTEAD: Mapping[str, Spoil] = {
    "a link to a file of the system": _link,
    "a link to a file of somebody else": _link_to_copy,
    "a link to itself": lambda place: place.symlink_to(place.name),
    "a pipe": os.mkfifo,
    "a directory": Path.mkdir,
}


def _instead(name: str, put: Spoil) -> Spoil:
    def spoil(path: Path) -> None:
        (path / name).unlink()
        put(path / name)

    return spoil


def list_damaged(recording: Recording) -> Iterator[Case]:
    """A success of which one file is damaged, for each file and damage; and a failure whose verdict is."""
    for name, outcome in recording.files.items():
        for what, change in DESTROYED.items():
            yield _case(recording, f"{name}, {what}", outcome, recording.success, changed(name, change))
        for what, put in INSTEAD.items():
            yield _case(recording, f"{name}, {what} in its place", outcome, recording.success, _instead(name, put))
        if not name.endswith(".json"):
            continue
        for what, change in ODD.items():
            yield _case(recording, f"{name} with {what}", "success|error", recording.success, changed(name, change))
    for name in recording.verdicts:
        yield from _damage_failure(recording, name)


def _damage_failure(recording: Recording, name: str) -> Iterator[Case]:
    """A failure whose verdict is damaged; not where nothing is left by which it is no success."""
    is_alone = name == recording.difference
    for what, change in (DESTROYED | ODD).items():
        if not (is_alone and what in ERASED):
            told = f"a failure with {name} {what}"
            yield _case(recording, told, NEVER_SUCCESS, recording.failure, changed(name, change))
    for what, put in () if is_alone else INSTEAD.items():
        told = f"a failure with {what} for {name}"
        yield _case(recording, told, NEVER_SUCCESS, recording.failure, _instead(name, put))


def list_marked(recording: Recording) -> Iterator[Case]:
    """A failure with a text in all texts of a file that somebody who shows them might obey."""
    for name in recording.files:
        if name.endswith(".json"):
            for number in MARKED:
                spoil = edited(name, partial(_mark_all, texts=recording.texts, text=TEXTS[number]))
                told = f"a failure with text {number} in all texts of {name}"
                yield _case(recording, told, NEVER_SUCCESS, recording.failure, spoil)


def _mark_all(document: Any, texts: tuple[str, ...], text: str) -> Any:
    """The JSON of a file with a text behind each of its texts, and in the members that hold none in an honest run."""
    return _mark({**document, **dict.fromkeys(texts, "text")} if texts else document, text)


def _mark(value: Any, text: str) -> Any:
    """The same JSON with a text behind each of its texts."""
    if isinstance(value, dict):
        return {key: member if key in TECHNICAL else _mark(member, text) for key, member in value.items()}
    if isinstance(value, list):
        return [_mark(member, text) for member in value]
    return value + text if isinstance(value, str) else value


def _case(recording: Recording, what: str, outcome: str, write: Spoil, spoil: Spoil, says: str = "") -> Case:
    return Case(f"{recording.name}: {what}", outcome, says, spoil, task=None, write=write)


def cheat(recording: Recording, what: str, outcome: str, spoil: Spoil, says: str = "") -> Case:
    """A failure that wants to look like something else."""
    return _case(recording, f"a failure with {what}", outcome, recording.failure, spoil, says)


def claim(recording: Recording, what: str, outcome: str, spoil: Spoil, says: str = "") -> Case:
    """A success with something that must not be overlooked."""
    return _case(recording, f"a success with {what}", outcome, recording.success, spoil, says)
