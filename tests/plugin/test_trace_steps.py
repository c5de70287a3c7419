"""Steps of WebArena runs whose Playwright trace holds a screencast, in the report."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.reports.html.writer import data_name

TRACE = Path(__file__).parents[1] / "recorded/playwright_trace/trace.zip"
PASSWORD = "CaNaRyTyped7zQ4"


@pytest.fixture
def recorded(runs):
    """A run with the recorded trace, which fails unless it passes."""

    def add(task_id, *, passes=False, as_folder=False, keeps_har=False):
        path = runs.add(task_id, passes=passes)
        if not keeps_har:
            (path / "network.har").unlink()
        if as_folder:
            with zipfile.ZipFile(TRACE) as archive:
                archive.extractall(path / "trace")
        else:
            shutil.copy(TRACE, path / "trace.zip")
        return path

    return add


@pytest.fixture
def steps(pytester):
    """The steps on the page of a run."""

    def read(label, report="report"):
        script = (pytester.path / report / "data" / f"{data_name(label)}.js").read_text("utf-8")
        text = re.fullmatch(r"webeval\.task\(\"[^\"]*\", '(.*)'\);\n", script)[1]
        page = json.loads(text.replace("\\'", "'").replace("\\\\", "\\"))
        return page["steps"]

    return read


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize("spread", [(), ("-n2",)])
@pytest.mark.parametrize("layout", [{}, {"as_folder": True}, {"keeps_har": True}])
def test_each_action_is_a_step_with_a_frame_a_mark_and_its_requests(
    recorded, webeval_apart, steps, pytester, layout, spread
):
    recorded(107, **layout)
    webeval_apart("--webeval-report=report", *spread)
    found = steps("runs/107")
    click = found[5]
    assert (click["index"], click["action"], click["arguments"]) == (6, "click", {"selector": "button"})
    assert click["target"] == [404.3, 77.9, 0, 0]
    assert click["size"] == [640, 400]
    assert (pytester.path / "report" / click["before"]).read_bytes().startswith(b"\xff\xd8\xff")
    assert click["after"] != click["before"]
    assert "navigated to" in click["observation"]
    if "keeps_har" not in layout:
        assert [step["events"] for step in found if step["events"]] == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_a_success_has_steps_and_no_copies_of_frames(recorded, webeval, steps, pytester):
    recorded(107, passes=True)
    webeval("--webeval-report=report")
    step = steps("runs/107")[5]
    assert (step["action"], step["before"], step["target"]) == ("click", None, None)
    assert step["problem"] == "frames are copied for tasks that did not succeed; open the trace"
    assert list((pytester.path / "report/data").glob("*.jpg")) == []


@pytest.mark.parametrize("passes", [False, True])
def test_strict_redaction_copies_no_frame(recorded, webeval, steps, pytester, passes):
    recorded(107, passes=passes)
    webeval("--webeval-report=report", "--webeval-redact=strict")
    assert {(step["before"], step["after"]) for step in steps("runs/107")} == {(None, None)}
    assert list((pytester.path / "report/data").glob("*.jpg")) == []


def test_a_report_in_one_file_has_small_copies_in_itself(recorded, webeval, steps, pytester):
    recorded(107)
    webeval("--webeval-report=report", "--webeval-report-embed=2MB")
    assert steps("runs/107")[5]["before"].startswith("data:image/jpeg;base64,")
    assert list((pytester.path / "report/data").glob("*.jpg")) == []


@pytest.mark.parametrize(("mode", "leaks"), [("default", False), ("strict", False), ("off", True)])
@pytest.mark.parametrize("options", [(), ("--webeval-report-embed=2MB",)])
def test_a_typed_password_is_on_no_page(recorded, webeval, pytester, mode, leaks, options):
    recorded(107)
    webeval("--webeval-report=report", f"--webeval-redact={mode}", *options)
    files = [path.read_bytes() for path in (pytester.path / "report").rglob("*") if path.is_file()]
    assert any(PASSWORD.encode() in content for content in files) is leaks
    assert any(b"keyboard" in content or b"locator resolved to" in content for content in files)


def test_a_typed_text_that_was_posted_as_a_secret_is_redacted(runs, webeval, pytester):
    """Where nothing in the trace says that a field is for a password, the request does."""
    path = runs.add(107, passes=False)
    entry = runs.navigation(method="POST")
    entry["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", "text": f"password={PASSWORD}"}
    (path / "network.har").write_text(json.dumps({"log": {"entries": [entry] * 2}}))
    events = [
        {"type": "screencast-frame", "file": "screencast/a.jpeg"},
        {"type": "before", "callId": "1", "method": "keyboardType", "params": {"text": PASSWORD}},
    ]
    with zipfile.ZipFile(path / "trace.zip", "w") as archive:
        archive.writestr("trace.trace", "\n".join(map(json.dumps, events)))
        archive.writestr("screencast/a.jpeg", b"")
    webeval("--webeval-report=report")
    page = (pytester.path / "report/data" / f"{data_name('runs/107')}.js").read_text("utf-8")
    assert "keyboardType" in page
    assert PASSWORD not in page


@pytest.mark.parametrize(
    ("events", "frame"),
    [
        ([{"type": "screencast-frame", "file": "screencast/../../../x.jpeg"}], b"x"),
        ([{"type": "screencast-frame", "file": "screencast/a.jpeg"}], b"<svg onload='alert(1)'/>"),
        ([{"type": "screencast-frame", "file": "screencast/a.jpeg"}], b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff"),
        ([{"type": "screencast-frame", "file": "screencast/missing.jpeg"}], b"x"),
        ([{"type": "screencast-frame", "file": "screencast/a.jpeg", "width": 1e300}], b"\xff" * 2**20),
        ([{"type": "screencast-frame", "file": {"a": 1}}] * 5_000, b"x"),
    ],
)
def test_a_hostile_trace_shows_no_picture_and_ends_nothing(runs, webeval, pytester, events, frame):
    path = runs.add(107, passes=False)
    click = {
        "type": "before",
        "callId": "1",
        "method": "<script>",
        "params": {"__proto__": {"a": ["</script>"] * 9_000}},
    }
    with zipfile.ZipFile(path / "trace.zip", "w") as archive:
        archive.writestr("trace.trace", "\n".join(map(json.dumps, [*events, click])))
        archive.writestr("screencast/a.jpeg", frame)
    webeval("--webeval-report=report").assert_outcomes(failed=1)
    files = {file.name: file.stat().st_size for file in (pytester.path / "report/data").iterdir()}
    assert [name for name in files if not name.endswith(".js")] == []
    assert files[f"{data_name('runs/107')}.js"] < 50_000


def test_the_next_report_in_the_directory_removes_the_copies(recorded, runs, webeval, pytester):
    path = recorded(107)
    webeval("--webeval-report=report")
    frames = list((pytester.path / "report/data").glob("*-frame-*.jpg"))
    assert len(frames) > 5
    (foreign := pytester.path / "report/data/task-of-mine.jpg").touch()
    shutil.rmtree(path)
    runs.add(108)
    webeval("--webeval-report=report")
    assert list((pytester.path / "report/data").glob("*.jpg")) == [foreign]


def test_the_report_of_all_shards_has_the_copies_of_each(recorded, webeval, steps, pytester):
    for task_id in (107, 108):
        recorded(task_id)
    for shard in ("1", "2"):
        webeval(f"--webeval-shard={shard}/2", f"--webeval-output=out{shard}", f"--webeval-report=report{shard}")
    assert main(["merge", "out1", "out2", "report1", "report2", "--output=all", "--report=all/report"]) == 0
    for label in ("runs/107", "runs/108"):
        assert (pytester.path / "all/report" / steps(label, "all/report")[5]["before"]).is_file()
