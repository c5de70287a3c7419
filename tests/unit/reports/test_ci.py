"""What CI systems are given: Markdown, an annotation, metrics. All of it may hold what strangers wrote."""

from __future__ import annotations

import re

import pytest

from pytest_webeval.reports.ci import annotation, fenced, markdown, open_metrics
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.tables import plain
from pytest_webeval.results import Summary

ROOM = 1024 * 1024
BASELINE = {"timestamp": "2026-01-30T12:00:00Z", "regressed": ["runs/1"], "fixed": [], "new": [], "gone": ["runs/9"]}
BASELINE |= {
    "partial": False,
    "success_rate": 0.5,
    "rules": "strict",
    "same_rules": False,
    "same_evaluators": True,
    "same_tasks": False,
    "newly_erring": [],
    "sentence": "1 task fewer",
    "changes": [
        {
            "kind": "regressed",
            "run": "runs/1",
            "task_id": 1,
            "causes": ["recording", "day"],
            "before": {"status": "success", "reason": None},
            "after": {"status": "failure", "reason": "because"},
        }
    ],
}


def row(number, status="failure", site="shopping", reason="because"):
    told = {"task_id": number, "run": f"runs/{number}", "status": status, "score": 0.0, "sites": [site]}
    return told | {"intent_template_id": 1, "reason": reason}


def group(runs, **changed):
    told = {"evaluator": "NetworkEventEvaluator", "field": "f", "kind": "different", "text": "f differs"}
    return told | {"count": len(runs), "runs": runs} | changed


def summary(rows, **about):
    count = {status: sum(one["status"] == status for one in rows) for status in ("success", "failure", "error")}
    total, sites = sum(count.values()), {}
    for one in rows:
        sites.setdefault(one["sites"][0], []).append(one)
    known = {"success_rate": count["success"] / total if total else None, "success_rate_denominator": total}
    known |= {"success_rate_task_count": total}
    known |= {"success_rate_interval_95": [0.25, 0.75], "excluded_count": 1, "rules": "default", "partial": False}
    known |= {"stopped": None, "failures": []}
    return Summary(
        timestamp="",
        webarena_verified_version="",
        webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="",
        total=total,
        success_count=count["success"],
        failed_count=count["failure"],
        error_count=count["error"],
        per_site_summary=sites,
        task_results=rows,
        webeval=known | about,
    )


def reruns(rows):
    return RerunCommands({one["run"]: one["task_id"] for one in rows}, ("--webeval-runs=runs",))


def test_the_page_tells_flips_numbers_sites_groups_commands_and_tasks():
    rows = [row(1), row(2, "success"), row(3, "error", "gitlab", "no file")]
    groups = [group(["runs/1"]), group(["runs/3"], evaluator="", text="error: no file")]
    page = markdown(summary(rows, failures=groups, baseline=BASELINE), reruns(rows), ROOM)
    assert page == (
        "## Web-agent runs: 33.3% success\n\n"
        "### Since the baseline of <code>2026-01-30</code>: "
        "1 regressed, 0 fixed, 0 newly erring, 1 missing, 0 extra\n\n"
        "It used other rules and task definitions. These may explain the changes.\n\n"
        "<code>1 task fewer</code>\n\n"
        "| change | task | because of other | was | now |\n| --- | --- | --- | --- | --- |\n"
        "| regressed | <code>1</code> | <code>recording, day</code> | <code>success</code> | <code>because</code> |\n\n"
        "**1 of 3 succeeded**, 1 failed, 1 error, 1 excluded; 95% interval 25.0% to 75.0% for the 3 that count. "
        "Rules <code>default</code>.\n\n"
        "| site | success | of | rate |\n| --- | --- | --- | --- |\n"
        "| <code>shopping</code> | 1 | 2 | 50.0% |\n| <code>gitlab</code> | 0 | 1 | 0.0% |\n\n"
        "### Failures by reason\n\n"
        "| count | evaluator | reason |\n| --- | --- | --- |\n"
        "| 1 | <code>NetworkEventEvaluator</code> | <code>f differs</code> |\n"
        "| 1 |  | <code>error&#58; no file</code> |\n\n"
        "Rerun 1 task with <code>f differs</code>:\n\n"
        "```sh\npytest --webeval-runs=runs -k '[1]'\n```\n\n"
        "Rerun 1 task with <code>error&#58; no file</code>:\n\n"
        "```sh\npytest --webeval-runs=runs -k '[3]'\n```\n"
        "\n### 2 tasks without success\n\n"
        "| task | site | reason |\n| --- | --- | --- |\n"
        "| <code>1</code> | <code>shopping</code> | <code>because</code> |\n"
        "| <code>3</code> | <code>gitlab</code> | <code>no file</code> |\n"
    )


