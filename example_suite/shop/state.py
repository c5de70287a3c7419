"""What can change while somebody uses the sites."""

from __future__ import annotations

from dataclasses import dataclass, field

from shop.issues import Issue, fresh_issues
from shop.orders import Order, fresh_orders


@dataclass(slots=True)
class ShopState:
    """The shop's memory: one visitor's cart and wish list, letters, and the orders."""

    orders: dict[int, Order] = field(default_factory=fresh_orders)
    cart: dict[str, int] = field(default_factory=dict)
    wishlist: list[str] = field(default_factory=list)
    letters: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class TrackerState:
    """The tracker's memory."""

    issues: list[Issue] = field(default_factory=fresh_issues)

    def of(self, project: str) -> list[Issue]:
        """List the issues of a project, newest first."""
        return [issue for issue in reversed(self.issues) if issue.project == project]
