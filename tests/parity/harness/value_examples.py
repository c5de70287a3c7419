"""Values of every type, rare ones included, and how some of them are written otherwise."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any


def base64_of(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(text.encode()).decode()


_STREET = {"house_number": "117", "street": "South Bouquet Street", "city": "Pittsburgh", "state": "Pennsylvania"}
ADDRESS = {**_STREET, "postcode": "15213"}
# Values of each type. Each is expected in turn, and each is given where another is expected.
VALUES: Mapping[str, tuple[Any, ...]] = {
    "string": (
        "Blue Mug",
        "Café – Bar",  # noqa: RUF001
        "O'Neil",
        "WH-1000",
        "15231",
        "",
        "...",
        "null",
        "½ cup",
        "a\nb",
        "x" * 300,
        "№ 5",
        "™",
    ),
    "number": (5, 0, -5, 1234.5, 1, 0.3, 1000000, "1,000", "five", 1e300, 23, 100),
    "integer": (7, 0, 392915, -1, "12"),
    "currency": (10, 1234.56, -50, 0, 0.99, "$5.00", "1.234,56 €", 1e6, 19.999),
    "date": (
        "2023-01-05",
        "March 2, 2022",
        "05/01/2023",
        "January 5th, 2023",
        "2024-02-29",
        "March 2022",
        "12:30",
        "20230105",
    ),
    "duration": ("10 min", "1h", "2h30m", "01:33:00", "100h", "0 min", "1 day", "90 s", "2 weeks"),
    "distance": ("100 m", "5km", "459km", "1 mi", "0 m", "1.5 miles", "26 ft"),
    "coordinates": (
        {"latitude": "40.7128", "longitude": "-74.006"},
        {"lat": 0, "lon": -179},
        {"latitude": 90, "longitude": 180},
        "40.7128, -74.006",
    ),
    "month": ("January", "Sept", "05", 12, "2023-05", "May 2023"),
    "boolean": (True, False, "yes", 0, "off"),
    "url": (
        "git@__SSH_HOST__:a/b.git",
        "http://shop.test:7770/a?x=1",
        "https://elsewhere.test/A/b/",
        "__SHOPPING__/a",
        "http://git.test:8023/a%20b#c",
        "ssh://git@git.test:2222/a/b.git",
    ),
    "location-name": (
        "Carnegie Mellon University",
        "The Tavern",
        "abcde",
        "abcd",
        "Pittsburgh, PA",
        "Café Ö",
        "7-Eleven",
    ),
    "full_address": (
        ADDRESS,
        {**ADDRESS, "name": "Five Guys"},
        {**ADDRESS, "street": "S Bouquet St", "state": "PA"},
        {**ADDRESS, "house_number": 117, "postcode": 15213},
        {**ADDRESS, "postcode": "15213-1234"},
        {**ADDRESS, "city": "SF"},
        {**ADDRESS, "street": "Main Avenue"},
        {**ADDRESS, "street": "Main Street", "house_number": "117A"},
        _STREET,
        {**ADDRESS, "state": "England", "postcode": "SW1A 2AA"},
        {**ADDRESS, "state": "Puerto Rico"},
        {**ADDRESS, "street": ""},
        "117 S Bouquet St, Pittsburgh, PA 15213",
    ),
    "markdown": (
        "# A\n\nB",
        "- x\n- y",
        "  - x\n  - y",
        "[a b](http://red.test:9999/u)",
        "a\n\n\n\nb",
        "**bold** _it_",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "1. one\n2. two",
        "```\ncode  \n```",
        "café",
        "> quote",
        "a\\\nb  \nc",
    ),
    "json": (
        '{"a":2,"b":1}',
        '{"a":{"b":2,"c":[1,2]}}',
        "[1,2]",
        '{"a":1.0}',
        '{"A":"X-y é"}',
        "{}",
        '"text"',
        "null",
        '{"urls": ["http://red.test:9999/f"]}',
        "[]",
        '{"a":1,"a":2}',
    ),
    "string_list": ("3,2,1", "a,b", "a", "9,10", "a;b", "Ä, ö", "", "a,,b", "1,2."),
    "base64": (
        base64_of("Hello"),
        base64_of("MIT\nLicense"),
        "^.*MIT.*$",
        base64_of("a\r\nb"),
        base64_of("é"),
        "YQ",
        base64_of("Hello  ")[:-1],
        "not base64!",
    ),
    "null": (None, "", "N/A", "none", "-", 0, False, "undefined", " n / a ", {}),
    "email": ("a@b.test", "A@B.test "),
    "no such type": ("x", 5),
}
# How some types are written otherwise, where no table of spellings knows them.
REWRITTEN: Mapping[str, Callable[[Any], Any]] = {
    "capitals": lambda value: value.upper(),
    "CRLF": lambda value: value.replace("\n", "\r\n"),
    "blanks at line ends": lambda value: value.replace("\n", "  \n") + " ",
    "blank lines": lambda value: value.replace("\n", "\n\n\n"),
    "no blank lines": lambda value: value.replace("\n\n", "\n"),
    "other bullets": lambda value: value.replace("- ", "* "),
    "plus bullets": lambda value: value.replace("- ", "+ "),
    "wide bullets": lambda value: value.replace("- ", "-   "),
    "tabs": lambda value: value.replace("  ", "\t"),
    "wide headings": lambda value: value.replace("# ", "#   "),
    "tight headings": lambda value: value.replace("# ", "#"),
    "wide links": lambda value: value.replace("[", "[ ").replace("](", " ]( ").replace(")", " )"),
    "broken links": lambda value: value.replace("[a b]", "[a\nb]"),
    "underlines": lambda value: value.replace("**", "__"),
    "wide JSON": lambda value: value.replace(":", " : ").replace(",", " , "),
    "tight JSON": lambda value: value.replace(" ", ""),
    "reversed": lambda value: ",".join(reversed(value.split(","))),
    "blanks behind commas": lambda value: value.replace(",", ", "),
    "semicolons": lambda value: value.replace(",", ";"),
    "in brackets": lambda value: f"[{value}]",
    "twice": lambda value: f"{value},{value}",
    "padding lost": lambda value: value.rstrip("="),
    "URL alphabet": lambda value: value.replace("+", "-").replace("/", "_"),
    "line break inside": lambda value: f"{value[:4]}\n{value[4:]}",
    "in base64": base64_of,
    "in base64 with blanks": lambda value: base64_of(f" {value}\n"),
}
