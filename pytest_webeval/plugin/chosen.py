"""What arguments name, in a session that has to find it by itself because one of them names a missing task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Chosen:
    """The directories that arguments name, whether they exist or not."""

    paths: frozenset[Path]

    def includes(self, path: Path) -> bool:
        """Whether arguments name a directory, or something in it or around it."""
        return path in self._around or not self.paths.isdisjoint(path.parents)

    @cached_property
    def _around(self) -> frozenset[Path]:
        return self.paths.union(*(path.parents for path in self.paths))


CHOSEN = pytest.StashKey[Chosen]()


def is_narrowed(config: pytest.Config, roots: Iterable[Path]) -> bool:
    """Whether arguments chose some runs of the roots, rather than all. What is ignored belongs to no session."""
    return CHOSEN in config.stash or not {str(root) for root in roots} <= set(config.args)


def names_runs(config: pytest.Config, roots: Iterable[Path]) -> bool:
    """Whether what pytest collects has to do with a run root: lies in one, or is one."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    return any(path.is_relative_to(root) for path in paths for root in roots)
