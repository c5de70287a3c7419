"""How the values of options are read: a parser for each kind of value, which the option table names."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import allowed_names
from pytest_webeval.rubrics.policy import parse_fraction
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.files import exists, is_dir, is_file
from pytest_webeval.safety.limits import parse_integer, parse_size, read_limits
from pytest_webeval.sessions.settings.options import Option
from pytest_webeval.stores.store import FILE, KNOWN_SCHEMES, is_remote, scheme_of, strip_scheme, trim
from pytest_webeval.values.base import present_day

if TYPE_CHECKING:
    from pytest_webeval.summary.comparison.gates import Gate
    from pytest_webeval.summary.shards import Shard

LONGEST = 1e8  # seconds
MOST_VOTES = 99
MOST_REQUESTS = 256  # at a time
_STORE = re.compile(r"(?:^|.*/)([A-Za-z][A-Za-z0-9+.-]*):/+(.+)", re.DOTALL)  # a URL that was taken for a path
_INNER, _AGAIN = re.compile(r"::([a-z][a-z0-9+.-]*):/+"), r"::\1://"  # of the URL of an archive


class OptionSource(Protocol):
    """Where the values of options come from: a command line, and perhaps a configuration file."""

    def given(self, option: Option) -> Any:
        """The value on the command line; None or False without one."""

    def configured(self, option: Option) -> Any:
        """The value in the configuration file, or what stands for none. Raises `ValueError`."""

    def split(self, option: Option) -> tuple[Sequence[str], Sequence[str]]:
        """The values of a list in the configuration file, and those that somebody typed. Raises `ValueError`."""

    def locate(self, path: str) -> str:
        """A path of the configuration file, which is relative to that file."""


class CommandSource(Struct, frozen=True):
    """A command line."""

    arguments: argparse.Namespace

    def given(self, option: Option) -> Any:
        """The value on the command line; None or False without one."""
        return getattr(self.arguments, option.key, None)

    def configured(self, option: Option) -> Any:
        """What stands for no value: a command reads no configuration file."""
        if option.is_switch:
            return False
        return [] if option.is_repeatable else None

    def split(self, option: Option) -> tuple[Sequence[str], Sequence[str]]:
        """No values of a file, and those of the command line."""
        return [], self.given(option) or []

    def locate(self, path: str) -> str:
        """The path as it is."""
        return path


class Argument(Struct, frozen=True):
    """The raw value of an option: from the command line, or else from its ini key. `raw` is None if neither is set."""

    option: Option
    source: OptionSource

    @property
    def is_on_command_line(self) -> bool:
        """Whether the value is that of the option, not of the ini key."""
        return self.source.given(self.option) not in (None, False)

    @property
    def raw(self) -> Any:
        """The value: a text, a list of texts for a repeatable option, a boolean for a switch."""
        if self.is_on_command_line:
            return self.source.given(self.option)
        value = self.source.configured(self.option) if self.option.is_ini_key else None
        if self.option.parse not in PATHS:
            return value
        if self.option.is_repeatable:
            return [self._from_ini(path) for path in value or ()]
        return self._from_ini(value)

    @property
    def text(self) -> str | None:
        """The value of an option that takes one, or its default. An empty value in an ini file counts as unset.

        Raises `SettingsError` for an empty path on the command line, such as that of an unset variable of a shell.
        """
        text: str | None = self.raw
        if not self.is_on_command_line:
            return text or self.option.default
        if text == "" and self.option.parse in PATHS:
            raise self.invalid("a path")
        return text

    def _from_ini(self, path: str | None) -> str | None:
        """A path in an ini file, which is relative to that file."""
        is_plain = not path or path in self.option.choices or scheme_of(path) is not None
        return path if is_plain or path is None else self.source.locate(path)

    def invalid(self, advice: str) -> SettingsError:
        """The error for a value that cannot be used; it names the option, or the ini key if the value is there."""
        name = self.option.flag if self.is_on_command_line else self.option.key
        return SettingsError(f"invalid {name} {self.raw!r}; use {advice}")


def run_roots(places: Iterable[str | Path]) -> tuple[Path | str, ...]:
    """The run roots at some paths and locations of stores, which stay texts. Raises `SettingsError`."""
    roots = tuple(dict.fromkeys(find_location(place) or _find_path(place) for place in places))
    paths = [root for root in roots if isinstance(root, Path)]
    for path in paths:
        if not is_dir(path):
            raise SettingsError(f"--webeval-runs: directory not found: {path}; pass the directory of the recorded runs")
        if not os.access(path, os.R_OK | os.X_OK):
            raise SettingsError(f"--webeval-runs: cannot read {path}: Permission denied; make it readable")
    local = separate_roots(paths)
    return tuple(root for root in roots if isinstance(root, str) or root in local)


def find_location(place: str | Path) -> str | None:
    """The location of a store; None for a path. Configuration files of pytest have paths only."""
    if isinstance(place, str):
        return trim(place) if is_remote(place) else None
    match = _STORE.fullmatch(str(place))
    if match is None or match[1].lower() not in KNOWN_SCHEMES:
        return None
    return f"{match[1].lower()}://{_INNER.sub(_AGAIN, match[2])}"


def _find_path(place: str | Path) -> Path:
    text = str(place)
    return _absolute(strip_scheme(text) if scheme_of(text) == FILE else text)


def separate_roots(roots: Sequence[Path]) -> tuple[Path, ...]:
    """The roots, each once whatever links lead to it. Raises `SettingsError` for one inside another."""
    by_real_path: dict[Path, Path] = {}
    for root in roots:
        by_real_path.setdefault(Path(os.path.realpath(root)), root)
    for real, root in by_real_path.items():
        outer = next((by_real_path[path] for path in real.parents if path in by_real_path), None)
        if outer is not None:
            raise SettingsError(f"--webeval-runs: {root} lies inside {outer}; pass only one of them")
    return tuple(by_real_path.values())


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= LONGEST:
        raise ValueError(text)
    return seconds


def _parse_amount(text: str) -> Decimal:
    amount = Decimal(text)
    if not (amount.is_finite() and amount >= 0):
        raise ValueError(text)
    return amount


def _parse_size(text: str) -> int:
    if (size := parse_size(text)) is None:
        raise ValueError(text)
    return size


def _parse_shard(text: str) -> Shard:
    from pytest_webeval.summary.shards import Shard  # few sessions are a shard

    return Shard.parse(text)


# Values that are one text: how each is read, and what the text may be.
TEXTS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "amount": (_parse_amount, "an amount in USD, e.g. 2.50"),
    "concurrency": (
        lambda text: parse_integer(text, range(1, MOST_REQUESTS + 1)),
        f"a number from 1 to {MOST_REQUESTS}",
    ),
    "count": (lambda text: parse_integer(text, range(10**18)), "a non-negative integer (0 shows all runs)"),
    "day": (date.fromisoformat, "YYYY-MM-DD, e.g. 2026-01-31"),
    "fraction": (parse_fraction, "a number from 0 to 1, e.g. 0.8"),
    "number": (lambda text: parse_integer(text, range(10**9)), "a non-negative integer"),
    "seconds": (_parse_seconds, "a number of seconds, e.g. 120 (0 for no limit)"),
    "shard": (_parse_shard, "e.g. 2/8 for the second of eight"),
    "size": (_parse_size, "e.g. 25MB"),
    "votes": (lambda text: parse_integer(text, range(1, MOST_VOTES + 1, 2)), f"1, 3, 5 or so, at most {MOST_VOTES}"),
}


def _parse_text(argument: Argument) -> Any:
    parse, expected = TEXTS[argument.option.parse]
    try:
        return None if argument.text is None else parse(argument.text)
    except (ValueError, ArithmeticError, SettingsError) as error:
        raise argument.invalid(expected) from error


def _parse_switch(argument: Argument) -> bool:
    try:
        return bool(argument.raw)
    except ValueError as error:  # in which pytest does not name the key
        raise SettingsError(f"{argument.option.key}: {error}; use true or false") from error


def _parse_gates(argument: Argument) -> tuple[Gate, ...]:
    try:
        configured, typed = argument.source.split(argument.option)
    except ValueError as error:
        raise SettingsError(f"{error}; write a list of gates") from error
    if not (configured or typed):
        return ()
    from pytest_webeval.summary.comparison.gates import join_gates  # few sessions have gates

    return join_gates(configured, typed)


def _parse_evaluators(argument: Argument) -> tuple[str, ...]:
    texts = tuple(argument.raw or ())
    if not texts:
        return ()
    from pytest_webeval.evaluators.base import parse_choice  # few sessions choose evaluators

    choice = parse_choice(texts)
    if not choice:
        raise argument.invalid("names of evaluators, e.g. response,rubric")
    return choice


def _parse_optional_word(argument: Argument) -> str | None:
    words = argument.option.choices
    if argument.text is not None and argument.text not in words:
        raise argument.invalid(f"{', '.join(words[:-1])} or {words[-1]}")
    return argument.text


def _parse_word(argument: Argument) -> str:
    return _parse_optional_word(argument) or argument.option.choices[0]


def _parse_output(argument: Argument) -> Path | str | None:
    if argument.text and is_remote(argument.text):
        return trim(argument.text)
    return _find_path(argument.text) if argument.text else None


# Parsers of what stands for a file or directory: what holds for the path, else what is wrong with it, and advice.
PATHS: Mapping[str, tuple[Callable[[Path], bool], str, str]] = {
    "directory": (lambda path: is_dir(path) or not exists(path), "not a directory", "choose another directory"),
    "existing_path": (exists, "not found", "check the path"),
    "file": (is_file, "file not found", "check the path"),
    "output": (lambda _: True, "", ""),
    "path": (lambda _: True, "", ""),
    "sessions": (exists, "not found", "name a summary or a directory of results"),
    "task_files": (lambda path: is_dir(path) or is_file(path), "file not found", "check the path"),
    "word_or_file": (is_file, "file not found", "check the path"),
}


def _read_path(text: str, option: Option) -> Path:
    """The path. Raises `SettingsError` for the location of a store, which may have credentials in it."""
    if is_remote(text):
        problem = f"{option.flag} cannot use a store ({scheme_of(text)}://…)"
        raise SettingsError(f"{problem}; pass a local path, since only --webeval-runs and --webeval-output can")
    path = _absolute(text)
    holds, problem, advice = PATHS[option.parse]
    if not holds(path):
        words = f", or use {' or '.join(option.choices)}" if option.choices else ""
        raise SettingsError(f"{option.flag}: {problem}: {path}; {advice}{words}")
    return path


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (links are kept)


def _parse_path(argument: Argument) -> Path | None:
    return _read_path(argument.text, argument.option) if argument.text else None


def _parse_paths(argument: Argument) -> tuple[str, ...]:
    words = argument.option.choices
    return tuple(text if text in words else str(_read_path(text, argument.option)) for text in argument.raw or ())


def _parse_word_or_path(argument: Argument) -> str | None:
    if argument.text is None or argument.text in argument.option.choices:
        return argument.text
    return str(_read_path(argument.text, argument.option))


# How the value of an option is read. Each raises `SettingsError`.
PARSERS: Mapping[str, Callable[[Argument], Any]] = {
    **dict.fromkeys(TEXTS, _parse_text),
    **dict.fromkeys(PATHS, _parse_path),
    "allowed_names": lambda argument: allowed_names(argument.raw),
    "day": lambda argument: _parse_text(argument) or present_day(),
    "evaluators": _parse_evaluators,
    "gates": _parse_gates,
    "limits": lambda argument: read_limits(argument.raw),
    "optional_word": _parse_optional_word,
    "output": _parse_output,
    "roots": lambda argument: run_roots(argument.raw or ()),
    "rules": lambda argument: find_rules(_parse_word(argument)),
    "sessions": _parse_paths,
    "switch": _parse_switch,
    "task_files": _parse_paths,
    "text": lambda argument: argument.text,
    "word": _parse_word,
    "word_or_file": _parse_word_or_path,
}
