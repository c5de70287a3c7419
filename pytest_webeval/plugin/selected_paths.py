"""Which directories of the run roots a session leaves out, as pytest's own options and keys say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cached_property
from glob import escape
from pathlib import Path

import pytest
from msgspec import Struct


class SelectedPaths(Struct, frozen=True, dict=True):
    """The directories that arguments name, whether they exist or not."""

    paths: frozenset[Path]

    def includes(self, path: Path) -> bool:
        """Whether arguments name a directory, or something in it or around it."""
        return path in self._around or not self.paths.isdisjoint(path.parents)

    @cached_property
    def _around(self) -> frozenset[Path]:
        return self.paths.union(*(path.parents for path in self.paths))


# Options of pytest that select tests: their flags, by the name of their value.
SELECTING: Mapping[str, Sequence[str]] = {
    "keyword": ("-k",),
    "markexpr": ("-m",),
    "deselect": ("--deselect",),
    "lf": ("--lf", "--last-failed"),
    "stepwise": ("--stepwise", "--sw"),
}
SELECTED_PATHS = pytest.StashKey[SelectedPaths]()


def selects_some_runs(config: pytest.Config, roots: Iterable[Path]) -> bool:
    """Whether arguments chose some runs of the roots, rather than all. What is ignored belongs to no session."""
    return SELECTED_PATHS in config.stash or not {str(root) for root in roots} <= set(config.args)


def names_runs(config: pytest.Config, roots: Iterable[Path]) -> bool:
    """Whether what pytest collects has to do with a run root: lies in one, or is one."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    return any(path.is_relative_to(root) for path in paths for root in roots)


# pytest's own value of norecursedirs. It is about programs: it hides no run, at any depth.
USUAL = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")


class Ignoring(Struct, frozen=True):
    """For one run root: what `--ignore`, `collect_ignore` and norecursedirs name. Arguments come before them."""

    paths: frozenset[str]
    globs: tuple[str, ...]
    patterns: tuple[str, ...]  # the user's own
    argument_paths: frozenset[Path]
    around: frozenset[Path]  # and all directories above them

    @classmethod
    def of(cls, config: pytest.Config, root: Path) -> Ignoring:
        """What holds below a root, by options, the ini file and the conftest.py files above the root."""
        patterns = tuple(config.getini("norecursedirs"))
        selected = config.stash.get(SELECTED_PATHS, None)
        argument_paths = frozenset(map(Path, config.args)) if selected is None else selected.paths
        return cls(
            frozenset((*map(os.path.abspath, config.getoption("ignore") or ()), *_of_conftests(config, root, "")))
            - {str(root)},
            (*(config.getoption("ignore_glob") or ()), *_of_conftests(config, root, "_glob")),
            () if patterns == USUAL else patterns,
            argument_paths,
            argument_paths.union(*(path.parents for path in argument_paths)),
        )

    @property
    def as_lists(self) -> list[list[str]]:
        """All of it as plain values, the same in all processes in which it is the same."""
        return [
            sorted(self.paths),
            list(self.globs),
            list(self.patterns),
            sorted(map(os.path.abspath, self.argument_paths)),
        ]

    def covers(self, path: Path) -> bool:
        """Whether the session ignores a directory."""
        if path in self.around:
            return False
        by_path = str(path) in self.paths or any(self._fits_alone(path, glob) for glob in self.globs)
        return by_path or any(self._fits_alone(path, pattern) for pattern in self.patterns)

    def _fits_alone(self, path: Path, pattern: str) -> bool:
        """Whether a pattern fits a directory, and none around it that an argument names all the same."""
        return _fits(path, pattern) and not any(
            parent in path.parents and _fits(parent, pattern) for parent in self.argument_paths
        )


def _fits(path: Path, glob: str) -> bool:
    """As pytest compares paths with patterns; a relative one, or a name, may fit the end of a path, too."""
    if "/" not in glob:
        return fnmatch(path.name, glob)
    return fnmatch(str(path), absolute_glob(glob)) or path.match(glob)


def absolute_glob(glob: str, directory: Path | None = None) -> str:
    """A pattern relative to a directory, or else to the current one, in whose own name nothing is a pattern."""
    return os.path.abspath(Path(escape(str(directory or Path.cwd()))) / glob)  # noqa: PTH100  (links are kept)


def _of_conftests(config: pytest.Config, root: Path, kind: str) -> Iterator[str]:
    """The nearest `collect_ignore` or `collect_ignore_glob` above a root, relative to the file that it stands in."""
    plugins = [(getattr(plugin, "__file__", None), plugin) for plugin in config.pluginmanager.get_plugins()]
    conftests = [
        (Path(path).parent, getattr(plugin, f"collect_ignore{kind}", None))
        for path, plugin in plugins
        if isinstance(path, str) and path.endswith(f"{os.sep}conftest.py")
    ]
    above = [(place, patterns) for place, patterns in conftests if place in root.parents and patterns is not None]
    directory, patterns = max(above, key=lambda pair: len(pair[0].parts), default=(root, ()))
    if kind:
        yield from (absolute_glob(pattern, directory) for pattern in patterns)
    else:
        yield from (os.path.abspath(directory / name) for name in patterns)  # noqa: PTH100  (links are kept)
