"""The projects and issues of the tracker."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

SIGNED_IN = "dana.whitfield"
PEOPLE = {
    "dana.whitfield": "Dana Whitfield",
    "mira.castellanos": "Mira Castellanos",
    "oskar.lund": "Oskar Lund",
    "yuki.tanabe": "Yuki Tanabe",
}
PROJECTS = {
    "acme/rocket": "Flight planner for very small rockets.",
    "acme/website": "The public site and its storefront.",
}
LABELS = ("bug", "docs", "feature", "performance", "storefront")
TODAY = date(2024, 3, 14)


@dataclass(slots=True)
class Issue:
    """One issue; `iid` counts within its project."""

    project: str
    iid: int
    title: str
    author: str
    labels: list[str]
    state: str = "opened"
    created: date = TODAY
    spent: str = ""
    description: str = ""
    assignees: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Where the issue's page is."""
        return f"/{self.project}/issues/{self.iid}"

    def as_json(self) -> dict[str, Any]:
        """Say what the API says about the issue."""
        return {
            "iid": self.iid,
            "project": self.project,
            "title": self.title,
            "description": self.description,
            "state": self.state,
            "labels": self.labels,
            "author": {"username": self.author, "name": PEOPLE[self.author]},
            "created_at": self.created.isoformat(),
            "web_path": self.path,
        }


_TABLE = [
    ("acme/rocket", 1, "Fuel gauge shows negative values", "mira.castellanos", "bug", "closed", "2024-01-09", "1h 15m"),
    ("acme/rocket", 2, "Document the launch checklist", "oskar.lund", "docs", "opened", "2024-01-16", ""),
    ("acme/rocket", 3, "Countdown skips a second", "mira.castellanos", "bug", "opened", "2024-01-30", "2h 30m"),
    ("acme/rocket", 4, "Export trajectories as CSV", "yuki.tanabe", "feature", "opened", "2024-02-06", ""),
    ("acme/rocket", 5, "Map tiles load slowly", "mira.castellanos", "performance", "opened", "2024-02-13", "45m"),
    ("acme/rocket", 6, "Crash when the wind is zero", "dana.whitfield", "bug", "opened", "2024-02-20", ""),
    ("acme/rocket", 7, "Unit of altitude is missing", "yuki.tanabe", "docs bug", "closed", "2024-02-28", "20m"),
    ("acme/website", 1, "Cart badge is not updated", "oskar.lund", "bug storefront", "opened", "2024-02-01", ""),
    ("acme/website", 2, "Search ignores brand names", "dana.whitfield", "storefront", "closed", "2024-02-15", "3h"),
    ("acme/website", 3, "Footer links are too small", "mira.castellanos", "feature", "opened", "2024-03-06", ""),
]


def fresh_issues() -> list[Issue]:
    """All issues, as they are before anybody touches them."""
    return [
        Issue(project, iid, title, author, labels.split(), state, date.fromisoformat(created), spent)
        for project, iid, title, author, labels, state, created, spent in _TABLE
    ]
