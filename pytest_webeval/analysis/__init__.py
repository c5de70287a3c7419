"""What many trajectories say together: means, rates, intervals, several runs of one thing (`fara_webeval.md` §7)."""

from __future__ import annotations

from pytest_webeval.analysis.budgets import by_screenshots
from pytest_webeval.analysis.budgets import by_steps
from pytest_webeval.analysis.metrics_file import metrics
from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.run_analysis import analyse

__all__ = ["Row", "analyse", "by_screenshots", "by_steps", "metrics"]
