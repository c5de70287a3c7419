"""Score files of live verdicts, in the shape that the benchmark of a trajectory has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import structs

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.judges.judging import Judging
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.layout import SCORES
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.safety.files import exists_no_follow, read_file_inside
from pytest_webeval.safety.json import list_texts, replace_texts
from pytest_webeval.safety.run_directory import is_link, list_names
from pytest_webeval.storage import to_json_bytes, write_bytes

_LONGEST_NAME = 80
_CHOOSE_OUTPUT = "choose another directory with --webeval-output"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write_score_file(run: Run, judging: Judging, directory: Path, redacting: Redacting) -> None:
    """Write the verdict of a judge as its benchmark does, into `scores/` of a directory. Raises `SettingsError`.

    What is there stays: next to another score file, the name says by which judge it is. Secrets that a judge quotes are
    redacted outside of the run directory, as in results.
    """
    live = judging.find_latest(run)
    if live is None:
        return
    place = directory / SCORES
    if is_link(place):
        raise SettingsError(f"{place} is a link, and nothing is written through it; {_CHOOSE_OUTPUT}")
    verdict = live.verdict
    if redacting.is_leaving:
        verdict = structs.replace(verdict, response=_redact(verdict.response, redacting))
    content = to_json_bytes(verdict.to_score_file())
    name = _choose_name(place, verdict.file_name, content, live.facts)
    if exists_no_follow(place / name):
        if _read(place, name) != content:
            raise SettingsError(f"{place / name} holds another verdict; {_CHOOSE_OUTPUT}")
        return
    write_bytes(place / name, content, _CHOOSE_OUTPUT)


def _redact(response: str | Mapping[str, Any], redacting: Redacting) -> str | Mapping[str, Any]:
    redactor = Redactor(redacting.policy)
    if isinstance(response, str):
        return redactor.text(response)
    replaced: Mapping[str, Any] = replace_texts(response, iter(redactor.texts(list_texts(response))))
    return replaced


def _choose_name(place: Path, name: str, content: bytes, facts: Mapping[str, Any]) -> str:
    """The name of the benchmark; with other score files in the directory, one that names method and model as well."""
    names: list[str] = []
    with suppress(OSError):
        names = [name for name in list_names(place) if name.endswith(".json")]
    if not names or (names == [name] and _read(place, name) == content):
        return name
    own = _UNSAFE.sub("_", f"{facts['method']}-{facts['model']}")[:_LONGEST_NAME]
    return f"{name.removesuffix('.json')}.{own}.json"


def _read(place: Path, name: str) -> bytes | None:
    """The bytes of a score file; None of a link, a pipe or one that is too large."""
    with suppress(RecordingError):
        return read_file_inside(place, name, MAX_FILE_BYTES)
    return None
