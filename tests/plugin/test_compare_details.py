"""Changed tasks of a comparison, side by side: what the page shows of the files of real sessions."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import struct
import zlib

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.reports.html.side_by_side import entries, run_files
from pytest_webeval.reports.html.writer import data_name
from tests.support import canaries

POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
GONE, OTHER = "the run directory is not there", "the run directory has another recording now"


def compare(*arguments):
    """The page that the command writes."""
    assert main(["compare", *map(str, arguments), "--report=page"]) == 0
    return read_page("page/comparison.html")


def read_page(path):
    with open(path, encoding="utf-8") as page:  # noqa: PTH123  (as it is)
        return page.read()


def find_entry(page, anchor):
    """The text of a task's entry, with each tag as a space."""
    _, _, rest = page.partition(f'id="{anchor}"')
    entry, closing, _ = rest.partition("</details>")
    assert closing
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", entry.partition(">")[2])).split())


def list_rows(page, anchor):
    """The rows of its tables as the texts of their cells."""
    _, _, rest = page.partition(f'id="{anchor}"')
    found = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", rest.partition("</details>")[0], re.DOTALL)
    cells = [
        re.split(r"</th>|</td>", re.sub(r'<bdi class="session">.*?</bdi>|<bdi class="quiet">.*?</bdi>', "", row))
        for row in found
    ]
    return [[" ".join(html.unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in row][:-1] for row in cells]


def record(runs, task_id, *events):
    """Replace the requests of a run."""
    content = {"log": {"entries": [runs.navigation(*event) for event in (("http://shop.test/",), *events)]}}
    (runs.root / str(task_id) / "network.har").write_text(json.dumps(content))


POST = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/cart", "http_method": "POST"}}


@pytest.fixture
def two(runs, webeval, pytester):
    """Sessions `a` and `b` with reports `ra` and `rb`: 107 is fixed, 108 regressed, 109 is as before."""
    pytester.makefile(".json", config='{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}')
    for task_id in (107, 108, 109):
        runs.add(task_id, expects=(POST,))
        record(runs, task_id, ("http://shop.test/cart", "POST", 200))
    record(runs, 107, ("http://shop.test/wish", "POST", 500))
    score(webeval, "a")
    shutil.copytree(runs.root, pytester.path / "old")
    record(runs, 107, ("http://shop.test/cart", "POST", 200))
    record(runs, 108, ("http://shop.test/carts?x=1",))
    answer = json.loads((runs.root / "108" / "agent_response.json").read_text())
    (runs.root / "108" / "agent_response.json").write_text(json.dumps(answer | {"retrieved_data": ["<b>sofa"]}))
    score(webeval, "b")
    return pytester.path


def score(webeval, name, *arguments):
    webeval("--webeval-config=config.json", f"--webeval-output={name}", f"--webeval-report=r{name}", *arguments)


ROWS = [
    ["retrieved_data[0]", "✓ as expected", '✕ expected "lamp", got "<b>sofa"'],
    ["url", "✓ as expected", '✕ expected "__SHOPPING__/cart", got "__SHOPPING__/carts"'],
    ["http_method", "✓ as expected", '✕ expected "POST", got "GET"'],
]


def test_reports_show_what_both_sessions_did(two):
    page = compare("ra", "rb")
    assert f'content="{POLICY}"' in html.unescape(page)
    rows = list_rows(page, "task-108")
    assert sorted(rows[:3]) == sorted(ROWS)
    assert rows[3:] == [
        ["POST /cart", "✓ matches 200", "not sent"],
        ["GET /carts", "not sent", "✕ nearest 200 ?x=1"],
    ]
    entry = find_entry(page, "task-108")
    assert '["lamp"]' in entry
    assert '["<b>sofa"]' in entry
    assert 'href="../ra/index.html#task=runs%2F108"' in page
    assert 'href="../rb/index.html#task=runs%2F107"' in page
    assert "task-109" not in page


def test_without_reports_results_and_recordings_are_read(two):
    page = compare("a", "b")
    assert "index.html" not in page
    assert f"a : {OTHER}" in find_entry(page, "task-108")
    assert sorted(list_rows(page, "task-108")[:3]) == sorted(ROWS)
    assert list_rows(page, "task-108")[3:] == [
        ["POST /cart", "✓ matches 200", "not sent"],
        ["GET /carts", "not known", "✕ nearest 200 ?x=1"],
    ]


def test_a_recording_counts_if_its_checksums_are_those_of_the_result(two):
    for name in ("107", "108"):
        shutil.rmtree(two / "runs" / name)
    page = compare("a", "b")
    assert find_entry(page, "task-108").count(GONE) == 2
    shutil.copytree(two / "old", two / "runs", dirs_exist_ok=True)
    entry = find_entry(compare("a", "b"), "task-108")
    assert f"a : {OTHER}" not in entry
    assert f"b : {OTHER}" in entry
    assert list_rows(compare("a", "b"), "task-107")[-1] == ["POST /cart", "not sent", "✓ matches 200"]


def test_the_summary_alone_still_shows_the_reasons(two):
    shutil.copy(two / "a" / "eval_summary.json", two / "a.json")
    shutil.copy(two / "b" / "eval_summary.json", two / "b.json")
    entry = find_entry(compare("a.json", "b.json"), "task-108")
    assert entry.count("no report and no result of it") == 2
    assert "retrieved_data" in entry


def test_a_result_of_another_session_is_not_shown(two):
    shutil.copytree(two / "b" / "108", two / "a" / "108", dirs_exist_ok=True)
    assert "its result is of another session" in find_entry(compare("a", "b"), "task-108")
    page = f"data/{data_name('runs/108')}.js"
    shutil.copy(two / "rb" / page, two / "ra" / page)
    assert "its page is of another session" in find_entry(compare("ra", "rb"), "task-108")


HOSTILE_FILES = {
    "empty": b"",
    "no JSON": b"{",
    "another type": b"[]",
    "deep": b"[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "another run": json.dumps({"webeval": {"run": "runs/1"}}).encode(),
    "types": json.dumps(
        {name: [] for name in ("task_id", "status", "evaluators_results", "webeval")} | {"sites": {}}
    ).encode(),
}


@pytest.mark.thinned(every=3)
@pytest.mark.unchecked_files("results that are damaged on purpose")
@pytest.mark.parametrize("content", HOSTILE_FILES.values(), ids=HOSTILE_FILES)
def test_a_damaged_file_is_a_line(two, content):
    (two / "b" / "108" / "eval_result.json").write_bytes(content)
    (two / "rb" / "data" / f"{data_name('runs/108')}.js").write_bytes(content)
    for sessions in (("a", "b"), ("ra", "rb")):
        assert "its page or its result cannot be read" in find_entry(compare(*sessions), "task-108")


PAGE_CHANGES = [
    {"evaluators": 5},
    {"evaluators": [5, None, {"name": 7}]},
    {"evaluators": [{"name": "x", "status": "failure", "assertions": [5], "differences": 5}]},
    {
        "evaluators": [
            {"name": "x", "status": "failure", "differences": [{"path": "x", "kind": {}, "expected": 1, "actual": []}]}
        ]
    },
    {"network": {"events": [[[]] * 9, {}, 5, None, [1, 2], [0, "POST", "http://[", {}, [], [], {}]]}},
    {"network": 5, "steps": {"a": 1}, "about": 5, "checksums": [], "links": 7, "rubric": "x"},
    {
        "steps": [{"index": [], "action": {}, "after": "../../x.png", "before": 5, "events": {}}],
        "links": [{"label": "run directory", "href": "../runs/108/"}],
    },
    {
        "steps": [{"index": 1, "after": "javascript:alert(1)"}],
        "links": [{"label": "run directory", "href": "javascript:alert(1)/"}],
    },
    {"checksums": {"inputs": {"../../x": 5, "\0": [], "network.har": "0"}}, "steps": [{"index": 1}]},
    {"status": "regressed"},
    {"error": {"a": 1}},
]


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize("change", PAGE_CHANGES)
def test_a_page_may_have_any_type_anywhere(two, change):
    path = two / "rb" / "data" / f"{data_name('runs/108')}.js"
    start, _, end = path.read_text().partition(", '")
    page = json.loads(re.sub(r"\\(.)", r"\1", end.removesuffix("');\n")))
    text = json.dumps(page | change).replace("\\", "\\\\").replace("'", "\\'")
    path.write_text(f"{start}, '{text}');\n")
    page = compare("ra", "rb")
    assert "failure" in find_entry(page, "task-108")
    assert "javascript:" not in page
    assert "<img" not in page


def test_links_and_pipes_are_not_followed(two):
    for name in ("a", "b"):
        path = two / name / "108" / "eval_result.json"
        path.replace(two / f"{name}.json")
    (two / "a" / "108" / "eval_result.json").symlink_to(two / "a.json")
    os.mkfifo(two / "b" / "108" / "eval_result.json")
    assert find_entry(compare("a", "b"), "task-108").count("cannot be read") == 2


def test_a_run_directory_behind_a_link_is_not_read(two):
    shutil.copytree(two / "runs", two / "real")
    shutil.rmtree(two / "runs" / "108")
    (two / "runs" / "108").symlink_to(two / "real" / "108")
    assert find_entry(compare("a", "b"), "task-108").count(GONE) == 2


def test_three_sessions_are_three_columns_and_each_task_has_one_entry(two, runs, webeval):
    shutil.copytree(two / "old" / "108", runs.root / "108", dirs_exist_ok=True)
    record(runs, 109)
    score(webeval, "c")
    page = compare("ra", "rb", "rc")
    assert re.findall(r'class="task-sessions" id="([^"]*)"', page) == ["task-108", "task-107", "task-109"]
    assert page.count('href="#task-107">side by side</a>') == 1
    groups = re.findall(r'role="group" aria-label="(r[abc])"', page)
    assert groups == ["ra", "rb", "rc"] * 3
    assert list_rows(page, "task-109")[-1] == ["POST /cart", "✓ matches 200", "✓ matches 200", "not sent"]


def test_a_page_has_details_of_a_number_of_tasks(two, monkeypatch):
    monkeypatch.setattr(entries, "MOST_TASKS", 1)
    page = compare("ra", "rb")
    assert re.findall(r'class="task-sessions" id="([^"]*)"', page) == ["task-108"]
    assert "1 of these have no details: the page shows those of at most 1 tasks" in page


def test_recordings_are_read_up_to_a_number_of_bytes(two, monkeypatch):
    monkeypatch.setattr(run_files, "measure_recording", lambda *_: run_files.MOST_READ_BYTES + 1)
    assert "the recording was not read" in find_entry(compare("a", "b"), "task-108")


def test_only_changed_tasks_are_read(two, monkeypatch):
    read = []
    monkeypatch.setattr(entries.DetailsReader, "_read", lambda *arguments: read.append(arguments[2].task_id) or "")
    compare("a", "b")
    assert sorted(read) == [107, 107, 108, 108]


def test_a_session_with_a_baseline_shows_its_report_and_the_earlier_results(two, webeval):
    record_all = ("--webeval-baseline=a/eval_summary.json",)
    score(webeval, "c", *record_all)
    page = read_page("rc/comparison.html")
    entry = find_entry(page, "task-108")
    assert f"a/eval_summary.json : {OTHER}" in entry
    assert 'href="index.html#task=runs%2F108"' in page
    assert sorted(list_rows(page, "task-108")[:3]) == sorted(ROWS)
    assert list_rows(page, "task-108")[3:] == [
        ["POST /cart", "✓ matches 200", "not sent"],
        ["GET /carts", "not known", "✕ nearest 200 ?x=1"],
    ]


def test_attempts_of_a_task_have_places_of_their_own(runs, webeval, pytester):
    for name in ("x/107", "y/107"):
        runs.add(107, name=name, defined=name == "x/107")
    webeval("--webeval-output=a")
    for name in ("x/107", "y/107"):
        (runs.root / name / "agent_response.json").write_text("{}")
    webeval("--webeval-output=b")
    page = compare("a", "b")
    assert re.findall(r'class="task-sessions" id="([^"]*)"', page) == ["task-107", "task-107-2"]
    assert "107-3" not in page


def png(width, height):
    """The beginning of a picture of that size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + header
        + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )


PICTURES = [
    (png(40, 30), True, ""),
    (png(30_000, 30_000), False, "30,000 x 30,000 pixels"),
    (b"<svg onload='alert(1)'>", False, "not a PNG, JPEG or WebP image"),
    (b"<script>alert(1)</script>", False, "not a PNG, JPEG or WebP image"),
    (None, False, "the picture is not in the run directory"),
]


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize(("content", "is_linked", "problem"), PICTURES)
@pytest.mark.parametrize("sessions", [("a", "b"), ("ra", "rb")])
def test_pictures_are_linked_where_they_are_and_only_if_they_are_images(
    tree, webeval, pytester, sessions, content, is_linked, problem
):
    path = tree("judged")
    shots = sorted(path.glob("screenshot*.png"))
    assert shots
    for name in ("a", "b"):
        webeval(f"--webeval-output={name}", f"--webeval-report=r{name}")
        for score_file in (path / "scores").iterdir():
            score_file.write_text(score_file.read_text().replace("true", "false"))
    for shot in shots:
        shot.unlink()
        if content is not None:
            shot.write_bytes(content)
    page = compare(*sessions)
    assert problem in find_entry(page, "task-judged") or (content is None and sessions == ("a", "b"))
    sources = re.findall(r'<img src="([^"]*)" alt="[^"]*" width="40" height="30" loading="lazy">', page)
    assert bool(sources) == is_linked
    for source in sources:
        assert (pytester.path / "page" / source).is_file()
    assert page.count("<img") == len(sources)


@pytest.fixture
def planted(runs, pytester, webeval):
    """Sessions over canaries, without any redaction: `a` succeeds everywhere, `b` shows all secrets in its results."""
    canaries.plant(runs, pytester.path)
    for name in ("a", "b"):
        score(webeval, name, "--webeval-redact=off")
    for name in ("a/eval_summary.json", "ra/eval_summary.json"):
        summary = json.loads((pytester.path / name).read_text())
        for row in summary["task_results"]:
            row |= {"status": "success", "reason": None}
        (pytester.path / name).write_text(json.dumps(summary))
    return pytester.path


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize(
    ("sessions", "unseen"),
    [(("a", "b"), set()), (("ra", "rb"), {"toldkey"})],  # a page has of this one only the words that were compared
)
def test_no_secret_is_in_details_of_sessions_without_redaction(planted, mode, sessions, unseen):
    page = compare(*sessions, f"--redact={mode}")
    entries_text = "".join(
        page.partition(f'id="{anchor}"')[2].partition("</details>")[0]
        for anchor in re.findall(r'class="task-sessions" id="([^"]*)"', page)
    )
    assert len(entries_text) > 10_000
    assert canaries.seen(entries_text) <= unseen
    assert len(canaries.seen(compare(*sessions, "--redact=off"))) > 8


@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("mode", ["default", "strict"])
def test_no_secret_is_on_the_page_of_a_session_with_a_baseline(planted, webeval, mode):
    redact = f"--webeval-redact={mode}"
    score(webeval, "c", redact, "--webeval-baseline=a/eval_summary.json")
    page = read_page("rc/comparison.html")
    assert page.count('class="task-sessions"') == 7
    assert canaries.seen(page) == set()
