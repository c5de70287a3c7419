"""Plugins of pytest that people use beside ours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin by the name of its package, with its entry points and the options that give it something to do.

    `is_called`: it has a hook that the sessions under test record. `is_measuring`: what it prints depends on times, or
    on what was called.
    """

    package: str
    entries: tuple[str, ...]
    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    is_called: bool = True
    is_measuring: bool = False


PLUGINS = (
    Plugin("allure-pytest", ("allure_pytest",), ("--alluredir=allure",)),
    Plugin("anyio", ("anyio",)),
    Plugin("hypothesis", ("hypothesispytest",), ("--hypothesis-show-statistics",)),
    Plugin("pytest-asyncio", ("asyncio",)),
    Plugin("pytest-benchmark", ("benchmark",)),
    Plugin("pytest-cov", ("pytest_cov",), ("--cov=.",), is_measuring=True),
    Plugin("pytest-custom-exit-code", ("custom_exit_code",), ("--suppress-tests-failed-exit-code",)),
    Plugin("pytest-durations", ("pytest-durations",), ("--pytest-durations=3",), is_measuring=True),
    Plugin("pytest-env", ("env",), is_called=False),
    Plugin("pytest-forked", ("pytest_forked",), ("--forked",)),
    Plugin(
        "pytest-github-actions-annotate-failures",
        ("pytest_github_actions_annotate_failures",),
        environment=(("GITHUB_ACTIONS", "true"),),
    ),
    Plugin("pytest-html", ("html", "html_fixtures", "metadata"), ("--html=page.html",)),
    Plugin("pytest-icdiff", ("icdiff",), is_called=False),
    Plugin("pytest-instafail", ("instafail",), ("--instafail",)),
    Plugin("pytest-json-report", ("pytest_jsonreport", "metadata"), ("--json-report",)),
    Plugin("pytest-mock", ("pytest_mock",), is_called=False),
    Plugin("pytest-order", ("pytest_order",)),
    Plugin("pytest-random-order", ("random_order",), ("--random-order", "--random-order-seed=1")),
    Plugin("pytest-repeat", ("repeat",), ("--count=2",), is_called=False),
    Plugin("pytest-reportlog", ("pytest_reportlog",), ("--report-log=log.json",)),
    Plugin("pytest-rerunfailures", ("rerunfailures",), ("--reruns=1",)),
    Plugin("pytest-retry", ("pytest-retry",), ("--retries=1",)),
    Plugin("pytest-split", ("pytest-split",), ("--splits=1", "--group=1", "--store-durations")),
    Plugin("pytest-sugar", ("sugar",)),
    Plugin("pytest-testmon", ("pytest-testmon",), is_called=False),
    Plugin("pytest-timeout", ("timeout",), ("--timeout=60",)),
    Plugin("pytest-xdist", ("xdist", "xdist.looponfail"), ("-n2",)),
)
