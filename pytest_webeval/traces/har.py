"""HAR files (`network.har`), and Playwright line files that somebody called so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pytest_webeval.errors import RecordingError
from pytest_webeval.files import Inputs
from pytest_webeval.traces.base import BodySource
from pytest_webeval.traces.base import Entry
from pytest_webeval.traces.base import beside
from pytest_webeval.traces.base import build_trace
from pytest_webeval.traces.playwright import line_entries

if TYPE_CHECKING:
    from pytest_webeval.network import NetworkTrace
    from pytest_webeval.rules import Rules


class _Log(msgspec.Struct):
    entries: list[Entry]


class _Har(msgspec.Struct):
    log: _Log


class _LooseLog(msgspec.Struct):
    entries: list[msgspec.Raw]


class _LooseHar(msgspec.Struct):
    log: _LooseLog


class HarTrace:
    """A HAR, or a line file under the name of one (spec §3.1)."""

    def reads(self, name: str, *, is_folder: bool) -> bool:
        """Whether the name ends in `.har` or `.json`."""
        return not is_folder and name.endswith((".har", ".json"))

    def load(self, inputs: Inputs, name: str, rules: Rules) -> NetworkTrace:
        """The events of the file. Raises `RecordingError`."""
        content = inputs.read(name)
        where = inputs.directory / name
        if not content.strip() and not rules.empty_trace:
            raise RecordingError(f"{where} is empty; close the browser context so that the recording is written")
        bodies = BodySource(beside(inputs, "."), rules.side_bodies)
        try:
            entries = _entries(content)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return build_trace(_as_lines(content, str(where), error), bodies)
        if not entries:
            raise RecordingError(f"{where} has no entries; record the run again")
        return build_trace(entries, bodies)


def _entries(content: bytes) -> list[Entry] | list[msgspec.Raw]:
    try:
        return msgspec.json.decode(content, type=_Har).log.entries
    except msgspec.ValidationError:  # one odd entry must not cost the others: take them one by one
        return msgspec.json.decode(content, type=_LooseHar).log.entries


def _as_lines(content: bytes, where: str, reason: Exception) -> list[msgspec.Raw]:
    try:
        return line_entries(content, where)
    except RecordingError:
        text = f"{where} is no readable HAR: {reason}; record the run again, closing its browser context"
        raise RecordingError(text) from reason
