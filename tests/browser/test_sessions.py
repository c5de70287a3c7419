"""Reports of real sessions over the example suite, opened from a disk: complete, quiet, and true in what they tell."""

# ruff: noqa: E501  (rows of data and scripts of the page read best in one line)

from __future__ import annotations

import functools
import json
import re
import shlex
import zipfile
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

from tests.browser import sessions

pytestmark = pytest.mark.browser
NETWORK = 106  # a task whose last page has the wrong sort order
LOADED = "[...document.querySelectorAll('.shot, .thumb')].every((one) => one.querySelector('img')?.naturalWidth > 0)"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Sessions over runs or over trajectories, each called once: `made("runs", "-n", "2")`."""

    @functools.cache
    def session(name, *options):
        directory = sessions.copied(tmp_path_factory.mktemp(name))
        return sessions.scored(
            directory, *{"runs": sessions.RUNS, "trajectories": sessions.TRAJECTORIES}[name], *options
        )

    return session


@pytest.fixture
def runs(made):
    return made("runs")


@pytest.fixture
def trajectories(made):
    return made("trajectories")


@pytest.fixture(
    params=[
        ("runs",),
        ("trajectories",),
        pytest.param(("runs", "-n", "2"), marks=pytest.mark.whole),
        pytest.param(("trajectories", "-n", "2"), marks=pytest.mark.whole),
    ],
    ids="".join,
)
def whole(request, made):
    """A session with the number of its runs."""
    return made(*request.param), {"runs": 36, "trajectories": 9}[request.param[0]]


def read_script(path):
    """What a task's script hands the page."""
    text = path.read_text("utf-8")
    literal = text[text.index(", '") + 3 : text.rindex("');")]
    return json.loads(re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], literal))


def shown(report, label):
    """The page of a run, opened by its address."""
    return report.go(f"#task={quote(label, safe='')}").page


def commands(page):
    """The commands on it by what they are for."""
    return dict(page.locator("#task .labelled").evaluate_all(
        "(found) => found.map((one) => [one.querySelector('.quiet').textContent, one.querySelector('code').textContent])"
    ))  # fmt: skip


def test_every_run_opens_with_the_key_j_and_shows_its_reason(opened, whole):
    session, count = whole
    report = opened(session.page).go("#sort=recorded")
    rows = session.index["rows"]
    assert report.count == len(rows) == count
    for row in rows:
        report.pressed("j").page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
        assert report.task == row["run"]
        assert report.page.locator("#task h2 .badge").inner_text().split()[-1] == row["status"]
        task = read_script(session.page.parent / "data" / f"{row['data']}.js")
        why = task["sentence"] or row["reason"]
        assert report.page.locator("#task .why").all_inner_texts() == ([why] if why else [])
        assert (task["sentence"] is None) == (row["status"] in ("success", "error", "excluded"))
        assert "About this result" in report.page.locator("#task").inner_text()
    assert all(row["reason"] for row in rows if row["status"] != "success")
    assert report.settled() == []


def test_nothing_but_the_report_and_the_runs_is_asked_for(opened, whole):
    session, count = whole
    report = opened(session.page).go().pressed(*["j"] * count)
    assert report.settled() == []
    places = tuple(f"{(session.directory / name).as_uri()}/" for name in ("report", "suite/trajectories/runs"))
    assert [one for one in report.requests if not one.startswith((*places, "about:blank"))] == []


def test_a_run_is_found_by_its_label_and_by_its_task(opened, runs):
    report = opened(runs.page)
    for fragment in (f"#task=suite%2Fruns%2F{NETWORK}", f"#task={NETWORK}"):
        assert report.go(fragment).task == f"suite/runs/{NETWORK}"


def test_a_trajectory_is_found_by_its_label_and_by_its_task(opened, trajectories):
    report = opened(trajectories.page)
    label = trajectories.label("r2/traj/books_rain_9")
    for asked in (quote(label, safe=""), "books_rain_9"):
        assert report.go(f"#task={asked}").task == label


def test_a_failing_network_task_shows_what_differs_and_the_event_that_came_nearest(opened, runs):
    page = shown(opened(runs.page), f"suite/runs/{NETWORK}")
    assert page.locator(".differences tr.difference").all_inner_texts() == [
        "query_params.sort\tdifferent\tprice_asc\tprice_desc"
    ]
    assert page.locator(".differences mark").all_inner_texts() == ["a", "de"]
    assert (
        "Nearest request 14 of 18: GET __SHOPPING__/search?q=kettle&sort=price_desc"
        in page.locator(".group .nearest").inner_text()
    )
    assert page.locator(".network tr.nearest th").all_inner_texts() == ["14"]
    assert "◆ nearest" in page.locator(".network tr.nearest").inner_text()


def test_a_trajectory_shows_its_steps_with_their_screenshots(opened, trajectories):
    report = opened(trajectories.page)
    page = shown(report, trajectories.label("r1/traj/books_find_7"))
    page.locator(".filmstrip").scroll_into_view_if_needed()
    assert page.locator(".thumb .caption").all_inner_texts() == ["1 web_search", "2 left_click", "3 terminate"]
    for action in ("web_search", "left_click", "terminate"):
        page.click(f".thumb >> text={action}")
        assert page.locator(".step-details h4").inner_text().endswith(action)
        report.until(LOADED)
    assert page.locator(".thumb").count() == 3
    assert page.locator(".no-shot").count() == 0
    assert report.settled() == []


