"""Every recording of the suite: which task, in which format, what the agent does and what it answers.

What each one is meant to show, and the verdict it deserves, stands in README.md and verdicts.json.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents import Agent, back_office, storefront, tracker
from agents.answers import current, documented, fenced

HAR, TRACE = "network.har", "trace.zip"
BROKEN = "network.har, cut off"


@dataclass(frozen=True, slots=True)
class Recording:
    """One run to record; `form` is the format of its network trace."""

    task_id: int
    name: str
    form: str
    agent: Agent
    answer: str


CHANGED_MIND = "Customer changed their mind"
NOTEBOOK = "Dot Grid Notebook"
TOO_TIGHT = {"reviewer": "Leon Weber", "title": "Too tight", "stars": 2}
CABLE = {"reviewer": "Ruth Lindqvist", "title": "Cable", "stars": "2"}
PENS, CUBES = "Gel Pens, Pack of 6", "Packing Cubes, Set of 4"

# fmt: off
RECORDINGS = [
    # Storefront
    Recording(101, "brand of a lamp", HAR, storefront.look_at_best_rated("desk lamp"),
              current("RETRIEVE", "northlight")),
    Recording(102, "wrong brand", HAR, storefront.look_at("Stovetop Kettle"), current("RETRIEVE", "Ironvale")),
    Recording(103, "price", HAR, storefront.look_in_category("Audio", "Bookshelf Speakers"),
              documented("retrieve", "$1,149.00")),
    Recording(104, "unhappy reviewers", HAR, storefront.look_at("Studio Headphones"),
              fenced(current("RETRIEVE", CABLE, TOO_TIGHT))),
    Recording(105, "sorted search", HAR, storefront.search("desk lamp", "Price: low to high"), current("NAVIGATE")),
    Recording(106, "wrongly sorted", HAR, storefront.search("kettle", "Price: high to low"), current("NAVIGATE")),
    Recording(107, "any lamp of a brand", TRACE, storefront.look_in_category("Lighting", "Paper Floor Lamp"),
              current("navigate")),
    Recording(108, "notebooks into the cart", HAR, storefront.add_to_cart(NOTEBOOK, 5), current("MUTATE")),
    Recording(109, "forgot to press the button", HAR, storefront.fill_quantity("Gel Pens", 3), current("MUTATE")),
    Recording(110, "letter drafted", HAR, storefront.draft_letter("1031", "The lamp flickers."), current("MUTATE")),
    Recording(111, "letter sent", HAR, storefront.send_letter("1038", "Two notebooks are missing."), current("MUTATE")),
    Recording(112, "wish list", HAR, storefront.wish_for("Canvas Weekender"), current("MUTATE")),
    Recording(113, "not for sale", HAR, storefront.search("espresso machine"),
              current("RETRIEVE", status="NOT_FOUND_ERROR", error="The shop sells no espresso machine.")),
    Recording(114, "out of stock", HAR, storefront.look_at("Stovetop Kettle"), documented("retrieve", "no")),
    Recording(115, "cart changed", TRACE, storefront.change_cart("Pocket Radio", 1, 3), current("MUTATE")),
    # Back office
    Recording(201, "pending orders", HAR, back_office.filter_orders("pending"), documented("retrieve", 4)),
    Recording(202, "gave up", HAR, back_office.filter_orders("complete"),
              current("RETRIEVE", status="UNKNOWN_ERROR", error="The page shows no number.")),
    Recording(203, "day of an order", TRACE, back_office.look_at_order(1042), current("RETRIEVE", "March 9, 2024")),
    Recording(204, "order canceled", HAR, back_office.cancel_orders(1037, comment=CHANGED_MIND), current("MUTATE")),
    Recording(205, "two orders canceled", HAR, back_office.cancel_orders(1043, 1041, comment=CHANGED_MIND),
              current("MUTATE")),
    Recording(206, "report", TRACE, back_office.report_sales("02/01/2024", "02/29/2024"), documented("navigate")),
    Recording(207, "report, a day short", HAR, back_office.report_sales("01/01/2024", "01/30/2024"),
              current("NAVIGATE")),
    Recording(208, "rightly refused", HAR, back_office.look_at_order(1035),
              current("MUTATE", status="ACTION_NOT_ALLOWED_ERROR", error="A complete order cannot be canceled.")),
    Recording(209, "bestsellers", HAR, back_office.look_at_bestsellers, current("RETRIEVE", NOTEBOOK, PENS, CUBES)),
    Recording(210, "bestsellers upside down", HAR, back_office.look_at_bestsellers,
              current("RETRIEVE", PENS, NOTEBOOK)),
    # Issue tracker
    Recording(301, "issue with two labels", HAR,
              tracker.open_issue("acme/rocket", "Parachute opens too early", "bug", "feature"), current("MUTATE")),
    Recording(302, "issue in a trace", TRACE, tracker.open_issue("acme/rocket", "Explain the orbit colours", "docs"),
              documented("mutate")),
    Recording(303, "wrong label", HAR, tracker.open_issue("acme/rocket", "Radar plot is slow", "bug"),
              current("MUTATE")),
    Recording(304, "issues by label", HAR, tracker.filter_issues("acme/rocket", label="bug"), current("NAVIGATE")),
    Recording(305, "one of two spellings", HAR, tracker.filter_issues("acme/rocket"),
              current("RETRIEVE", "mira.castellanos")),
    Recording(306, "clone address", HAR, tracker.look_at_project("acme/rocket"),
              current("RETRIEVE", "git@127.0.0.1:acme/rocket.git")),
    Recording(307, "recording cut off", BROKEN, tracker.filter_issues("acme/website", state="all"),
              current("RETRIEVE", "Oskar Lund")),
    Recording(308, "time spent", HAR, tracker.look_at_issue("acme/rocket", 3),
              current("RETRIEVE", "2 hours 30 minutes")),
    Recording(309, "issue closed", HAR, tracker.close_issue("acme/rocket", 6), current("MUTATE")),
    Recording(310, "door closed", HAR, tracker.try_settings("acme/rocket"),
              documented("navigate", status="PERMISSION_DENIED_ERROR", error="Only maintainers see the settings.")),
    # Storefront and issue tracker
    Recording(401, "from shop to tracker", TRACE, tracker.report_cheapest_product, current("MUTATE")),
]
# fmt: on
