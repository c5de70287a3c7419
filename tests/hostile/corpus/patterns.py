"""Patterns in definitions that take for ever on what the agent left behind."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, answering, recording, run

RUN_OF_A = "a" * 60 + "!"
# Each takes longer than anybody waits on a run of a's that ends in something else.
CATASTROPHES = ("^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){25}$", "^(a*)*b$", "^((a+)(a+)?)+$", "^(?:a?){60}a{60}b$")
GIVEN_UP = "pattern|regular expression|time"


def _asks(what: str, task: honest.Definition, spoil: Any, outcome: str = "error", says: str = GIVEN_UP) -> Case:
    return run(f"a definition with {what}", outcome, spoil, says if outcome == "error" else "", task=task)


def _in_answer(pattern: str) -> Case:
    return _asks(f"the answer {pattern}", honest.asked((pattern,)), answering([RUN_OF_A]))


def _in_place(what: str, expectation: dict[str, Any], entry: dict[str, Any]) -> Case:
    return _asks(f"a pattern without end for {what}", honest.asked(("lamp",), "string", expectation), recording(entry))


_P = CATASTROPHES[0]
_FORM = {"mimeType": "application/x-www-form-urlencoded", "text": f"a={RUN_OF_A}"}
_POSTED = {"http_method": "POST", "post_data": {"a": _P}}
_CART = "http://shop.test/cart"
CASES: tuple[Case, ...] = (
    *map(_in_answer, CATASTROPHES),
    _in_place("the address", honest.visited("^__SHOPPING__/(a+)+$"), honest.entry(honest.HOME + RUN_OF_A)),
    _in_place(
        "the query", honest.visited(expected={"query_params": {"q": [_P]}}), honest.entry(f"{honest.HOME}?q={RUN_OF_A}")
    ),
    _in_place(
        "the post", honest.visited("__SHOPPING__/cart", expected=_POSTED), honest.entry(_CART, "POST", post=_FORM)
    ),
    _in_place(
        "a name in the post",
        honest.visited("__SHOPPING__/cart", expected={"http_method": "POST", "post_data": {"^(a+)+$": "1"}}),
        honest.entry(_CART, "POST", post={**_FORM, "text": f"{RUN_OF_A}=1"}),
    ),
    _in_place(
        "a header",
        honest.visited(expected={"headers": {"x": _P}}),
        honest.entry(headers={**honest.PAGE, "x": RUN_OF_A}),
    ),
    _in_place(
        "a cookie", honest.visited(expected={"response_cookies": {"a": _P}}), honest.entry(cookies={"a": RUN_OF_A})
    ),
    run(
        "a definition with a pattern without end for the content, which is compared as it is",
        "failure",
        recording(honest.entry(content={"mimeType": "application/json", "text": f'{{"a": "{RUN_OF_A}"}}'})),
        task=honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": _P}})),
    ),
    _in_place(
        "a parameter to ignore",
        honest.visited(expected={"query_params": {"q": ["x"]}}, ignored_query_params_patterns=[_P]),
        honest.entry(f"{honest.HOME}?q=x&{RUN_OF_A}=1"),
    ),
    _in_place(
        "a field to ignore",
        honest.visited(
            "__SHOPPING__/cart",
            expected={"http_method": "POST", "post_data": {"a": "1"}},
            ignored_post_data_params_patterns=[_P],
        ),
        honest.entry(_CART, "POST", post={**_FORM, "text": f"a=1&{RUN_OF_A}=1"}),
    ),
    _asks("a pattern that is none", honest.asked(("^(($",)), answering(["x"]), EITHER),
    _asks(
        "a pattern of a million characters", honest.asked(("^" + "(a|b)" * 200_000 + "$",)), answering(["x"]), EITHER
    ),
    _asks("a pattern with a repeat of 4 billion", honest.asked(("^a{4294967295}$",)), answering(["x"]), EITHER),
    _asks(
        "a pattern nested 5,000 deep",
        honest.asked(("^" + "(" * 5000 + "a" + ")" * 5000 + "$",)),
        answering(["x"]),
        EITHER,
    ),
    _asks(
        "a JSONPath nested 500 deep",
        honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"$" + "..a" * 500: "1"}})),
        recording(honest.entry(content={"mimeType": "application/json", "text": '{"a": ' * 60 + "1" + "}" * 60})),
        EITHER,
    ),
    _asks(
        "a JSONPath of twelve times everything",
        honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"$" + "..*" * 12: "1"}})),
        recording(honest.entry(content={"mimeType": "application/json", "text": '{"a": ' * 60 + "1" + "}" * 60})),
        EITHER,
    ),
    _asks("a sum without end", honest.asked(("9**9**9**9 km",), "distance"), answering(["5 km"]), EITHER),
)
