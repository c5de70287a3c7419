"""A changed task in all sessions, side by side, in Chromium: by mouse, keys and address, and with hostile files."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.reports.html.comparison_page import write_comparison_page
from pytest_webeval.reports.html.side_by_side.entries import MOST_TASKS, SessionFiles
from pytest_webeval.reports.html.writer import write_task
from pytest_webeval.safety.files import sha256
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from tests.browser import pages
from tests.browser.conftest import DESK, PHONE
from tests.browser.test_comparison_page import HOSTILE, TASKS, complaints, go
from tests.hostile.corpus.markup import TEXTS

pytestmark = pytest.mark.browser
LOG = b"the same recording"
NAMES = ("monday", "tuesday <i>")
MOST_BYTES = 8_000_000
HUGE = pages.png(1, 1, (0, 0, 0)).replace(b"\x00\x00\x00\x01\x00\x00\x00\x01", b"\x00\x00\x75\x30\x00\x00\x75\x30", 1)
NO_IMAGES = {
    "huge.png": HUGE,
    "vector.png": b"<svg onload='window.__pwned=1'/>",
    "page.png": b"<script>__pwned=1</script>",
}


def write_run(root, task, is_success, text, picture="shot.png"):
    """The page of a run in the report of its session. Each text in it is the same."""
    label = f"runs/{task}"
    run = root / "runs" / str(task)
    run.mkdir(parents=True, exist_ok=True)
    (run / "log").write_bytes(LOG)
    (run / "shot.png").write_bytes(pages.png(64, 40, (90, 120, 200) if is_success else (200, 90, 90)))
    for name, content in NO_IMAGES.items():
        (run / name).write_bytes(content)
    differences = [] if is_success else [{"path": f"url {text}", "kind": "different", "expected": text, "actual": text}]
    page = {
        "run": label,
        "status": "success" if is_success else "failure",
        "evaluators": [
            {
                "name": "NetworkEventEvaluator",
                "status": "success" if is_success else "failure",
                "differences": differences,
                "assertions": [],
                "nearest": {"index": 3, "of": 9, "method": "GET", "url": f"http://h.test/{text}", "status": 200},
            },
        ],
        "about": {"trajectory": {"answer": f"The answer is {'right' if is_success else 'wrong'}: {text}"}},
        "checksums": {"inputs": {"log": sha256(LOG)}},
        "network": {"events": [[3, "POST" if is_success else "GET", f"http://h.test/{text}", 302, "", 0, "nearest"]]},
        "steps": [{"index": 1, "action": text, "after": f"../runs/{task}/{picture}"}],
        "links": [{"label": "run directory", "href": f"../runs/{task}/"}],
    }
    write_task(label, page, root / "report")


def write(directory, texts, tasks, picture="shot.png"):
    """The page of two sessions of so many tasks, of which as many changed as there are texts."""
    sessions = []
    for day, name in enumerate(NAMES):
        runs = []
        for task in range(tasks):
            text = texts[task] if task < len(texts) else None
            is_success = (task + day) % 2 == 0 or text is None
            if text is not None:
                write_run(directory / str(day), task, is_success, text, picture)
            status = "success" if is_success else "failure"
            runs.append(ScoredRun(run=f"runs/{task}", task_id=task, status=status, reason=None if is_success else text))
        sessions.append(ScoredSession(name, runs, rules="default", timestamp="2026-01-02T03:04:05Z"))
    comparison = SessionComparison(*sessions).to_json()
    files = [SessionFiles(each, directory / str(day) / "report", directory) for day, each in enumerate(sessions)]
    return write_comparison_page({"comparisons": [comparison], "gates": []}, directory / "page", files)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of 10,000 tasks, of which 300 changed, with long texts."""
    texts = [f"{number} {HOSTILE} {'word ' * 900}" for number in range(300)]
    return write(tmp_path_factory.mktemp("long"), texts, TASKS)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The page of 4 tasks, of which 3 changed."""
    return write(tmp_path_factory.mktemp("short"), ["cart/add", "cart/remove", "checkout"], 4)


def test_a_person_opens_an_entry_and_sees_both_sessions(opened, short):
    report = go(opened, short)
    page = report.page
    assert page.locator("details.task[open]").count() == 0
    page.locator("details.task > summary").first.click()
    entry = page.locator("#task-0")
    columns = entry.get_by_role("group")
    assert [column.get_attribute("aria-label") for column in columns.all()] == list(NAMES)
    assert "The answer is right: cart/add" in columns.nth(0).inner_text()
    assert "The answer is wrong: cart/add" in columns.nth(1).inner_text()
    left, right = (columns.nth(at).bounding_box() for at in (0, 1))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    page.wait_for_function("[...document.querySelectorAll('#task-0 img')].every((image) => image.naturalWidth === 64)")
    assert entry.locator("img").count() == 2
    rows = entry.locator("tbody tr").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        'url cart/add NetworkEventEvaluator ✓ as expected ✕ expected "cart/add", got "cart/add"',
        "POST /cart/add ✕ nearest 302 not sent",
        "GET /cart/add not sent ✕ nearest 302",
    ]
    assert entry.get_by_role("link", name="Open in its report").count() == 2
    assert report.settled() == []


def test_an_address_opens_its_entry(opened, short):
    page = go(opened, short).page
    page.goto(f"{short.as_uri()}#task-2")
    page.wait_for_selector("#task-2 .columns", state="visible")
    assert page.locator("details.task[open]").count() == 1
    assert page.locator("#task-2").is_visible()
    assert page.evaluate("document.querySelector('#task-2').getBoundingClientRect().top < innerHeight")
    page.locator("#task-2").get_by_role("link", name="Link to this task").click()
    assert page.evaluate("location.hash") == "#task-2"


def test_keys_open_and_close_an_entry(opened, short):
    page = go(opened, short).page
    page.locator("details.task > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#task-0").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#task-0') !== null")
    page.locator("details.task > summary").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#task-0").is_hidden()


def test_on_a_phone_the_sessions_come_one_below_another(opened, short):
    page = go(opened, short, viewport=PHONE).page
    page.locator("details.task > summary").first.click()
    first, second = (page.locator("#task-0 .column").nth(at).bounding_box() for at in (0, 1))
    assert first["x"] == second["x"]
    assert first["y"] + first["height"] <= second["y"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert "monday" in page.locator("#task-0 tbody td").first.inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_in_open_entries(opened, short, theme, viewport):
    page = go(opened, short, color_scheme=theme, viewport=viewport, reduced_motion="reduce").page
    for summary in page.locator("details.task > summary").all():
        summary.click()
    assert complaints(page) == []


def test_300_changes_with_long_texts_among_10_000_tasks_are_bounded(opened, path):
    assert path.stat().st_size < MOST_BYTES
    report = go(opened, path)
    page = report.page
    assert page.locator(".task-sessions").count() == MOST_TASKS
    assert page.locator("details.task").count() == MOST_TASKS
    assert "100 of these have no details: the page shows those of at most 200 tasks" in page.inner_text("main")
    assert {address.rpartition("/")[2] for address in report.requests} <= {
        "comparison.html",
        "report.css",
        "data:,",
        ",",
    }
    assert report.settled() == []


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_hostile_texts_are_shown_as_texts(opened, tmp_path, viewport):
    texts = [json.loads(json.dumps(text).replace("\\ud800", "")) for text in TEXTS[:MOST_TASKS]]
    report = go(opened, write(tmp_path, texts, len(texts)), viewport=viewport)
    page = report.page
    page.evaluate("for (const entry of document.querySelectorAll('details')) entry.open = true")
    page.wait_for_timeout(300)
    assert report.settled() == []
    assert page.evaluate("window.__pwned") is None
    assert page.locator("script, iframe, object, embed, form, svg, [onerror], [onload], base").count() == 0
    assert page.locator(".task-sessions").count() == len(texts)
    addresses = page.evaluate("[...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))")
    assert all(address.startswith(("#", "../")) for address in addresses)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("picture", [*NO_IMAGES, "none.png", "../../../secret.png"])
def test_files_that_are_no_pictures_are_not_shown(opened, tmp_path, picture):
    report = go(opened, write(tmp_path, ["cart"], 1, picture))
    page = report.page
    page.locator("details.task > summary").click()
    assert page.locator("img").count() == 0
    assert page.get_by_text("No screenshot:").count() + page.get_by_text("Open in its report").count() >= 2
    assert report.settled() == []
