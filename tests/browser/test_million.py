"""A report of 1,000,000 runs: what it costs to write, how soon it is there, and how a run in the middle is reached."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.browser import many_runs, pages
from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.whole]
RUNS = 1_000_000
MIDDLE = 512_345
MOST_MEMORY, MOST_HEAP = 300 * 2**20, 100 * 2**20  # bytes
MOST_DISK = 600_000_000
WRITE = """
import json, resource, sys, time
from pathlib import Path
from pytest_webeval.reports.html.index_page import MOST_ROWS
from pytest_webeval.reports.html.index_parts import PART_LABELS, PART_ROWS
from tests.browser import many_runs
start = time.monotonic()
many_runs.write(Path(sys.argv[1]), int(sys.argv[2]), MOST_ROWS, PART_ROWS, PART_LABELS)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": round(time.monotonic() - start, 1), "peak": peak}))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What it cost to write the report, in a process of its own, and its page."""
    place = tmp_path_factory.mktemp("million")
    command = [sys.executable, "-c", WRITE, str(place), str(RUNS)]
    cost = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"\nwritten in {cost['seconds']} s, peak {cost['peak'] / 2**20:.0f} MiB")
    return cost, place / "index.html"


@pytest.fixture(scope="module")
def path(written) -> Path:
    return written[1]


def settled(report):
    return report.until("document.getElementById('list').getAttribute('aria-busy') === 'false'")


def measure(report, action):
    """The seconds until an action has its rows on the page."""
    start = time.monotonic()
    action()
    settled(report)
    return time.monotonic() - start


def test_writing_takes_bounded_memory_and_room(written):
    cost, path = written
    files = [file.stat().st_size for file in (path.parent / "data").iterdir()]
    print(f"{len(files):,} parts, {sum(files) / 1e6:.0f} MB, index.html {path.stat().st_size:,} bytes")
    assert cost["peak"] < MOST_MEMORY
    assert sum(files) < MOST_DISK
    assert path.stat().st_size < 200_000


@pytest.mark.parametrize("look", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], ids=["light", "dark", "phone"])
def test_the_list_is_there_in_little_memory(opened, path, look):
    report = opened(path, **look)
    start = time.monotonic()
    report.go()
    settled(report)
    seconds = time.monotonic() - start
    shown = report.page.evaluate("performance.getEntriesByName('webeval-shown')[0].startTime") / 1000
    heap = report.page.evaluate("performance.memory.usedJSHeapSize")
    print(f"list usable after {seconds:.2f} s (by the page's clock {shown:.2f} s), heap {heap / 2**20:.1f} MiB")
    assert heap < MOST_HEAP
    assert report.count == RUNS
    assert report.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert report.settled() == []


def test_a_group_and_its_last_part_open(opened, path):
    report = opened(path).go()
    times = [measure(report, lambda: report.page.click("#overview a[href='#group=0']"))]
    report.until("document.getElementById('count').textContent.includes(' of 1,000,000 tasks')")
    last = report.page.locator(".turning input").get_attribute("max")
    times.append(measure(report, lambda: report.page.evaluate(f"location.hash = '#group=0&part={last}'")))
    print(f"group opened in {times[0]:.2f} s, its part {last} in {times[1]:.2f} s")
    assert report.settled() == []


def test_a_run_in_the_middle_is_reached_by_label_id_and_link(opened, path):
    label = many_runs.label(MIDDLE)
    report = opened(path).go()
    times = [measure(report, partial(report.page.fill, "#search", text)) for text in (label, str(MIDDLE))]
    assert report.page.locator("#count").inner_text() == "1 task by run or id"
    opening = opened(path)
    times.append(measure(opening, lambda: opening.go(f"#task={label}")))
    print("run found by label, id and link in " + ", ".join(f"{seconds:.2f} s" for seconds in times))
    assert opening.task == label
    assert pages.row(MIDDLE)[2] in opening.page.locator("#task h2").inner_text()
    assert len([address for address in opening.requests if "/data/rows-" in address]) < 12


def test_a_search_in_all_parts_ends(opened, path):
    report = opened(path).go("#q=case+777777")
    start = time.monotonic()
    report.page.click("text=Search all parts")
    report.until("document.getElementById('count').textContent === '1 task in all parts'")
    seconds = time.monotonic() - start
    session = report.page.context.new_cdp_session(report.page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"]
    print(f"all parts searched in {seconds:.1f} s, heap {heap / 2**20:.0f} MiB afterwards")
    assert heap < MOST_HEAP
