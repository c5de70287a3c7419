"""The terminal section, and what a session without runs costs."""

from __future__ import annotations

import pytest

from pytest_webeval.sites import SITE_NAMES


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
        "success rate 50.0% (95 % interval 15.0% to 85.0%), rules default",
        "  gitlab               1 / 1     100.0%",
        "  gitlab-shopping      0 / 1       0.0%",
        "  shopping             1 / 2      50.0%",
        f"summary: {runs.root / 'eval_summary.json'}",
    ]


def test_the_section_has_at_most_25_lines_however_many_sites_there_are(runs, webeval):
    pairs = [f"{one}-{other}" for one in SITE_NAMES for other in SITE_NAMES if one < other]
    for number, pair in enumerate(pairs):
        path = runs.add(number, site=pair, defined=False)
        (path / "network.har").write_text("{" if number % 2 else (path / "network.har").read_text())
        runs.tasks.append(runs.definition(number, site=pair))
    runs.define()
    shown = section(webeval("--deselect=runs/1::task"))
    assert len(shown) <= 25
    assert any("more in the summary" in line for line in shown)


def test_the_header_names_roots_rules_and_code(runs, webeval):
    runs.add(107)
    result = webeval()
    result.stdout.fnmatch_lines([f"webeval: runs in {runs.root}", "webeval: rules default, evaluators *"])


def test_quiet_sessions_still_show_the_numbers(runs, webeval):
    runs.add(107)
    webeval("-q").stdout.fnmatch_lines(["1 scored: 1 success, 0 failure, 0 error, 0 excluded"])


def test_a_session_without_runs_loads_nothing_of_ours_but_the_entry(pytester):
    pytester.makepyfile(
        """
        import sys
        def test_it():
            ours = {name for name in sys.modules if name.partition(".")[0] == "pytest_webeval"}
            assert ours == {"pytest_webeval", "pytest_webeval.plugin", "pytest_webeval.plugin.entry"}
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
