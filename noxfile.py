"""Every check of the project as a session: `nox --list`.

`.ci/run` calls the same sessions with `--no-venv`, in the environment that it makes itself.
"""

from __future__ import annotations

import nox
from nox.virtualenv import PassthroughEnv

VERSIONS = ["3.11", "3.12", "3.13", "3.14"]
PURE = ["architecture", "unit"]
# Take many minutes and find little that other tests do not: run them by hand.
LONGEST = [
    "tests/resume/test_killed_sessions.py::test_a_session_that_is_killed_at_any_moment_loses_nothing[fifty]",
    "tests/benchmarks/test_sessions.py::test_the_command_makes_environments_and_prints_a_table_and_every_cost",
]
WITHOUT_SKIPS = dict.fromkeys(
    ("WEBEVAL_BROWSER", "WEBEVAL_PARITY", "WEBEVAL_BENCHMARKS", "WEBEVAL_EXPORTS"), "required"
)

nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "contracts", "fast"]


def install(session: nox.Session, extra: str) -> None:
    """Install the project with one of its extras, unless the session shares the environment of its caller."""
    if not isinstance(session.virtualenv, PassthroughEnv):
        session.install("-e", f".[{extra}]")


def run_pytest(session: nox.Session, *arguments: str, extra: str = "test") -> None:
    """Run pytest; arguments after `--` on the command line come last."""
    install(session, extra)
    session.run("python", "-m", "pytest", *arguments, *session.posargs)


def run_suite(session: nox.Session, *arguments: str, extra: str = "whole") -> None:
    """Run tests that the default run leaves out; a missing browser or reference fails instead of skipping."""
    session.env.update(WITHOUT_SKIPS)
    run_pytest(session, *arguments, extra=extra)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style and spelling."""
    install(session, "dev")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy --strict."""
    install(session, "dev")
    session.run("mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Check which module imports which."""
    install(session, "dev")
    session.run("lint-imports")


@nox.session
def fast(session: nox.Session) -> None:
    """Run the tests in tests/unit and tests/architecture."""
    run_pytest(session, *(f"tests/{folder}" for folder in PURE), "-n", "2", "-q")


@nox.session(python=VERSIONS)
def tests(session: nox.Session) -> None:
    """Run the default tests, as the README's second command does."""
    run_pytest(session, "-n", "2")


@nox.session
def browser(session: nox.Session) -> None:
    """Run the tests that open a page in Chromium, but for repetitions."""
    arguments = ("tests/browser", "-m", "browser and not whole", "-n", "2", "--dist", "loadfile")
    run_suite(session, *arguments, extra="browser")


@nox.session
def libraries(session: nox.Session) -> None:
    """Compare statistics and tables with those of scipy, statsmodels, scikit-learn, pandas, polars and DuckDB."""
    run_suite(session, "tests", "-m", "libraries", "-n", "2", extra="libraries")


@nox.session
def parity(session: nox.Session) -> None:
    """Run all comparisons with WebArena-Verified."""
    run_suite(session, "tests/parity", "-m", "whole", "-n", "2")


@nox.session
def exports(session: nox.Session) -> None:
    """Run every_eval_ever and inspect_ai over exports; the former needs Python 3.12 in any place of the machine."""
    run_suite(session, "tests/exports", "-m", "whole")


@nox.session
def hostile(session: nox.Session) -> None:
    """Score every hostile directory; one process, because its tests share long sessions."""
    run_suite(session, "tests/hostile", "-m", "whole")


@nox.session
def rest(session: nox.Session) -> None:
    """Run all other tests that the default run leaves out, but for the longest two; try more examples of properties."""
    others = [f"--ignore=tests/{folder}" for folder in ("parity", "exports", "hostile", "docs")]
    skipped = (*others, *map("--deselect={}".format, LONGEST))
    chosen = ("-m", "whole or hypothesis", "--hypothesis-profile=whole")
    run_suite(session, "tests", *skipped, *chosen, "-n", "2", "--dist", "loadfile")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation, a warning is an error; run the commands of its pages."""
    install(session, "docs")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    run_pytest(session, "tests/docs", "-m", "whole", "-n", "2", extra="browser")
