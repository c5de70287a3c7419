"""What all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from pytest_webeval.tasks.task import Task
from tests.support import schema_checks
from tests.support.bench import Bench
from tests.support.default_run import group_rows, thin
from tests.support.write_published_digests import digest_row

# Without deadlines, since a machine may be busy. `--hypothesis-profile=whole` tries more examples.
hypothesis.settings.register_profile("default run", deadline=None, max_examples=25)
hypothesis.settings.register_profile("whole", deadline=None, max_examples=200)
if hypothesis.settings.get_current_profile_name() in {"ci", "default"}:  # nobody asked for another one
    hypothesis.settings.load_profile("default run")

CHROMIUM = shutil.which("chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Most rows of a `thinned` test are in the suites marked `whole`, and those about Parquet in `libraries`."""
    for item in items:
        if hasattr(item, "callspec") and "parquet" in item.callspec._idlist:
            item.add_marker(pytest.mark.libraries)
    for rows in group_rows(item for item in items if item.get_closest_marker("thinned")):
        thin(rows, **rows[0].get_closest_marker("thinned").kwargs)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium without a window; skipped where there is none, unless WEBEVAL_BROWSER says that it must be."""
    if CHROMIUM is None and os.environ.get("WEBEVAL_BROWSER") != "required":
        pytest.skip("no chromium on this machine: apt-get install chromium to look at reports")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=SWITCHES)
        yield found
        found.close()


@pytest.fixture
def bench(tmp_path) -> Bench:
    """Records and scores runs below tmp_path."""
    return Bench(tmp_path)


@pytest.fixture
def published(monkeypatch):
    """All tasks count as published by WebArena-Verified, so that results name verdicts that the rules changed.

    Subprocesses know nothing of it.
    """
    monkeypatch.setattr(Task, "is_published", property(lambda _: True))


@pytest.fixture
def publish(monkeypatch) -> Callable[..., None]:
    """Puts the digests of some definitions, and of no others, into the table of published tasks."""

    def publish(*definitions: dict[str, Any]) -> None:
        digests = frozenset(digest_row(definition, "a test") for definition in definitions)
        monkeypatch.setattr("pytest_webeval.tasks.task.load_published_digests", lambda: digests)

    return publish


@pytest.fixture
def failures():
    """The names of the assertions that do not hold."""
    return lambda result: [
        assertion.assertion_name for assertion in result.assertions or () if assertion.status != "success"
    ]


@pytest.fixture(autouse=True, scope="session")
def _at_home() -> Iterator[None]:
    """Sessions under test do not find themselves on the CI system that tests them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("BUILD_NUMBER", "CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
            patch.delenv(name, raising=False)
        yield


_OF_ONE_TEST: set[Path] = set()  # directories
# The beginnings of names of shared directories with broken or foreign files, or with parts of results.
_UNCHECKED = ("corpus", "exports", "hostile", "workers")


@pytest.fixture(autouse=True, scope="session")
def _shared_directories_have_valid_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same at the end of the session for directories that several tests share."""
    yield
    shared = set(tmp_path_factory.getbasetemp().iterdir()) - _OF_ONE_TEST
    roots = sorted(
        root for root in shared if not root.is_symlink() and not root.name.startswith(("popen-gw", *_UNCHECKED))
    )
    assert not [f"{root.name}/{problem}" for root in roots for problem in schema_checks.list_problems(root)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """After each test, the results, summaries and comparisons that it left are what their schemas say.

    The marker `unchecked_files` exempts tests that leave broken or foreign files on purpose, with the reason.
    """
    fixtures = getattr(item, "funcargs", {})
    places = [fixtures[name] for name in ("tmp_path", "pytester") if name in fixtures]
    roots = {place if isinstance(place, Path) else place.path for place in places}
    _OF_ONE_TEST.update(roots)
    marker = item.get_closest_marker("unchecked_files")
    problems = [] if marker else [problem for root in roots for problem in schema_checks.list_problems(root)]
    yield
    assert marker is None or marker.args, "unchecked_files needs a reason"
    assert not problems
