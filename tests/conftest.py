"""What all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.support.bench import Bench

hypothesis.settings.register_profile("any machine", deadline=None)  # it may be busy, and imports take their time
hypothesis.settings.load_profile("any machine")

CHROMIUM = shutil.which("chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


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
