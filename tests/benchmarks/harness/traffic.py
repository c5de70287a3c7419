"""Visits to pages of a web application: what a browser loads for each, made up from a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from urllib.parse import urlencode

from tests.benchmarks.harness.exchanges import Exchange
from tests.benchmarks.harness.page_texts import WORDS, answer, page, script, style_sheet

STATIC = "static/version1770106500/frontend"
PARTS_OF_PAGES = ("customer/section/load", "catalog/product/compare", "api/v4/projects", "graphql", "search/suggest")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Characters of a body, at least and at most; small ones are more frequent."""

    page: tuple[int, int]
    answer: tuple[int, int]
    asset: tuple[int, int]


SMALL = Sizes(page=(20_000, 90_000), answer=(1_000, 10_000), asset=(2_000, 30_000))
LARGE = Sizes(page=(20_000, 300_000), answer=(1_000, 35_000), asset=(2_000, 160_000))


def visits(random: Random, origin: str, sizes: Sizes) -> Iterator[Exchange]:
    """Page after page without an end. Their addresses begin with `traffic/`, so that no task asks for them."""
    while True:
        address = _address(random, origin)
        if random.random() < 0.3:
            yield Exchange("page", _address(random, origin), status=302, location=address)
        yield Exchange("page", address, page(random, _size(random, sizes.page)))
        yield from _assets(random, origin, sizes)
        for _ in range(random.randint(3, 7)):
            yield _part(random, origin, sizes)
        if random.random() < 0.4:
            yield Exchange("page", address, status=302, posted=_form(random), location=address)


def _assets(random: Random, origin: str, sizes: Sizes) -> Iterator[Exchange]:
    """About two in three of all entries; most of them are in the browser's cache and come without a body."""
    for _ in range(random.randint(8, 17)):
        kind = random.choices(("script", "style", "picture", "font"), weights=(8, 3, 8, 1))[0]
        suffix = {"script": "js", "style": "css", "picture": "jpg", "font": "woff2"}[kind]
        name = f"{'/'.join(random.choices(WORDS, k=3))}-{random.randbytes(6).hex()}.{suffix}"
        text = {"script": script, "style": style_sheet}.get(kind)
        is_new = text is not None and random.random() < 0.15
        body = text(random, _size(random, sizes.asset)) if text and is_new else None
        yield Exchange(kind, f"{origin}/{STATIC}/{name}", body, status=200 if is_new or kind == "picture" else 304)


def _part(random: Random, origin: str, sizes: Sizes) -> Exchange:
    """What a page's scripts ask for while a person looks at it."""
    query = urlencode({"sections": ",".join(random.choices(WORDS, k=3)), "_": random.randrange(10**12, 10**13)})
    address = f"{origin}/traffic/{random.choice(PARTS_OF_PAGES)}/?{query}"
    posted = _form(random) if random.random() < 0.3 else None
    return Exchange("answer", address, answer(random, _size(random, sizes.answer)), posted=posted)


def _address(random: Random, origin: str) -> str:
    path = "/".join(random.choices(WORDS, k=random.randint(1, 4)))
    query = {"q": " ".join(random.choices(WORDS, k=2)), "p": random.randrange(1, 40), "product_list_order": "price"}
    return f"{origin}/traffic/{path}.html" + (f"?{urlencode(query)}" if random.random() < 0.5 else "")


def _form(random: Random) -> str:
    fields = {
        f"{one}[{two}]": " ".join(random.choices(WORDS, k=3)) for one, two in zip(*_word_rows(random), strict=True)
    }
    return urlencode({"form_key": random.randbytes(8).hex(), "product": random.randrange(1, 9_999), **fields})


def _size(random: Random, bounds: tuple[int, int]) -> int:
    least, most = bounds
    return int(random.triangular(least, most, least))


def _word_rows(random: Random) -> tuple[list[str], list[str]]:
    return random.choices(WORDS, k=4), random.choices(WORDS, k=4)
