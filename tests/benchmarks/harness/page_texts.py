"""Texts that web applications send: pages, JSON, scripts and style sheets, made up from a seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random

WORDS = """
account address alloy anchor apron arrival badge basket beacon billing blanket border bottle branch bracket
brass bundle button canvas carrier catalogue ceramic charger checkout cloud colour comment commit compare
copper cotton coupon customer daylight delivery deploy discount drawer engine envelope export fabric filter
folder garden glass handle harbour history invoice issue kettle label lamp lantern leather linen list market
merge message milestone mirror notebook order outdoor package payment pencil pipeline plate pocket preview
product project quantity query radio receipt refund release report review river runner sample season section
service shelf shipping silver speaker sprint status steel stock storage street subtotal summary table thread
ticket timber token total tracker travel update upload vendor version village walnut warranty waterproof
weekend wishlist wooden workshop yellow
""".split()  # noqa: SIM905  (a list would be longer than the rest of the module)
# What makes a page's bytes more than ASCII, as rare as on a page in English.
MARKS = ("…", "é", "★", "“", "€", "ü")


def sentence(random: Random, words: int) -> str:
    """Words with a capital and a full stop, now and then with a mark beyond ASCII."""
    mark = f" {random.choice(MARKS)}" if random.random() < 0.2 else ""
    return " ".join(random.choices(WORDS, k=words)).capitalize() + mark + "."


def page(random: Random, size: int) -> str:
    """An HTML document of about that many characters."""
    title = sentence(random, 4)
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n  <meta charset="utf-8">\n  <title>{title}</title>\n'
        f'  <meta name="csrf-token" content="{random.randbytes(32).hex()}">\n  <script type="text/x-magento-init">\n'
        f'    {{"*": {{"Magento_Ui/js/core/app": {{"components": {{"id": "{random.randbytes(4).hex()}"}}}}}}}}\n'
        '  </script>\n</head>\n<body>\n<ol class="products list items product-items">\n'
    )
    return _filled(head, _card, "</ol>\n</body>\n</html>\n", random, size)


def answer(random: Random, size: int) -> str:
    """A JSON object of about that many characters."""
    items = list(_parts(_record, random, size))
    return f'{{"total_count":{len(items)},"items":[{",".join(items)}]}}'


def script(random: Random, size: int) -> str:
    """A script as bundlers leave it, of about that many characters."""
    return _filled(f'/*! {random.randbytes(8).hex()} */\n"use strict";', _statement, "\n", random, size)


def style_sheet(random: Random, size: int) -> str:
    """A style sheet of about that many characters."""
    return _filled('@charset "UTF-8";\n', _rule, "", random, size)


def _filled(start: str, part: Callable[[Random], str], end: str, random: Random, size: int) -> str:
    return start + "".join(_parts(part, random, size - len(start) - len(end))) + end


def _parts(part: Callable[[Random], str], random: Random, size: int) -> Iterator[str]:
    while size > 0:
        found = part(random)
        size -= len(found)
        yield found


def _card(random: Random) -> str:
    number, name = random.randrange(1, 99_999), sentence(random, 3)[:-1]
    slug = "-".join(random.choices(WORDS, k=3))
    return (
        f'  <li class="item product product-item">\n    <div class="product-item-info">\n'
        f'      <a href="/{slug}.html" class="product photo product-item-photo" tabindex="-1" data-id="{number}">\n'
        f'        <img class="product-image-photo" src="/media/catalog/{slug}_{number}.jpg" alt="{name}"/></a>\n'
        f'      <strong class="product name"><a class="product-item-link" href="/{slug}.html">{name}</a></strong>\n'
        f'      <span class="price" id="price-{number}">${random.randrange(1, 900)}.{random.randrange(100):02}</span>\n'
        f"      <p>{sentence(random, 12)}</p>\n    </div>\n  </li>\n"
    )


def _record(random: Random) -> str:
    found = {
        "id": random.randrange(1, 99_999),
        "iid": random.randrange(1, 500),
        "title": sentence(random, 5),
        "description": sentence(random, 20),
        "labels": random.choices(WORDS, k=3),
        "price": round(random.random() * 900, 2),
        "web_url": f"/{'/'.join(random.choices(WORDS, k=3))}",
        "confidential": random.random() < 0.1,
        "closed_at": None,
        "author": {"id": random.randrange(1, 900), "username": random.choice(WORDS), "state": "active"},
    }
    return json.dumps(found, separators=(",", ":"))


def _statement(random: Random) -> str:
    one, two, three = random.choices(WORDS, k=3)
    return (
        f'define("{one}/{two}",["jquery","underscore","mage/translate"],function(e,t,n){{var {three}='
        f'{{template:"<div class=\\"{two}\\">",timeout:{random.randrange(9_999)}}};return e.widget("{one}.{three}",'
        f'{{options:{three},_create:function(){{this._on({{"click .{two}":function(e){{e.preventDefault()}}}})}}}})}});'
    )


def _rule(random: Random) -> str:
    one, two = random.choices(WORDS, k=2)
    return f".{one} .{two}:hover{{margin:0 {random.randrange(40)}px;color:#{random.randrange(2**24):06x};width:100%}}\n"
