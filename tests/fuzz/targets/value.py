"""Single values, URLs, projections and trees: what is compared with what."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import date
from itertools import product
from typing import Any

from pytest_webeval.errors import EvaluationError, ValueParseError, WebEvalError
from pytest_webeval.evaluators.network.body_matcher import MISSING, select_fields
from pytest_webeval.evaluators.network.urls import UrlMatcher, bases_match, build_prefilter, queries_match
from pytest_webeval.rules import RULES
from pytest_webeval.tasks.sites import Environment, Sites
from pytest_webeval.values import VALUE_TYPES, value_type
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.schema import ValueParser, to_plain_json
from pytest_webeval.values.url_normalization import has_dot_segments, is_ssh, normalize_keeping_slashes
from tests.fuzz.targets.target import expect, written

TYPES = tuple(VALUE_TYPES)
FIRST = ord("A")  # the letter of the first type
SITES = Sites({"shopping": Environment(("http://shop.test:7770",)), "gitlab": Environment(("http://git.test:8023",))})
_NAMES = tuple(SITES.environments)
_TODAY = date(2026, 1, 31)


def _derendered(text: str) -> str:
    return SITES.derender(text, _NAMES)


EXPECTED = ParseContext(known_sites=True, derender=_derendered, today=_TODAY)
READINGS = (
    ParseContext(derender=_derendered, today=_TODAY),
    ParseContext(patterns=False, alternatives=False, infinities=False, derender=_derendered, today=_TODAY),
    ParseContext(
        patterns=False,
        infinities=False,
        signed_currency=True,
        exact_numbers=True,
        one_value=True,
        derender=_derendered,
        today=_TODAY,
    ),
)


def read_value(content: bytes) -> None:
    """A datum: a letter for its type, then JSON, or else text."""
    kind = value_type(TYPES[(content[0] - FIRST) % len(TYPES)] if content else "string")
    raw, refusal, found = _raw(content[1:]), None, []
    for reading in (EXPECTED, *READINGS):
        try:
            found.append(kind.read(raw, reading))
        except (ValueParseError, EvaluationError) as error:
            refusal = error
    for one in found:
        written(to_plain_json(one))
        for other in found:
            one.matches(other)
    if not found and refusal:
        raise refusal


def _raw(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "surrogateescape")


def read_urls(content: bytes) -> None:
    """Addresses on lines: what a task expects, what it ignores, then what was recorded."""
    expected, ignored, *recorded = (content + b"\n").decode("utf-8", "surrogateescape").split("\n")
    for url in recorded[:20]:
        is_ssh(url), has_dot_segments(url)
        with suppress(EvaluationError):
            normalize_keeping_slashes(url)
    for rules, decode in product(RULES.values(), (True, False)):
        reader = UrlMatcher(SITES, _NAMES, (ignored,), (f"^{ignored[:20]}$",), decode, rules)
        with suppress(EvaluationError):
            _compare_urls(reader, expected, recorded[:20])


def _compare_urls(reader: UrlMatcher, expected: str, recorded: list[str]) -> None:
    wanted = reader.expected(expected)
    places = build_prefilter(wanted, reader)
    for url in recorded:
        with suppress(EvaluationError):
            found = reader.actual(url)
            matching = [bases_match(one, found, reader) for one in wanted]
            _ = [queries_match(one.query, found.query) for one in wanted], found.text
            ruled_out = places is not None and places(url)
            expect(not (ruled_out and any(matching)), f"{url!r} is ruled out, and is the place of {expected!r}")


def read_projection(content: bytes) -> None:
    """Keys between tabs on the first line, then a body as JSON."""
    keys, _, text = content.partition(b"\n")
    body = _raw(text)
    names = keys.decode("utf-8", "replace").split("\t")[:8]
    for missing in (None, MISSING):
        found = select_fields(names, body if isinstance(body, dict) else {"a": body}, missing)
        written(to_plain_json(found))


def read_trees(content: bytes) -> None:
    """A schema with what was expected and what was found, as `{"schema": …, "expected": …, "actual": …}`."""
    raw = _raw(content)
    asked = raw if isinstance(raw, dict) else {"schema": {}, "expected": raw, "actual": raw}
    schema = asked.get("schema") if isinstance(asked.get("schema"), dict) else {}
    for reading, flags in zip(READINGS, product((True, False), repeat=4), strict=False):
        with suppress(WebEvalError):
            wanted = _tree(ValueParser(EXPECTED, strict=True, where="a"), asked.get("expected"), schema)
            found = _tree(ValueParser(reading, strict=False, where="a"), asked.get("actual"), schema)
            for comparison in (Comparison(*flags), Comparison(*(not flag for flag in flags))):
                written([one.to_json() for one in comparison.compare(wanted, found, "a")])
            written(to_plain_json([wanted, found]))


def _tree(reader: ValueParser, raw: Any, schema: dict[str, Any]) -> Any:
    return reader.array(raw, schema) if isinstance(raw, list) else reader.member(raw, schema, "a")
