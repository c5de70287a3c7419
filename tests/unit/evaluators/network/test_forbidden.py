"""A forbidden request is sent in every spelling that a server may read as it: spelling by rule set."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.results import WarningKind
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support.bench import har_entry

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

SHOP, OLD, LOCAL, GIT = "http://shop.test:7770", "http://old.test/shop", "http://127.0.0.1:8080", "http://git.test:8023"
LAN = "http://10.0.0.9:7770"
SITES = Sites({"shopping": Environment((SHOP, OLD, LOCAL, LAN)), "gitlab": Environment((GIT,))})
POST = "/contact/index/post"
FORBIDDEN = {"url": f"__SHOPPING__{POST}", "http_method": "POST"}
PATTERN = {"url": "^__SHOPPING__/contact/.*post$", "http_method": "POST"}
RULE_SETS = ("reference", "default", "strict")
FORM = "application/x-www-form-urlencoded"


def at(url, method="POST", **more):
    return har_entry(url, method, **more)


HOME = at(f"{SHOP}/", "GET")


@pytest.fixture
def results(bench):
    """The whole results of a run that sent these requests, by rule set."""

    def score_each(*entries, expected=FORBIDDEN, sites=("shopping",), configured=SITES, kind="MUTATE", **config):
        directory = bench.record({"task_type": kind, "status": "SUCCESS"})
        (directory / "network.har").write_text(json.dumps({"log": {"entries": [HOME, *entries]}}))
        network = {"evaluator": "NetworkEventEvaluator", "expected": expected, "should_not_exist": True, **config}
        task = bench.task(bench.expecting(kind, schema={"type": "null"}), network, sites=sites)
        known = replace(bench, sites=configured)
        return {rules: score(known.case(task, rules), default_evaluators()) for rules in RULE_SETS}

    return score_each


@pytest.fixture
def statuses(results):
    """Their statuses."""

    def list_statuses(*entries, **settings):
        return {rules: str(result.status) for rules, result in results(*entries, **settings).items()}

    return list_statuses


FAIL, PASS, ERROR = "failure", "success", "error"
ALL_FAIL = (FAIL, FAIL, FAIL)
# What the reference finds too, and what it does not.
SPELLINGS = {
    "as it is": (f"{SHOP}{POST}", FAIL),
    "in capitals": (f"{SHOP}{POST.upper()}", FAIL),
    "slash at the end": (f"{SHOP}{POST}/", FAIL),
    "query": (f"{SHOP}{POST}?a=1&a=2", FAIL),
    "encoded slash": (f"{SHOP}/contact%2Findex%2fpost", FAIL),
    "encoded slash at the end": (f"{SHOP}{POST}%2F", FAIL),
    "encoded letter": (f"{SHOP}/c%6Fntact/index/post", FAIL),
    "encoded twice": (f"{SHOP}/contact%252Findex%252Fpost", PASS),
    "encoded three times": (f"{SHOP}/contact%25252Findex/post", PASS),
    "up": (f"{SHOP}/x/..{POST}", FAIL),
    "up, encoded": (f"{SHOP}/x/%2e%2E{POST}", FAIL),
    "up by encoded slashes": (f"{SHOP}/x%2F..%2Fcontact/index/post", FAIL),
    "up by a parameter": (f"{SHOP}/x/..;a=1{POST}", PASS),
    "here": (f"{SHOP}/./contact/./index/post", FAIL),
    "dot at the end": (f"{SHOP}{POST}/.", FAIL),
    "slashes in a row": (f"{SHOP}//contact///index/post", FAIL),
    "up over an empty segment": (f"{SHOP}/x//../..{POST}", FAIL),
    "backslash": (f"{SHOP}/contact\\index\\post", PASS),
    "backslash, encoded": (f"{SHOP}/contact%5Cindex/post", PASS),
    "line feed": (f"{SHOP}/contact/in\ndex/post", FAIL),
    "user": ("http://me:secret@shop.test:7770" + POST, PASS),
    "fragment": (f"{SHOP}{POST}#top", PASS),
    "parameter": (f"{SHOP}{POST};jsessionid=1", PASS),
    "parameter in the middle": (f"{SHOP}/contact;a=1/index/post", PASS),
    "dot of the host": ("http://shop.test.:7770" + POST, FAIL),
    "host in capitals": ("HTTP://SHOP.test:7770" + POST, FAIL),
    "encoded host": ("http://shop%2Etest:7770" + POST, PASS),
    "blanks around": (f" {SHOP}{POST} ", FAIL),
    "second address": (f"{OLD}{POST}", FAIL),
    "second address, port": ("http://old.test:80/shop" + POST, FAIL),
    "second address with TLS": ("https://old.test/shop" + POST, PASS),
    "second address, encoded": ("http://old.test/shop%2Fcontact/index/post", FAIL),
    "second address by another path": ("http://old.test/x/../shop" + POST, FAIL),
    "third address": (f"{LOCAL}{POST}", FAIL),
    "localhost": ("http://localhost:8080" + POST, PASS),
    "loopback of IPv6": ("http://[::1]:8080" + POST, PASS),
    "another loopback address": ("http://127.0.0.2:8080" + POST, PASS),
    "fourth address": (f"{LAN}{POST}", FAIL),
    "address of three numbers": ("http://10.0.9:7770" + POST, PASS),
    "address of two numbers": ("http://10.9:7770" + POST, PASS),
    "address as one number": ("http://167772169:7770" + POST, PASS),
    "hexadecimal address": ("http://0xA000009:7770" + POST, PASS),
    "octal address": ("http://012.0.0.9:7770" + POST, PASS),
    "encoded address": ("http://%31%30.9.:7770" + POST, PASS),
    "IPv4 in IPv6": ("http://[::ffff:10.0.0.9]:7770" + POST, PASS),
    "IPv4 in IPv6, in capitals": ("http://[0:0:0:0:0:FFFF:0A00:0009]:7770" + POST, PASS),
    "loopback of two numbers": ("http://127.1:8080" + POST, PASS),
    "loopback as one number": ("http://2130706433:8080" + POST, PASS),
    "loopback in IPv6": ("http://[::ffff:127.0.0.1]:8080" + POST, PASS),
    "any address": ("http://0:8080" + POST, PASS),
    "control characters around": (f"\x01\x1f {SHOP}{POST} \x00", PASS),
    "TLS at the same port": ("https://shop.test:7770" + POST, PASS),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_forbidden_request_is_found_in_each_spelling(results, name):
    url, reference = SPELLINGS[name]
    found = results(at(url))
    assert [str(found[rules].status) for rules in RULE_SETS] == [reference, FAIL, FAIL]
    for rules in ("default", "strict"):
        decided = [warning.kind for warning in found[rules].warnings if warning.decided]
        assert decided == (
            [] if reference == FAIL else ["§4.7", "Q61"] if (name, rules) == ("user", "strict") else ["§4.7"]
        )
        assert found[rules].evaluators_results[1].actual["http_method"] == "POST"


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_forbidden_pattern_is_found_in_each_spelling(statuses, name):
    found = statuses(at(SPELLINGS[name][0]), expected=PATTERN)
    assert (found["default"], found["strict"]) == (FAIL, FAIL)


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_pattern_that_names_no_site_is_found_in_each_spelling(statuses, name):
    found = statuses(at(SPELLINGS[name][0]), expected=PATTERN | {"url": "^https?://[^/]*(/shop)?/contact/.*post$"})
    assert (found["default"], found["strict"]) == (FAIL, FAIL)


OTHERS = {
    "another path": f"{SHOP}/contact/index",
    "a longer path": f"{SHOP}{POST}/x",
    "in the query": f"{SHOP}/x?u={POST}",
    "a longer host": "http://shop.test:7770.evil.test" + POST,
    "another port": "http://shop.test:7771" + POST,
    "another address below": "http://old.test" + POST,
    "a path that begins like the address": "http://old.test/shopping" + POST,
    "another address in the network": "http://10.0.0.10:7770" + POST,
    "another number": "http://167772170:7770" + POST,
    "no address": "http://10.0.0.0.9:7770" + POST,
    "too big a number": "http://4462739465:7770" + POST,
    "another site": f"{GIT}{POST}",
    "data": "data:text/plain,http://shop.test:7770/contact/index/post",
    "blob": "blob:http://shop.test:7770/contact/index/post",
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("expected", [FORBIDDEN, PATTERN], ids=["literal", "pattern"])
def test_another_request_is_no_forbidden_one(statuses, name, expected):
    assert statuses(at(OTHERS[name]), expected=expected) == dict.fromkeys(RULE_SETS, PASS)


@pytest.mark.parametrize(
    ("url", "method", "found"),
    [
        (f"{SHOP}/app/save.js", "POST", (PASS, FAIL, FAIL)),
        (f"{SHOP}/app/save.js?v=1", "POST", (PASS, FAIL, FAIL)),
        (f"{SHOP}/app/save.js", "post", (PASS, FAIL, FAIL)),
        (f"{SHOP}/app/save.js", "GET", (PASS, PASS, PASS)),
    ],
)
def test_the_ending_of_a_file_hides_only_what_is_got(statuses, url, method, found):
    expected = {"url": "__SHOPPING__/app/save.js", "http_method": method.upper()}
    assert tuple(statuses(at(url, method), expected=expected).values()) == found


@pytest.mark.parametrize("method", ["post", "Post", " POST "])
def test_a_method_counts_in_any_case(statuses, method):
    found = statuses(at(f"{SHOP}{POST}", method))
    assert (found["default"], found["strict"]) == (FAIL, FAIL)


def posted(mime=FORM, size=None, **body):
    """A POST with this body as the recorder keeps it, of this size by its headers."""
    headers = {} if size is None else {"content-type": mime, "content-length": str(size)}
    entry = at(f"{GIT}/x", headers=headers)
    entry["request"] |= {"postData": {"mimeType": mime, **body}} if body else {}
    return entry


MULTIPART = "multipart/form-data; boundary=x"
PART = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
OVERRIDES = {
    "header": {"headers": {"X-HTTP-Method-Override": "delete"}},
    "an encoded name": {"post": (FORM, "a=1&%5Fmethod=delete")},
    "an encoded value": {"post": (FORM, "_method=%64elete")},
    "another type beside": {"post": ("application/x-www-form-urlencoded; charset=UTF-8", "_method=delete")},
    "the last of several": {"post": (FORM, "_method=put&_method=delete")},
    "the first of several": {"post": (MULTIPART, PART.format("_method", "delete") + PART.format("_method", "put"))},
    "an item of JSON": {"post": ("application/json", '[{"a": 1}, {"_method": "DELETE"}]')},
    "multipart with a type": {
        "post": (
            MULTIPART,
            PART.replace("\r\n\r\n", "\r\nContent-Type: text/plain\r\n\r\n").format("_method", "delete"),
        )
    },
    "form": {"post": (FORM, "a=1&_method=delete")},
    "JSON": {"post": ("application/json", '{"_method": "DELETE"}')},
    "multipart": {
        "post": (
            "multipart/form-data; boundary=x",
            '--x\r\nContent-Disposition: form-data; name="_method"\r\n\r\ndelete\r\n--x--',
        )
    },
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_post_that_is_to_be_read_as_another_method_is_one(statuses, name):
    expected = {"url": "__GITLAB__/x", "http_method": "DELETE"}
    sites, entry = ("gitlab", "shopping"), at(f"{GIT}/x", **OVERRIDES[name])
    assert tuple(statuses(entry, expected=expected, sites=sites).values()) == (PASS, FAIL, FAIL)
    assert statuses(at(f"{GIT}/x?_method=delete"), expected=expected, sites=sites)["strict"] == FAIL
    assert statuses(at(f"{GIT}/x", post=(FORM, "a=1")), expected=expected, sites=sites)["strict"] == PASS


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (posted(params=[{"name": "_method", "value": "delete"}]), FAIL),
        (posted(params=[{"name": "_method", "value": "put"}]), PASS),
        (posted(text="", size=14), ERROR),
        (posted(size=14), ERROR),
        (posted(MULTIPART, params=[{"name": "_method", "fileName": "a.txt"}]), ERROR),
        (posted(text=5), ERROR),
        (posted(text=""), PASS),
        (posted(text="", size=0), PASS),
        (posted(), PASS),
        (posted(text="a=1&note=_method%3Ddelete", size=25), PASS),
        (at(f"{GIT}/x?%5Fmethod=%64elete"), FAIL),
        (at(f"{GIT}/x?a=_method%3Ddelete"), PASS),
        (at(f"{GIT}/y", headers={"content-length": "14"}), PASS),
    ],
)
def test_an_override_that_was_not_recorded_may_have_been_sent(statuses, entry, status):
    expected = {"url": "__GITLAB__/x", "http_method": "DELETE"}
    found = statuses(entry, expected=expected, sites=("gitlab", "shopping"))
    assert found == {"reference": PASS, "default": status, "strict": status}


QUERIES = ["?a=1", "?a=2&a=1", "?b=2&a=1", "?a=%2531", "?%61=1", ""]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("more", [{"query_params": {"a": ["1"]}}, {}], ids=["parameters", "URL"])
def test_no_query_hides_a_forbidden_request(statuses, query, more):
    expected = FORBIDDEN | more if more else FORBIDDEN | {"url": f"{FORBIDDEN['url']}?a=1"}
    assert statuses(at(f"{SHOP}{POST}{query}"), expected=expected) == dict.fromkeys(RULE_SETS, FAIL)


@pytest.mark.parametrize("query", ["?do=delete&id=7", "?do=delet%65&id=7", "?id=7&do=delete", "?do=%2564elete&id=7"])
def test_a_query_in_a_forbidden_pattern_is_found_in_each_spelling(statuses, query):
    expected = {"url": r"^__SHOPPING__/cart\?do=delete.*$", "http_method": "POST"}
    found = statuses(at(f"{SHOP}/cart{query}"), expected=expected)
    assert found == {"reference": PASS, "default": FAIL, "strict": FAIL}


EXCEPTIONS = {
    "the rest of the path": r"^__SHOPPING__/orders/(?!7/cancel$).*$",
    "one segment": r"^__SHOPPING__/orders/(?!7/cancel/?$)[^/]+/cancel$",
    "another host": r"^http://(?!shop\.test|127).*/orders/.*$",
}


@pytest.mark.parametrize("name", EXCEPTIONS)
@pytest.mark.parametrize("more", ["", "/", "?a=1", "?a=1&b=%2F"])
def test_what_a_forbidden_pattern_excepts_is_not_forbidden(statuses, name, more):
    expected = {"url": EXCEPTIONS[name], "http_method": "POST"}
    found = statuses(at(f"{SHOP}/orders/7/cancel{more}"), at(f"{LOCAL}/orders/7/cancel"), expected=expected)
    assert (found["default"], found["strict"]) == (PASS, PASS)


@pytest.mark.parametrize("name", ["the rest of the path", "one segment"])
@pytest.mark.parametrize(
    "path", ["/orders/8/cancel", "/orders/7/../8/cancel", "/orders%2F8%2Fcancel", "/orders/8/cancel;a"]
)
def test_what_it_does_not_except_is(statuses, name, path):
    expected = {"url": EXCEPTIONS[name], "http_method": "POST"}
    assert statuses(at(f"{SHOP}{path}"), expected=expected)["strict"] == FAIL


@pytest.mark.parametrize(
    ("expected", "url", "found"),
    [
        ("__SHOPPING__/a%2Fb", f"{SHOP}/a%2Fb", ALL_FAIL),
        ("__SHOPPING__/a;p=1", f"{SHOP}/a;p=1", ALL_FAIL),
        ("__SHOPPING__/a;p=1", f"{SHOP}/a", (PASS, PASS, PASS)),
        ("__SHOPPING__/a#f", f"{SHOP}/a", (PASS, PASS, PASS)),
        ("__SHOPPING__/a#f", f"{SHOP}/a#f", ALL_FAIL),
        ("__SHOPPING__/a b/ü", f"{SHOP}/a%20b/%C3%BC", ALL_FAIL),
        ("__SHOPPING__", f"{SHOP}/", ALL_FAIL),
        (f"{OLD}/a", f"{SHOP}/a", ALL_FAIL),
        ([f"__SHOPPING__{POST}", "__SHOPPING__/b"], f"{SHOP}/x/../b", ALL_FAIL),
    ],
)
def test_a_task_may_write_a_forbidden_url_in_any_way(statuses, expected, url, found):
    assert tuple(statuses(at(url), expected=FORBIDDEN | {"url": expected}).values()) == found


def test_a_path_with_a_query_in_base64_is_found_with_and_without_it(statuses):
    expected, path = FORBIDDEN | {"url": "__SHOPPING__/r/f"}, "/r%2Ff/ZnJvbT0x"
    found = statuses(at(f"{SHOP}{path}"), expected=expected, decode_base64_query=True)
    assert (found["default"], found["strict"]) == (FAIL, FAIL)


REFERRERS = {
    "the expected one": (f"{SHOP}/r", FAIL),
    "none": (None, FAIL),
    "in another spelling": ("http://me@shop.test:7770/x/../r", FAIL),
    "another": (f"{SHOP}/s", PASS),
}


@pytest.mark.parametrize("name", REFERRERS)
def test_an_expected_referer_narrows_what_is_forbidden(statuses, name):
    referer, status = REFERRERS[name]
    entry = at(f"{SHOP}{POST}", headers={"referer": referer} if referer else {})
    found = statuses(entry, expected=FORBIDDEN | {"headers": {"referer": "__SHOPPING__/r"}})
    assert (found["default"], found["strict"]) == (status, status)


@pytest.mark.parametrize("rules", ["default", "strict"])
@pytest.mark.parametrize("host", ["http://127.0.0.1:7770", "http://shopxtest:7770", "https://elsewhere.test"])
@pytest.mark.parametrize("expected", [FORBIDDEN, PATTERN], ids=["literal", "pattern"])
def test_a_forbidden_path_at_a_host_of_no_configuration_is_a_warning(results, rules, host, expected):
    result = results(at(f"{host}{POST}"), at(f"{host}/x"), at(f"{host}{POST}"), expected=expected)[rules]
    (warning,) = [warning for warning in result.warnings if warning.kind == WarningKind.UNDECLARED_HOST]
    assert result.status == PASS
    assert warning.text == (
        f"forbidden request at an undeclared host: event 2 and 1 more: POST {host}{POST}; if it is the site, add it "
        "to environments in --webeval-config"
    )


def test_a_host_that_an_unescaped_address_matches_is_not_the_site(results):
    found = results(at(f"http://shopxtest:7770{POST}"), expected=PATTERN)
    assert [str(result.status) for result in found.values()] == [FAIL, PASS, PASS]
    assert "§4.8" in [warning.kind for warning in found["default"].warnings if warning.decided]


def test_at_a_host_of_another_configured_site_it_is_no_forbidden_request(results):
    result = results(at(f"{GIT}{POST}"))["strict"]
    assert (result.status, result.warnings) == (PASS, [])


BROKEN = {
    "no request": {"request": None, "response": {"status": 302}},
    "no URL": {"request": {"method": "POST", "headers": []}, "response": {"status": 302}},
    "a number for a URL": {"request": {"method": "POST", "url": 5, "headers": []}, "response": {"status": 302}},
    "no method": {"request": {"url": f"{SHOP}/x", "headers": []}, "response": {"status": 302}},
    "a number for a method": {"request": {"url": f"{SHOP}/x", "method": 5, "headers": []}, "response": {"status": 302}},
    "nothing": {},
    "an invalid host": at("http://[::1/a"),
    "a URL without anything": at(""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_entry_that_cannot_be_read_may_be_the_forbidden_request(results, name):
    found = results(BROKEN[name])
    for rules in ("default", "strict"):
        assert found[rules].status == ERROR
        message = found[rules].evaluators_results[1].error_msg
        assert message.startswith("cannot decide whether a forbidden request was sent: ")


@pytest.mark.parametrize("name", BROKEN)
def test_a_forbidden_request_beside_it_is_a_failure(statuses, name):
    found = statuses(BROKEN[name], at(f"{SHOP}{POST}"))
    assert (found["default"], found["strict"]) == (FAIL, FAIL)


@pytest.mark.parametrize("member", ["status", "headers"])
def test_a_forbidden_request_whose_response_or_headers_are_damaged_was_sent(results, member):
    entry = at(f"{SHOP}{POST}")
    entry["response" if member == "status" else "request"][member] = None
    found = results(entry)
    assert [str(result.status) for result in found.values()] == [ERROR, FAIL, FAIL]
    assert found["default"].evaluators_results[1].actual["url"].endswith(POST)
    assert [warning.kind for warning in found["default"].warnings if warning.decided] == ["§4.7"]


def test_a_null_header_of_a_forbidden_request_is_told_of(results):
    entry = at(f"{SHOP}{POST}")
    entry["request"]["headers"] = [{"name": "x", "value": None}]
    found = results(entry)
    assert [str(result.status) for result in found.values()] == [ERROR, FAIL, FAIL]
    assert sorted(warning.kind for warning in found["default"].warnings) == ["Q55", "§4.7"]


def test_a_body_that_the_task_names_and_nobody_can_read_is_an_error(statuses):
    entry = at(f"{SHOP}{POST}")
    entry["request"]["postData"] = {"mimeType": FORM, "text": 5}
    expected = FORBIDDEN | {"post_data": {"a": "1"}}
    assert set(statuses(entry, expected=expected).values()) == {ERROR}
    assert statuses(entry, at(f"{SHOP}{POST}"), expected=expected)["strict"] == FAIL
    assert statuses(entry)["strict"] == FAIL


AWAY = [at("http://127.0.0.1:9/", "GET"), at("http://127.0.0.1:9/other")]


@pytest.fixture
def away(results, monkeypatch):
    """The results of a run that went to no page of the first site."""
    monkeypatch.setattr(f"{__name__}.HOME", at("http://127.0.0.1:9/", "GET"))
    return results


@pytest.mark.parametrize("expected", [FORBIDDEN, PATTERN], ids=["literal", "pattern"])
@pytest.mark.parametrize("path", ["/other", POST])
def test_without_a_request_to_the_site_nobody_can_look(away, expected, path):
    found = away(at(f"http://127.0.0.1:9{path}"), expected=expected)
    assert [str(result.status) for result in found.values()] == [PASS, ERROR, ERROR]
    assert "no request to a configured URL: expected http://shop.test:7770" in found["strict"].error_msg
    assert [warning.kind for warning in found["default"].warnings if warning.decided] == ["§4.7"]


def test_a_site_is_visited_by_each_of_its_addresses(away):
    for url in (f"{OLD}/x", "http://localhost:8080/x", "https://old.test/shop/y"):
        assert away(at(url, "GET"))["strict"].status == PASS


def test_a_pattern_of_any_host_can_be_looked_for_anywhere(away):
    assert away(expected=PATTERN | {"url": "^.*/contact/post$"})["strict"].status == PASS


def test_a_run_that_went_nowhere_sent_nothing(monkeypatch, results):
    monkeypatch.setattr(f"{__name__}.HOME", at("about:blank", "GET"))
    assert {str(result.status) for result in results().values()} == {PASS}


@pytest.mark.parametrize(
    ("url", "status"),
    [
        (f"{SHOP}/x", PASS),
        (f"{GIT}/x", PASS),
        ("http://cdn.test/x", PASS),
        (f"http://git2.test{POST}", ERROR),
        (f"http://git2.test/x/..{POST}", ERROR),
        (f"{SHOP}{POST}", PASS),
    ],
)
def test_of_two_sites_the_forbidden_one_need_not_be_visited_if_the_other_was(statuses, url, status):
    expected = FORBIDDEN | {"url": f"__GITLAB__{POST}"}
    assert statuses(at(url), expected=expected, sites=("shopping", "gitlab"))["strict"] == status


def test_of_two_sites_that_nobody_visited_the_forbidden_one_is_named(away):
    expected = FORBIDDEN | {"url": f"__GITLAB__{POST}"}
    found = away(at("http://cdn.test/x"), expected=expected, sites=("shopping", "gitlab"))
    assert "expected http://git.test:8023 (gitlab); got http://127.0.0.1:9 (1)" in found["strict"].error_msg


def test_without_a_configured_url_a_forbidden_path_at_another_host_is_an_error(statuses):
    found = statuses(at(f"http://other.test{POST}"), configured=Sites())
    assert found == {"reference": PASS, "default": ERROR, "strict": ERROR}
    assert statuses(at(f"{SHOP}/x/..{POST}"), configured=Sites())["strict"] == FAIL
    assert statuses(at("http://other.test/x"), configured=Sites())["strict"] == PASS


@pytest.mark.parametrize(
    ("path", "strict"), [("/other", PASS), (POST, FAIL), (f"/x/..{POST}", FAIL), (POST.replace("/", "%2F"), FAIL)]
)
def test_any_page_of_a_navigate_task_is_the_forbidden_one_unless_rules_are_strict(statuses, path, strict):
    pages = [at(f"{SHOP}{each}", "GET", headers={"accept": "text/html"}) for each in (path, "/last")]
    found = statuses(*pages, expected={"url": f"__SHOPPING__{POST}"}, kind="NAVIGATE")
    assert found == {"reference": FAIL, "default": FAIL, "strict": strict}


def test_what_was_sent_is_told_as_it_was_sent(results):
    result = results(at(f"{SHOP}/x%2F..%2Fcontact/index/post?q=C%2B%2B", status=302))["strict"]
    count, position = result.evaluators_results[1].assertions[0].assertion_msgs
    assert count == f"1 matching POST __SHOPPING__{POST}, expected none"
    assert position == "the first is event 2 of 2: POST __SHOPPING__/x%2F..%2Fcontact/index/post?q=C%2B%2B (302)"


def test_a_long_url_is_no_way_to_hide(statuses, results):
    deep = "/x" * 20_000 + "/.." * 20_000
    assert statuses(at(f"{SHOP}{deep}{POST}"))["strict"] == FAIL
    assert statuses(at(f"data:text/plain,{'x' * 20_000_000}"))["strict"] == PASS
    assert statuses(at(f"http://a.test/{' ' * 200_000}x"))["strict"] == PASS