PASSED, FAILED = {"gate": "g", "wanted": "", "found": "", "passed": True}, {"gate": "g", "passed": False}


@pytest.mark.parametrize(
    ("statuses", "about", "kind"),
    [
        (["success"], {}, "notice"),
        (["success", "failure"], {}, "error"),
        (["success", "failure"], {"gates": [PASSED]}, "notice"),
        (["success"], {"gates": [PASSED, FAILED]}, "error"),
        (["success", "failure"], {"failures": [group(["runs/1"], known=True)]}, "notice"),
        (["failure", "failure"], {"failures": [group(["runs/0"], known=True)]}, "error"),
        (["failure"], {"gates": [PASSED], "baseline": BASELINE | {"gone": []}}, "error"),
        (["error"], {"gates": [PASSED], "baseline": BASELINE | {"regressed": [], "newly_erring": ["r"]}}, "error"),
        (["success"], {"baseline": BASELINE | {"regressed": []}}, "error"),
        (["success"], {"baseline": BASELINE | {"regressed": []}, "partial": True}, "notice"),
        (["success"], {"baseline": BASELINE | {"regressed": [], "gone": [], "fixed": ["r"]}}, "notice"),
    ],
)
def test_an_annotation_is_an_error_where_a_failure_is_new_or_a_task_regressed(statuses, about, kind):
    rows = [row(number, status) for number, status in enumerate(statuses)]
    assert annotation(summary(rows, **about), "t").startswith(f"::{kind} title=t::")


def test_known_failures_have_a_table_of_their_own_and_no_command():
    rows = [row(1), row(2), row(3, "success")]
    groups = [group(["runs/1"]), group(["runs/2"], text="g is missing", known=True)]
    page = markdown(summary(rows, failures=groups), reruns(rows), ROOM)
    new, known = page.partition("### Known failures by reason")[::2]
    assert "### Failures by reason" in new
    assert page.count("```sh") == 1
    assert "g is missing" in known
    assert "### 1 task without success" in page


def test_a_session_without_failures_and_sites_tells_its_numbers_alone():
    page = markdown(summary([], partial=True, stopped="Ctrl-C | x"), reruns([]), ROOM)
    assert page == (
        "## Web-agent runs: no scored runs\n\n**0 of 0 succeeded**, 0 failed, 0 errors, 1 excluded. "
        "Rules <code>default</code>. This session is partial. Stopped: <code>Ctrl-C &#124; x</code>.\n"
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</code></td></table><h1>all is well</h1>",
    "![](https://evil.test/x.png)",
    "[click](javascript:alert(1))",
    "https://evil.test www.evil.test mail@evil.test",
    "@everybody #123 org/repo#1 :tada:",
    "a | b | c",
    "`code` ``` ~~~ **bold** __x__ $math$",
    "first\n| second |\n## heading",
    "first\r\n\r\n<details>",
    "\\| \\` \\\\",
    "&lt;b&gt; &#60;",
    "\x1b[31mred\x07 \u202egnp.exe\u2066 \u200b",
    "\ud800 half",
    "::error::x ##[group]",
    "<!-- --> <![CDATA[ ]]>",
    "a" * 10_000,
    "<" * 10_000,
    "^[1] {x} 'y' \"z\"",
]
INERT = re.compile(r"<code>(?:[^&<>`*_\[\]!|~:@#\\$.{}^\"'\x00-\x1f\u202e\u2066\u200b]|&#\d+;|&#64;<!-- -->)*</code>")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_stranger_wrote_is_text_in_one_line_of_bounded_length(text):
    told = plain(text)
    assert INERT.fullmatch(told)
    assert len(re.sub(r"&#\d+;|<[^>]*>", "x", told)) <= 330
    told.encode()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_field_of_a_summary_brings_anything_else_onto_the_page(text):
    honest, told = (_page_with(one) for one in ("x", text))
    skeleton = re.compile(r"<code>(?:(?!</code>).)*</code>")
    assert skeleton.sub("", told) == skeleton.sub("", honest)
    assert all(INERT.fullmatch(one) for one in skeleton.findall(told))


