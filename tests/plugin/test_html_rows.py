"""Names and texts of rows on pytest-html's page."""

from __future__ import annotations

import html
import json
import re

import pytest

from pytest_webeval.plugin.reporting import attachments
from tests.support import canaries, recorded

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def page_of(path):
    page = path.read_text("utf-8")
    return json.loads(html.unescape(re.search(r'data-jsonblob="([^"]*)"', page)[1]))["tests"]


def rows_of(path):
    return {nodeid: row for nodeid, rows in page_of(path).items() for row in rows}


def name_of(row):
    return re.search(r'<td class="col-testId"[^>]*>(.*)</td>', row["resultsTableRow"][1])[1]


def texts_of(row, directory):
    """The texts that a row links to, by their names."""
    return {
        each["name"]: (directory / each["content"]).read_text("utf-8")
        for each in row["extras"]
        if each["format_type"] == "text"
    }


@pytest.mark.parametrize("spread", [(), ("-n2",)])
def test_a_row_is_called_by_its_task_and_says_its_node_id_where_a_mouse_points(runs, webeval_apart, pytester, spread):
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, name="again/0109")
    (runs.add(110) / "network.har").write_text("{")
    runs.define(runs.definition(111))
    webeval_apart("--html=out.html", "--webeval-require-all", *spread)
    rows = rows_of(pytester.path / "out.html")
    assert {nodeid: name_of(row) for nodeid, row in rows.items()} == {
        "runs/107::task": "runs/107",
        "runs/108::task": "runs/108",
        "runs/again/0109::task": "runs/again/0109 (task 109)",
        "runs/110::task": "runs/110",
        "runs/111::missing": "runs/111",
    }
    assert all(f'title="{nodeid}"' in row["resultsTableRow"][1] for nodeid, row in rows.items())


def test_python_tests_keep_their_names(runs, webeval, pytester):
    runs.add(107)
    (module := pytester.path / "test_of_mine.py").write_text("def test_more(webeval_run, record_evaluation): pass")
    webeval("runs", str(module), "--html=out.html")
    names = [name_of(row) for row in rows_of(pytester.path / "out.html").values()]
    assert names == ["runs/107", "test_of_mine.py::test_more[runs/107]"]


def test_the_row_of_a_broken_teardown_says_that_it_is_one(runs, webeval, pytester):
    runs.add(107)
    broken = "import pytest\n@pytest.fixture(autouse=True)\ndef broken():\n    yield\n    raise RuntimeError\n"
    pytester.makeconftest(broken)
    webeval("--html=out.html")
    ((run, teardown),) = page_of(pytester.path / "out.html").values()
    assert (name_of(run), name_of(teardown)) == ("runs/107", "runs/107::task::teardown")


def test_a_task_with_an_odd_name_is_spelled_in_ascii(tree, webeval, pytester):
    tree('"><b>\u202eä')
    webeval("--html=out.html")
    ((nodeid, row),) = rows_of(pytester.path / "out.html").items()
    assert re.fullmatch(r"runs/[\w./%~-]*%22%3E%3Cb%3E%E2%80%AE%C3%A4", name_of(row))
    assert name_of(row) == nodeid.removesuffix("::task")


@pytest.mark.parametrize("spread", [(), ("-n2",)])
def test_a_failure_links_to_the_answer_and_to_the_differences(runs, webeval_apart, pytester, spread):
    runs.add(107)
    runs.add(108, passes=False, expects=(runs.visited("__SHOPPING__/cart"),))
    webeval_apart("--html=pages/out.html", *spread)
    rows = rows_of(pytester.path / "pages/out.html")
    assert texts_of(rows["runs/107::task"], pytester.path / "pages") == {}
    texts = texts_of(rows["runs/108::task"], pytester.path / "pages")
    assert json.loads(texts["answer"]) == {
        "task_type": "RETRIEVE",
        "status": "NOT_FOUND_ERROR",
        "retrieved_data": None,
        "error_details": None,
    }
    assert 'NetworkEventEvaluator\n  url: different\n    expected "__SHOPPING__/cart"' in texts["differences"]


