"""Keys that nothing reads, in what a task expects and in the configuration: a misspelt one must not be passed over."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.api import load_run, score
from pytest_webeval.errors import SettingsError
from pytest_webeval.results import ResultWarning
from pytest_webeval.safety.text import describe_unknown_keys
from pytest_webeval.tasks.dataset import parse_tasks
from pytest_webeval.tasks.sites import load_sites

FORM = ("application/x-www-form-urlencoded", "a=2")
EVENT_KEYS = "url, http_method, response_status, query_params, post_data, headers, response_content, response_cookies"
RESPONSE_KEYS = "task_type, performed_operation, status, retrieved_data, error_details"


@pytest.fixture
def posted(bench):
    """The result and the warnings of a post of a=2, where another key than `post_data` asks for a=1."""

    def check(rules):
        bench.record(
            {"task_type": "MUTATE", "status": "SUCCESS"},
            [{"url": "http://shop.test:7770/p", "method": "POST", "post": FORM}],
        )
        expected = {"url": "__SHOPPING__/p", "http_method": "POST", "post_dta": {"a": "1"}}
        event = {"evaluator": "NetworkEventEvaluator", "expected": expected}
        task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), event)
        tasks = parse_tasks(json.dumps([task]).encode(), "a test")
        result = score(load_run(bench.directory / "7", rules), tasks, bench.sites)
        return result.evaluators_results[1], result.webeval["warnings"]

    return check


IGNORED = f"eval[1].expected.post_dta is not a field of an event and is ignored; known: {EVENT_KEYS}"


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_a_misspelt_key_of_an_expected_event_is_an_error_that_names_the_right_one(posted, rules):
    result, warnings = posted(rules)
    assert result.status == "error"
    assert result.error_msg == (
        "invalid task definition: unknown key 'post_dta' @ eval[1].expected; did you mean 'post_data'? "
        f"known: {EVENT_KEYS}"
    )
    assert warnings == []


def test_the_reference_ignores_a_misspelt_key(posted):
    result, warnings = posted("reference")
    assert (result.status, warnings) == ("success", [IGNORED])


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("rules", ["auto", "default", "strict"])
def test_in_a_published_task_an_unknown_key_is_a_warning(posted, rules):
    result, warnings = posted(rules)
    assert (result.status, warnings) == ("success", [IGNORED])


@pytest.mark.parametrize(("rules", "status"), [("reference", "success"), ("default", "error"), ("strict", "error")])
def test_a_misspelt_key_of_an_expected_response_is_an_error_as_well(bench, rules, status):
    wanted = bench.expecting(data=["Blue Mug"])
    wanted["expected"]["eror_details"] = "x"
    bench.record()
    whole = bench.score(bench.task(wanted), rules)
    (result,) = whole.evaluators_results
    assert result.status == status
    known = f"known: {RESPONSE_KEYS}"
    if status == "error":
        told = "unknown key 'eror_details' @ eval[0].expected; did you mean 'error_details'?"
        assert result.error_msg == f"invalid task definition: {told} {known}"
    else:
        told = "eval[0].expected.eror_details is not a field of a response and is ignored"
        assert whole.warnings == [ResultWarning("unknown_field", f"{told}; {known}")]


@pytest.mark.parametrize("rules", ["reference", "default", "strict"])
def test_the_name_that_the_type_once_had_is_known(bench, rules):
    wanted = bench.expecting(data=["Blue Mug"])
    wanted["expected"]["performed_operation"] = wanted["expected"].pop("task_type")
    bench.record()
    result = bench.score(bench.task(wanted), rules)
    assert (result.status, result.webeval["warnings"]) == ("success", [])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["url", "status"], None),
        ([], None),
        (["urk"], "unknown key 'urk' @ here; did you mean 'url'? known: url, status"),
        (["xxx"], "unknown key 'xxx' @ here; known: url, status"),
        (
            ["urk", "url", "staus", "x"],
            "unknown keys 'urk', 'staus', 'x' @ here; did you mean 'url', 'status'? known: url, status",
        ),
        (
            [*map(str, range(12)), "urk"],
            "unknown keys '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' and 3 more @ here; known: url, status",
        ),
        (["a" * 500], f"unknown key '{'a' * 79} @ here; known: url, status"),
    ],
)
def test_each_unknown_key_is_named_with_the_nearest_known_one(names, message):
    assert describe_unknown_keys(names, ("url", "status"), "here") == message


@pytest.fixture
def loaded(tmp_path):
    """The sites of a configuration, or the message that refuses it, without the path of the file."""

    def load(config):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        try:
            return load_sites(path).environments
        except SettingsError as error:
            return str(error).replace(str(path), "CONFIG")

    return load


def shop(*urls, **more):
    return {"environments": {"shopping": {"urls": list(urls), **more}}}


TOP = (
    "environments, test_data_file, agent_response_file_name, trace_file_name, eval_result_file_name, "
    "storage_state_file_name"
)
INSIDE = "urls, active_url_idx, use_header_login, credentials, extra, container"
SEE = "; see 'Score your own runs'"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"environment": {"shopping": {"urls": ["http://shop.test"]}}},
            "unknown key 'environment' @ the top level; did you mean 'environments'? known: " + TOP + SEE,
        ),
        ({"__SHOPPING__": {}}, "unknown key '__SHOPPING__' @ the top level; known: " + TOP + SEE),
        (
            shop("http://shop.test", active_url_id=1),
            "unknown key 'active_url_id' @ environments.shopping; did you mean 'active_url_idx'? known: "
            + INSIDE
            + SEE,
        ),
        (
            {"environments": {"shopping": {"url": ["http://shop.test"]}}},
            "unknown key 'url' @ environments.shopping; did you mean 'urls'? known: " + INSIDE + SEE,
        ),
        ([1], "expected a JSON object, got [1] @ the top level" + SEE),
        ({"environments": [1]}, "expected a JSON object, got [1] @ environments" + SEE),
        ({"environments": {"map": 3}}, "expected a JSON object, got 3 @ environments.map" + SEE),
        (shop("shop.test:7770"), "the URL 'shop.test:7770' without a scheme; use 'http://shop.test:7770'"),
        (
            shop("http://a.test", "//b.test"),
            "the URL '//b.test' without a scheme; use 'http://b.test' @ environments.shopping.urls[1]",
        ),
        (shop("localhost"), "the URL 'localhost' without a scheme; use 'http://localhost'"),
        (
            shop("ftp://shop.test"),
            "the URL 'ftp://shop.test' with an unknown scheme; use 'http://shop.test'",
        ),
        (shop("http://"), "the URL 'http://' without a host; use e.g. 'http://127.0.0.1:7770'"),
        (shop(""), "an empty URL; use e.g. 'http://127.0.0.1:7770'"),
        (shop("  "), "an empty URL; use e.g. 'http://127.0.0.1:7770'"),
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused(loaded, config, message):
    place = "" if " @ " in message else " @ environments.shopping.urls[0]"
    assert loaded(config) == f"invalid configuration CONFIG: {message}{place}"


def test_all_that_the_reference_reads_in_a_configuration_is_accepted(loaded):
    inside = {"use_header_login": True, "credentials": {"a": "b"}, "extra": {"c": 1}, "container": None}
    names = dict.fromkeys(TOP.split(", ")[1:], "x")
    (environment,) = loaded(
        shop("http://a.test/?u=http://b.test", "HTTPS://B.test", active_url_idx=1, **inside) | names
    ).values()
    assert (environment.urls, environment.active) == (("http://a.test/?u=http://b.test", "HTTPS://B.test"), 1)


def test_a_configuration_may_leave_its_sites_out(loaded):
    assert (loaded({}), loaded({"environments": None}), loaded(shop())["shopping"].urls) == ({}, {}, ())