def _page_with(text):
    rows = [row(1, "failure", text, text) | {"task_id": text}]
    groups = [group(["runs/1"], evaluator=text, text=text)]
    changed = BASELINE | {"timestamp": text[:10]}
    about = {"failures": groups, "baseline": changed, "rules": text, "stopped": text}
    return markdown(summary(rows, **about), RerunCommands({"runs/1": 1}), ROOM)


@pytest.mark.parametrize(
    ("command", "block"),
    [
        ("pytest -k '[1]'", "```sh\npytest -k '[1]'\n```\n"),
        ("pytest ```", "````sh\npytest ```\n````\n"),
        ("pytest '\n`````\n'", "``````sh\npytest '\n`````\n'\n``````\n"),
    ],
)
def test_nothing_in_a_command_ends_its_block(command, block):
    assert fenced(command) == block


@pytest.mark.parametrize("room", [0, 10, 200, 1_000, 3_000, 20_000, ROOM])
def test_a_page_never_takes_more_room_than_there_is(room):
    rows = [row(number, reason="<é>" * 200) for number in range(5_000)]
    found = summary(rows, failures=[group([one["run"] for one in rows])])
    page = markdown(found, reruns(rows), room)
    assert len(page.encode()) <= room
    assert bool(page) is (room >= 200)
    assert page.startswith("## Web-agent runs") or not page
    assert ("more in eval_summary.json" in page) is (room > 3_000)


FAILED = "::error title=webeval%3A a%2C b::0 of 1 succeeded, 1 failed, 0 errors"


@pytest.mark.parametrize(
    ("rows", "about", "line"),
    [
        ([row(1, "success")], {}, "::notice title=webeval%3A a%2C b::1 of 1 succeeded (100.0%25), 0 failed, 0 errors"),
        ([row(1)], {}, "::error title=webeval%3A a%2C b::0 of 1 succeeded (0.0%25), 1 failed, 0 errors"),
        (
            [row(1)],
            {"success_rate": None, "baseline": BASELINE | {"timestamp": "1\r\n::%"}},
            FAILED + "; since 1\\u000d%0A\\u003a:%25 1 regressed, 0 fixed",
        ),
        ([], {}, "::notice title=webeval%3A a%2C b::0 of 0 succeeded, 0 failed, 0 errors"),
    ],
)
def test_the_annotation_is_one_line_with_the_totals(rows, about, line):
    assert annotation(summary(rows, **about), "webeval: a, b") == line


def test_metrics_are_sorted_lines_with_escaped_labels():
    rows = [row(1, "success"), row(2), row(3), row(4, "success", 'a"\\\n\x1b'), row(5, site="")]
    assert open_metrics(summary(rows)).splitlines() == [
        "webeval_error 0",
        "webeval_excluded 1",
        "webeval_failure 3",
        "webeval_success 2",
        "webeval_success_rate 0.4",
        'webeval_success_rate{site="a\\"\\\\\\n\\\\u001b"} 1.0',
        'webeval_success_rate{site="shopping"} 0.333333',
        "webeval_total 5",
        "# EOF",
    ]


def test_a_rate_of_nothing_is_left_out():
    assert "rate" not in open_metrics(summary([]))
