"""The orders that the back office looks after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date

from shop.catalog import BY_SLUG

STATUSES = ("pending", "processing", "complete", "canceled")


@dataclass(slots=True)
class Order:
    """One order; `lines` are (product, quantity), `history` is what staff noted."""

    number: int
    customer: str
    email: str
    placed: date
    status: str
    lines: list[tuple[str, int]]
    history: list[str]

    @property
    def cents(self) -> int:
        """The sum of all lines."""
        return sum(BY_SLUG[slug].cents * quantity for slug, quantity in self.lines)

    @property
    def total(self) -> str:
        """`$1,149.00`."""
        return f"${self.cents / 100:,.2f}"

    @property
    def open(self) -> bool:
        """Whether it may still be shipped or canceled."""
        return self.status in ("pending", "processing")


_TABLE = [
    (1031, "Ida Novak", "2024-01-08", "complete", "arc-desk-lamp*1 gel-pens*4"),
    (1032, "Tomas Reyes", "2024-01-15", "complete", "canvas-weekender*1"),
    (1033, "Priya Shah", "2024-01-22", "canceled", "standing-desk*1"),
    (1034, "Leon Weber", "2024-02-02", "complete", "dot-notebook*6 gel-pens*3"),
    (1035, "Aiko Mori", "2024-02-09", "complete", "gooseneck-kettle*1 burr-grinder*1"),
    (1036, "Sam Okafor", "2024-02-19", "processing", "studio-headphones*1"),
    (1037, "Ruth Lindqvist", "2024-02-27", "pending", "packing-cubes*3 city-backpack*1"),
    (1038, "Ben Carver", "2024-03-01", "complete", "dot-notebook*5"),
    (1039, "Ruth Lindqvist", "2024-03-04", "pending", "pocket-radio*1"),
    (1040, "Ida Novak", "2024-03-05", "complete", "bookshelf-speakers*1"),
    (1041, "Priya Shah", "2024-03-07", "pending", "task-chair*2"),
    (1042, "Leon Weber", "2024-03-09", "processing", "folding-desk-lamp*2 packing-cubes*2"),
    (1043, "Aiko Mori", "2024-03-11", "pending", "chef-knife*1 dot-notebook*2"),
    (1044, "Tomas Reyes", "2024-03-12", "canceled", "city-backpack*1"),
]


def fresh_orders() -> dict[int, Order]:
    """All orders by number, as they are before anybody touches them."""
    return {number: _order(number, *row) for number, *row in _TABLE}


def _order(number: int, customer: str, placed: str, status: str, lines: str) -> Order:
    email = customer.lower().replace(" ", ".") + "@example.com"
    parts = [line.split("*") for line in lines.split()]
    return Order(
        number, customer, email, date.fromisoformat(placed), status, [(slug, int(count)) for slug, count in parts], []
    )


def between(orders: dict[int, Order], first: date, last: date) -> list[Order]:
    """Orders placed in a period, both days included, without the canceled ones."""
    return [order for order in orders.values() if first <= order.placed <= last and order.status != "canceled"]


def bestsellers(orders: dict[int, Order]) -> list[tuple[str, int]]:
    """Product names with the number sold, most sold first."""
    sold: Counter[str] = Counter()
    for order in orders.values():
        if order.status != "canceled":
            sold.update(dict(order.lines))
    return [(BY_SLUG[slug].name, count) for slug, count in sold.most_common()]
