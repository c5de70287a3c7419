"""Records for every_eval_ever: rates with intervals, samples, names of files, and facts that are missing."""

from __future__ import annotations

import json
import re
import time

import pytest

from pytest_webeval import SettingsError, load_results
from pytest_webeval.exports.every_eval_ever import build_directory, format_records
from pytest_webeval.exports.settings import EvaluationFacts, ExportSettings
from pytest_webeval.safety.files import sha256
from pytest_webeval.summary.statistics import wilson
from tests.support.runs import definition
from tests.support.stored_results import MOMENT, result, row, write_results, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")

FACTS = {"benchmark": "shop", "model": "acme/m:1", "organization": "Us", "relationship": "other"}
SECONDS = 1768478400  # of MOMENT


@pytest.fixture(autouse=True)
def _no_fixed_time(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


def records(path, **facts):
    files = format_records(load_results(path), ExportSettings(facts=EvaluationFacts(**FACTS | facts)))
    (record_path, record), (samples_path, samples) = files.items()
    return record_path, json.loads(record), samples_path, [json.loads(line) for line in samples.splitlines()]


def test_a_record_has_the_rate_of_all_runs_and_of_sites(tmp_path):
    rows = [row(1, "r/1"), row(2, "r/2", "failure"), row(3, "r/3", sites=["map", "a"]), row(4, "r/4", sites=[])]
    ignored = [row(5, "r/5", "excluded"), row(6, "r/6", "excluded", excluded_as="ungraded")]
    _, record, *_ = records(write_summary(tmp_path, *rows, *ignored))
    assert [
        (each["evaluation_name"], each["score_details"]["score"], each["score_details"]["details"])
        for each in record["evaluation_results"]
    ] == [
        ("shop", 0.75, {"successes": "3", "runs": "4", "tasks": "4"}),
        ("shop/a-map", 1.0, {"successes": "1", "runs": "1", "tasks": "1"}),
        ("shop/shopping", 0.5, {"successes": "1", "runs": "2", "tasks": "2"}),
    ]
    first = record["evaluation_results"][0]
    low, high = wilson(3, 4)
    interval = {"lower": low, "upper": high, "confidence_level": 0.95, "method": "Wilson, over tasks"}
    assert first["score_details"]["uncertainty"] == {"confidence_interval": interval, "num_samples": 4}
    assert first["source_data"] == {
        "dataset_name": "shop",
        "source_type": "other",
        "additional_details": {"checksum": "d1d1"},
    }
    metric = first["metric_config"]
    assert (metric["score_type"], metric["min_score"], metric["max_score"]) == ("continuous", 0.0, 1.0)
    assert metric["additional_details"] == {"rules": "strict", "evaluators_checksum": "e1e1"}


def test_runs_of_one_task_count_as_one_task_in_the_interval(tmp_path):
    _, record, *_ = records(write_summary(tmp_path, row(1, "a/1"), row(1, "b/1", "failure")))
    (only,) = record["evaluation_results"]
    low, high = wilson(0.5, 1)
    uncertainty = only["score_details"]["uncertainty"]
    assert (uncertainty["confidence_interval"]["lower"], uncertainty["confidence_interval"]["upper"]) == (low, high)
    assert uncertainty["num_samples"] == 2


def test_the_head_of_a_record_has_the_facts(tmp_path):
    path = write_summary(tmp_path, row(1, "r/1"))
    _, record, *_ = records(path)
    assert record["source_metadata"] == {
        "source_type": "evaluation_run",
        "source_organization_name": "Us",
        "evaluator_relationship": "other",
    }
    assert record["eval_library"] == {"name": "pytest-webeval", "version": "0.2.0"}
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    assert record["model_info"] == {"name": "acme/m:1", "id": "acme/m:1", "additional_details": unknown}
    assert (record["evaluation_timestamp"], record["retrieved_timestamp"]) == (MOMENT, str(SECONDS))
    assert record["evaluation_id"] == f"shop/acme/m:1/{SECONDS}"
    facts = {"deployment": "self_deployed", "availability": "open_weights", "developer": "Acme", "dataset_url": "u:v"}
    _, record, *_ = records(path, **facts)
    assert record["model_info"]["developer"] == "Acme"
    assert list(record["model_info"]["additional_details"].values()) == ["self_deployed", "open_weights"]
    assert record["evaluation_results"][0]["source_data"]["source_type"] == "url"
    assert record["evaluation_results"][0]["source_data"]["url"] == ["u:v"]


def test_files_are_named_by_their_content(tmp_path):
    path, record, samples_path, samples = records(write_summary(tmp_path, row(1, "r/1")))
    assert re.fullmatch(r"data/shop/acme/m_1/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-\w{12}\.json", path)
    assert samples_path == path.replace(".json", "_samples.jsonl")
    details = record["detailed_evaluation_results"]
    content = format_records(load_results(tmp_path), ExportSettings(facts=EvaluationFacts(**FACTS)))[samples_path]
    checksum = {"hash_algorithm": "sha256", "checksum": sha256(content), "total_rows": len(samples)}
    assert details == {"format": "jsonl", "file_path": samples_path, **checksum}
    assert records(tmp_path)[0] == path
    assert records(tmp_path, organization="They")[0] != path


def test_samples_are_the_runs_of_each_rate(tmp_path):
    write_results(tmp_path, result(1, "r/1"), result(2, "r/2", "error", sites=["map"], error_msg="cannot parse it"))
    write_summary(tmp_path, row(9, "r/9", "failure", sites=["map"]))
    _, record, _, samples = records(tmp_path)
    names = [each["evaluation_result_id"] for each in record["evaluation_results"]]
    assert names == [f"{name}#success_rate" for name in ("shop", "shop/map", "shop/map-shopping")]
    assert [(sample["evaluation_result_id"], sample["sample_id"]) for sample in samples] == [
        *((names[0], task_id) for task_id in "129"),
        *((names[1], task_id) for task_id in "29"),
        (names[2], "1"),
    ]
    solved, erring, unanswered = samples[:3]
    assert solved["evaluation"] == {"score": 1.0, "is_correct": True}
    assert [message["content"] for message in solved["messages"]] == ['["lamp", 2]']
    assert solved["answer_attribution"][0]["extracted_value"] == '["lamp", 2]'
    assert solved["metadata"] == {"run": "r/1", "status": "success", "sites": "map-shopping", "rules": "default"}
    assert (solved["error"], erring["error"], erring["evaluation"]["score"]) == (None, "cannot parse it", 0.0)
    assert (unanswered["messages"], unanswered["answer_attribution"], unanswered["error"]) == ([], [], None)
    assert {sample["evaluation_id"] for sample in samples} == {record["evaluation_id"]}
    assert {sample["model_id"] for sample in samples} == {"acme/m:1"}
    assert {sample["input"]["raw"] for sample in samples} == {""}


def test_intents_come_from_a_task_file(tmp_path):
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([definition(1) | {"intent": "Find ü."}, {"task_id": 2}]))
    path = write_summary(tmp_path, *(row(task_id, f"r/{task_id}") for task_id in (1, 2, 3)))
    *_, samples = records(path, tasks=str(tasks))
    assert [sample["input"]["raw"] for sample in samples] == ["Find ü.", "", ""]


