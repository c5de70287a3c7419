"""Sessions of pytest over synthetic runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import Any

import pytest

import pytest_webeval.plugin.registration as _loaded_once  # noqa: F401  (pytester forgets what a session imports)
from pytest_webeval.plugin.collection.nodes import RunItem
from tests.support import recorded
from tests.support.runs import Runs

# Each session would load them afresh; beside them no run item is scored directly, as it is for most users.
OTHER_PLUGINS = {
    "no:allure_pytest": "--alluredir",
    "no:hypothesispytest": "--hypothesis",
    "no:benchmark": "--benchmark",
    "no:rerunfailures": "--reruns",
}


def _without(arguments: Sequence[str]) -> list[str]:
    """Switches for the plugins whose options a session does not use."""
    used = {name for name, prefix in OTHER_PLUGINS.items() if any(str(each).startswith(prefix) for each in arguments)}
    return [f"-p{name}" for name in OTHER_PLUGINS if name not in used]


@pytest.fixture(autouse=True, scope="session")
def _remember_packages() -> Iterator[None]:
    """Read the metadata of an installed package once: pytest asks for that of all packages in each session."""
    parse: Any = metadata.Distribution.metadata.fget
    packages: dict[Any, Any] = {}

    def parse_once(package: metadata.PathDistribution) -> Any:
        key = package._path
        if key not in packages:
            packages[key] = parse(package)
        return packages[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata.PathDistribution, "metadata", property(parse_once))
        yield


@pytest.fixture
def runs(pytester: pytest.Pytester) -> Runs:
    """An empty run root called `runs` in the directory of the session."""
    return Runs(pytester.path / "runs")


@pytest.fixture
def another_root(pytester: pytest.Pytester) -> Callable[[str], Runs]:
    """Further run roots, at a path relative to the directory of the session."""
    return lambda place: Runs(pytester.path / place)


@pytest.fixture
def webeval(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Runs pytest over `runs` in this process."""
    return lambda *arguments: pytester.runpytest(*_without(arguments), "--webeval-runs=runs", *arguments)


@pytest.fixture
def webeval_over(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Runs pytest over some roots in this process."""
    return lambda roots, *arguments: pytester.runpytest(
        *_without(arguments), *(f"--webeval-runs={root}" for root in roots), *arguments
    )


@pytest.fixture
def webeval_apart(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Runs pytest over `runs` in a process of its own, as xdist and crashes need."""
    return lambda *arguments: pytester.runpytest_subprocess(*_without(arguments), "--webeval-runs=runs", *arguments)


@pytest.fixture
def tree(runs):
    """Writes trajectories of the run r1 below the root of the session."""

    def write(name, **changed):
        return recorded.write(runs.root / recorded.RUN / name, **changed)

    return write


@pytest.fixture
def result(runs):
    """The result of a trajectory."""
    return lambda name: runs.result(f"{recorded.RUN}/{name}")


@pytest.fixture
def ordinary(monkeypatch):
    """The task ids of items that went pytest's way."""
    tasks, setup = [], RunItem.setup
    monkeypatch.setattr(RunItem, "setup", lambda item: tasks.append(item.task_id) or setup(item))
    return tasks
