"""Sessions of pytest over synthetic runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import pytest_webeval
from pytest_webeval.plugin.collection.nodes import RunItem
from tests.support import recorded
from tests.support.default_run import group_rows, thin
from tests.support.runs import Runs

# Pytester forgets what a session imports, and each session would import it again.
for _module in walk_packages(pytest_webeval.__path__, "pytest_webeval."):
    import_module(_module.name)
for _name in ("openai", "PIL.Image", "thefuzz.fuzz", "url_normalize"):
    with suppress(ImportError):
        import_module(_name)

# Each session would load them afresh; beside them no run item is scored directly, as it is for most users.
OTHER_PLUGINS = {
    "no:allure_pytest": "--alluredir",
    "no:anyio": "--anyio",
    "no:hypothesispytest": "--hypothesis",
    "no:benchmark": "--benchmark",
    "no:rerunfailures": "--reruns",
}


HERE = Path(__file__).parent
SPREADING = ("-n", "--webeval-workers", "--numprocesses")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave most sessions of tables to the suites marked `whole`: each third row, and none that spreads over processes.

    test_xdist.py has what is different there, and test_all_formats.py compares all bytes of such a session. The marker
    `thinned` chooses other rows.
    """
    rows = [item for item in items if item.path.parent == HERE and hasattr(item, "callspec")]
    for item in rows:
        if item.path.name != "test_xdist.py" and _is_spread(item):
            item.add_marker(pytest.mark.whole)
    sessions = (item for item in rows if "pytester" in item.fixturenames and not item.get_closest_marker("whole"))
    for table in group_rows(item for item in sessions if not item.get_closest_marker("thinned")):
        thin(table, every=3)


def _is_spread(item: Any) -> bool:
    values = item.callspec.params.values()
    lists = ([value] if isinstance(value, str) else value for value in values if isinstance(value, str | list | tuple))
    return any(isinstance(each, str) and each.startswith(SPREADING) for values in lists for each in values)


def _without(arguments: Sequence[str]) -> list[str]:
    """Switches for the plugins whose options a session does not use."""
    used = {name for name, prefix in OTHER_PLUGINS.items() if any(str(each).startswith(prefix) for each in arguments)}
    return [f"-p{name}" for name in OTHER_PLUGINS if name not in used]


def _remembering(read: Callable[[Any], Any]) -> property:
    """A property of an installed package that is read once."""
    packages: dict[Any, Any] = {}

    def read_once(package: metadata.PathDistribution) -> Any:
        key = package._path
        if key not in packages:
            packages[key] = read(package)
        return packages[key]

    return property(read_once)


@pytest.fixture(autouse=True, scope="session")
def _remember_packages() -> Iterator[None]:
    """Read what is written about an installed package once: pytest asks for that of all packages in each session."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("entry_points", "files", "metadata"):
            described: Any = getattr(metadata.Distribution, name)
            patch.setattr(metadata.PathDistribution, name, _remembering(described.fget))
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