def test_the_effort_of_trajectories_is_told_without_a_script(opened, trajectories):
    summary = json.loads((trajectories.page.parent / "eval_summary.json").read_bytes())["webeval"]["trajectories"]
    report = opened(trajectories.page, java_script_enabled=False)
    report.page.goto(report.address)
    steps = report.page.locator(".distributions figure").first
    cells = steps.locator("tbody tr").first.locator("td").all_inner_texts()
    assert steps.locator("h3").inner_text().startswith(f"Steps {summary['steps']['all']['count']} of 9 runs")
    assert [float(cells[0]), float(cells[2])] == [summary["steps"]["all"][name] for name in ("median", "max")]
    assert "pass@1" in report.page.locator("#overview").inner_text()


def test_points_are_told_for_each_criterion(opened, trajectories):
    page = shown(opened(trajectories.page), trajectories.label("r2/traj/books_rain_9"))
    points = page.locator(".rubric-points tbody tr").all_inner_texts()
    assert len(points) >= 2
    assert points[0].startswith("Search for rain and for weather\t2 of 4\tThe results for rain are visible")
    assert "(does not count)" in "".join(points)


def test_the_command_of_a_run_scores_that_run_and_no_other(opened, runs):
    label = f"suite/runs/{NETWORK}"
    told = commands(shown(opened(runs.page), label))
    assert runs.scored_by(told["score this run again"]) == {label}


@pytest.mark.parametrize(
    "ending", ["r2/traj/books_rain_9", "r1/traj/books_find_7", "r2/traj/books_find_7", "Bookshop--3"]
)
def test_the_command_of_a_trajectory_scores_it_and_no_other_of_the_same_task(opened, trajectories, ending):
    label = trajectories.label(ending)
    told = commands(shown(opened(trajectories.page), label))
    assert trajectories.scored_by(told["score this run again"]) == {label}


@pytest.mark.parametrize("evaluator", ["NetworkEventEvaluator", ""])
def test_the_command_of_a_kind_of_failure_scores_its_runs(opened, runs, evaluator):
    index = runs.index
    at, group = next((at, one) for at, one in enumerate(index["groups"]) if one["evaluator"] == evaluator)
    box = opened(runs.page).go().page.locator(".groups li").nth(at)
    assert group["text"] in box.inner_text()
    box.locator("summary").click()
    found = runs.scored_by(box.locator(".command code").inner_text())
    assert found == {row["run"] for row in index["rows"] if row["group"] == at}
    assert len(found) == group["count"]


def test_the_command_of_a_kind_of_failure_scores_its_trajectories(opened, trajectories):
    index = trajectories.index
    found = (
        opened(trajectories.page)
        .go()
        .page.locator(".groups .command code")
        .evaluate_all("(all) => all.map((one) => one.textContent)")
    )
    assert len(found) == len(index["groups"]) == 3
    for at, command in enumerate(found):
        assert trajectories.scored_by(command) == {row["run"] for row in index["rows"] if row["group"] == at}


def test_the_command_for_the_trace_viewer_names_the_trace(opened, runs):
    told = commands(shown(opened(runs.page), "suite/runs/107"))["open the trace"]
    *words, path = shlex.split(told)
    assert words == ["npx", "playwright", "show-trace"]
    assert zipfile.is_zipfile(runs.directory / path)
    assert "open the trace" not in commands(shown(opened(runs.page), "suite/runs/106"))


def test_links_of_every_run_lead_to_what_they_name(opened, whole):
    session, count = whole
    report = opened(session.page).go()
    followed = []
    for _ in range(count):
        report.pressed("j").page.wait_for_selector("#task .body[aria-busy=true]", state="detached")
        links = report.page.locator("#task .links a").evaluate_all(
            "(all) => all.map((one) => [one.textContent, one.href])"
        )
        for name, address in links:
            path = unquote(urlsplit(address).path)
            assert (Path(path).is_dir(), path.endswith("/")) == (
                (True, True) if name == "run directory" else (False, False)
            )
            assert Path(path).exists(), path
            followed.append(name)
    written = len(list((session.directory / "suite").rglob("eval_result.json")))
    assert followed.count("run directory") == count
    assert followed.count("eval_result.json") == written > 0


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.whole)])
@pytest.mark.parametrize(
    "ending",
    [
        "r2/traj/books_rain_9",
        *(pytest.param(ending, marks=pytest.mark.whole) for ending in ("", "r1/traj/books_hours_6")),
    ],
)
def test_axe_finds_nothing_in_trajectories(opened, trajectories, theme, ending):
    assert complaints(opened(trajectories.page, color_scheme=theme), ending and trajectories.label(ending)) == []


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.whole)])
@pytest.mark.parametrize(
    "label",
    [
        f"suite/runs/{NETWORK}",
        *(pytest.param(label, marks=pytest.mark.whole) for label in ("", "suite/runs/102", "suite/runs/307")),
    ],
)
def test_axe_finds_nothing_in_runs(opened, runs, theme, label):
    assert complaints(opened(runs.page, color_scheme=theme), label) == []


def complaints(report, label):
    from axe_playwright_python.sync_playwright import Axe

    page = shown(report, label) if label else report.go().page
    found = Axe().run(page).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
