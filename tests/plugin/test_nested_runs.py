"""A run inside the directory of another one is not scored, and named in one line."""

from __future__ import annotations

import pytest

from pytest_webeval import find_runs
from pytest_webeval.__main__ import main
from tests.support.any_format import WRITERS, Recorded, write_run
from tests.support.runs import definition

RECORDED = Recorded(answer="done", has_traffic=True)
LINE = "1 run lies inside another run, not scored: 107/{}; move it out"


@pytest.fixture(params=["inner", "attempts/inner"])
def place(request, runs):
    """Where a run lies in that of task 107."""
    runs.add(107)
    return request.param


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("name", WRITERS)
def test_a_run_inside_another_one_is_named_whatever_its_format(runs, webeval, place, name):
    write_run(runs.root / "107" / place, name, RECORDED)
    result = webeval("--webeval-rules=strict")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([LINE.format(place)])
    assert runs.summary["webeval"]["nested_runs"] == [f"runs/107/{place}"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_run_inside_one_of_each_format_is_named(runs, webeval, name):
    runs.define(definition(107))
    write_run(runs.root / "107", name, RECORDED)
    write_run(runs.root / "107/own/108", "webarena-verified", RECORDED)
    webeval("--webeval-rules=strict").stdout.fnmatch_lines([LINE.format("own/108")])
    assert runs.summary["total"] == 1


@pytest.mark.whole
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "parallel"])
def test_workers_and_the_command_name_it_too(runs, webeval_apart, pytester, place, workers, capsys):
    runs.add(107, name=f"107/{place}")
    webeval_apart("--webeval-rules=strict", *workers).stdout.fnmatch_lines([LINE.format(place)])
    assert runs.summary["webeval"]["nested_runs"] == [f"runs/107/{place}"]
    main(["score", "runs", "--webeval-rules=strict"])
    assert LINE.format(place) in capsys.readouterr().out
    assert runs.summary["webeval"]["nested_runs"] == [f"runs/107/{place}"]


def test_a_function_that_finds_runs_warns_of_it(runs, place):
    runs.add(107, name=f"107/{place}")
    with pytest.warns(UserWarning, match=f"runs inside other runs are not scored: 107/{place}; move them out"):
        assert [run.label for run in find_runs(runs.root)] == ["107"]


def test_runs_inside_a_broken_run_are_named(runs, webeval):
    for name in ("one", "two"):
        runs.add(107, name=f"107/{name}")
    (runs.root / "107/agent_response.json").write_text("{}")
    result = webeval("--webeval-rules=strict")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["2 runs lie inside another run, not scored: 107/one, 107/two; move them out"])


def test_no_other_session_has_such_a_line(runs, webeval):
    runs.add(107)
    webeval("--webeval-rules=strict").stdout.no_fnmatch_line("*inside another run*")
    assert runs.summary["webeval"]["nested_runs"] == []
