"""The numbers of a summary as OpenMetrics text, which GitLab shows in a merge request beside those of the target."""

from __future__ import annotations

from pytest_webeval.reports.failure_text import harmless
from pytest_webeval.results import Summary


def open_metrics(summary: Summary) -> str:
    """A line for each number, sorted; a rate of nothing is left out."""
    about = summary.webeval
    numbers: dict[str, float | None] = {
        "webeval_error": summary.error_count,
        "webeval_excluded": about["excluded_count"],
        "webeval_failure": summary.failed_count,
        "webeval_success": summary.success_count,
        "webeval_success_rate": about["success_rate"],
    }
    numbers |= {
        f'webeval_success_rate{{site="{_label(site)}"}}': sum(row["status"] == "success" for row in rows) / len(rows)
        for site, rows in sorted(summary.per_site_summary.items())
        if site
    }
    numbers["webeval_total"] = summary.total
    lines = [f"{name} {round(number, 6)}" for name, number in numbers.items() if number is not None]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _label(text: str) -> str:
    """A value between quotation marks, as the specification escapes it."""
    return harmless(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
