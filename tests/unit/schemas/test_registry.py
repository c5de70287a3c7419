"""Which schemas there are, and which files they are about."""

from __future__ import annotations

import json
from pathlib import PurePath

import pytest
from jsonschema import Draft202012Validator

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import PARTIAL_SUMMARY, RESULT, SCHEMA_VERSION, SUMMARY
from pytest_webeval.schemas.registry import SCHEMAS, find_schema, get_schema, load_schema
from pytest_webeval.schemas.validation import MESSAGES
from tests.support.schema_checks import FILES

# What a value can violate; the other keywords lead to these, or say something of the schema.
LEADING = {"properties", "items", "allOf", "if", "then", "else", "$ref", "$defs", "not"}
ANNOTATIONS = {"$schema", "$id", "title", "description", "default", "deprecated"}
BY_NAME = pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)


@BY_NAME
def test_a_schema_is_valid_and_has_an_address_of_its_own(schema):
    content = load_schema(schema.name)
    Draft202012Validator.check_schema(content)
    assert content["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert content["$id"] == schema.address
    assert schema.address == f"https://pytest-webeval.readthedocs.io/en/latest/schemas/{schema.name}.v1.json"
    assert content["title"] == schema.title
    assert schema.title
    assert content["description"]
    assert json.loads(schema.text) == content
    assert "\\u" not in schema.text


def test_each_file_of_the_room_is_in_the_table():
    assert sorted(path.name for path in FILES.iterdir()) == sorted(schema.published_name for schema in SCHEMAS)


def subschemas(schema):
    """A schema and all that it consists of."""
    if isinstance(schema, dict):
        yield schema
        for key in ("properties", "$defs"):
            for each in schema.get(key, {}).values():
                yield from subschemas(each)
        for key in ("items", "additionalProperties", "if", "then", "else", "not"):
            yield from subschemas(schema.get(key))
        for key in ("allOf", "anyOf"):
            for each in schema.get(key, ()):
                yield from subschemas(each)


@BY_NAME
def test_a_schema_uses_keywords_that_have_a_message(schema):
    used = {keyword for each in subschemas(load_schema(schema.name)) for keyword in each}
    assert used <= MESSAGES.keys() | LEADING | ANNOTATIONS


@BY_NAME
def test_each_field_says_what_it_is(schema):
    def is_described(field):
        return not isinstance(field, dict) or {"description", "$ref", "properties"} & field.keys()

    fields = [
        (name, field)
        for each in subschemas(load_schema(schema.name))
        if "type" in each
        for name, field in each.get("properties", {}).items()
    ]
    assert not [name for name, field in fields if not is_described(field) and name not in {"evaluator", "type"}]


@BY_NAME
def test_required_fields_are_among_the_properties(schema):
    objects = [each for each in subschemas(load_schema(schema.name)) if "type" in each and "properties" in each]
    assert not [each for each in objects if not set(each.get("required", ())) <= each["properties"].keys()]


@BY_NAME
def test_references_lead_to_definitions_that_are_used(schema):
    content = load_schema(schema.name)
    used = {each["$ref"] for each in subschemas(content) if "$ref" in each}
    assert used == {f"#/$defs/{name}" for name in content.get("$defs", {})}


@pytest.mark.parametrize(
    ("path", "name", "is_alone"),
    [
        (RESULT, "eval_result", False),
        (f"a/b/{SUMMARY}", "eval_summary", False),
        (PARTIAL_SUMMARY, "eval_summary", False),
        ("a/eval_results.json", "eval_results", False),
        ("eval_results-2-of-3.json", "eval_results", False),
        ("eval_results-00001.jsonl", "eval_results_line", False),
        ("eval_results-2-of-3-00001.jsonl", "eval_results_line", False),
        ("baseline.json", "eval_summary", True),
        ("comparison.json", "comparison", True),
        ("tasks.json", "tasks", False),
        ("tasks.jsonl", "tasks", False),
        ("107/task.json", "tasks", False),
        ("config.json", "config", True),
        ("subset.json", "subset", True),
        ("agent_response.json", "agent_response", False),
        ("network.har", "network_har", False),
        ("other.har", "network_har", True),
        ("trace/trace.network", "playwright_network", False),
        ("0-trace.network", "playwright_network", True),
        ("7_final_answer.json", "final_answer", False),
        ("7_answer.json", "final_answer", False),
        ("times.json", "times", False),
        ("web_surfer.log", "web_surfer_log", False),
        ("task_data.json", "task_data", False),
        ("a/scores/gpt_eval.json", "score_file", False),
        ("scores/mmrubric_0.8-5-3.json", "score_file", False),
        ("rubric.json", "rubric", False),
        ("metrics.json", "metrics", False),
        ("scores", None, False),
        ("scores/more/gpt_eval.json", None, False),
        ("other.json", None, False),
        ("Eval_result.json", None, False),
    ],
)
def test_the_name_of_a_file_says_its_schema(path, name, is_alone):
    found = [find_schema(PurePath(path), is_named=is_named) for is_named in (True, False)]
    assert [schema and schema.name for schema in found] == [name, None if is_alone else name]


def test_an_unknown_schema_is_refused_with_the_valid_names():
    names = ", ".join(schema.name for schema in SCHEMAS)
    with pytest.raises(SettingsError) as caught:
        get_schema("eval_suma")
    assert str(caught.value) == f"unknown schema 'eval_suma'; use one of {names}"


@pytest.mark.parametrize("name", ["eval_result", "eval_summary", "comparison"])
def test_files_that_are_ours_have_the_version_that_is_written(name):
    content = load_schema(name)
    fields = content["properties"] if name == "comparison" else content["properties"]["webeval"]["properties"]
    assert fields["schema_version"]["const"] == SCHEMA_VERSION
