"""`webeval history`, and the page of a session's report: formats, files and bad input."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from pytest_webeval.__main__ import main
from tests.unit.reports.test_history_text import HOSTILE

LINK = '<a class="static" href="history.html">history</a>'


def edit(path, **fields):
    """Change fields of a summary."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.fixture
def three(runs, webeval, pytester):
    """Summaries `a.json`, `b.json` and `c.json` of three days: 107 is +-+, 108 is -++ and 109 a success on each."""
    runs.add(107)
    runs.add(108)
    runs.add(109, site="gitlab")
    for day, (name, passing) in enumerate({"a": (107, 109), "b": (108, 109), "c": (107, 108, 109)}.items(), 1):
        answer(runs, *passing)
        webeval(f"--webeval-output={name}")
        edit(pytester.path / name / "eval_summary.json", timestamp=f"2026-01-0{day}T03:00:00Z")
        shutil.copy(pytester.path / name / "eval_summary.json", pytester.path / f"{name}.json")
    return pytester.path


def answer(runs, *passing):
    """Let these tasks succeed, and the others fail."""
    right = {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["lamp"], "error_details": None}
    for task_id in (107, 108, 109):
        content = right if task_id in passing else right | {"retrieved_data": ["candle"]}
        (runs.root / str(task_id) / "agent_response.json").write_text(json.dumps(content))


def show(capsys, *arguments):
    """Exit code and output of the command."""
    capsys.readouterr()
    code = main(["history", *map(str, arguments)])
    return code, capsys.readouterr()


def read_names(text):
    return [session["name"] for session in json.loads(text)["sessions"]]


def test_sessions_in_any_order_are_one_history(three, capsys):
    code, shown = show(capsys, "c.json", "a", "b.json", "--format=json", "--json=out.json", "--report=page")
    assert (code, shown.err) == (0, "")
    content = json.loads(shown.out)
    assert json.loads((three / "out.json").read_bytes()) == content
    assert read_names(shown.out) == ["a", "b.json", "c.json"]
    assert [(flip["task_id"], flip["outcomes"], flip["causes"]) for flip in content["flips"]] == [
        (107, "+-+", {"recording": 2}),
        (108, "-++", {"recording": 1}),
    ]
    assert content["sites"] == ["gitlab", "shopping"]
    page = (three / "page" / "history.html").read_text()
    assert "2 always" not in page
    assert "1 always solved, 2 sometimes solved" in page
    assert "<code>+-+</code>" in page
    assert (three / "page" / "report.css").exists()


def test_the_text_and_the_markdown(three, capsys):
    text, markdown = (show(capsys, "a", "b", "c", f"--format={style}")[1].out for style in ("text", "markdown"))
    assert text.startswith("3 sessions, 2026-01-01 03:00 to 2026-01-03 03:00\n3 tasks: 1 always solved, ")
    assert re.search(r"^  3  2026-01-03 03:00  100.0%  44% to 100%     3 of 3       0  #{10}  c$", text, re.MULTILINE)
    assert show(capsys, "a", "b", "c")[1].out == text
    assert "| 3 | <code>2026-01-03 03&#58;00</code> | 100.0% | 44% to 100% | 3 of 3 | 0 | <code>c</code> |" in markdown
    assert "| <code>107</code> | <code>shopping</code> | 2 | 0 | <code>+-+</code> |" in markdown


def test_so_many_tasks_are_printed(three, capsys):
    names = ("a", "b", "c")
    assert "often (1 of 2):" in show(capsys, *names, "--flips=1")[1].out
    assert "often:" in show(capsys, *names, "--flips=0")[1].out
    raw = json.loads((three / "a.json").read_text())
    for day, status in ((1, "success"), (2, "failure")):
        rows = [raw["task_results"][0] | {"task_id": n, "run": f"r/{n}", "status": status} for n in range(30)]
        (three / f"{day}.json").write_text(json.dumps(raw | {"task_results": rows, "timestamp": f"2026-01-0{day}"}))
    assert "often (20 of 30):" in show(capsys, "1.json", "2.json")[1].out
    assert "often:" in show(capsys, "1.json", "2.json", "--flips=0")[1].out


