"""The check of what tests leave sees each file of ours, and what is wrong with it."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.storage import write_json
from pytest_webeval.summary.summarize import summarize
from tests.support.schema_checks import list_problems


@pytest.fixture
def contents(bench):
    """What is in a result, a summary and a comparison."""
    bench.record()
    result = bench.score(bench.task(bench.expecting()))
    comparison = {"schema_version": SCHEMA_VERSION, "comparisons": [], "gates": []}
    return {
        "eval_result.json": result.to_json(),
        "eval_summary.json": summarize([result]).to_json(),
        "any.json": comparison,
    }


@pytest.mark.parametrize("name", ["eval_result.json", "eval_summary.json", "any.json"])
def test_a_file_of_ours_is_checked(contents, tmp_path_factory, name):
    root = tmp_path_factory.mktemp("checked")
    write_json(root / "a/b" / name, contents[name])
    assert list_problems(root) == []
    write_json(root / "a/b" / name, contents[name] | {"zzz": 1})
    (problem,) = list_problems(root)
    assert problem.startswith(f"a/b/{name}: Additional properties are not allowed ('zzz' was unexpected)")
    (root / "a/b" / name).unlink()


def test_a_summary_of_any_name_is_checked(contents, tmp_path_factory):
    root = tmp_path_factory.mktemp("checked")
    write_json(root / "then.json", contents["eval_summary.json"] | {"total": "1"})
    assert list_problems(root) == ["then.json: '1' is not of type 'integer' @ $.total"]
    (root / "then.json").unlink()


@pytest.mark.parametrize(("added_by", "count"), [("fara", 1), ("webarena-verified", 1), ("mine", 0)])
def test_only_a_format_of_ones_own_adds_keys(contents, tmp_path_factory, added_by, count):
    root = tmp_path_factory.mktemp("checked")
    content = contents["eval_result.json"]
    write_json(root / "eval_result.json", content | {"webeval": content["webeval"] | {"format": added_by, "zzz": 1}})
    assert len(list_problems(root)) == count
    (root / "eval_result.json").unlink()


def test_what_is_no_json_or_of_others_is_told_apart(contents, tmp_path_factory):
    root = tmp_path_factory.mktemp("checked")
    (root / "eval_result.json").write_text(json.dumps(contents["eval_result.json"] | {"score": float("nan")}))
    (root / "other.json").write_text("{")
    (root / "eval_summary.json").symlink_to("other.json")
    assert list_problems(root) == ["eval_result.json: NaN is not JSON"]
    (root / "eval_result.json").unlink()