@pytest.mark.parametrize(
    ("timestamp", "given", "seconds"),
    [
        (MOMENT, None, SECONDS),
        ("2026-01-15T12:00:00", None, SECONDS),
        ("2026-01-15T13:00:00+01:00", None, SECONDS),
        (MOMENT, "17", 17),
        ("yesterday", None, 99),
        ("", None, 99),
        ("9999-12-31T23:59:59-23:59", None, 253402387139),
    ],
)
def test_the_time_of_a_record_is_given_or_that_of_the_session_or_now(tmp_path, monkeypatch, timestamp, given, seconds):
    monkeypatch.setattr(time, "time", lambda: 99.5)
    if given:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    _, record, *_ = records(write_summary(tmp_path, row(1, "r/1"), timestamp=timestamp))
    assert record["retrieved_timestamp"] == str(seconds)
    assert record.get("evaluation_timestamp", "") == timestamp


@pytest.mark.parametrize("given", ["", "now", "-1", "٣"])
def test_an_invalid_time_is_refused(tmp_path, monkeypatch, given):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(SettingsError, match=r"invalid SOURCE_DATE_EPOCH '.*'; use seconds, e.g. 1700000000"):
        records(write_summary(tmp_path, row(1, "r/1")))


def test_missing_facts_are_named_at_once(tmp_path):
    path = write_summary(tmp_path, row(1, "r/1"))
    with pytest.raises(SettingsError, match=r"^every-eval-ever requires --benchmark, --relationship; results do not"):
        records(path, benchmark=None, relationship=None)
    with pytest.raises(SettingsError, match=r"holds no run with a verdict; every-eval-ever requires one"):
        records(write_summary(tmp_path, row(1, "r/1", "excluded")))


@pytest.mark.parametrize(
    ("facts", "directory"),
    [
        ({}, "data/shop/acme/m_1"),
        ({"model": "a/b/c"}, "data/shop/a/b_c"),
        ({"model": "m-1", "developer": "Acme Labs"}, "data/shop/Acme Labs/m-1"),
        ({"model": "m-1"}, "--model 'm-1' names no developer; use DEVELOPER/MODEL, or --developer"),
        ({"benchmark": "a/b"}, "invalid --benchmark part 'a/b'; use letters"),
        ({"benchmark": "data"}, "invalid --benchmark part 'data'"),
        ({"model": "a/.."}, "invalid --model part '..'"),
        ({"model": "a//b"}, "invalid --model part ''"),
        ({"model": "a/unknown"}, "invalid --model part 'unknown'"),
        ({"model": "a/m."}, "invalid --model part 'm.'"),
        ({"model": "Con.x/m"}, "invalid --model part 'Con.x'"),
        ({"model": "m", "developer": "x/y"}, "invalid --developer part 'x/y'"),
        ({"model": "a/b\\c"}, "invalid --model part"),
        ({"model": "a/ü"}, "invalid --model part"),
    ],
)
def test_the_directory_is_that_of_the_data_store_or_the_fact_is_refused(facts, directory):
    known = EvaluationFacts(**FACTS | facts)
    if directory.startswith("data/"):
        assert build_directory(known) == directory
    else:
        with pytest.raises(SettingsError, match=f"^{re.escape(directory)}"):
            build_directory(known)
