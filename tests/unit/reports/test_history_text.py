"""A history as text and as Markdown: aligned, short, and safe to print."""

from __future__ import annotations

import re

import pytest

from pytest_webeval.reports.history_text import (
    PROBLEMS_SHOWN,
    describe_sessions,
    describe_tasks,
    format_history,
    format_history_markdown,
    format_rate,
    format_time,
    label_sessions,
    list_series,
)
from pytest_webeval.reports.rates_text import format_interval
from pytest_webeval.summary.comparison.history import build_history
from pytest_webeval.summary.scored_session import ScoredSession
from tests.unit.summary.test_history import run, session

HOSTILE = "\x1b[31m\u202e<script>|`\n::error::x"


def follow(*texts, site="shopping", **fields):
    """A session a text; all runs are of one site."""
    return build_history(
        [
            session(day, runs=[run(word, sites=[site]) for word in text.split()], **fields)
            for day, text in enumerate(texts, 1)
        ]
    )


def test_the_text_of_a_history():
    content = follow("r/1+ r/2- r/3! r/4x", "r/1- r/2- r/3+ r/4x", "r/1+ r/2- r/3+ r/4+ r/5+")
    assert format_history(content, 20).splitlines() == [
        "3 sessions, 2026-01-01 03:00 to 2026-01-03 03:00",
        "5 tasks: 2 always solved, 1 never solved, 2 sometimes solved",
        "",
        "  #              time   rate    interval  succeeded  errors              session",
        "  1  2026-01-01 03:00  33.3%   6% to 79%     1 of 3       1  ###.......  s1",
        "  2  2026-01-02 03:00  33.3%   6% to 79%     1 of 3       0  ###.......  s2",
        "  3  2026-01-03 03:00  80.0%  38% to 96%     4 of 5       0  ########..  s3",
        "compare with care the rates before and after these sessions:",
        "    3  5 tasks after 4",
        "",
        "by site (a digit is the rate of a session in tenths: 7 is 70% to 79%, 9 is 90% or more):",
        "  site      first   last    interval  rates",
        "  shopping  33.3%  80.0%  38% to 96%  338",
        "",
        "tasks whose verdict changed most often:",
        "  task  site      changes  same inputs  outcomes",
        "  1     shopping        2            0  +-+",
        "  3     shopping        1            0  !++",
        "  + success, - failure, ~ success of some attempts, ! error, x excluded, . absent",
    ]


def test_the_markdown_of_a_history():
    content = follow("r/1+ r/2-", "r/1- r/2- r/3x", site="a|b") | {"skipped": ["no | file"]}
    assert format_history_markdown(content, 20) == (
        "## 2 sessions, 2026-01-01 03:00 to 2026-01-02 03:00\n\n"
        "3 tasks: 1 never solved, 1 sometimes solved, 1 never judged\n\n"
        "| # | time | rate | interval | succeeded | errors | session |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| 1 | <code>2026-01-01 03&#58;00</code> | 50.0% | 9% to 91% | 1 of 2 | 0 | <code>s1</code> |\n"
        "| 2 | <code>2026-01-02 03&#58;00</code> | 0.0% | 0% to 66% | 0 of 2 | 0 | <code>s2</code> |\n\n"
        "- session 2: <code>3 tasks after 2</code>\n\n"
        "### By site\n\na digit is the rate of a session in tenths: 7 is 70% to 79%, 9 is 90% or more\n\n"
        "| site | first | last | interval | rates |\n| --- | --- | --- | --- | --- |\n"
        "| <code>a&#124;b</code> | 50.0% | 0.0% | 0% to 66% | <code>50</code> |\n\n\n"
        "### Tasks whose verdict changed most often\n\n"
        "<code>+</code> success, <code>-</code> failure, <code>&#126;</code> success of some attempts, "
        "<code>&#33;</code> error, <code>x</code> excluded, <code>&#46;</code> absent\n\n"
        "| task | site | changes | same inputs | outcomes |\n| --- | --- | --- | --- | --- |\n"
        "| <code>1</code> | <code>a&#124;b</code> | 1 | 0 | <code>+-</code> |\n\n"
        "- <code>no &#124; file</code>"
    )


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["a.json", "b.json"], ["a.json", "b.json"]),
        (["h/1/eval_summary.json", "h/2/eval_summary.json"], ["1", "2"]),
        (["h/1/eval_summary.json", "h/2"], ["1", "2"]),
        (["/x/h/a/1", "/x/h/b/1"], ["a/1", "b/1"]),
        (["h/1", "h/1/2"], ["1", "1/2"]),
        (["h/1"], ["1"]),
        (["/x/h/1/eval_summary.json", "/x/h/2/eval_summary.json", "this session"], ["1", "2", "this session"]),
        (["x/1", "y/1"], ["x/1", "y/1"]),
        (["eval_summary.json"], ["eval_summary.json"]),
    ],
)
def test_names_of_sessions_are_short(names, labels):
    assert label_sessions([{"name": name} for name in names]) == labels


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        ("2026-01-01T03:04:59Z", "2026-01-01 03:04"),
        ("2026-01-01T03:04:00+02:00", "2026-01-01 01:04"),
        ("", ""),
        ("\x1b" * 20, "\\u001b\\u001b\\u0…"),
    ],
)
def test_a_time_is_short_and_in_utc(timestamp, text):
    assert format_time(timestamp) == text