@pytest.mark.parametrize("spread", [(), ("-n2",)])
def test_a_page_of_one_file_shows_both_in_the_row(runs, webeval_apart, pytester, spread):
    runs.add(108, passes=False, expects=(runs.visited("__SHOPPING__/cart"),))
    webeval_apart("--html=out.html", "--self-contained-html", *spread)
    (row,) = rows_of(pytester.path / "out.html").values()
    assert [each["format_type"] for each in row["extras"]] == ["url"]
    answer, differences = row["log"].split(" differences ")
    assert re.search(r"- answer -+\n\{\n  &quot;task_type&quot;: &quot;RETRIEVE&quot;", answer)
    assert "  url: different\n    expected &quot;__SHOPPING__/cart&quot;" in differences


def test_a_failed_trajectory_shows_its_answer(tree, webeval, pytester):
    answer = "It costs\r\n12 €"
    tree("books_1", answer=recorded.final_answer(answer), scores=recorded.score_file(recorded.payload(outcome=False)))
    webeval("--html=out.html")
    (row,) = rows_of(pytester.path / "out.html").values()
    assert texts_of(row, pytester.path) == {"answer": "It costs\n12 €"}


@pytest.mark.parametrize("options", [(), ("--self-contained-html",)])
def test_hostile_texts_stay_texts(tree, webeval, pytester, options):
    judged = recorded.score_file(recorded.payload(outcome=False))
    tree("books_1", answer=recorded.final_answer(HOSTILE), scores=judged)
    webeval("--html=out.html", *options)
    (row,) = rows_of(pytester.path / "out.html").values()
    spelled = "<script>alert(1)</script>\\u001b[31m\\u202e"
    if options:
        assert html.escape(spelled) in row["log"]
        assert "<script" not in json.dumps(row)
    else:
        assert texts_of(row, pytester.path) == {"answer": spelled}
        assert all(each["format_type"] != "html" for each in row["extras"])


def test_runs_whose_names_become_the_same_in_files_have_files_of_their_own(tree, webeval, pytester):
    judged = recorded.score_file(recorded.payload(outcome=False))
    for name in ("a_1", "a~1"):
        tree(name, answer=recorded.final_answer(f"answer of {name}"), scores=judged)
    webeval("--html=out.html")
    rows = rows_of(pytester.path / "out.html")
    found = {name_of(row).rpartition("/")[2]: texts_of(row, pytester.path)["answer"] for row in rows.values()}
    assert found == {"a_1": "answer of a_1", "a~1": "answer of a~1"}


def test_all_texts_share_the_room_equally(runs, webeval, pytester, monkeypatch):
    monkeypatch.setattr(attachments, "ALL_TEXTS", 2 * 2 * 50)
    for number in (101, 102):
        (runs.add(number, passes=False) / "agent_response.json").write_text("x" * 100)
    webeval("--html=out.html")
    rows = rows_of(pytester.path / "out.html")
    assert {texts_of(row, pytester.path)["answer"] for row in rows.values()} == {"x" * 49 + "…"}


@pytest.mark.parametrize(("mode", "leaks"), [("default", False), ("strict", False), ("off", True)])
@pytest.mark.parametrize("options", [(), ("--self-contained-html",)])
def test_texts_are_redacted_as_the_session_is(runs, webeval, pytester, mode, leaks, options):
    path = runs.add(101, expects=(canaries.expectation("form"),))
    canaries.as_har(path, "form")
    (path / "agent_response.json").write_text(canaries.answer())
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    webeval("--webeval-config=config.json", "--html=out/out.html", f"--webeval-redact={mode}", *options)
    files = [file.read_bytes() for file in (pytester.path / "out").rglob("*") if file.is_file()]
    assert bool(canaries.seen(*files)) is leaks
    assert any(b"differences" in content for content in files)
