"""Node ids, positional arguments, `-k` and `-m`."""

from __future__ import annotations

import pytest


@pytest.fixture
def shop_and_forge(runs):
    runs.add(107, site="shopping", kind="retrieve", template=270)
    runs.add(108, site="gitlab", kind="mutate", template=271)
    runs.add(1070, site="gitlab-shopping", kind="navigate", template=27)
    return runs


def collected(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.endswith("::task")]


def test_node_ids_are_the_places_of_the_runs_in_numeric_order(shop_and_forge, webeval):
    assert collected(webeval("--co", "-q")) == ["runs/107::task", "runs/108::task", "runs/1070::task"]


@pytest.mark.parametrize("argument", ["runs/107", "runs/107/", "runs/107::task", "./runs/107", "./runs/107::task"])
def test_a_run_is_selected_by_its_directory_or_its_pasted_node_id(shop_and_forge, webeval, argument):
    result = webeval(argument, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["runs/107::task PASSED*"])


def test_several_pasted_node_ids_select_several_runs(shop_and_forge, webeval):
    webeval("runs/107::task", "runs/1070::task").assert_outcomes(passed=2)


@pytest.mark.parametrize("argument", ["runs", "./runs/"])
def test_the_root_itself_may_be_given_and_makes_a_whole_session(shop_and_forge, webeval, argument):
    webeval(argument).assert_outcomes(passed=3)
    assert shop_and_forge.summary["webeval"]["partial"] is False


def test_a_node_id_that_names_no_run_is_pytests_own_usage_error(shop_and_forge, webeval):
    result = webeval("runs/999::task")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *runs/999*"])


def test_pasted_node_ids_work_below_the_rootdir(shop_and_forge, pytester, monkeypatch):
    pytester.makeini("[pytest]\nwebeval_runs = runs\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    pytester.runpytest("runs/107::task").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("gitlab", ["runs/108::task", "runs/1070::task"]),
        ("shopping and not gitlab", ["runs/107::task"]),
        ("mutate", ["runs/108::task"]),
        ("template_270", ["runs/107::task"]),
        ("108", ["runs/108::task"]),
        ("webarena-verified and navigate", ["runs/1070::task"]),
    ],
)
def test_k_selects_by_site_type_template_format_and_task_id(shop_and_forge, webeval, expression, expected):
    assert collected(webeval("--co", "-q", "-k", expression)) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('webeval_site(name="gitlab")', ["runs/108::task", "runs/1070::task"]),
        ("webeval_template(id=270)", ["runs/107::task"]),
        ('webeval_type(name="mutate")', ["runs/108::task"]),
        ('webeval_site(name="shopping") and webeval_site(name="gitlab")', ["runs/1070::task"]),
    ],
)
def test_m_selects_by_marker_arguments(shop_and_forge, webeval, expression, expected):
    assert collected(webeval("--co", "-q", "-m", expression, "--strict-markers")) == expected


def test_markers_are_listed(pytester):
    result = pytester.runpytest("--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.webeval_site(name)*", "@pytest.mark.webeval_type(name)*"])
    result.stdout.fnmatch_lines(["@pytest.mark.webeval_template(id)*"])


def test_ignore_leaves_a_run_out(shop_and_forge, webeval):
    webeval("--ignore=runs/107").assert_outcomes(passed=2)
    webeval("--ignore-glob=*/runs/10*").assert_outcomes()


def test_a_deselected_run_makes_the_summary_partial(shop_and_forge, webeval):
    result = webeval("--deselect=runs/108::task")
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(["partial session: 0 not scored, 1 deselected"])
    assert shop_and_forge.summary["webeval"]["partial"] is True
    assert shop_and_forge.summary["webeval"]["deselected_count"] == 1


def test_a_whole_session_is_not_called_partial(shop_and_forge, webeval):
    webeval().stdout.no_fnmatch_line("partial session*")
    assert shop_and_forge.summary["webeval"]["partial"] is False
