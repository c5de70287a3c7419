"""The terminal section, and what a session without runs costs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pytest_webeval.reports import terminal
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.terminal import failures
from pytest_webeval.results import Summary
from pytest_webeval.tasks.sites import SITE_NAMES

CHECKSUMS = ("version", "evaluator_checksum", "data_checksum")
QUICK = ("-p", "no:hypothesispytest")


def section(result: pytest.RunResult) -> list[str]:
    """The lines of our section, its title excluded."""
    start = next(index for index, line in enumerate(result.outlines) if line.strip("= ") == "webeval")
    rest = result.outlines[start + 1 :]
    return rest[: next(index for index, line in enumerate(rest) if line.startswith("==="))]


def test_the_section_shows_counts_rate_interval_and_sites(runs, webeval):
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109, site="gitlab")
    (runs.add(110, site="gitlab-shopping") / "network.har").write_text("{")
    assert section(webeval()) == [
        "4 scored: 2 success, 1 failure, 1 error, 0 excluded",
        "success rate 50.0% (95% interval 15.0% to 85.0%), rules strict",
        "  gitlab               1 / 1     100.0%",
        "  gitlab-shopping      0 / 1       0.0%",
        "  shopping             1 / 2      50.0%",
        "failures by reason:",
        "      1  error: cannot parse … as HAR: 110",
        "         pytest --webeval-runs=runs -k '[110]'",
        "      1  AgentResponse: status differs: 108",
        "         pytest --webeval-runs=runs -k '[108]'",
        f"summary: {runs.root / 'eval_summary.json'}",
    ]


def test_the_section_has_at_most_40_lines_however_many_sites_there_are(runs, webeval):
    pairs = [f"{one}-{other}" for one in SITE_NAMES for other in SITE_NAMES if one < other]
    for number, pair in enumerate(pairs):
        path = runs.add(number, site=pair, defined=False)
        (path / "network.har").write_text("{" if number % 2 else (path / "network.har").read_text())
        runs.tasks.append(runs.definition(number, site=pair))
    runs.define()
    shown = section(webeval("--deselect=runs/1::task"))
    assert len(shown) <= 40
    assert any("more in the summary" in line for line in shown)


def made_up(groups, **changed):
    runs = [run for group in groups for run in group["runs"]]
    about = {"success_rate_interval_95": [0.1, 0.2], "excluded_count": 0, "success_rate": 0.15, "partial": True}
    about |= {"success_rate_denominator": 900, "success_rate_task_count": 900}
    about |= {"rules": "default", "slowest": [], "failures": groups, "subset": None}
    about |= {"unpassable": dict.fromkeys(runs), "warnings": {"r": ["w"]}, "warning_count": 1, "stopped": "x"}
    about["warning_kinds"] = [{"kind": "other", "count": 1, "decided": 0, "example": {"run": "r", "text": "w"}}]
    about |= {"unscored": ["a"], "unscored_count": 1, "deselected_count": 1}
    rows = [{"status": "failure"}]
    common = dict.fromkeys(("timestamp", *(f"webarena_verified_{one}" for one in CHECKSUMS)), "")
    counts = dict.fromkeys(("total", "success_count", "failed_count", "error_count"), 900)
    sites = {str(number): rows for number in range(20)}
    return Summary(**common, **counts, per_site_summary=sites, task_results=[], webeval=about | changed)


def group(number, count=40):
    runs = [f"runs/{number}{run:03}" for run in range(count)]
    told = {"evaluator": "NetworkEventEvaluator", "field": "f", "kind": "different", "text": f"f{number} differs"}
    return told | {"count": count, "runs": runs}


def shown_of(summary, **changed):
    ids = {run: int(run[5:]) for group in summary.webeval["failures"] for run in group["runs"]}
    told = {  # of a session that had it all
        "places": [Path("a"), Path("b")],
        "left_out": 0,
        "missing": [1],
        "contradicted": ["r"],
        "problems": ["p"] * 5,
    }
    return terminal.render_summary(
        summary, RerunCommands(ids, ("--webeval-runs=runs",)), terminal.SessionFacts(**told | changed)
    )


def test_groups_of_failures_give_way_where_there_is_more_to_tell():
    everything = shown_of(made_up([group(number) for number in range(1, 9)]), problems=["p"] * 20)
    assert len(everything) == 40
    assert everything[-20:] == ["p"] * 20


def test_the_largest_groups_of_failures_are_shown_and_the_largest_of_these_with_commands():
    lines = shown_of(made_up([group(1, 2), *(group(number) for number in range(2, 9))]))
    start = lines.index("failures by reason (5 of 8 kinds):")
    assert lines[start + 1 : start + 3] == [
        "      2  NetworkEvent: f1 differs: 1000, 1001",
        "         pytest --webeval-runs=runs -k '[1000] or [1001]'",
    ]
    cut = " (first 27 of 40; all of them: webeval.failures in eval_summary.partial.json)"
    assert lines[start + 3] == f"     40  NetworkEvent: f2 differs: 2000, 2001, 2002, 2003, 2004, … and 35 more{cut}"
    assert [line.startswith("         pytest") for line in lines[start + 1 : start + 9]] == [False, True] * 3 + [
        False
    ] * 2
    assert max(map(len, lines)) <= 310


@pytest.mark.parametrize(
    ("seconds", "line"),
    [
        ([0.99, 0.9], None),
        ([1.0, 0.5, 0.25, 0.1], "slowest: r0 1.0 s, r1 0.5 s, r2 0.2 s"),
        ([12.34], "slowest: r0 12.3 s"),
        ([], None),
    ],
)
def test_the_slowest_runs_are_told_where_somebody_would_notice(seconds, line):
    rows = [{"run": f"r{number}", "wall_time": time} for number, time in enumerate(seconds)]
    lines = shown_of(made_up([], slowest=rows))
    assert [one for one in lines if one.startswith("slowest")] == ([line] if line else [])


def test_what_a_group_is_called_cannot_command_a_terminal():
    hostile = group(1, 1) | {"text": "\x1b[2J is missing\n::error::x", "evaluator": "\u202eEvaluator"}
    lines = failures([hostile], RerunCommands({"runs/1000": "\x1b[0m"}))
    assert lines[1].startswith("      1  \\u202e: \\u001b[2J is missing ::error::x: \\u001b[0m")
    assert all(line.isprintable() for line in lines)


def test_a_command_that_is_shown_scores_its_group_and_nothing_else(runs, webeval, pytester):
    for task_id in (107, 1072):
        runs.add(task_id, passes=False)
    runs.add(2107)
    (runs.add(7, name="b c") / "agent_response.json").write_text("{")
    commands = [line.strip() for line in section(webeval()) if line.startswith("         pytest")]
    assert len(commands) == 2
    for command, counts in zip(commands, [(0, 2, 0), (0, 0, 1)], strict=True):
        pytester.runpytest(*QUICK, *shlex.split(command)[1:])
        assert runs.counts == counts


RECORDS = """
    from pytest_webeval import EvaluatorResult
    def test_records(record_evaluation):
        record_evaluation(EvaluatorResult(evaluator_name="Mine", status="{status}", score=0.0))
