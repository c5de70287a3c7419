"""The style of the report: each colour has a light and a dark value, and the schemes of the reader choose both."""

from __future__ import annotations

import re
from importlib.resources import files

STYLE = files("pytest_webeval.reports.html").joinpath("assets", "report.css").read_text("utf-8")
COLOURS = re.search(r"^:root \{([^}]+)\}", STYLE, re.MULTILINE)[1]


def test_each_colour_of_the_report_has_a_light_and_a_dark_value():
    pairs = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\);", COLOURS)
    assert len(pairs) > 20
    assert [name for name, light, dark in pairs if light == dark] == []
    assert len(pairs) == len(re.findall(r"#[0-9a-f]{3,8}\b", COLOURS)) / 2


def test_only_marks_on_pictures_and_paper_have_a_colour_that_no_scheme_changes():
    rules = STYLE.replace(COLOURS, "")
    assert set(re.findall(r"(?<=[\s:(])#[0-9a-f]{3,8}\b(?=[;,\s)])", rules)) == {"#d6006c", "#fff"}


def test_the_reader_chooses_a_scheme_without_a_script_too():
    for scheme in ("light", "dark"):
        chosen = (
            f':root:is([data-theme="{scheme}"], :has(> body > #theme-{scheme}:target)) {{ color-scheme: {scheme}; }}'
        )
        assert chosen in STYLE
