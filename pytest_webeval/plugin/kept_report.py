"""The report of all runs, which a session that scores some of them keeps, as their complete summary is kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_webeval.plugin.selected_paths import SELECTING
from pytest_webeval.reports.html.report_directory import has_complete_report
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.settings.settings import Settings


def keeps_report(config: pytest.Config, settings: Settings) -> bool:
    """Whether the command line selects some runs, and the configuration a directory with the report of all runs.

    Who names the directory on the command line wants the report there. Rerun commands do not name it.
    """
    is_named = _is_typed(config, "webeval_report", ("--webeval-report",))
    if settings.report is None or is_named or not has_complete_report(settings.report):
        return False
    is_selecting = any(_is_typed(config, name, flags) for name, flags in SELECTING.items())
    return is_selecting or not _names_roots(config, settings.runs)


def _is_typed(config: pytest.Config, name: str, flags: Sequence[str]) -> bool:
    """Whether an option has a value that the ini key `addopts` does not give it."""
    configured = config.getini("addopts")
    return bool(config.getoption(name, default=None)) and not any(
        argument.startswith(tuple(flags)) for argument in configured
    )


def _names_roots(config: pytest.Config, roots: Sequence[Path]) -> bool:
    """Whether the arguments name each root, or a directory above it; without arguments, roots are all that is named."""
    if config.args_source != pytest.Config.ArgsSource.ARGS:
        return True
    named = [Path(os.path.realpath(config.invocation_params.dir / argument)) for argument in config.args]
    return all(any(Path(os.path.realpath(root)).is_relative_to(path) for path in named) for root in roots)


class KeptReport(Struct, frozen=True, eq=False):
    """Plugin of the controller of such a session."""

    directory: Path

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say that there is no report of this session."""
        problem = f"report: not written; {self.directory} has that of all runs, and this session selects some"
        terminalreporter.line(sanitize(f"{problem}: name a directory with --webeval-report to write one"))
