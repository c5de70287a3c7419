"""Expected methods, statuses, headers, cookies and bodies, options of what must and must not happen, and runs."""

from __future__ import annotations

from typing import Any

from tests.parity.harness.drafts import FETCH, Body, Event
from tests.parity.harness.grids import SHOP, Grid, page
from tests.parity.harness.made_up_bodies import BODIES, CONTENTS, EXPECTED_BODIES, EXPECTED_CONTENTS
from tests.parity.harness.url_edits import base64_step


def _posting(url: str = f"{SHOP}/a", **changes: Any) -> Event:
    """A form posted as the grids expect it, but for the changes."""
    return Event(url, **{"method": "POST", "status": 302, "headers": FETCH, "post": Body({"x": "1"}), **changes})


_DONE = _posting()
SEQUENCES = Grid(
    "sequence",
    [
        {"expected": page(http_method=method, response_status=status, **more), **options}
        for method, status in (("POST", 302), ("GET", 200), ("post", 302), ("", 302), ("PUT", -1))
        for more in ({}, {"post_data": {"x": "1"}})
        for options in (
            {},
            {"last_event_only": True},
            {"last_event_only": False},
            {"should_not_exist": True},
            {"should_not_exist": True, "last_event_only": False},
        )
    ]
    + [{"expected": page(http_method="POST", response_status=status)} for status in ("302", 302.0, 0, -1)],
    {
        "nothing": [],
        "done": [_DONE],
        "done twice": [_DONE, _DONE],
        "failed, then done": [_posting(status=500), _DONE],
        "done, then failed": [_DONE, _posting(status=500)],
        "done, then other body": [_DONE, _posting(post=Body({"x": "2"}))],
        "done, then no body": [_DONE, _posting(post=None)],
        "done, then elsewhere": [_DONE, _posting(url=f"{SHOP}/b")],
        "done by post": [_posting(method="post")],
        "put, aborted": [_posting(method="PUT", status=-1)],
        "page": [Event(f"{SHOP}/a")],
        "page with body": [Event(f"{SHOP}/a", post=Body({"x": "1"}))],
        "fetch": [Event(f"{SHOP}/a", headers=FETCH)],
        "page, then another": [Event(f"{SHOP}/a"), Event(f"{SHOP}/b")],
        "page, then not found": [Event(f"{SHOP}/a"), Event(f"{SHOP}/a", status=404)],
        "done, then page": [_DONE, Event(f"{SHOP}/a")],
        "page with a query": [Event(f"{SHOP}/a?x=1")],
        "nothing but a style sheet": [Event(f"{SHOP}/a.css")],
        "done without method": [_posting(method="")],
    },
    ("MUTATE", "NAVIGATE", "RETRIEVE"),
    most=10,
)
HEADERS = Grid(
    "headers",
    [
        {"expected": page(http_method="POST", response_status=302, headers=headers), **options}
        for headers, options in (
            ({"referer": "__SHOPPING__/r"}, {}),
            ({"referer": "__SHOPPING__/r?x=1"}, {}),
            ({"referer": "__SHOPPING__/R"}, {}),
            ({"referer": "^__SHOPPING__/r/\\d+$"}, {}),
            ({"referer": "^__SHOPPING__/R/\\d+$"}, {}),
            ({"referer": ["__SHOPPING__/r", "__SHOPPING__/s"]}, {}),
            ({"referer": ["__SHOPPING__/r"]}, {}),
            ({"referer": "__UNKNOWN__/r"}, {}),
            ({"referer": ""}, {}),
            ({"referer": None}, {}),
            ({"Referer": "__SHOPPING__/r"}, {}),
            ({"REFERER": "^.*/r.*$"}, {}),
            ({"redirect_url": "__SHOPPING__/r"}, {}),
            ({"Cookie": "^.*a=1.*$"}, {}),
            ({"cookie": "a=1; b=2"}, {}),
            ({"x-requested-with": ["XMLHttpRequest", "fetch"]}, {}),
            ({"X-Page": "__SHOPPING__/r"}, {}),
            ({"accept": "*/*", "referer": "__SHOPPING__/r"}, {}),
            ({}, {}),
            (None, {}),
            ({"referer": "__SHOPPING__/r"}, {"ignored_query_params": ["x"]}),
            ({"referer": "__SHOPPING__/r"}, {"ignored_query_params_patterns": [".*"]}),
            ({"referer": "__SHOPPING__/r/c?from=1"}, {"decode_base64_query": True}),
        )
    ],
    {
        " ".join(f"{name}: {value}" for name, value in headers.items()) or "none": [_posting(headers=headers)]
        for headers in (
            {},
            *(
                {"referer": f"{SHOP}{path}"}
                for path in ("/r", "/r/", "/R", "/r?x=1", "/r?x=2", "/r/12", "/s", "", "/r#f")
            ),
            {"referer": f"{SHOP}/r/{base64_step('from=1')}/c"},
            {"referer": "http://git.test:8023/r"},
            {"referer": ""},
            {"referer": "r"},
            {"referer": "about:blank"},
            {"Referer": f"{SHOP}/r"},
            {"REFERER": f"{SHOP}/r"},
            {"referer": f"{SHOP}/r", "Referer": f"{SHOP}/s"},
            {"referer": f"{SHOP.upper()}/r"},
            {"cookie": "a=1; b=2"},
            {"Cookie": "b=2; a=1"},
            {"cookie": "A=1;B=2"},
            {"x-requested-with": "XMLHttpRequest", "redirect_url": f"{SHOP}/r", "x-page": f"{SHOP}/r"},
            {"X-Requested-With": "FETCH!", "Redirect_Url": f"{SHOP}/r/", "X-PAGE": "x"},
            {"accept": "*/*", "referer": f"{SHOP}/r"},
        )
    },
)
COOKIES = Grid(
    "cookies",
    [
        {"expected": page(http_method="POST", response_status=302, response_cookies=cookies)}
        for cookies in (
            {"m": "^.*added.*$"},
            {"m": "It was added."},
            {"m": ["x", "added"]},
            {"m": ["added"]},
            {"M": "added"},
            {"m": ""},
            {"m": None},
            {"m": 5},
            {"m": "a b"},
            {"m": "http://shop.test:7770/r"},
            {"m": "added", "n": "1"},
            {},
        )
    ],
    {
        " ".join(f"{name}={value}" for name, value in cookies.items()) or "none": [_posting(cookies=cookies)]
        for cookies in (
            {},
            *(
                {"m": text}
                for text in ("added", "ADDED!", "It%20was%20added.", "It was added", "It+was+added", "a%0Ab", "")
            ),
            *({"m": text} for text in ("5", "a%20%20b", "%", "%E9", "caf%C3%A9 added", '"added"', "x", "^.*$")),
            {"m": f"{SHOP}/r"},
            {"M": "added"},
            {"m": "added", "n": "1"},
            {"n": "1", "m": "x added x"},
        )
    },
)
POSTS = Grid(
    "body",
    [
        {"expected": page(http_method="POST", response_status=302, post_data=wanted), **options}
        for wanted, options in EXPECTED_BODIES
    ],
    {name: [_posting(post=body)] for name, body in BODIES.items()},
    most=40,
)
ANSWERS = Grid(
    "content",
    [
        {"expected": page(http_method="POST", response_status=302, response_content=wanted)}
        for wanted in EXPECTED_CONTENTS
    ],
    {name: [_posting(content=body)] for name, body in CONTENTS.items()},
)
