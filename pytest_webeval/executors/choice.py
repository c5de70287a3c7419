"""From the text of an option to an executor."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.util import find_spec

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.placement import JobExecutor
from pytest_webeval.safety.text import to_line

LONGEST_TEXT = 100  # characters of an option in a message


class Machine(Struct, frozen=True):
    """What an executor needs of its session: which code it has, and what its processes load."""

    identity: Callable[[], str]  # the checksum of the code, which must be equal in all workers
    preloaded: tuple[str, ...] = ()


def count_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_processes(machine: Machine, count: str | None = None) -> JobExecutor:
    from pytest_webeval.executors.processes import ProcessExecutor

    return ProcessExecutor(int(count) if count else count_processors(), machine.preloaded)


def _start_local_dask(machine: Machine, count: str) -> JobExecutor:
    from pytest_webeval.executors.dask_executor import LocalDaskExecutor

    return LocalDaskExecutor(int(count), machine.identity)


def _connect_to_dask(machine: Machine, protocol: str, place: str) -> JobExecutor:
    from pytest_webeval.executors.dask_executor import DaskExecutor

    return DaskExecutor(f"{protocol.replace('dask', 'tcp')}://{place}", machine.identity)


def _read_scheduler_file(machine: Machine, path: str) -> JobExecutor:
    from pytest_webeval.executors.dask_executor import DaskExecutor

    return DaskExecutor("", machine.identity, scheduler_file=path)


class Choice(Struct, frozen=True):
    """A form of the option: its pattern, what takes its groups, and whether it needs Dask."""

    pattern: str
    start: Callable[..., JobExecutor]
    needs_dask: bool = True


CHOICES = (
    Choice(r"process(?::([1-9][0-9]{0,3}))?", _start_processes, needs_dask=False),
    Choice(r"local:([1-9][0-9]{0,3})", _start_local_dask),
    Choice(r"(dask|tls)://([^/\s]+:[0-9]{1,5})", _connect_to_dask),
    Choice(r"dask:(?!//)(\S.*\.json)", _read_scheduler_file),
)


def choose_executor(text: str, machine: Machine) -> JobExecutor:
    """The executor for `text`. Raises `SettingsError`."""
    for choice in CHOICES:
        match = re.fullmatch(choice.pattern, text)
        if match is None:
            continue
        if choice.needs_dask and find_spec("distributed") is None:
            raise SettingsError(f"executor '{text}' requires dask.distributed; install pytest-webeval[dask]")
        return choice.start(machine, *match.groups())
    shown = to_line(text, LONGEST_TEXT)
    raise SettingsError(f"invalid executor '{shown}'; use process, process:N, local:N or dask://HOST:PORT")
