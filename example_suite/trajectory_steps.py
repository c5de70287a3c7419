"""What the agents of the trajectories thought, did and saw, step by step.

`FIND` and `LOOK` are the worked examples of `fara_webeval.md` §9.1 and §9.2, word for word.
"""

from __future__ import annotations

from trajectory_texts import Step

START, SHOP = "https://start.test/", "https://shop.test/"
SUCCESS = {"action": "terminate", "status": "success"}

ATLAS = "The Pocket Atlas costs 12.50 EUR and is in stock."
RADIO = "The Pocket Atlas costs 39.95 EUR and is in stock."
IN_CART = "One Pocket Atlas is in the cart. The total is 12.50 EUR."
NO_RAIN = "Nothing found… The shop has no book about rain."

FIND = (
    Step(
        ("10:00:05.100000", "10:00:05.100200", "10:00:09"),
        SHOP,
        "Search the shop for the atlas.",
        {"action": "web_search", "query": "pocket atlas"},
        "I typed 'pocket atlas' into the browser search bar.",
    ),
    Step(
        ("10:00:14.200000", "10:00:14.200300", "10:00:18"),
        f"{SHOP}s",
        "Open the first result.",
        {"action": "left_click", "coordinate": [410, 266]},
        "I clicked at coordinates (413.4, 267.2).",
        "OtherEvent",  # what the log handler makes of an agent's own event class
    ),
    Step(("10:00:22.300000", "10:00:22.300400", "10:00:25"), f"{SHOP}p/17", ATLAS, SUCCESS, ATLAS),
)

LOOK = (
    Step(
        ("10:05:04", "10:05:04.000300", "10:05:08"),
        START,
        "Open the shop.",
        {"action": "visit_url", "url": SHOP},
        f"I typed '{SHOP}' into the browser address bar.",
    ),
    Step(
        ("10:05:11", "10:05:11.000300", "10:05:15"),
        SHOP,
        "Look further down.",
        {"action": "scroll", "pixels": -500},
        "I scrolled down one page in the browser.",
    ),
    Step(
        ("10:05:18", "10:05:18.000300", "10:05:22"),
        SHOP,
        "Still looking.",
        {"action": "scroll", "pixels": -500},
        "I scrolled down one page in the browser.",
    ),
)

GUESS = (
    Step(
        ("10:00:04", "10:00:04.000300", "10:00:08"),
        SHOP,
        "Product 12 should be the atlas.",
        {"action": "visit_url", "url": f"{SHOP}p/12"},
        f"I typed '{SHOP}p/12' into the browser address bar.",
    ),
    Step(
        ("10:00:12", "10:00:12.000300", "10:00:16"),
        f"{SHOP}p/12",
        "The cart shows the final price.",
        {"action": "left_click", "coordinate": [482, 370]},
        "I clicked at coordinates (486.1, 371.7).",
    ),
    Step(("10:00:20", "10:00:20.000300", "10:00:23"), f"{SHOP}cart", RADIO, SUCCESS, RADIO),
)

BUY = (
    Step(
        ("10:05:05", "10:05:05.000300", "10:05:09"),
        START,
        "Open the page of the atlas.",
        {"action": "visit_url", "url": f"{SHOP}p/17"},
        f"I typed '{SHOP}p/17' into the browser address bar.",
    ),
    Step(
        ("10:05:13", "10:05:13.000300", "10:05:17"),
        f"{SHOP}p/17",
        "Put it into the cart.",
        {"action": "left_click", "coordinate": [482, 370]},
        "I clicked at coordinates (486.1, 371.7).",
    ),
    Step(("10:05:21", "10:05:21.000300", "10:05:24"), f"{SHOP}cart", IN_CART, SUCCESS, IN_CART),
)

GIVE_UP = (
    Step(
        ("10:20:05", "10:20:05.000300", "10:20:09"),
        SHOP,
        "Search the shop for rain.",
        {"action": "web_search", "query": "rain"},
        "I typed 'rain' into the browser search bar.",
    ),
    Step(
        ("10:20:13", "10:20:13.000300", "10:20:17"),
        f"{SHOP}s",
        "Maybe there is more below.",
        {"action": "scroll", "pixels": -500},
        "I scrolled down one page in the browser.",
    ),
    Step(("10:20:21", "10:20:21.000300", "10:20:24"), f"{SHOP}s", NO_RAIN, SUCCESS, NO_RAIN),
)

SOLVE = (
    Step(
        ("09:30:06", "09:30:06.000400", "09:30:09"),
        SHOP,
        "The search box is the quickest way to the atlas.",
        {"action": "input_text", "input_field_id": 8, "text_value": "pocket atlas", "press_enter": True},
        "The front page of a shop with a search box at the top.",
    ),
    Step(
        ("09:30:17", "09:30:17.000400", "09:30:20"),
        f"{SHOP}s",
        "The only result is the atlas.",
        {"action": "click", "target_id": 13},
        "A list of results with one product.",
    ),
    Step(
        ("09:30:29", "09:30:29.000400", "09:30:31"),
        f"{SHOP}p/17",
        "Price and stock are on the page, so the task is done.",
        {"action": "stop_and_answer_question", "answer": ATLAS},
        "The product page of the Pocket Atlas.",
    ),
)
