"""How pytest reaches the run roots on its way through a project: by their own paths, wherever they lie, and once."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Generator, Iterator
from functools import cached_property
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_webeval.plugin.selected_paths import absolute_glob
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.safety.files import is_dir


def path_in_root(path: Path, workspace: PytestWorkspace) -> Path | None:
    """A path at or below a run root, spelled as that root is, also where links lead there; None for any other."""
    if workspace.labels.root_of(path) is not None:
        return path
    real = Path(os.path.realpath(path))
    for root in workspace.settings.roots:
        real_root = os.path.realpath(root)
        if real.is_relative_to(real_root):
            return root / real.relative_to(real_root)
    return None


def is_ignored_by_option(path: Path, config: pytest.Config) -> bool:
    """Whether `--ignore` or `--ignore-glob` name a directory, or one that it lies in."""
    names = {os.path.abspath(name) for name in config.getoption("ignore") or ()}  # noqa: PTH100  (links are kept)
    globs = [absolute_glob(glob) for glob in config.getoption("ignore_glob") or ()]
    paths = [str(path), *map(str, path.parents)]
    return any(candidate in names or any(fnmatch.fnmatch(candidate, glob) for glob in globs) for candidate in paths)


class RootPaths(Struct, frozen=True, eq=False, dict=True):
    """Hooks for the directories of a project, as far as they lie outside the run roots."""

    workspace: PytestWorkspace

    @cached_property
    def leading(self) -> frozenset[Path]:
        """The roots and all directories above them, but for roots that options of pytest's ignore."""
        config = self.workspace.config
        roots = [root for root in self.workspace.settings.runs if not is_ignored_by_option(root, config)]
        return frozenset(path for root in roots for path in (root, *root.parents))

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path) -> Generator[None, bool | None, bool | None]:
        """Reach roots in directories such as `build`, which pytest passes over; pass over other paths into a root."""
        is_ignored = yield
        if not is_ignored:
            inside = path_in_root(collection_path, self.workspace) if is_dir(collection_path) else None
            return is_ignored if inside in (None, collection_path) else True
        if collection_path not in self.leading:
            return True
        self._passed_over.add(collection_path)
        return False

    @cached_property
    def _passed_over(self) -> set[Path]:
        """The directories in which roots are all that is to be collected."""
        return set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Directory | None:
        """Stand in for a directory that pytest would have passed over."""
        if path not in self._passed_over or path in self.workspace.settings.roots:
            return None
        node: WayToRoots = WayToRoots.from_parent(parent, path=path)
        node.next = sorted(child for child in self.leading if child.parent == path)
        self._passed_over.update(node.next)
        return node


class WayToRoots(pytest.Directory):
    """A directory that pytest does not collect but that contains run roots; only these are collected."""

    next: list[Path]

    def collect(self) -> Iterator[pytest.Collector]:
        """The directories that lead to run roots."""
        for path in self.next:
            node = self.ihook.pytest_collect_directory(path=path, parent=self)
            if node is not None:
                yield node
