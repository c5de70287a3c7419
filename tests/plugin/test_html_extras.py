"""Columns, links and images of pytest-html's page."""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import zipfile
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_webeval.plugin.reporting import attachments
from pytest_webeval.plugin.reporting import pytest_html as html_extras
from tests.support import recorded
from tests.support.default_run import first_by_default

TRACE = Path(__file__).parents[1] / "recorded/playwright_trace/trace.zip"
HEAD = b"\x89PNG\r\n\x1a\n"


def png(width=1, height=1, size=64):
    return (HEAD + b"\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)).ljust(size, b"\x00")


def page_of(path):
    page = path.read_text("utf-8")
    return json.loads(html.unescape(re.search(r'data-jsonblob="([^"]*)"', page)[1]))["tests"]


def row_of(path, nodeid):
    (row,) = page_of(path)[nodeid]
    return row


def cells(row):
    return {name: text for cell in row["resultsTableRow"] for name, text in re.findall(r'col-(\w+)">(.*)</td>', cell)}


def extras(row, kind):
    return [(one["name"], one["content"]) for one in row["extras"] if one["format_type"] == kind]


@pytest.fixture
def failed(tree):
    """A trajectory that was judged a failure, with a last screenshot of its own."""

    def write(last=None, name="books_1", **changed):
        told = recorded.payload(outcome=False)
        path = tree(name, scores=recorded.score_file(told), **changed)
        (path / "screenshot3.png").write_bytes(png() if last is None else last)
        return path

    return write


@pytest.mark.parametrize("spread", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
def test_a_column_names_the_evaluators_that_did_not_succeed(runs, webeval_apart, pytester, spread):
    runs.add(107)
    runs.add(108, passes=False, expects=(runs.visited("__SHOPPING__/cart"),))
    webeval_apart("--html=out.html", *spread)
    found = [cells(row_of(pytester.path / "out.html", f"runs/{task_id}::task")) for task_id in (107, 108)]
    assert [(one["score"], one["evaluator"]) for one in found] == [("1.0", ""), ("0.0", "AgentResponse, NetworkEvent")]


@pytest.mark.parametrize(
    ("options", "page", "link"),
    first_by_default(
        [
            ((), "out.html", "runs/107/eval_result.json"),
            (("--self-contained-html",), "made/in/out.html", "../../runs/107/eval_result.json"),
            (("--webeval-output=results", "-n2"), "results/out.html", "107/eval_result.json"),
            (("--webeval-output=a b:#%",), "out.html", "a%20b%3A%23%25/107/eval_result.json"),
        ],
        2,
    ),
)
def test_a_row_leads_to_the_result_from_where_the_page_lies(runs, webeval_apart, pytester, options, page, link):
    runs.add(107)
    webeval_apart(f"--html={page}", *options)
    row = row_of(pytester.path / page, "runs/107::task")
    assert extras(row, "url") == [("eval_result.json", link)]
    assert f'href="{link}"' in row["resultsTableRow"][-1]


def test_names_of_directories_are_quoted_so_that_links_lead_nowhere_else(runs, webeval, pytester):
    runs.define(runs.definition(1))
    runs.add(2, name='javascript:alert(1)"><b>&/2', defined=False)
    runs.define(runs.definition(2))
    webeval("--html=out.html")
    ((row,),) = page_of(pytester.path / "out.html").values()
    ((_, link),) = extras(row, "url")
    assert link == "runs/javascript%3Aalert%281%29%22%3E%3Cb%3E%26/2/eval_result.json"


def test_a_row_without_a_result_leads_nowhere(runs, webeval, pytester):
    runs.add(107)
    runs.define(runs.definition(108))
    webeval("--html=out.html", "--webeval-require-all")
    assert extras(row_of(pytester.path / "out.html", "runs/108::missing"), "url") == []


@pytest.mark.parametrize("spread", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
def test_what_failed_or_could_not_be_scored_shows_its_reason_and_no_traceback(runs, webeval_apart, pytester, spread):
    runs.add(107, passes=False)
    (runs.add(108) / "network.har").write_text("{")
    runs.add(109, defined=False)
    webeval_apart("--html=out.html", *spread)
    logs = {nodeid: "".join(row["log"] for row in rows) for nodeid, rows in page_of(pytester.path / "out.html").items()}
    assert len(logs) == 3
    for log in logs.values():
        assert re.match(
            r"(?:\[gw\d\] .*\n)?"
            r"(?:agent_response\.status: |cannot parse \S*108/network\.har |task 109 is not defined)",
            log,
        )
        assert not re.search(r"Traceback|\.py:\d+|^E  ", log, re.MULTILINE)


@pytest.mark.parametrize("spread", [(), pytest.param(("-n2",), marks=pytest.mark.whole)])
def test_a_failed_trajectory_shows_what_the_agent_saw_last(failed, webeval_apart, pytester, spread):
    failed()
    webeval_apart("--html=out.html", "--self-contained-html", *spread)
    ((row,),) = page_of(pytester.path / "out.html").values()
    assert extras(row, "image") == [("last screenshot", f"data:image/png;base64,{b64encode(png()).decode()}")]


def test_beside_a_page_of_several_files_the_image_is_one_of_them(failed, webeval, pytester):
    failed()
    webeval("--html=out.html")
    ((row,),) = page_of(pytester.path / "out.html").values()
    ((_, place),) = extras(row, "image")
    assert (pytester.path / place).read_bytes() == png()


@pytest.mark.parametrize(
    ("last", "options", "shown"),
    [
        (png(size=256 * 1024), (), True),
        (png(size=256 * 1024 + 1), (), False),
        (png(10_000, 5_001), (), False),
        (png(2**32 - 1, 2**32 - 1), (), False),
        (HEAD, (), False),
        (b"\xff\xd8\xff\xe0 a picture", (), True),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\x27\x10\x13\x88", (), True),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\x27\x10\x13\x89", (), False),
        (b"<svg onload='alert(1)'/>", (), False),
        (b"GIF89a", (), False),
        (png(), ("--webeval-redact=strict",), False),
        (png(), ("--webeval-redact=off",), True),
    ],
)
def test_an_image_is_small_and_of_a_known_kind_and_none_where_redaction_is_strict(
    failed, webeval, pytester, last, options, shown
):
    failed(last)
    webeval("--html=out.html", "--self-contained-html", *options)
    ((row,),) = page_of(pytester.path / "out.html").values()
    assert bool(extras(row, "image")) is shown


@pytest.mark.parametrize(("passes", "options"), [(False, ()), (True, ()), (False, ("--webeval-redact=strict",))])
def test_a_failed_run_with_a_screencast_shows_its_last_frame(runs, webeval, pytester, passes, options):
    path = runs.add(107, passes=passes)
    shutil.copy(TRACE, path / "trace.zip")
    webeval("--html=out.html", "--self-contained-html", *options)
    ((row,),) = page_of(pytester.path / "out.html").values()
    with zipfile.ZipFile(TRACE) as archive:
        last = archive.read(max(name for name in archive.namelist() if name.startswith("screencast/")))
    shown = [("last screenshot", f"data:image/jpeg;base64,{b64encode(last).decode()}")]
    assert extras(row, "image") == (shown if not passes and not options else [])


def test_a_success_shows_no_image(tree, webeval, pytester):
    tree("books_1")
    webeval("--html=out.html", "--self-contained-html")
    ((row,),) = page_of(pytester.path / "out.html").values()
    assert extras(row, "image") == []


def test_a_link_in_place_of_an_image_is_not_followed(failed, webeval, pytester):
    path = failed()
    (pytester.path / "elsewhere.png").write_bytes(png())
    (path / "screenshot3.png").unlink()
    (path / "screenshot3.png").symlink_to(pytester.path / "elsewhere.png")
    webeval("--html=out.html", "--self-contained-html")
    ((row,),) = page_of(pytester.path / "out.html").values()
    assert extras(row, "image") in (
        [],
        [("last screenshot", f"data:image/png;base64,{b64encode(recorded.PIXEL).decode()}")],
    )


def test_all_images_share_the_room_equally(failed, webeval, pytester, monkeypatch):
    monkeypatch.setattr(attachments, "ALL_IMAGES", 4 * 300)
    for number, size in enumerate((224, 225, 226)):
        failed(png(size=size), name=f"books_{number}")
    failed(png(), name="books_3")
    webeval("--html=out.html", "--self-contained-html")
    shown = {
        nodeid[-7:-6]: bool(extras(row, "image")) for nodeid, (row,) in page_of(pytester.path / "out.html").items()
    }
    assert shown == {"0": True, "1": True, "2": False, "3": True}


def test_our_report_is_led_to_from_the_summary_and_quoted():
    prefix, workspace = [], SimpleNamespace(settings=SimpleNamespace(report=Path("/place/report dir")))
    html_extras.HtmlExtras(workspace, Path("/place/pages")).pytest_html_results_summary(prefix)
    (told,) = prefix
    assert '<a href="../report%20dir/index.html">' in told


def test_a_page_without_our_report_does_not_lead_to_one(runs, webeval, pytester):
    runs.add(107)
    webeval("--html=out.html")
    assert "pytest-webeval report" not in (pytester.path / "out.html").read_text("utf-8")
