"""Which tasks count as published: those whose digest is in the table, whatever else their definition says."""

from __future__ import annotations

import io
import json
import re
import tarfile
import zipfile

import pytest

from pytest_webeval.tasks.task import PUBLISHED_DIGESTS, TrajectoryTask, load_published_digests, read_task
from tests.support.write_published_digests import digest_row, format_table, list_digests

ANSWER = {
    "evaluator": "AgentResponseEvaluator",
    "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["Müg"]},
}
ROW = {"task_id": 7, "intent": "Find it.", "start_urls": ["__SHOPPING__"], "sites": ["shopping"], "eval": [ANSWER]}


def test_the_table_has_each_digest_once_in_order():
    lines = PUBLISHED_DIGESTS.read_text("ascii").splitlines()
    assert all(re.fullmatch("[0-9a-f]{32}", line) for line in lines)
    assert lines == sorted(load_published_digests())
    assert len(lines) == 1_070  # 812 tasks, of which 258 are spelt in two ways


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"intent": "Look for it."},
        {"start_urls": []},
        {"revision": 3, "intent_template_id": 5, "intent_template": "x", "instantiation_dict": {"a": 1}},
        {"task_id": "7"},
    ],
)
def test_what_no_verdict_depends_on_does_not_count(publish, changes):
    publish(ROW)
    row = dict(reversed((ROW | changes).items()))
    assert read_task(row, "a test").is_published


@pytest.mark.parametrize(
    "changes",
    [
        {"task_id": 8},
        {"task_id": "seven"},
        {"sites": ["shopping", "map"]},
        {"sites": []},
        {"eval": [ANSWER, ANSWER]},
        {"eval": [ANSWER | {"ordered": False}]},
        {"eval": [ANSWER | {"expected": ANSWER["expected"] | {"retrieved_data": ["Mug"]}}]},
    ],
)
def test_a_task_with_another_check_id_or_site_is_not_published(publish, changes):
    publish(ROW)
    assert not read_task(ROW | changes, "a test").is_published


def test_neither_a_task_of_ones_own_nor_a_trajectory_is_published():
    assert not read_task(ROW, "a test").is_published
    assert not TrajectoryTask(task_id="7").is_published


def test_half_of_a_surrogate_pair_has_a_digest_too():
    assert not read_task(ROW | {"eval": [{"evaluator": "\ud800"}]}, "a test").is_published


def test_the_script_reads_the_tasks_in_all_json_files_of_a_release(tmp_path):
    other = ROW | {"task_id": 8}
    files = {
        "a/data.json": [ROW, other],
        "a/hard.json": [ROW],
        "a/raw.json": [ROW | {"eval": {"eval_types": ["string_match"]}}],
        "a/subset.json": {"task_ids": [7]},
    }
    wheel, source = tmp_path / "a.whl", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a/x.txt", "x")
        for name, content in files.items():
            archive.writestr(name, json.dumps(content))
    with tarfile.open(source, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(json.dumps(content))
            archive.addfile(member, io.BytesIO(json.dumps(content).encode()))
    expected = format_table([digest_row(ROW, "a"), digest_row(other, "a")])
    assert expected.count("\n") == 2
    assert [format_table(list_digests(path)) for path in (wheel, source)] == [expected, expected]
