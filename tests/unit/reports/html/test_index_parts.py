"""The list of very many runs in parts: each row is where the page looks for it, and nothing grows with the runs."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from msgspec.structs import replace

from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.html.index_page import MOST_LISTED, MOST_ROWS, index_view
from pytest_webeval.reports.html.index_parts import LabelOrder, ListName, PartWriter, write_index
from pytest_webeval.reports.html.index_rows import IndexRow, IndexTally
from pytest_webeval.reports.html.report_directory import IndexRows, WrittenPages, claim_directory, write_merged_report
from pytest_webeval.reports.html.writer import write_copy, write_task
from pytest_webeval.results import SUMMARY
from pytest_webeval.summary.shard_file import SCHEMA_VERSION, ReportPart, ShardFile
from pytest_webeval.summary.summarize import summarize_records
from tests.browser import many_runs

COUNT = 700


def read_index(directory):
    text = (directory / "index.html").read_text()
    return json.loads(re.search(r'id="webeval-index">(.*?)</script>', text, re.DOTALL)[1])


def read_part(directory, number):
    """The entries of a part, as the page reads them."""
    text = (directory / "data" / f"rows-{number:05d}.js").read_text()
    name, content = re.fullmatch(r"webeval\.rows\(\"(.*?)\", '(.*)'\);\n", text).groups()
    assert name == f"rows-{number:05d}"
    return json.loads(re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], content))


def read_list(directory, listed):
    return [entry for part in listed["parts"] for entry in read_part(directory, part)]


def select_lists(index, kind):
    return {(row["value"], row["status"]): row for row in index["row_parts"]["lists"] if row["kind"] == kind}


def build_rows(directory, records, texts=None):
    return IndexRows(WrittenPages(directory), records, many_runs.Texts() if texts is None else texts, {})


def build_index(rows, count=COUNT, most_rows=0):
    return index_view(rows, many_runs.summarize(count), "agents", lambda _: None, most_rows)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A report of 700 runs in parts of 50 rows and 80 labels."""
    return many_runs.write(tmp_path_factory.mktemp("parts"), COUNT).parent


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The same rows in one page."""
    place = tmp_path_factory.mktemp("one")
    return read_index(many_runs.write(place, COUNT, most_rows=COUNT).parent)["rows"]


def test_a_page_has_all_rows_up_to_the_limit_and_no_parts(tmp_path):
    many_runs.write(tmp_path, 30, most_rows=30)
    assert "row_parts" not in read_index(tmp_path)
    assert not (tmp_path / "data").exists()


def test_a_page_with_parts_has_no_rows(directory):
    index = read_index(directory)
    assert "rows" not in index
    assert index["row_parts"]["count"] == COUNT
    assert index["row_parts"]["shared"] == "runs/"


def test_the_parts_have_the_rows_of_the_page_by_status_in_the_order_of_the_summary(directory, rows):
    index = read_index(directory)
    lists = select_lists(index, "all")
    for status in index["row_parts"]["statuses"]:
        expected = [row for row in rows if row[2] == status]
        assert (read_list(directory, lists["", status]) if expected else []) == expected
    assert sum(listed["count"] for listed in lists.values()) == COUNT


def test_each_part_but_the_last_has_the_same_number_of_rows(directory):
    for listed in read_index(directory)["row_parts"]["lists"]:
        size = 80 if listed["kind"] == "label" else 50
        lengths = [len(read_part(directory, part)) for part in listed["parts"]]
        assert sum(lengths) == listed["count"]
        assert set(lengths[:-1]) <= {size}


@pytest.mark.parametrize(("kind", "column"), [("group", 7), ("site", 4)])
def test_groups_and_sites_have_lists_of_their_own(directory, rows, kind, column):
    lists = select_lists(read_index(directory), kind)
    expected = {}
    for row in rows:
        if row[column] != -1:
            expected.setdefault((str(row[column]), row[2]), []).append(row)
    assert {name: read_list(directory, listed) for name, listed in lists.items()} == expected


def test_labels_are_in_order_and_name_the_place_of_their_run(directory, rows):
    index = read_index(directory)
    (labels,) = select_lists(index, "label").values()
    entries = read_list(directory, labels)
    assert [label for label, _, _ in entries] == sorted(row[0] for row in rows)
    assert labels["first"] == [read_part(directory, part)[0][0] for part in labels["parts"]]
    lists = {status: read_list(directory, listed) for (_, status), listed in select_lists(index, "all").items()}
    statuses = index["row_parts"]["statuses"]
    assert all(lists[statuses[status]][position][0] == label for label, status, position in entries)


def test_lists_of_all_runs_name_the_task_that_each_part_begins_with(directory):
    for listed in select_lists(read_index(directory), "all").values():
        assert listed["first"] == [read_part(directory, part)[0][1] for part in listed["parts"]]
        assert all(first <= second for first, second in pairwise(listed["first"]))


def test_values_of_filters_count_all_runs(directory, rows):
    values = read_index(directory)["row_parts"]["values"]
    assert dict(values["site"]) == {site: sum(row[4] == site for row in rows) for site in {row[4] for row in rows}}
    assert sum(count for _, count in values["status"]) == COUNT
    assert sum(count for _, count in values["group"]) == sum(row[7] >= 0 for row in rows)


def test_the_same_rows_give_the_same_bytes_however_small_the_memory_is(tmp_path):
    for name, most in (("large", 2**20), ("small", 40)):
        writer = PartWriter(tmp_path / name, most)
        for number in range(105):
            writer.add(ListName("all", "", "ab"[number % 3 == 0]), f"[{number}]", 7)
        lists = writer.close()
        assert [listed["count"] for listed in lists] == [70, 35]
    files = sorted((tmp_path / "large").iterdir())
    assert len(files) == 15
    assert all(file.read_text().count("]');") == 1 for file in files)  # also of lists that end with a complete part
    assert all(file.read_bytes() == (tmp_path / "small" / file.name).read_bytes() for file in files)


def test_rows_are_written_before_there_are_more_bytes_than_fit_into_memory_after_many_parts(tmp_path):
    writer = PartWriter(tmp_path, 1_000)
    for number in range(100):
        writer.add(ListName("all", "", "complete"), f"[{number}]", 1)
    for _ in range(15):
        writer.add(ListName("all", "", "open"), "x" * 100, 50)
    assert (tmp_path / "rows-00101.js").exists()


@pytest.mark.parametrize("most", [1, 3, 100])
def test_labels_come_in_order_however_few_fit_into_memory(tmp_path, most):
    labels = ["b", "a/10", "a/9", "\U0001f600", "\uffff", "é", "", "b"]
    order = LabelOrder(tmp_path, most)
    for position, label in enumerate(labels):
        order.add(label, position % 2, position)
    assert list(order) == sorted((label, position % 2, position) for position, label in enumerate(labels))
    assert list(tmp_path.iterdir()) == []


def test_untrusted_texts_are_texts_in_a_part(tmp_path):
    texts = ["</script><!--", "it's \\ '", "\u2028\n", "half \ud800", "__proto__"]
    records = [
        replace(many_runs.record(1), run=f"runs/{number} {text}", reason=text, task_id=number, sites=[text])
        for number, text in enumerate(texts)
    ]
    rows = build_rows(tmp_path, records, {})
    write_index(build_index(rows), rows, tmp_path)
    index = read_index(tmp_path)
    entries = read_list(tmp_path, select_lists(index, "all")["", "success"])
    shown = [text.replace("\ud800", "\\ud800") for text in texts]
    assert [row[10] for row in entries] == shown
    assert [row[0] for row in entries] == [f"runs/{number} {text}" for number, text in enumerate(shown)]
    assert all("<" not in part.read_text() for part in (tmp_path / "data").iterdir())


def test_a_status_that_nobody_knows_is_listed(tmp_path):
    rows = build_rows(tmp_path, [replace(many_runs.record(1), status="new")])
    write_index(build_index(rows), rows, tmp_path)
    assert [row[2] for row in read_part(tmp_path, 1)] == ["new"]


def test_what_the_page_lists_is_bounded(tmp_path):
    count = 2 * MOST_LISTED
    records = [
        replace(many_runs.record(1), run=f"runs/{number}", task_id=number, template=number, sites=[f"site {number}"],
                task_type=f"type {number}", status="failure", failure=["E", f"field {number}", "different"])
        for number in range(count)
    ]  # fmt: skip
    summary = many_runs.summarize(COUNT)
    groups = [
        {"evaluator": "E", "field": f"field {number}", "kind": "different", "text": "t", "count": 1, "runs": []}
        for number in range(count)
    ]
    summary = replace(summary, webeval=summary.webeval | {"failures": groups})
    rows = build_rows(tmp_path, records, {})
    index = index_view(rows, summary, "agents", lambda _: None, 10)
    write_index(index, rows, tmp_path)
    assert [len(index[name]) for name in ("groups", "sites", "types", "templates")] == [MOST_LISTED] * 4
    assert index["row_parts"]["more"] == dict.fromkeys(("groups", "sites", "types", "templates"), MOST_LISTED)
    text = (tmp_path / "index.html").read_text()
    assert text.count("more, of fewer tasks, are not on this page") == 1
    assert text.count("more, of which fewer tasks were lost, are not on this page") == 3
    assert 'Why tasks did not succeed <span class="count">1000</span>' in text
    assert [row[7] for row in read_part(tmp_path, 1)][MOST_LISTED - 1 : MOST_LISTED + 1] == [MOST_LISTED - 1, -1]
    assert len(select_lists(read_index(tmp_path), "site")) == 200


@pytest.mark.parametrize(
    ("labels", "shared"),
    [
        (["runs/a/1", "runs/a/2"], "runs/a/"),
        (["runs/a/1", "runs/ab/2"], "runs/"),
        (["a/b/c/1", "a/b/2", "x"], ""),
        (["1", "a/2"], ""),
        (["runs/a/b/1", "runs/a"], "runs/"),
    ],
)
def test_directories_that_all_labels_begin_with_are_shared(labels, shared):
    records = [replace(many_runs.record(1), run=label) for label in labels]
    assert IndexTally.of(map(IndexRow, records)).directories == shared


def test_a_row_names_the_page_of_its_run_if_there_is_one(tmp_path):
    runs = [many_runs.label(number) for number in (2, 5)]
    names = [write_task(run, {}, tmp_path) for run in runs]
    (tmp_path / "data" / "task-0123456789abcdef-events.js").write_text("")
    rows = list(build_rows(tmp_path, many_runs.Records(6)))
    assert [(row.record.run, row.data) for row in rows if row.data] == list(zip(runs, names, strict=True))


def test_an_earlier_report_in_parts_is_removed(tmp_path):
    many_runs.write(tmp_path, 200)
    (tmp_path / "data" / "rows-note.js").write_text("of somebody else")
    claim_directory(tmp_path)
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["rows-note.js"]


def test_one_file_is_refused_for_so_many_runs(tmp_path):
    rows = build_rows(tmp_path, many_runs.Records(30))
    message = "--webeval-report-embed: 30 runs are too many for one file; share the directory of the report instead"
    with pytest.raises(SettingsError, match=message):
        write_copy(build_index(rows, 30), tmp_path, 10**9)


def test_a_part_is_not_written_through_a_link(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "other").write_text("kept")
    (tmp_path / "data" / "rows-00001.js").symlink_to(tmp_path / "other")
    with pytest.raises(SettingsError, match=r"cannot write .*rows-00001\.js"):
        many_runs.write(tmp_path, 200)
    assert (tmp_path / "other").read_text() == "kept"


@pytest.mark.whole
def test_merged_shards_of_many_runs_have_a_report_in_parts(tmp_path):
    count = MOST_ROWS + 1
    files = []
    for index in (1, 2):
        records = [record for record in many_runs.Records(count) if record.task_id % 2 == index - 1]
        shard = ShardFile(
            schema_version=SCHEMA_VERSION, index=index, count=2, run_count=count, split_checksum="", timestamp="",
            session={}, chosen=0, outside=0, details={}, records=records,
            report=ReportPart(title="agents", options=[], pinned=[], texts={}),
        )  # fmt: skip
        (tmp_path / str(index)).mkdir()
        files.append((tmp_path / str(index) / SUMMARY, shard))
    write_merged_report(tmp_path / "all", summarize_records(many_runs.Records(count)), files)
    index = read_index(tmp_path / "all")
    assert index["row_parts"]["count"] == count
    (labels,) = select_lists(index, "label").values()
    assert labels["count"] == count
