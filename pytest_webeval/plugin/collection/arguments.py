"""Which items of the run roots a session scores: positional arguments and the subset decide."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import SupportsIndex

import pytest

from pytest_webeval.plugin.collection.root_paths import is_ignored_by_option, path_in_root
from pytest_webeval.plugin.selected_paths import SELECTED_PATHS, SelectedPaths
from pytest_webeval.plugin.snapshots import ARGUMENT_PATHS
from pytest_webeval.plugin.workspace import AUDIT_ITEM, ITEM, MISSING_ITEM, MISSING_TASKS, PytestWorkspace
from pytest_webeval.safety.files import exists, is_dir

_SEPARATORS = ("[", "::")  # at which pytest cuts an argument


class WholePath(str):
    """An absolute path as an argument that pytest does not cut, although there is a separator in a name."""

    __slots__ = ()

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        """As of any text, but whole at a separator."""
        return (self, "", "") if sep in _SEPARATORS else super().partition(sep)

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """As of any text, but whole at a separator."""
        return [self] if sep in _SEPARATORS else super().split(sep, maxsplit)


def select(config: pytest.Config, workspace: PytestWorkspace) -> None:
    """Let pytest collect run roots, and take pasted node ids of runs for their directories."""
    config.args[:] = [*_arguments(config, workspace)]
    hidden_paths = {
        argument: place for argument in config.args if (place := _find_hidden_path(argument, config, workspace))
    }
    if hidden_paths:  # pytest would not find these: it collects the root instead, which yields only them
        paths = frozenset(hidden_paths.get(argument) or _absolute(argument, config) for argument in config.args)
        config.stash[SELECTED_PATHS] = SelectedPaths(paths)
        roots = {argument: str(workspace.labels.root_of(place)) for argument, place in hidden_paths.items()}
        config.args[:] = list(dict.fromkeys(roots.get(argument, argument) for argument in config.args))
    config.args[:] = [_keep_whole(argument, config) for argument in config.args]


def _keep_whole(argument: str, config: pytest.Config) -> str:
    """The argument, for pytest not to cut the name of a directory or file."""
    if not any(separator in argument for separator in _SEPARATORS):
        return argument
    path = _absolute(argument, config)
    return WholePath(path) if os.path.lexists(path) else argument


def _arguments(config: pytest.Config, workspace: PytestWorkspace) -> Iterator[str]:
    """The arguments that pytest collects. Roots of the option replace `testpaths`, those of the ini key extend them."""
    roots = workspace.settings.runs
    if config.args_source == pytest.Config.ArgsSource.ARGS:
        arguments = [_normalize(argument, config, workspace) for argument in config.args]
        yield from arguments
        above = {os.path.realpath(_absolute(argument, config)) for argument in arguments}
        yield from (str(root) for root in roots if not above.isdisjoint(map(str, Path(os.path.realpath(root)).parents)))
    elif config.option.webeval_runs:
        yield from map(str, roots)
    else:
        yield from (_normalize(argument, config, workspace) for argument in config.args)
        yield from (str(root) for root in roots if not is_ignored_by_option(root, config))


def _normalize(argument: str, config: pytest.Config, workspace: PytestWorkspace) -> str:
    text = _remove_item(argument).removesuffix(f"::{MISSING_ITEM}")
    if exists(config.invocation_params.dir / text):
        inside = path_in_root(_absolute(text, config), workspace)
        if inside is not None:
            return str(inside)
        if text == argument:  # otherwise it names a run, perhaps of a store, next to a directory of that name
            return argument
    path = workspace.labels.path_of(text)
    return str(path) if path is not None and is_dir(path) else argument


def _remove_item(argument: str) -> str:
    """A node id of a run or of an audit without the name of the item."""
    return argument.removesuffix(f"::{ITEM}").removesuffix(f"::{AUDIT_ITEM}")


def _find_hidden_path(argument: str, config: pytest.Config, workspace: PytestWorkspace) -> Path | None:
    """A directory that an argument names and pytest cannot find, because it does not exist.

    It is that of a missing task, or was there as the controller of xdist started, and this worker finds it gone.
    """
    text = argument.removesuffix(f"::{MISSING_ITEM}")
    if text != argument:
        could_be_at = config.stash[MISSING_TASKS].could_be_at
        if path := next(filter(could_be_at, _candidate_paths(text, config, workspace)), None):
            return path
    handed_paths = getattr(config, "workerinput", {}).get(ARGUMENT_PATHS, ())
    places = _candidate_paths(_remove_item(text), config, workspace) if handed_paths else ()
    return next((place for place in places if str(place) in handed_paths), None)


def _candidate_paths(text: str, config: pytest.Config, workspace: PytestWorkspace) -> Iterator[Path]:
    """The paths that an argument may denote: as a path, or as a label."""
    path = _absolute(text, config)
    yield path_in_root(path, workspace) or path
    if (labelled := workspace.labels.path_of(text)) is not None:
        yield labelled


def _absolute(argument: str, config: pytest.Config) -> Path:
    return Path(os.path.abspath(config.invocation_params.dir / argument))  # noqa: PTH100  (links are kept)
