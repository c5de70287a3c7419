"""From the text of an option to an executor."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.util import find_spec

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors.placement import JobExecutor
from pytest_webeval.safety.text import to_line

LONGEST_TEXT = 100  # characters of an option in a message
PROCESSES = re.compile(r"process(?::([1-9][0-9]{0,3}))?")
DASK = re.compile(
    r"local:(?P<count>[1-9][0-9]{0,3})"
    r"|(?P<protocol>dask|tls)://(?P<place>[^/\s]+:[0-9]{1,5})"
    r"|dask:(?!//)(?P<path>\S.*\.json)"
)


def count_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_executor(text: str, identity: Callable[[], str], preloaded: tuple[str, ...] = ()) -> JobExecutor:
    """The executor for `text`. Raises `SettingsError`.

    `identity` gives the checksum of the code, which must be equal in all workers; processes load what is `preloaded`.
    """
    if match := PROCESSES.fullmatch(text):
        from pytest_webeval.executors.processes import ProcessExecutor

        return ProcessExecutor(int(match[1] or count_processors()), preloaded)
    match = DASK.fullmatch(text)
    if match is None:
        shown = to_line(text, LONGEST_TEXT)
        raise SettingsError(f"invalid executor '{shown}'; use process, process:N, local:N or dask://HOST:PORT")
    if find_spec("distributed") is None:
        raise SettingsError(f"executor '{text}' requires dask.distributed; install pytest-webeval[dask]")
    from pytest_webeval.executors.dask_executor import DaskExecutor, LocalDaskExecutor

    if match["count"]:
        return LocalDaskExecutor(int(match["count"]), identity)
    if match["path"]:
        return DaskExecutor("", identity, scheduler_file=match["path"])
    return DaskExecutor(f"{match['protocol'].replace('dask', 'tcp')}://{match['place']}", identity)
