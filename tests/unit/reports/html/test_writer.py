"""The files of our own report: texts of strangers mean nothing in them, and nobody sees half of one."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.reports.html.writer import (
    data_name,
    inert_json,
    read_report_script,
    task_script,
    write_copy,
    write_page,
    write_single,
    write_task,
)
from tests.browser import pages


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        ("</script>", '"\\u003c/script\\u003e"'),
        ("<!--", '"\\u003c!--"'),
        ("a & b", '"a \\u0026 b"'),
        ("\u2028\u2029", '"\\u2028\\u2029"'),
        ("é", '"é"'),
        ("\x00\x1b", '"\\u0000\\u001b"'),
        ("\ud800", '"\\\\ud800"'),
        ([float("nan"), float("-inf")], '[\n  "NaN",\n  "-Infinity"\n]'),
    ],
)
def test_json_in_a_page_means_nothing_to_html(value, text):
    assert inert_json(value) == text


def test_json_that_is_nested_deeply_is_the_same_json():
    deep = []
    for _ in range(900):
        deep = [deep]
    assert json.loads(inert_json(deep)) == deep


def test_the_name_of_the_data_of_a_task_is_made_of_its_label():
    assert data_name("runs/107") == "task-" + hashlib.sha256(b"runs/107").hexdigest()[:16]


def test_a_task_travels_as_json_in_a_text_of_a_script():
    script = task_script("it's", {"__proto__": "'\\\n</script>"})
    label, text = re.fullmatch(r"webeval\.task\((\".*?\"), '(.*)'\);\n", script).groups()
    assert json.loads(label) == "it's"
    assert json.loads(re.sub(r"\\(.)", r"\1", text)) == {"__proto__": "'\\\n</script>"}
    assert "<" not in script


def test_a_page_is_its_own_three_files(tmp_path):
    write_page(pages.index(30), tmp_path / "new" / "report")
    assert sorted(one.name for one in (tmp_path / "new" / "report").iterdir()) == [
        "index.html",
        "report.css",
        "report.js",
    ]


def test_the_index_of_a_page_holds_what_it_was_given(tmp_path):
    given = pages.index(30)
    write_page(given, tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert json.loads(re.search(r'id="webeval-index">(.*?)</script>', text)[1]) == given


def test_the_same_index_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_page(pages.index(30), tmp_path / name)
    assert (tmp_path / "one/index.html").read_bytes() == (tmp_path / "two/index.html").read_bytes()


def test_the_index_of_10_000_tasks_stays_below_8_megabytes(tmp_path):
    write_page(pages.index(10_000), tmp_path)
    assert (tmp_path / "index.html").stat().st_size < 8_000_000


def test_totals_bars_and_groups_are_in_the_page_itself(tmp_path):
    write_page(pages.index(300), tmp_path)
    text = (tmp_path / "index.html").read_text()
    assert 'href="#group=0"' in text
    assert 'href="#site=shopping_admin"' in text
    assert 'href="#template=101"' in text
    assert text.count("<svg") > 20


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"stopped": "pytest -x after 3"}, "pytest -x after 3"),
        ({"partial": True}, "Partial session"),
        ({"title": "<b>&\x1b"}, "&lt;b&gt;&amp;\\u001b"),
        ({"title": "half \ud800"}, "half \\ud800"),
        ({"groups": []}, "Templates"),
    ],
)
def test_a_page_says_what_its_index_says(tmp_path, changes, sentence):
    write_page(pages.index(10, **changes), tmp_path)
    assert sentence in (tmp_path / "index.html").read_text()


def test_a_session_without_a_task_has_a_page(tmp_path):
    write_page(pages.index(0, sites=[], templates=[], types=[], groups=[]), tmp_path)
    assert "no scored runs" in (tmp_path / "index.html").read_text()


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        SettingsError, match=r"cannot write .*index\.html: .*; choose another directory with --webeval-report"
    ):
        write_page(pages.index(3), tmp_path / "file")


def test_a_task_lies_in_the_folder_data_under_its_name(tmp_path):
    assert write_task("runs/00001", pages.task(1), tmp_path) == data_name("runs/00001")
    assert (tmp_path / "data" / f"{data_name('runs/00001')}.js").read_text() == task_script("runs/00001", pages.task(1))


def test_a_page_of_one_file_names_the_hash_of_each_of_its_scripts(tmp_path):
    write_single(pages.index(3), [task_script("runs/00001", pages.task(1))], tmp_path / "one.html")
    text = (tmp_path / "one.html").read_text()
    for inline in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL):
        digest = b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"sha256-{digest}" in text.replace("&#43;", "+")
    assert len(list(tmp_path.iterdir())) == 1


def test_our_script_builds_nothing_out_of_text():
    text = read_report_script()
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|</script|<!--", text
    )


def test_a_copy_is_never_larger_than_it_may_be(tmp_path):
    index, directory = pages.index(3), pages.write(tmp_path, 3).parent
    assert all((directory / "data" / f"{row[index['columns'].index('data')]}.js").exists() for row in index["rows"])
    whole = write_copy(index, directory, 10_000_000).stat().st_size
    assert write_copy(index, directory, whole - 1).stat().st_size < whole
    assert write_copy(index, directory, whole + 1).stat().st_size == whole
