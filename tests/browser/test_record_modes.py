"""The same runs in each mode of Playwright have the right verdict, or an error that names what was not recorded."""

from __future__ import annotations

import re

import pytest

from tests.browser import record_modes
from tests.browser.record_modes import MODES, TASKS, evaluate, record

pytestmark = pytest.mark.browser

# In a minute on two cores. The others differ in the place of bodies alone.
QUICK = {"har-full-embed", "har-full-omit", "har-minimal-embed", "zip-full-attach", "trace", "chunk"}
GAP = re.compile(r"record", re.IGNORECASE)  # names the recorder, or how to record
WISH_LIST = "112"  # asks for a cookie that a redirect sets
# Playwright 1.65 writes an entry of a trace before the browser has told it all headers of a redirect, in some runs.
LOSES_COOKIES = {"trace", "chunk", "unpacked-trace", "packed-again"}


def modes():
    return [pytest.param(mode, marks=() if mode in QUICK else pytest.mark.whole) for mode in MODES]


def list_wrong(mode, cells):
    """The runs with a wrong verdict, or with an error that no gap of the mode explains."""
    for name, cell in cells.items():
        may_lack_body = not MODES[mode].complete or "-blob" in name
        may_lack_cookie = name == WISH_LIST and mode in LOSES_COOKIES
        is_gap = cell.verdict == "error" and GAP.search(cell.message)
        if not (cell.is_right or (is_gap and (may_lack_body or may_lack_cookie))):
            yield f"{name}: {cell.expected} is {cell.verdict}: {cell.message}"


@pytest.mark.parametrize("mode", modes())
def test_the_tasks_of_the_shop_have_the_right_verdict_or_a_named_gap(browser, tmp_path, mode):
    root = tmp_path / mode
    expected = record(browser, mode, root)
    assert len(expected) == len(TASKS) == 10
    assert list(list_wrong(mode, evaluate(root, expected, "strict"))) == []


@pytest.mark.parametrize("mode", modes())
def test_what_scripts_send_has_the_right_verdict_or_a_named_gap(browser, tmp_path, mode):
    root = tmp_path / mode
    expected = record(browser, mode, root, scripts=True)
    assert list(list_wrong(mode, evaluate(root, expected, "strict"))) == []


def test_the_script_prints_a_row_for_each_run(monkeypatch, capsys):
    right, gap, wrong = (
        record_modes.Cell(*each) for each in (("a", "a", ""), ("error", "a", "no body"), ("b", "a", ""))
    )
    table = {"trace": {"1": right, "2": gap}}
    monkeypatch.setattr(record_modes, "record_all", lambda *_: table)
    monkeypatch.setattr("sys.argv", ["record_modes", "trace"])
    assert record_modes.main() == 0
    table["trace"]["3"] = wrong
    assert record_modes.main() == 1
    assert capsys.readouterr().out.splitlines()[-1] == "3 runs, 1 right verdicts, 1 wrong ones"
    assert [str(cell) for cell in table["trace"].values()] == ["a", "gap: no body", "WRONG: b"]
