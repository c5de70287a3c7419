"""The xdist controller scans the run roots once, before its workers, so that all collect the same runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.plugin.snapshots import ARGUMENT_PATHS, IS_PATH_SAFE, PLACE, SAFE_PATH, SNAPSHOTS, Snapshots
from pytest_webeval.plugin.workspace import ROWS, STARTED, PytestWorkspace
from pytest_webeval.safety.files import is_dir


class Sharing(Struct, eq=False, dict=True):
    """Hooks of the controller; none of them is called in a session of one process."""

    workspace: PytestWorkspace
    is_path_safe: bool = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config) -> None:
        """Let workers start without modules of the current directory, which may be a run."""
        if SAFE_PATH not in os.environ:
            os.environ[SAFE_PATH] = "1"
            config.add_cleanup(_forget_safe_path)
            self.is_path_safe = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the scanned run roots to a worker, including one that replaces a crashed worker."""
        config = self.workspace.config
        node.workerinput[IS_PATH_SAFE] = self.is_path_safe
        node.workerinput[STARTED] = self.workspace.started
        if SNAPSHOTS not in config.stash:
            with suppress(OSError):  # without such a place each worker looks for itself
                self._look(config)
        if SNAPSHOTS in config.stash:
            node.workerinput[PLACE] = str(config.stash[SNAPSHOTS].place)
            node.workerinput[ARGUMENT_PATHS] = self._argument_paths

    def _look(self, config: pytest.Config) -> None:
        """Scan the roots for the workers. With run formats of users, the workers scan: user code runs only there."""
        place = tempfile.TemporaryDirectory(prefix="pytest-webeval-", ignore_cleanup_errors=True)
        config.add_cleanup(place.cleanup)
        config.stash[SNAPSHOTS] = Snapshots(Path(place.name))
        if self.workspace.settings.reuse and (rows := config.stash.get(ROWS, None)) is not None:
            rows.copy_earlier(Path(place.name))
        if not self.workspace.is_recognizing:
            for path in dict.fromkeys(self._starts(config)):
                self.workspace.branch(path)
            self.workspace.forget_branches()

    def _starts(self, config: pytest.Config) -> Iterator[Path]:
        """Where workers enter a root: at its top, or where arguments select parts of a root outside the rootdir."""
        workspace = self.workspace
        for path in map(_path, config.args):
            root = workspace.labels.root_of(path)
            if root is None or workspace.settings.require_all:
                yield from workspace.settings.runs
            else:
                yield root if root.is_relative_to(config.rootpath) else path

    @cached_property
    def _argument_paths(self) -> list[str]:
        """The argument directories below a root that pytest enters from above: a worker may find them gone."""
        paths = map(_path, self.workspace.config.args)
        return [str(path) for path in paths if self._is_below(path) and is_dir(path)]

    def _is_below(self, path: Path) -> bool:
        root = self.workspace.labels.root_of(path)
        return root not in (None, path) and path.is_relative_to(self.workspace.config.rootpath)


def _forget_safe_path() -> None:
    os.environ.pop(SAFE_PATH, None)


def _path(argument: str) -> Path:
    return Path(argument.partition("::")[0])
