"""Results in `--webeval-output` of runs that are no longer there are named, and stay."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def output(pytester):
    return pytester.path / "out"


def summary_in(output):
    return json.loads((output / "eval_summary.json").read_bytes())["webeval"]


def stale_line(output, count, names):
    results = "1 result" if count == 1 else f"{count} results"
    return f"{output} holds {results} of earlier sessions for runs that are not in this one: {names}"


@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.whole)], ids=["serial", "xdist"])
def test_results_of_runs_that_are_gone_are_named_and_kept(runs, webeval_apart, output, workers):
    for number in (107, 108, 109):
        runs.add(number)
    runs.add(110, name="monday/110")
    result = webeval_apart("--webeval-output=out")
    result.stdout.no_fnmatch_line("*earlier sessions*")
    assert "stale_results" not in summary_in(output)
    shutil.rmtree(runs.root / "108")
    shutil.rmtree(runs.root / "monday")
    result = webeval_apart("--webeval-output=out", *workers)
    assert stale_line(output, 2, "108, monday/110") in result.outlines
    assert summary_in(output)["stale_results"] == ["108", "monday/110"]
    assert (output / "108" / "eval_result.json").is_file()


def test_a_missing_task_does_not_hide_the_result_that_its_run_had(runs, webeval, output):
    runs.add(107)
    path = runs.add(108)
    webeval("--webeval-output=out")
    shutil.rmtree(path)
    result = webeval("--webeval-output=out", "--webeval-require-all")
    assert stale_line(output, 1, "108") in result.outlines


def test_a_session_over_some_runs_calls_no_result_stale(runs, webeval, output, pytester):
    runs.add(107)
    runs.add(108)
    webeval("--webeval-output=out")
    webeval("--webeval-output=out", "runs/107").stdout.no_fnmatch_line("*earlier sessions*")
    (pytester.path / "some.json").write_text('{"task_ids": [107]}')
    webeval("--webeval-output=out", "--webeval-subset=some.json")
    assert summary_in(output)["partial"] is False
    assert "stale_results" not in summary_in(output)


def test_results_that_earlier_sessions_wrote_into_the_runs_are_not_stale(runs, webeval, pytester):
    runs.add(107)
    webeval()
    (pytester.path / "108 \udcff").mkdir()
    shutil.copy(runs.root / "107" / "eval_result.json", pytester.path / "108 \udcff")
    webeval("--webeval-output=.").stdout.fnmatch_lines([stale_line(pytester.path, 1, "108 %FF")])
    assert summary_in(pytester.path)["stale_results"] == ["108 %FF"]


@pytest.mark.unchecked_files("results of another shape stand in for real ones")
def test_links_and_reports_in_the_output_directory_are_passed_over(runs, webeval, output, tmp_path):
    runs.add(107)
    webeval("--webeval-output=out")
    for place in (tmp_path / "elsewhere", output / "report" / "data"):
        place.mkdir(parents=True)
        (place / "eval_result.json").write_text("{}")
    (output / "link").symlink_to(tmp_path / "elsewhere")
    (output / "report" / "index.html").unlink(missing_ok=True)
    webeval("--webeval-output=out", "--webeval-metrics=out/report")
    assert "stale_results" not in summary_in(output)
