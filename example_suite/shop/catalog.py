"""What the storefront sells, and what customers wrote about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from statistics import mean

CATEGORIES = {
    "lighting": "Lighting",
    "kitchen": "Kitchen",
    "bags": "Bags & Travel",
    "audio": "Audio",
    "office": "Office",
}


@dataclass(frozen=True, slots=True)
class Review:
    """One customer's opinion of one product."""

    product: str
    author: str
    stars: int
    written: date
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Product:
    """One line of the catalog; `slug` names it in URLs and forms."""

    slug: str
    name: str
    brand: str
    category: str
    cents: int
    stock: int
    text: str

    @property
    def price(self) -> str:
        """`$1,149.00`."""
        return f"${self.cents / 100:,.2f}"

    @property
    def reviews(self) -> list[Review]:
        """The product's reviews, newest first."""
        return sorted((r for r in REVIEWS if r.product == self.slug), key=lambda r: r.written, reverse=True)

    @property
    def rating(self) -> float:
        """The mean of all stars, 0 without reviews."""
        return round(mean(r.stars for r in self.reviews), 1) if self.reviews else 0.0


PRODUCTS = [
    Product("arc-desk-lamp", "Arc Desk Lamp", "Northlight", "lighting", 6900, 14, "A dimmable arm of brushed steel."),
    Product("folding-desk-lamp", "Folding Desk Lamp", "Lumio", "lighting", 3450, 40, "Folds flat, charges by USB."),
    Product("clamp-desk-lamp", "Clamp Desk Lamp", "Brightworks", "lighting", 2495, 8, "Holds on to any table edge."),
    Product("paper-floor-lamp", "Paper Floor Lamp", "Lumio", "lighting", 11900, 5, "Soft light from washi paper."),
    Product("gooseneck-kettle", "Gooseneck Kettle", "Hearth & Co", "kitchen", 7900, 11, "Pours slowly, on purpose."),
    Product("stovetop-kettle", "Stovetop Kettle", "Ironvale", "kitchen", 4250, 0, "Enamelled, with an honest whistle."),
    Product(
        "burr-grinder", "Conical Burr Grinder", "Hearth & Co", "kitchen", 12950, 9, "Forty steps from fine to coarse."
    ),
    Product("chef-knife", "Chef Knife 20 cm", "Ironvale", "kitchen", 8800, 21, "Forged in one piece."),
    Product(
        "canvas-weekender", "Canvas Weekender", "Fieldhouse", "bags", 13500, 7, "Waxed canvas, room for three days."
    ),
    Product("city-backpack", "City Backpack 18 l", "Fieldhouse", "bags", 9900, 16, "A padded sleeve for a laptop."),
    Product("packing-cubes", "Packing Cubes, Set of 4", "Wander", "bags", 2900, 60, "Order inside any suitcase."),
    Product("studio-headphones", "Studio Headphones", "Auralis", "audio", 24900, 12, "Closed back, replaceable cable."),
    Product("bookshelf-speakers", "Bookshelf Speakers", "Auralis", "audio", 114900, 3, "A pair, in oiled walnut."),
    Product("pocket-radio", "Pocket Radio", "Wavelet", "audio", 3995, 25, "Ninety hours on two batteries."),
    Product("standing-desk", "Standing Desk 140 cm", "Uprise", "office", 62900, 4, "Two motors, four memories."),
    Product("task-chair", "Task Chair", "Uprise", "office", 38900, 6, "Adjusts in five ways."),
    Product("dot-notebook", "Dot Grid Notebook", "Papeterie", "office", 1250, 120, "192 pages that take ink well."),
    Product("gel-pens", "Gel Pens, Pack of 6", "Papeterie", "office", 899, 200, "0.5 mm, quick to dry."),
]

REVIEWS = [
    Review("arc-desk-lamp", "Ida Novak", 5, date(2024, 1, 12), "Lovely light", "Warm, even and no flicker."),
    Review("arc-desk-lamp", "Tomas Reyes", 5, date(2024, 2, 3), "Solid", "The arm stays where I put it."),
    Review("arc-desk-lamp", "Priya Shah", 4, date(2023, 11, 20), "Good", "Wish the cable were longer."),
    Review("folding-desk-lamp", "Leon Weber", 4, date(2024, 2, 18), "Handy", "Fits in my backpack."),
    Review("folding-desk-lamp", "Aiko Mori", 3, date(2023, 12, 30), "Fine", "Battery lasts four hours, not six."),
    Review("clamp-desk-lamp", "Sam Okafor", 2, date(2024, 1, 5), "Slips", "The clamp slid off my glass table."),
    Review("clamp-desk-lamp", "Ruth Lindqvist", 4, date(2024, 3, 1), "Bright", "Plenty of light for the price."),
    Review("gooseneck-kettle", "Aiko Mori", 5, date(2024, 2, 22), "Precise", "Finally a steady pour."),
    Review("gooseneck-kettle", "Ben Carver", 4, date(2024, 1, 9), "Nice", "Heats up a bit slowly."),
    Review("burr-grinder", "Ida Novak", 4, date(2024, 1, 28), "Even grind", "Loud, but quick."),
    Review("canvas-weekender", "Tomas Reyes", 5, date(2023, 10, 14), "Built to last", "Two years and no tear."),
    Review("canvas-weekender", "Priya Shah", 3, date(2024, 2, 11), "Heavy", "Beautiful, but heavy when empty."),
    Review("studio-headphones", "Leon Weber", 2, date(2024, 2, 27), "Too tight", "Presses on the ears after an hour."),
    Review("studio-headphones", "Sam Okafor", 5, date(2023, 12, 2), "Clear", "I hear things I never heard before."),
    Review("studio-headphones", "Ruth Lindqvist", 2, date(2024, 1, 17), "Cable", "The cable came loose in week two."),
    Review("studio-headphones", "Ben Carver", 4, date(2024, 3, 4), "Very good", "Worth the money."),
    Review("standing-desk", "Aiko Mori", 5, date(2024, 2, 1), "Steady", "Does not wobble at full height."),
    Review("dot-notebook", "Ida Novak", 5, date(2024, 2, 9), "Great paper", "No bleeding at all."),
]

BY_SLUG = {product.slug: product for product in PRODUCTS}

SORTS = {
    "relevance": ("Relevance", lambda _: 0),
    "price_asc": ("Price: low to high", lambda product: product.cents),
    "price_desc": ("Price: high to low", lambda product: -product.cents),
    "rating": ("Best rated", lambda product: -product.rating),
}


def find(words: str = "", category: str = "", sort: str = "relevance") -> list[Product]:
    """Find the products of a category whose name or brand contains all the words, in the asked order."""
    asked = words.lower().split()
    found = [
        product
        for product in PRODUCTS
        if category in ("", product.category)
        and all(word in f"{product.name} {product.brand}".lower() for word in asked)
    ]
    _, key = SORTS.get(sort, SORTS["relevance"])
    return sorted(found, key=key)
