"""Hooks that a conftest.py or a plugin may implement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run, RunFormat
    from pytest_webeval.results import Summary, TaskResult


class HookSpecs:
    """Hooks that a conftest.py or a plugin may implement."""

    @pytest.hookspec(firstresult=True)
    def pytest_webeval_recognize(self, path: Path, config: pytest.Config) -> RunFormat | None:
        """Return your own format for a run directory, or None; called for each directory, before built-in formats."""

    @pytest.hookspec
    def pytest_webeval_scored(self, item: pytest.Item, run: Run, result: TaskResult, unredacted: TaskResult) -> None:
        """Called in the process that scored a run, once its eval_result.json is written.

        `result` is redacted as `--webeval-redact` says. In `unredacted` and in the recording, secrets are readable:
        take them only if nothing of them leaves the machine.
        """

    @pytest.hookspec
    def pytest_webeval_summary(self, summary: Summary, config: pytest.Config) -> None:
        """Called once per session, in the controller, with the content of eval_summary.json."""
