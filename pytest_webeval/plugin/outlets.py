"""Where the numbers of a session go beside its files, each loaded where it is asked for."""

from __future__ import annotations

import sys

import pytest

from pytest_webeval.plugin.reporter import Reporter


def register_outlets(config: pytest.Config, reporter: Reporter) -> None:
    """Register those of the controller."""
    if sys.stdout.isatty():
        from pytest_webeval.plugin.progress import Progress  # where somebody may watch

        config.pluginmanager.register(Progress(reporter.records), "webeval-progress")