"""


@pytest.mark.parametrize("spread", [[], pytest.param(["-n2"], marks=pytest.mark.whole)])
def test_a_failure_that_a_passing_test_records_is_told_and_fails_the_session(runs, webeval_apart, pytester, spread):
    runs.add(107)
    pytester.makepyfile(test_more=RECORDS.format(status="failure"))
    result = webeval_apart("runs", "test_more.py", *spread)
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "1 run passed its own test, but a Python test recorded a failure: runs/107" in section(result)


def test_a_success_that_a_test_records_fails_nothing(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(test_more=RECORDS.format(status="success"))
    result = webeval("runs", "test_more.py")
    result.assert_outcomes(passed=4)
    assert result.ret == 0
    assert not [line for line in section(result) if "recorded a failure" in line]


def test_the_header_names_roots_rules_and_code(runs, webeval):
    runs.add(107)
    result = webeval()
    result.stdout.fnmatch_lines([f"webeval: runs in {runs.root}", "webeval: rules auto, evaluators *"])


def test_quiet_sessions_still_show_the_numbers(runs, webeval):
    runs.add(107)
    webeval("-q").stdout.fnmatch_lines(["1 scored: 1 success, 0 failure, 0 error, 0 excluded"])


def test_a_session_without_runs_loads_nothing_of_ours_but_the_entry(pytester):
    pytester.makepyfile(
        """
        import sys
        def test_it():
            ours = {name for name in sys.modules if name.partition(".")[0] == "pytest_webeval"}
            plugin = ("entry", "hookspecs", "settings", "settings.options")
            allowed = {f"pytest_webeval.plugin.{name}" for name in plugin}
            allowed |= {f"pytest_webeval.sessions.{name}" for name in ("settings", "settings.options")}
            assert ours == {"pytest_webeval", "pytest_webeval.plugin", "pytest_webeval.sessions", *allowed}
            assert not {"pydantic", "pydantic_core", "msgspec", "dateutil"} & set(sys.modules)
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_session_without_runs_shows_nothing_of_ours(pytester):
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= webeval =*")
    result.stdout.no_fnmatch_line("webeval: *")


def test_known_failures_have_groups_of_their_own_without_commands():
    lines = shown_of(made_up([group(1, 2), group(2, 1) | {"known": True}, group(3, 1) | {"known": True}]))
    start = lines.index("failures by reason:")
    assert lines[start : start + 6] == [
        "failures by reason:",
        "      2  NetworkEvent: f1 differs: 1000, 1001",
        "         pytest --webeval-runs=runs -k '[1000] or [1001]'",
        "known failures by reason:",
        "      1  NetworkEvent: f2 differs: 2000",
        "      1  NetworkEvent: f3 differs: 3000",
    ]
