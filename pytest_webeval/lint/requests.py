"""Expected requests: methods, statuses and settings that do not fit each other, and paths that lead to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote_plus

from pytest_webeval.evaluators.network.body_matcher import is_path
from pytest_webeval.evaluators.network.event_matcher import URL_HEADERS
from pytest_webeval.lint.definition import Definition, RequestCheck, list_properties
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.lint.keys import find_nearest
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR
from pytest_webeval.values.base import looks_like_pattern
from pytest_webeval.values.url_normalization import query_of

# Those of the registry of IANA that are known for more than one kind of server, beside the usual ones.
RARE_METHODS = (
    *("ACL", "BIND", "CHECKIN", "CHECKOUT", "CONNECT", "COPY", "LINK", "LOCK", "MERGE", "MKACTIVITY", "MKCALENDAR"),
    *("MKCOL", "MOVE", "PROPFIND", "PROPPATCH", "PURGE", "QUERY", "REPORT", "SEARCH", "TRACE", "UNBIND", "UNLINK"),
    *("UNLOCK", "UPDATE"),
)
NEARLY = 0.7  # how alike a method is to the one that was meant
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
BODILESS = ("GET", "HEAD", "OPTIONS")
ABORTED = (-1, 0)
STATUSES = range(100, 600)
SWITCHES = {
    RESPONSE_EVALUATOR: ("ordered",),
    NETWORK_EVALUATOR: ("last_event_only", "decode_base64_query", "should_not_exist"),
}
# Of a request that must not exist only the method, the URL without its query and the referer count.
NEVER_COMPARED = ("response_status", "query_params", "post_data", "response_content", "response_cookies")


def check_methods(definition: Definition) -> Iterator[Problem]:
    for request in definition.requests:
        steps, is_forbidden = request.at("http_method"), request.config.should_not_exist
        yield from _check_method(steps, request.expected.http_method, is_forbidden=is_forbidden)
    for each in definition.request_patterns:
        if each.expected.method is not None:
            yield from _check_method((*each.steps, "method"), each.expected.method)


def _check_method(steps: Steps, method: str, *, is_forbidden: bool = False) -> Iterator[Problem]:
    """Fatal for one that is a slip: others are those of some server. Capitals count only of a required request."""
    if method in METHODS or method in RARE_METHODS:
        return
    usual = method.strip().upper()
    is_known = usual in METHODS or usual in RARE_METHODS
    nearest = usual if is_known else find_nearest(usual, METHODS, NEARLY)
    text = f"unknown method {method!r:.80}; use {nearest or 'one of ' + ', '.join(METHODS)}"
    is_slip = (not is_known and nearest is not None) if is_forbidden else bool(nearest) or method != usual or not method
    yield Problem(steps, text, is_fatal=is_slip)


def check_posted_data(request: RequestCheck) -> Iterator[Problem]:
    """Posted data of a method that posts none, which is GET where the definition names none."""
    method = request.expected.http_method
    if request.expected.post_data and method in BODILESS:
        text = f"a {method} has no post_data; use POST, or query_params"
        if "http_method" not in request.written:
            text = 'post_data without http_method, which is GET then; write "http_method": "POST"'
        yield Problem(request.at("post_data"), text)


def check_statuses(request: RequestCheck) -> Iterator[Problem]:
    status = request.expected.response_status
    if status not in STATUSES and status not in ABORTED:
        place = request.at("response_status")
        yield Problem(place, f"impossible status {status!s:.40}; use 100 to 599, or -1 for an aborted request")


def check_forbidden_requests(definition: Definition) -> Iterator[Problem]:
    """Fields of a request that must not exist that nothing compares, so that it forbids more than it says."""
    for request in definition.requests:
        if not request.config.should_not_exist:
            continue
        for name in NEVER_COMPARED:
            if name in request.written:
                text = f"{name} is never compared with should_not_exist: every such request fails; remove it"
                is_fatal = bool(request.written[name]) and name != "response_status"  # which many write by habit
                yield Problem(request.at(name), text, is_fatal=is_fatal)
        for name in request.expected.headers or ():
            if name != "referer":
                text = f"the header {name!r:.80} is never compared with should_not_exist; remove it"
                yield Problem(request.at("headers", name), text)
        if _uses_last_page(definition, request) and not definition.rules.forbidden_pages:
            text = "should_not_exist of a GET fails a navigate task on any page; use another task type or method"
            yield Problem((*request.steps, "should_not_exist"), text, is_fatal=False)


def is_never_compared(steps: Steps) -> bool:
    """Whether a place of a request that must not exist is one that nothing compares."""
    return steps[2:3] == ("expected",) and (
        steps[3:4] in [(name,) for name in NEVER_COMPARED]
        or (steps[3:4] == ("headers",) and steps[4:5] != ("referer",))
    )


def check_last_event_only(definition: Definition) -> Iterator[Problem]:
    """`last_event_only` where it changes nothing."""
    for request in definition.requests:
        is_last_page = _uses_last_page(definition, request)
        if "last_event_only" in request.raw and (request.config.should_not_exist or is_last_page):
            why = ": of a navigate task the last page decides"
            why = " with should_not_exist" if request.config.should_not_exist else why
            yield Problem((*request.steps, "last_event_only"), f"last_event_only has no effect{why}; remove it")


def _uses_last_page(definition: Definition, request: RequestCheck) -> bool:
    kind = definition.task.task_type if definition.task else None
    return kind == "NAVIGATE" and request.expected.http_method == "GET"


def check_query_values(request: RequestCheck) -> Iterator[Problem]:
    """Values of a parameter that nothing compares: without a schema only the smallest counts."""
    event, types = request.expected, list_properties(request.config.query_params_schema)
    place = request.at("query_params")
    for name, values in (event.query_params or {}).items():
        if isinstance(values, list) and len(values) > 1 and name not in types:
            first = min(value.lower().strip() for value in values)
            text = f"of {len(values)} values only {first!r:.80} is compared; write one, or a query_params_schema"
            yield Problem((*place, name), text, is_fatal=any(value.lower().strip() != first for value in values))
    for steps, url in request.urls:
        if event.query_params is not None and "?" in url and not looks_like_pattern(url.strip()):
            text = "the query of the URL is not compared, for there are query_params; move it there"
            yield Problem(steps, text, is_fatal=False)


def check_query_texts(request: RequestCheck) -> Iterator[Problem]:
    """Parameters with a text in place of a list of values, which is read as a list of its letters."""
    for name, values in (request.expected.query_params or {}).items():
        if isinstance(values, str):
            place = request.at("query_params", name)
            yield Problem(place, f"{values!r:.80} is read letter by letter; write [{values!r:.80}]")


def check_query_decoding(definition: Definition) -> Iterator[Problem]:
    """Parameters that the reference decodes once more than the sender encodes them (Q60)."""
    for request in () if definition.rules.single_decoding else definition.requests:
        texts: list[tuple[Steps, str]] = []
        for name, values in (request.expected.query_params or {}).items():
            plain = [] if isinstance(values, str) else values
            texts.append((request.at("query_params", name), name))
            texts += [
                (request.at("query_params", name, index), value)
                for index, value in enumerate(plain)
                if not looks_like_pattern(value)
            ]
        for steps, url in request.urls if request.expected.query_params is None else ():
            pairs = [] if looks_like_pattern(url.strip()) else parse_qsl(query_of(url), keep_blank_values=True)
            texts += [(steps, text) for pair in pairs for text in pair]
        for steps, text in texts:
            decoded = unquote_plus(text)
            if decoded != text:
                problem = f"{text!r:.80} in a query is compared as {decoded!r:.80} unless rules are strict"
                yield Problem(steps, f"{problem}; use --webeval-rules=strict, or expect a value without + and %")


def check_paths(request: RequestCheck) -> Iterator[Problem]:
    """Keys of a body that lead nowhere: invalid paths, and names with blanks around."""
    for field in ("post_data", "response_content"):
        for key in getattr(request.expected, field) or ():
            place = request.at(field, key)
            is_name = key.endswith("$") and key.startswith(("^", "$.^"))
            if key.startswith("$") and not is_name and not is_path(key):
                yield Problem(place, f"invalid path {key!r:.80}; write it as '$.order.items[0].id'")
            elif key != key.strip():
                yield Problem(place, f"the name {key!r:.80} has blanks around it and never matches; remove them")
            elif not key.startswith("$") and not is_name and (key.startswith("^") or ".*" in key):
                text = f"the name {key!r:.80} looks like a pattern but is compared as a text; write '^…$'"
                yield Problem(place, text, is_fatal=False)


def check_empty_expectations(request: RequestCheck) -> Iterator[Problem]:
    """Empty objects, which compare nothing, and headers whose name has another meaning."""
    for name in ("post_data", "response_content", "response_cookies"):
        if request.written.get(name) == {}:
            text = f"an empty {name} compares nothing; write a member, or remove it"
            yield Problem(request.at(name), text)
    for name in request.expected.headers or ():
        if name.lower() in URL_HEADERS and name not in URL_HEADERS:
            text = f"the header {name!r} is compared as a text; write {name.lower()!r}, which is compared as a URL"
            yield Problem(request.at("headers", name), text)


def check_empty_headers(request: RequestCheck) -> Iterator[Problem]:
    """Empty headers, which no request matches."""
    if request.written.get("headers") == {}:
        is_fatal = not request.config.should_not_exist
        what = "never matches" if is_fatal else "compares nothing"
        text = f"an empty headers {what}; write a member, or remove it"
        yield Problem(request.at("headers"), text, is_fatal=is_fatal)


def check_switches(definition: Definition) -> Iterator[Problem]:
    """Settings that are neither true nor false, which are read as one of them: `"no"` is false."""
    for expectation in definition.task.expectations if definition.task else ():
        for name in SWITCHES.get(expectation.evaluator, ()):
            raw = expectation.config.get(name, False)
            if not isinstance(raw, bool):
                place = ("eval", expectation.index, name)
                yield Problem(place, f"{raw!r:.80} is not a boolean; write true or false without quotes")
