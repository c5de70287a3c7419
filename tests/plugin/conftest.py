"""Sessions of pytest over synthetic runs."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest

import pytest_webeval.plugin.registration as _loaded_once  # noqa: F401  (pytester forgets what a session imports)
from tests.support import recorded
from tests.support.runs import Runs

QUICK = ("-p", "no:hypothesispytest", "-p", "no:benchmark")  # which each session would load afresh


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
    return lambda *arguments: pytester.runpytest(*QUICK, "--webeval-runs=runs", *arguments)


@pytest.fixture
def webeval_apart(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Runs pytest over `runs` in a process of its own, as xdist and crashes need."""
    return lambda *arguments: pytester.runpytest_subprocess(*QUICK, "--webeval-runs=runs", *arguments)


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