@pytest.mark.parametrize(
    ("text", "interval"), [("a/1+ a/2-", "9% to 91%"), ("a/1+ a/2- b/1+ b/2-", "9% to 91%, Wilson over 2 tasks")]
)
def test_an_interval_of_repeated_tasks_says_of_how_many(text, interval):
    (counts,) = follow(text)["sessions"]
    assert format_interval(counts) == interval


def test_nothing_judged_is_no_rate():
    content = follow("r/1x")
    (counts,) = content["sessions"]
    assert (format_rate(counts), format_interval(counts)) == ("-", "")
    assert (format_rate(None), format_interval(None)) == ("-", "")
    text = format_history(content, 20)
    assert re.search(r"^  1  2026-01-01 03:00     - {15}0 of 0       0  \.{10}  s1$", text, re.MULTILINE)
    assert re.search(r"^  shopping      -     -            \.$", text, re.MULTILINE)


def test_sessions_without_a_run():
    content = build_history([ScoredSession("a", [])])
    assert describe_sessions(content) == "1 session"
    assert describe_tasks(content["tasks"]) == "no task"
    assert list_series(content, "sites") == []


def test_sessions_that_do_not_differ_have_no_notes():
    text = format_history(follow("r/1+", "r/1+"), 20)
    assert "compare with care" not in text


def test_long_names_are_shortened_where_they_say_least():
    path, word = "/".join(["agent-1234"] * 3), "w" * 25
    runs = [run("r/1+", task_id=word, sites=[word])], [run("r/1-", task_id=word, sites=[word])]
    content = build_history([session(day, runs=each, name=f"{day}/{path}") for day, each in enumerate(runs, 1)])
    text = format_history(content, 20)
    assert text.count(f"  …{f'1/{path}'[-23:]}\n") == 2
    assert re.search(rf"^  {'w' * 23}…  {'w' * 23}… ", text, re.MULTILINE)
    assert re.search(rf"^  {'w' * 23}…  100.0%", text, re.MULTILINE)


def test_sessions_without_sites_have_no_table_of_them():
    content = build_history([session(1, "r/1+")])
    assert "by site" not in format_history(content, 20)
    assert "By site" not in format_history_markdown(content, 20)


def test_a_rate_of_a_site_is_a_digit():
    texts = ["r/1+ r/2+", "r/1- r/2-", "r/1+ r/2-", "r/1x"]
    assert "  905.\n" in format_history(follow(*texts), 20)


def test_the_sites_with_most_runs_are_shown():
    runs = [run(f"r/{number}+", sites=[f"site-{19 - number % 20:02}"]) for number in range(30)]
    text = format_history(build_history([session(1, runs=runs)]), 20)
    shown = re.findall(r"^  (site-\d+) ", text, re.MULTILINE)
    assert shown == [f"site-{number:02}" for number in (*range(10, 20), 0, 1)]
    assert "  … and 8 sites more with fewer runs" in text
    assert "… and 8 sites more" in format_history_markdown(build_history([session(1, runs=runs)]), 20)


