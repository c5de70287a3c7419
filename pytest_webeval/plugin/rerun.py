"""The options with which a session is asked to score some of its runs again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_webeval.plugin import options
from pytest_webeval.plugin.item_names import exact
from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.summary.record import Record

RUNS = "--webeval-runs"
# Options of pytest that change what ours mean: with their values in one argument or in the next, and short ones.
OF_PYTEST = frozenset({"--config-file", "--override-ini", "--rootdir"})
TOLD = "webeval_asked"
SHORT = ("-c", "-o", "-p")


def reruns_of(config: pytest.Config, records: Iterable[Record]) -> RerunCommands:
    """Commands for the runs of a session, as somebody would type them where pytest was called."""
    found = {record.run: record for record in records}
    arguments, pinned = asked_of(config)
    return RerunCommands(
        {run: record.task_id for run, record in found.items()},
        arguments,
        pinned,
        frozenset(run for run, record in found.items() if record.missing),
        exact([*(one.name for one in FORMATS), *(name for record in found.values() for name in _names(record))]),
    )


def _names(record: Record) -> Iterator[str]:
    """What else than its id selects the task of a record."""
    yield from (f"template_{record.template}", *record.sites, record.task_type or "")
    about = {} if record.trajectory is None else json.loads(record.trajectory)
    yield from (str(about[name]) for name in ("benchmark", "group") if about.get(name))


def asked_of(config: pytest.Config) -> tuple[Sequence[str], Sequence[str]]:
    """The options of the session that matter, and those without which node ids might mean something else.

    What a worker was called with is no command of anybody's: the controller tells it.
    """
    told: tuple[Sequence[str], Sequence[str]] | None = getattr(config, "workerinput", {}).get(TOLD)
    if told is not None:
        return told
    arguments = tuple(
        _kept([str(argument) for argument in config.invocation_params.args], config.invocation_params.dir)
    )
    return arguments, tuple(_pinned(config, arguments))


def _kept(arguments: Sequence[str], here: Path) -> Iterator[str]:
    """What the user gave of the options that matter, spelled as they were; roots as seen from here."""
    repeated = [option for option in options.OPTIONS if option.in_rerun and option.is_flag]
    valued = OF_PYTEST.union(option.flag for option in repeated if not option.is_switch)
    switches = {option.flag for option in repeated if option.is_switch}
    rest = iter(arguments)
    for argument in rest:
        name, glued, value = argument.partition("=")
        if argument in switches:
            yield argument
        elif name in valued:
            value = value if glued else next(rest, "")
            yield f"{name}={_nearer(value, here) if name == RUNS else value}"
        elif argument[:2] in SHORT:
            value = argument[2:] or next(rest, "")
            if not (argument.startswith("-p") and value.startswith("no:")):
                yield from (argument[:2], value)


def _nearer(root: str, here: Path) -> str:
    path = Path(root)
    inside = path.is_absolute() and path.is_relative_to(here) and path != here
    return str(path.relative_to(here)) if inside else root


def _pinned(config: pytest.Config, arguments: Sequence[str]) -> Iterator[str]:
    """What pytest would look for from a node id upwards: where ids are relative to, and the configuration file."""
    here = config.invocation_params.dir
    if not any(one.startswith("--rootdir=") for one in arguments):
        yield f"--rootdir={os.path.relpath(config.rootpath, here)}"
    if (
        config.inipath is not None
        and "-c" not in arguments
        and not any(one.startswith("--config-f") for one in arguments)
    ):
        yield from ("-c", os.path.relpath(config.inipath, here))
