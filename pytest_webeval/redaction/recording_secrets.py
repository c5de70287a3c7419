"""Secrets of a recording that an agent repeats, although no event that is shown has them."""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_webeval.errors import RecordingError
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.json import text_of
from pytest_webeval.redaction.json import tokens
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import scope_of
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.text import TextRedactor
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import plain_json
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.safety.limits import Limits
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR

_OPAQUE = re.compile(r"(?<!\w)(?=[^\W\d]*+\d)(?=[\d_]*+[^\W\d_])\w{8,}+")
_LEAST = 8  # characters of such a word


@dataclass(frozen=True, slots=True)
class RecordingSecrets:
    """The files of a run, read once more where a result repeats what may be a secret in them.

    `answer` is the file that the agent wrote: what it says is no secret for being there.
    """

    directory: Path
    answer: str
    names: tuple[str, ...] = ()  # of what the run has read
    limits: Limits = USUAL

    def secrets(
        self, words: Collection[str], policy: RedactionPolicy, salt: bytes | None, names: Iterable[str] = ()
    ) -> dict[str, str]:
        """Secrets of the files that have some of the words in them, with what stands in place of each."""
        made = Replacements(salt)
        if words:
            trees = JsonRedactor(TextRedactor(scope_of(policy), made))
            for content in self._contents({*names, *self.names} - {self.answer}):
                _search(content, words, trees)
        return {secret: told for secret, told in made.found.items() if _has(secret.lower(), words)}

    def _contents(self, names: Iterable[str]) -> Iterator[bytes]:
        from pytest_webeval.redaction.audit import members  # with all that reads files, which few results need
        from pytest_webeval.safety.archives import BROKEN_ZIP

        for name in sorted(names):
            with suppress(RecordingError, *BROKEN_ZIP):
                content = read_file_inside(self.directory, name, self.limits.file_size)
                if name.endswith(".zip"):
                    yield from (inner for _, inner in members(content, self.limits))
                else:
                    yield content


def _search(content: bytes, words: Collection[str], trees: JsonRedactor) -> None:
    from pytest_webeval.redaction.audit import encoded_bodies
    from pytest_webeval.redaction.audit import parts

    lowered = content.lower()
    present = [word for word in words if word.encode() in lowered]
    if present:
        for _, _, part in parts(content, lambda text: _has(text.lower(), present)):
            for tree in (part, *encoded_bodies(part)):
                trees(tree)


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def opaque_words(results: Iterable[EvaluatorResult], *around: Any) -> set[str]:
    """Words of letters and digits that results say of their own, in small letters: not of an event, nor of a task."""
    said: list[Any] = [around]
    known: list[Any] = []
    for one in results:
        shown = known if one.evaluator_name == NETWORK_EVALUATOR else said
        said += [one.assertions, one.error_msg]
        shown += [one.actual, one.actual_normalized]
        known.append(one.expected)
    found = _words_in(said)
    return found - _words_in(known) if found else found


def _words_in(tree: list[Any]) -> set[str]:
    """The words of all texts in some JSON, its names included."""
    found = tokens(tree)
    if found is None:
        return {word for text in _texts(plain_json(tree)) for word in _words(text)}
    return set().union(*map(_words_of, found))


@lru_cache(maxsize=8192)
def _words_of(token: bytes) -> frozenset[str]:
    return _words(text_of(token))


def _words(text: str) -> frozenset[str]:
    return frozenset(_OPAQUE.findall(text.lower())) if len(text) >= _LEAST else frozenset()


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for name, value in tree.items():
            yield name
            yield from _texts(value)
    elif isinstance(tree, list | tuple):
        for one in tree:
            yield from _texts(one)
