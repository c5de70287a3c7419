"""Remembered replies: a directory with a file for each question, which can be committed, copied and merged.

The file of a question is `<first two digits of its key>/<key>.json`::

    {
      "store_version": 1,
      "key": "<SHA-256 of the question>",
      "question": {"key_version": 1, "messages": [...], "method": "...", "model": "...", ...},
      "reply": {"text": "...", "model": "...", "usage": {"prompt": 1, "completion": 1, "reasoning": 0, "cached": 0}}
    }

Its bytes depend on question and reply only. It has pictures by their SHA-256, and neither times, servers nor keys.
Locks are in `.locks`, which Git ignores.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.judges.questions import MOST_TOKENS, Question, Reply, TokenUsage
from pytest_webeval.safety.files import exists_no_follow, read_file_inside
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.storage import remove_leftovers, to_json_bytes, write_error, write_text

STORE_VERSION = 1
MOST_BYTES = 64 * 2**20  # of a file that is read
_LOCKS = ".locks"
_ADVICE = "choose a directory for judge replies that can be written"
_Count = Annotated[int, Meta(ge=0, le=MOST_TOKENS)]


class InvalidReplyFile(SettingsError):
    """A file of the store that is damaged, or that belongs to another question: it is not a reply."""


class _Usage(Struct):
    prompt: _Count
    completion: _Count
    reasoning: _Count
    cached: _Count


class _Reply(Struct):
    text: str
    model: str
    usage: _Usage


class _Entry(Struct):
    store_version: Literal[1]
    key: str
    question: dict[str, Any]
    reply: _Reply


class ReplyStore(Struct, frozen=True):
    """The remembered replies below a directory. Threads and processes may use one at the same time."""

    directory: Path

    def path(self, question: Question) -> Path:
        key = question.key
        return self.directory / key[:2] / f"{key}.json"

    def get(self, question: Question) -> Reply | None:
        """The remembered reply to a question, or None.

        Raises `InvalidReplyFile` where the file is not a regular one, is damaged, or is about another question than
        its name says. It stays as it is.
        """
        path = self.path(question)
        if not exists_no_follow(path):
            return None
        try:
            content = read_file_inside(self.directory, str(path.relative_to(self.directory)), MOST_BYTES)
            entry = msgspec.json.decode(content, type=_Entry)
        except msgspec.ValidationError as error:
            raise _invalid(path, format_validation_error(error)) from error
        except (RecordingError, msgspec.DecodeError, RecursionError) as error:
            raise _invalid(path, str(error)) from error
        written = json.loads(to_json_bytes(question.to_json()))  # half of a surrogate pair is escaped there
        if entry.key != question.key or _canonical(entry.question) != _canonical(written):
            raise _invalid(path, "it is about another question")
        usage = TokenUsage(**msgspec.structs.asdict(entry.reply.usage))
        return Reply(text=entry.reply.text, model=entry.reply.model, usage=usage)

    def put(self, question: Question, reply: Reply) -> None:
        """Remember a complete reply. It is on the disk when this returns, for somebody paid for it.

        Raises `SettingsError` if it cannot be written, `ValueError` for a reply that is not complete.
        """
        if not reply.is_complete:
            raise ValueError(f"a {reply.ending.value} reply is not remembered")
        content = {
            "store_version": STORE_VERSION,
            "key": question.key,
            "question": json.loads(_canonical(question.to_json())),
            "reply": {"text": reply.text, "model": reply.model, "usage": msgspec.structs.asdict(reply.usage)},
        }
        path = self.path(question)
        _refuse_link(path.parent)
        remove_leftovers(path.parent, path.name)  # of a session that was killed
        write_text(path, to_json_bytes(content).decode(), os.fsync, _ADVICE)

    @contextmanager
    def lock(self, question: Question) -> Iterator[None]:
        """Let nobody else ask a question meanwhile: no other thread, no other process. Raises `SettingsError`.

        A lock ends with its process, however that ends. Before anything is paid for, it shows that the directory can
        be written.
        """
        handle = self._acquire(question.key)
        try:
            yield
        finally:
            with suppress(OSError):
                (self.directory / _LOCKS / question.key).unlink()  # while it is held: see `_acquire`
            os.close(handle)

    def _acquire(self, key: str) -> int:
        """A locked file that still has its name: whoever held it before has removed that."""
        path = self.directory / _LOCKS / key
        _refuse_link(path.parent)
        try:
            while True:
                if not exists_no_follow(path.with_name(".gitignore")):
                    write_text(path.with_name(".gitignore"), "*\n", advice=_ADVICE)
                handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX)
                if _has_name(handle, path):
                    return handle
                os.close(handle)
        except OSError as error:
            raise write_error(path, error, _ADVICE) from error


def _refuse_link(directory: Path) -> None:
    if directory.is_symlink():
        raise SettingsError(f"{directory} is a link; replace it with a directory")


def _invalid(path: Path, problem: str) -> InvalidReplyFile:
    return InvalidReplyFile(f"invalid judge reply {path}: {problem}; restore the file, or remove it to ask again")


def _canonical(tree: Any) -> str:
    """The same text for objects whose members are in another order, on which no key depends."""
    return json.dumps(tree, sort_keys=True)


def _has_name(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False