def test_one_session_is_shown_too(three, capsys):
    code, shown = show(capsys, "a.json")
    assert code == 0
    assert shown.out.startswith("1 session, 2026-01-01 03:00\n3 tasks: 2 always solved, 1 never solved\n")


def test_the_same_session_counts_once(three, capsys):
    _, shown = show(capsys, "a.json", "a.json", "a", "b.json", "--format=json")
    content = json.loads(shown.out)
    assert read_names(shown.out) == ["a.json", "b.json"]
    assert content["problems"] == ["a is the same session as a.json: it counts once"]


def test_a_subset_is_shown_alone(three, capsys):
    (three / "s.json").write_text(json.dumps({"task_ids": [108]}))
    content = json.loads(show(capsys, "a", "b", "--subset=s.json", "--format=json")[1].out)
    assert [session["task_count"] for session in content["sessions"]] == [1, 1]
    assert [flip["task_id"] for flip in content["flips"]] == [108]


def test_sessions_that_cannot_be_read_are_named_and_the_others_shown(three, capsys):
    (three / "broken.json").write_text("{")
    names = ("none\n::error::x\x1b.json", "a.json", "broken.json")
    code, shown = show(capsys, *names, "--format=json", "--report=page")
    assert code == 0
    first, second = json.loads(shown.out)["skipped"]
    assert first.startswith("session not found: none ::error::x")
    assert second.startswith("cannot parse broken.json as JSON: ")
    assert shown.err.splitlines() == [f"WARNING: {line}".replace("\x1b", "\\u001b") for line in (first, second)]
    assert read_names(shown.out) == ["a.json"]
    assert "cannot parse broken.json as JSON: " in (three / "page" / "history.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "ERROR: no session can be read; name summaries or directories of results\n"),
        (["a.json", "--flips=-1"], "ERROR: invalid --flips '-1'; use a number of tasks, or 0 for all\n"),
        (["a.json", "--flips=²"], "ERROR: invalid --flips '²'; use a number of tasks, or 0 for all\n"),
        (["a.json", "--subset=none.json"], "ERROR: cannot read the subset none.json: No such file"),
        (["a.json", "--report=mine"], "was not written by pytest-webeval; choose another directory"),
        (["a.json", "--json=runs"], "ERROR: cannot write runs: Is a directory"),
    ],
)
def test_usage_errors(three, capsys, arguments, message):
    (three / "mine").mkdir()
    (three / "mine" / "history.html").write_text("mine")
    code, shown = show(capsys, *arguments)
    assert code == 4
    assert message in shown.err
    assert (three / "mine" / "history.html").read_text() == "mine"


def test_the_page_replaces_an_earlier_one(three, capsys):
    for name in ("a", "b"):
        assert show(capsys, name, "--report=page")[0] == 0
    assert "2026-01-02 03:00" in (three / "page" / "history.html").read_text()


def test_the_module_is_a_command_for_terminals_of_any_encoding(three):
    edit(three / "a.json", timestamp="…")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_webeval", "history", "a.json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=three,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2026" in done.stdout


def test_texts_of_a_summary_are_shown_and_not_obeyed(three, capsys):
    raw = json.loads((three / "a.json").read_text())
    raw["timestamp"] = HOSTILE
    raw["webeval"]["rules"] = HOSTILE
    raw["task_results"][0] |= {"task_id": HOSTILE, "run": HOSTILE, "sites": [HOSTILE], "status": "failure"}
    (three / "a.json").write_text(json.dumps(raw))
    raw["task_results"][0]["status"], raw["timestamp"] = "success", "2026-01-09"
    (three / "b.json").write_text(json.dumps(raw))
    for style in ("text", "markdown"):
        shown = show(capsys, "a.json", "b.json", f"--format={style}", "--report=page")[1].out
        assert not re.search(r"[\x1b\u202e]|(?m:^\s*::)", shown)
        assert style == "text" or "<script" not in shown
    page = (three / "page" / "history.html").read_text()
    assert "&lt;script&gt;" in page
    assert not re.search(r"<script|[\x1b\u202e]", page)


