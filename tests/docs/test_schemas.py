"""The pages about files and their schemas say the same, and the site has each schema at its address."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.schemas.registry import SCHEMAS, load_schema

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = runpy.run_path(str(DOCS / "_ext/generated.py"))


def section(title):
    """A section of the page about result files, with the sections below it."""
    text = (DOCS / "reference/result-files.md").read_text("utf-8")
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def in_first_cells(text):
    return {code for row in re.findall(r"^\| (.*?) \|", text, re.MULTILINE) for code in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize("name", ["eval_result", "eval_summary"])
def test_the_fields_of_a_page_are_those_of_the_schema(name):
    fields, page = load_schema(name)["properties"], section(f"{name}.json").partition("### Side files")[0]
    assert in_first_cells(page) == (fields.keys() | fields["webeval"]["properties"].keys())


def test_the_fields_of_a_side_file_are_those_of_the_schema():
    schema = load_schema("eval_summary")
    fields = schema["properties"]["webeval"]["properties"]["side_files"]["items"]["properties"]
    assert in_first_cells(section("eval_summary.json").partition("### Side files")[2]) == fields.keys()


def test_the_sentence_about_assertions_names_the_fields_of_the_schema():
    sentences = section("eval_result.json").partition("Each entry of `evaluators_results` has ")[2]
    definitions = load_schema("eval_result")["$defs"]
    evaluator, _, rest = sentences.partition(". Each assertion has\n")
    assert set(re.findall(r"`(\w+)`", evaluator)) == definitions["evaluator"]["properties"].keys()
    assertion = rest.partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", assertion)) == definitions["assertion"]["properties"].keys()


def test_the_page_lists_each_schema_with_its_files_and_its_address():
    text = GENERATED["expand"]((DOCS / "reference/schemas.md").read_text("utf-8"))
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| \[(.+?)\]\((.+?)\) \|$", text, re.MULTILINE)
    assert [(name, title, link, address) for name, title, _, link, address in rows] == [
        (schema.name, schema.title, schema.published_name, schema.address) for schema in SCHEMAS
    ]
    files = {name: cell for name, _, cell, _, _ in rows}
    assert files["network_har"] == "`network.har`, (`*.har`)"
    assert files["comparison"] == "(`comparison.json`)"


def test_the_page_names_the_version_that_is_written():
    text = (DOCS / "reference/schemas.md").read_text("utf-8")
    assert f'`"schema_version": {SCHEMA_VERSION}`' in text
    assert f"`schema_version {SCHEMA_VERSION + 1} is newer than {SCHEMA_VERSION}; update pytest-webeval`" in text


def test_the_site_has_each_schema_at_its_address(tmp_path):
    registered = {}
    app = SimpleNamespace(connect=registered.__setitem__, outdir=str(tmp_path), builder=SimpleNamespace(format="html"))
    GENERATED["setup"](app)
    registered["build-finished"](app, None)
    written = {path.name: json.loads(path.read_text("utf-8")) for path in (tmp_path / "schemas").iterdir()}
    assert written == {schema.address.rpartition("/schemas/")[2]: load_schema(schema.name) for schema in SCHEMAS}


@pytest.mark.parametrize(("kind", "error"), [("html", OSError("no room")), ("latex", None)])
def test_no_other_build_writes_schemas(tmp_path, kind, error):
    registered = {}
    app = SimpleNamespace(connect=registered.__setitem__, outdir=str(tmp_path), builder=SimpleNamespace(format=kind))
    GENERATED["setup"](app)
    registered["build-finished"](app, error)
    assert not list(tmp_path.iterdir())
