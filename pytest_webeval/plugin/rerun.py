"""The commands that rerun some runs of a session."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_webeval.plugin.workspace import WORKSPACE
from pytest_webeval.sessions.settings import options

RUNS = "--webeval-runs"
# Options of pytest that change the meaning of webeval options: long ones with a value, and short ones.
OF_PYTEST = frozenset({"--config-file", "--override-ini", "--rootdir"})
RERUN_OPTIONS = "webeval_asked"
SHORT = ("-c", "-o", "-p")


def find_repeated_options(config: pytest.Config) -> tuple[Sequence[str], Sequence[str]]:
    """The options to repeat, and those that keep the meaning of node ids.

    An xdist worker gets them from its controller, because it has no command line of its own.
    """
    from_controller: tuple[Sequence[str], Sequence[str]] | None = getattr(config, "workerinput", {}).get(RERUN_OPTIONS)
    if from_controller is not None:
        return from_controller
    here = config.invocation_params.dir
    arguments = tuple(_select_options([str(argument) for argument in config.invocation_params.args], here))
    record = config.stash[WORKSPACE].settings.record if WORKSPACE in config.stash else None
    if record is not None and not any(argument.startswith(f"{RUNS}=") for argument in arguments):
        arguments = (f"{RUNS}={_shorten_root(str(record), here)}", *arguments)  # which scores a recording again
    return arguments, tuple(_build_location_options(config, arguments))


def _select_options(arguments: Sequence[str], here: Path) -> Iterator[str]:
    """The arguments to repeat, spelled as the user wrote them; run roots relative to `here`."""
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
            yield f"{name}={_shorten_root(value, here) if name == RUNS else value}"
        elif argument[:2] in SHORT:
            value = argument[2:] or next(rest, "")
            if not (argument.startswith("-p") and value.startswith("no:")):
                yield from (argument[:2], value)


def _shorten_root(root: str, here: Path) -> str:
    path = Path(root)
    inside = path.is_absolute() and path.is_relative_to(here) and path != here
    return str(path.relative_to(here)) if inside else root


def _build_location_options(config: pytest.Config, arguments: Sequence[str]) -> Iterator[str]:
    """The root directory and configuration file, which pytest would otherwise search for from a node id upwards."""
    here = config.invocation_params.dir
    if not any(argument.startswith("--rootdir=") for argument in arguments):
        yield f"--rootdir={os.path.relpath(config.rootpath, here)}"
    has_config = any(argument == "-c" or argument.startswith("--config-f") for argument in arguments)
    if config.inipath is not None and not has_config:
        yield from ("-c", os.path.relpath(config.inipath, here))
