"""The style of the report: its two dark themes, which the system or the reader chooses, are the same."""

from __future__ import annotations

import re
from importlib.resources import files

STYLE = files("pytest_webeval.reports.html").joinpath("assets", "report.css").read_text("utf-8")


def colours(block):
    return dict(re.findall(r"(--[\w-]+): ([^;]+);", block))


def test_the_dark_theme_of_the_system_and_of_the_reader_have_the_same_colours():
    system, chosen = (part for part in re.findall(r"  :root[^{]+\{([^}]+)\}", STYLE) if "--ground: #0e1116" in part)
    assert colours(system) == colours(chosen)
    assert len(colours(system)) > 20


def test_the_dark_themes_set_each_colour_of_the_light_one():
    light = colours(re.search(r"^:root \{([^}]+)\}", STYLE, re.MULTILINE)[1])
    dark = colours(re.search(r"  :root:is\(\[data-theme=\"dark\"\][^{]+\{([^}]+)\}", STYLE)[1])
    assert {name for name, value in light.items() if value.startswith("#")} == set(dark)