def history_options(*names):
    return [f"--webeval-history={name}" for name in names]


def test_a_report_has_the_history_with_this_session_last(three, webeval):
    webeval("--webeval-report=page", "--webeval-output=d", *history_options("c.json", "a.json"))
    assert LINK in (three / "page" / "index.html").read_text()
    page = (three / "page" / "history.html").read_text()
    numbers = re.findall(r'<th scope="row">(\d) <bdi>(.*?)</bdi></th>', page)
    assert numbers[:3] == [("3", "this session"), ("2", "c.json"), ("1", "a.json")]
    assert "<code>-++</code>" in page
    webeval("--webeval-report=page", "--webeval-output=d")
    assert not (three / "page" / "history.html").exists()
    assert LINK not in (three / "page" / "index.html").read_text()


@pytest.mark.whole
def test_workers_leave_the_history_to_the_controller(three, webeval_apart):
    result = webeval_apart("--webeval-report=page", "--webeval-output=d", "-n2", *history_options("a.json"))
    result.assert_outcomes(passed=3)
    assert (three / "page" / "history.html").exists()


def test_the_ini_file_names_earlier_sessions(three, pytester, webeval):
    pytester.makeini("[pytest]\nwebeval_history =\n    a.json\n    b.json\n")
    webeval("--webeval-report=page", "--webeval-output=d")
    assert "3 sessions, " in (three / "page" / "history.html").read_text()


def test_the_summary_that_this_session_replaces_can_be_an_earlier_one(three, webeval, runs):
    answer(runs, 107)
    webeval("--webeval-report=page", "--webeval-output=c", *history_options("c/eval_summary.json"))
    assert "2 sessions, 2026-01-03 03:00" in (three / "page" / "history.html").read_text()


def test_an_earlier_session_may_be_a_directory(three, webeval, runs):
    answer(runs, 107)
    webeval("--webeval-report=page", "--webeval-output=d", *history_options("c"))
    assert "2 sessions, 2026-01-03 03:00" in (three / "page" / "history.html").read_text()


def test_the_copy_in_one_file_has_no_link_to_it(three, webeval):
    pytest.importorskip("PIL")
    webeval("--webeval-report=page", "--webeval-output=d", "--webeval-report-embed=5MB", *history_options("a.json"))
    assert LINK in (three / "page" / "index.html").read_text()
    assert LINK not in (three / "page" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (history_options("a.json"), "ERROR: --webeval-history requires a report; pass --webeval-report=DIR"),
        (
            ["--webeval-report=page", *history_options("a.json", "none.json")],
            "ERROR: --webeval-history: not found: *none.json; name a summary or a directory of results",
        ),
        (
            ["--webeval-report=page", *history_options("runs/tasks.json")],
            "ERROR: --webeval-history: invalid eval_summary.json *runs/tasks.json: Expected `object`*",
        ),
        (
            ["--webeval-report=mine", *history_options("a.json")],
            "ERROR: --webeval-report: *history.html was not written by pytest-webeval; choose another directory*",
        ),
    ],
)
def test_a_wrong_option_ends_the_session_before_it_scores(three, webeval, arguments, message):
    (three / "mine").mkdir()
    (three / "mine" / "history.html").write_text("mine")
    result = webeval("--webeval-output=d", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    assert len([line for line in result.errlines if line]) == 1
    assert not (three / "d").exists()
    assert (three / "mine" / "history.html").read_text() == "mine"
