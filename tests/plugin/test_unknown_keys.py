"""Misspelt keys in sessions: in the configuration, in definitions and in what a Python test expects."""

from __future__ import annotations

import json

import pytest

KEYS = "url, http_method, response_status, query_params, post_data, headers, response_content, response_cookies"
PROBLEM = f"unknown key 'post_dta' @ eval[0].expected; did you mean 'post_data'? known: {KEYS}"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"environment": {}},
            "unknown key 'environment' @ the top level; did you mean 'environments'? known: *",
        ),
        (
            {"environments": {"shopping": {"urls": ["shop.test"]}}},
            "the URL 'shop.test' without a scheme; use 'http://shop.test' @ environments.shopping.urls[[]0]",
        ),
    ],
)
def test_a_configuration_that_cannot_be_meant_ends_the_session_at_its_start(runs, webeval, pytester, config, message):
    runs.add(107)
    (pytester.path / "wrong.json").write_text(json.dumps(config))
    result = webeval("--webeval-config=wrong.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: invalid configuration *wrong.json: {message}"])


def test_a_misspelt_key_in_a_python_test_is_an_error(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(
        """
        def test_post(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/", "post_dta": {"a": "1"}})
        """
    )
    result = webeval("test_a_misspelt_key_in_a_python_test_is_an_error.py")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (found,) = [one for one in runs.result(107)["evaluators_results"] if one["evaluator_name"].startswith("Network")]
    assert (found["status"], found["error_msg"]) == ("error", f"invalid task definition: {PROBLEM}")


def test_a_misspelt_key_of_the_users_own_is_an_error_beside_the_installed_data_set_too(runs, webeval, pytester):
    runs.add(107)
    folder = pytester.mkpydir("webarena_verified")
    (folder / "webarena-verified.json").write_text((runs.root / "tasks.json").read_text())
    pytester.syspathinsert()
    pytester.makepyfile(
        test_mine="""
        def test_post(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/", "post_dta": {"a": "1"}})
        """
    )
    webeval("test_mine.py", "--webeval-tasks=webarena-verified")
    assert f"NetworkEventEvaluator: invalid task definition: {PROBLEM}" in runs.result(107)["error_msg"]


@pytest.mark.parametrize(("is_published", "status"), [(True, "success"), (False, "error")])
def test_only_published_definitions_may_have_unknown_keys(runs, webeval, publish, is_published, status):
    runs.add(107)
    (task,) = json.loads((runs.root / "tasks.json").read_text())
    task["eval"][0]["expected"]["comment"] = "checked twice"
    (runs.root / "tasks.json").write_text(json.dumps([task]))
    publish(*([task] if is_published else []))
    webeval()
    assert runs.result(107)["status"] == status
