"""The report of a session over recordings of strangers: their texts show as texts, and nothing of them runs."""

from __future__ import annotations

import pytest

from tests.browser import hostile_recordings, sessions

pytestmark = [pytest.mark.browser, pytest.mark.whole]
LOADED = "[...document.querySelectorAll('.shot, .thumb')].every((one) => one.querySelector('img')?.naturalWidth === 64)"
STRANGE = {"iframe", "object", "style", "form", "animate", "base", "meta", "link", "title", "script", "svg"}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    directory = tmp_path_factory.mktemp("hostile")
    hostile_recordings.write(directory)
    (directory / "pytest.ini").write_text("[pytest]\n", "utf-8")
    return sessions.scored(directory, "--webeval-runs=runs", "--webeval-config=config.json", "-n", "2")


def walked(report, count):
    """Each task in turn, with all that it shows unfolded and in sight."""
    for _ in range(count):
        report.pressed("j").page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
        report.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        report.page.evaluate("document.querySelectorAll('.filmstrip, .events').forEach((one) => one.scrollIntoView())")
        yield report.task


def test_nothing_of_any_recording_runs_becomes_an_element_or_leads_elsewhere(opened, session):
    report = opened(session.page).go()
    places = tuple(f"{(session.directory / name).as_uri()}/" for name in ("report", "runs"))
    for _ in walked(report, report.count):
        names = report.page.evaluate("[...document.querySelectorAll('#task *, .tasks *')].map((one) => one.localName)")
        assert not STRANGE & set(names)
        assert names.count("b") == report.page.locator("tr.group b, .chip b").count()
        links = report.page.locator("#task a").evaluate_all("(all) => all.map((one) => one.href)")
        assert links
        assert [one for one in links if not one.startswith(places[1])] == []
        assert report.page.evaluate("window.__pwned") is None
    assert report.settled() == []
    assert [one for one in report.requests if not one.startswith((*places, "about:blank"))] == []


def test_images_with_odd_names_in_directories_with_odd_names_load(opened, session):
    report = opened(session.page).go()
    named = [row["run"] for row in session.index["rows"] if "/named/" in row["run"] or row["run"].endswith("/shots")]
    assert len(named) > 70
    loaded = 0
    for label in walked(report, report.count):
        if label in named:
            thumbs = report.page.locator(".thumb")
            for at in range(thumbs.count()):
                thumbs.nth(at).scroll_into_view_if_needed()
            report.until(LOADED)
            assert report.page.locator(".no-shot").count() == 0
            loaded += thumbs.count() > 0
    assert loaded == len(named)