# Runs by day, and the order of their groups: by what the last day lost, what all days lost, and the number of runs.
ORDERS = [
    (["a/1- a/2- b/1+", "a/1+ a/2+ b/1-"], ["b", "a"]),
    (["a/1- b/1+", "a/1+ b/1+"], ["a", "b"]),
    (["a/1+ b/1+ b/2+", "a/1+ b/1+ b/2+"], ["b", "a"]),
    (["a/1x b/1!", "a/1x b/1!"], ["b", "a"]),
    (["a/1+ b/1-", "a/1+"], ["b", "a"]),
]


@pytest.mark.parametrize(("texts", "order"), ORDERS)
@pytest.mark.parametrize("group", ["sites", "types", "templates", "folders"])
def test_the_groups_that_cost_most_successes_come_first(texts, order, group):
    days = [[run(word, **name_groups(word[0])) for word in text.split()] for text in texts]
    content = build_history([session(day, runs=runs) for day, runs in enumerate(days, 1)])
    names = {"sites": order, "types": order, "folders": order, "templates": [str(ord(name)) for name in order]}
    assert [name for name, _ in list_series(content, group)] == names[group]


def name_groups(name):
    return {"sites": [name], "type": name, "template": ord(name)}


@pytest.mark.parametrize("group", ["sites", "types", "templates", "folders", "none of these"])
def test_runs_without_names_have_no_groups(group):
    assert list_series(build_history([session(1, "r/1+ r/2-"), session(2, "s/1+ s/2-")]), group) == []


@pytest.mark.parametrize(("most", "shown"), [(2, 2), (0, 5), (9, 5)])
def test_so_many_tasks_are_shown(most, shown):
    content = follow("r/1+ r/2+ r/3+ r/4+ r/5+", "r/1- r/2- r/3- r/4- r/5-")
    text, markdown = format_history(content, most), format_history_markdown(content, most)
    assert len(re.findall(r" \+-$", text, re.MULTILINE)) == markdown.count("<code>+-</code>") == shown
    assert ("often (2 of 5):" in text) == (shown < 5) == ("often (2 of 5)\n" in markdown)


def test_long_histories_show_the_latest_sessions():
    texts = [f"r/1{'+-'[day % 2]}" for day in range(28)]
    content = build_history(
        [
            session(day + 1, runs=[run(text, sites=["s"])], timestamp=f"20{month}-01-{day + 1:02}")
            for month in (25, 26)
            for day, text in enumerate(texts)
        ]
    )
    lines = format_history(content, 20).splitlines()
    assert lines[-2].endswith("  …" + "+-" * 16)
    assert next(line for line in lines if line.startswith("  s ")).endswith("  " + "90" * 20)


def test_untrusted_texts_are_sanitized_and_short():
    runs = [run("r/1+", sites=[HOSTILE * 9], task_id=HOSTILE * 9)], [run("r/1-", sites=[HOSTILE], task_id=HOSTILE * 9)]
    fields = {"timestamp": HOSTILE * 9, "rules": HOSTILE * 9, "problems": [HOSTILE * 20]}
    content = build_history(
        [session(day, runs=each, name=f"{HOSTILE * 9}{day}", **fields) for day, each in enumerate(runs)]
    )
    text, markdown = format_history(content, 20), format_history_markdown(content, 20)
    assert not re.search(r"[\x1b\u202e]|(?m:^\s*::)", text + markdown)
    assert not re.search(r"<script|(?m:^[^|\n].*\|)", markdown)
    assert describe_sessions(content) == "2 sessions"
    assert max(map(len, text.splitlines())) == 100


def test_many_problems_are_counted():
    content = follow("r/1+") | {"problems": [f"problem {number}" for number in range(PROBLEMS_SHOWN + 3)]}
    lines = format_history(content, 20).splitlines()
    assert lines[-2:] == [f"note: problem {PROBLEMS_SHOWN - 1}", "note: … and 3 more"]
    assert format_history_markdown(content, 20).endswith("- <code>… and 3 more</code>")
