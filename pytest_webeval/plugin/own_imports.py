"""Our own modules as Python itself imports them.

pytest takes every module of a plugin's package for one whose asserts it should rewrite. Ours have none, but would be
compiled once more, and then be loaded in a way that takes twice as long as an import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.machinery import PathFinder
from types import ModuleType

import pytest

_OURS = f"{__name__.partition('.')[0]}."


class OwnModules:
    """A finder of our modules alone, to be asked before pytest's."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module of ours lies, as Python's own finder says; None for any other module."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_OURS) else None


def import_own_modules_plainly(config: pytest.Config) -> None:
    """Until the end of the session, import what is ours without pytest."""
    finder = OwnModules()
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))
