"""What an event posted and received against what a task expects in its bodies (spec §4.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, UnavailableBody
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.body_reader import BodyReader
from pytest_webeval.evaluators.network.checks import PATH, Check, check_trees, miss
from pytest_webeval.evaluators.readers import build_comparison, build_reader
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.network.form_fields import FormFields
from pytest_webeval.results import UNREADABLE, list_failed
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.safety.regex import SECONDS, InvalidPattern, is_pattern, match, search
from pytest_webeval.tasks.expectations import NetworkExpectation
from pytest_webeval.values.base import Alternatives
from pytest_webeval.values.comparison import UNAVAILABLE, Comparison, failed
from pytest_webeval.values.schema import ValueParser, require_object

MISSING = object()
# What a filter raises over a body that it was not written for, or over a number of thousands of digits.
_LOOKUP_ERRORS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


def _decode_json(text: str) -> Any:
    """The value of a text that is JSON. Raises `ValueError` for an integer of thousands of digits."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text


def _parse_integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # thousands of digits
        return digits


_Decoder = Callable[[str], Any]


def select_fields(
    keys: Iterable[str],
    body: Mapping[str, Any],
    missing: object = None,
    document: list[Any] | None = None,
    decode: _Decoder = _decode_json,
) -> dict[str, Any]:
    """What a body holds under each key; `missing` stands for a plain key that it lacks, `MISSING` leaves it out.

    Paths that begin with an index lead into the `document`, if the body is an item of one. They lead into members that
    are texts of JSON by `decode`. Raises `EvaluationError` for a path or pattern that cannot be looked up in this body.
    """
    selected = {key.strip(): _look_up(key.strip(), body, missing, document, decode) for key in keys}
    return {key: value for key, value in selected.items() if value is not MISSING}


def _look_up(key: str, body: Mapping[str, Any], missing: object, document: list[Any] | None, decode: _Decoder) -> Any:
    if key.endswith("$") and key.startswith(("^", "$.^")):
        try:
            return _combine_hits([value for name, value in body.items() if match(key.removeprefix("$."), name)])
        except InvalidPattern:
            return None
    if key.startswith("$"):
        return _select_by_path(key, document if document is not None and _is_index(key) else dict(body), decode)
    return body.get(key, missing)


def _is_index(key: str) -> bool:
    """Whether a key begins with an index, so that it is about an array as a whole."""
    return _INDEX.match(key.strip()) is not None


def _combine_hits(hits: list[Any]) -> Any:
    if len(hits) > 1:
        return Alternatives(hits)
    return hits[0] if hits else None


def _select_by_path(path: str, body: Any, decode: _Decoder) -> Any:
    try:
        with time_limit(SECONDS, f"the path {path!r:.80} timed out after {SECONDS:g} s in a body; use a simpler path"):
            hits = _find_hits(path, body) or _find_hits(path, _decode_members(body, decode))
    except RecursionError:  # nested deeper than anything that a task asks for
        return None
    except _LOOKUP_ERRORS as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise EvaluationError(f"cannot look up {path!r:.80} in a body: {reason:.200}; fix the path") from error
    # A filter means "any of those": one hit of it stays a list of one, which only an array type reads (Q21).
    return Alternatives(hits) if hits and "?(" in path else _combine_hits(hits)


# Names and indices, of which most paths consist. They need no parser, which takes as long to load as ten runs to score.
_PLAIN_PATH = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[(?:0|[1-9][0-9]{0,8})\])+")
_INDEX = re.compile(r"\$\[[^'\"]")
_STEP = re.compile(r"\.(\w+)|\[([0-9]+)\]", re.ASCII)
# What the parser takes for no names: its keywords, and whatever begins like a boolean.
KEYWORDS = frozenset({"where", "wherenot"})
BOOLEANS = ("true", "false")


@lru_cache(maxsize=1024)
def _parse_plain_path(path: str) -> tuple[str | int, ...] | None:
    """The names and indices of a path; None for any other path."""
    if _PLAIN_PATH.fullmatch(path) is None:
        return None
    steps = tuple(name or int(index) for name, index in _STEP.findall(path))
    names = [step for step in steps if isinstance(step, str)]
    return None if any(name in KEYWORDS or name.startswith(BOOLEANS) for name in names) else steps


def _follow(steps: tuple[str | int, ...], body: Any) -> list[Any] | None:
    """What names and indices lead to; None where one is applied to neither an object nor an array."""
    for step in steps:
        if isinstance(step, str) and type(body) is dict:
            if step not in body:
                return []
        elif isinstance(step, int) and type(body) is list:
            if step >= len(body):
                return []
        else:
            return None
        body = body[step]
    return [body]


def _find_hits(path: str, body: Any) -> list[Any]:
    steps = _parse_plain_path(path)
    hits = _follow(steps, body) if steps is not None else None
    return hits if hits is not None else find_by_parser(path, body)


def find_by_parser(path: str, body: Any) -> list[Any]:
    """What any path leads to, by jsonpath-ng."""
    expression = _compile_path(path)
    return [hit.value for hit in expression.find(body)] if expression is not None else []


def is_path(key: str) -> bool:
    """Whether a key that begins with `$` is a path; any other leads to nothing."""
    return _parse_plain_path(key) is not None or _compile_path(key) is not None


@lru_cache(maxsize=1024)
def _compile_path(path: str) -> Any:
    from jsonpath_ng.exceptions import JSONPathError  # type: ignore[import-untyped]  # 91 of 663 checks use a path

    try:
        return _path_parser().parse(path)
    except JSONPathError:
        return None


@cache
def _path_parser() -> Any:
    """One parser for all paths: making one takes a hundred times as long as parsing a path."""
    from jsonpath_ng.ext.parser import ExtentedJsonPathParser  # type: ignore[import-untyped]

    return ExtentedJsonPathParser()


def _decode_members(value: Any, decode: _Decoder) -> Any:
    """A copy in which each member text that is JSON is replaced by its decoded value; list items stay (spec §4.4)."""
    if isinstance(value, dict):
        return {
            key: decode(member) if isinstance(member, str) else _decode_members(member, decode)
            for key, member in value.items()
        }
    return [_decode_members(item, decode) for item in value] if isinstance(value, list) else value


class BodyMatcher(Struct, frozen=True, dict=True):
    """Compares the bodies of events with one expectation. What the task wrote is read once."""

    expectation: NetworkExpectation
    case: Case
    _posts_by_event: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    _contents_by_event: dict[int, dict[str, Any] | None] = field(default_factory=dict)

    @cached_property
    def expected_post(self) -> dict[str, Any] | None:
        """The expected post data as values, None where the task asks for none. Raises `EvaluationError`."""
        raw = self.expectation.expected.post_data
        if not raw:
            return None
        checked = {key: value for key, value in raw.items() if not self.is_ignored(key)}
        return self._parse_members(checked, build_reader(self.case, PATH, strict=True, sent=True))

    def posted(self, event: NetworkEvent) -> dict[str, Any] | None:
        """What an event posted under the keys that the task asks for, read once. Raises `EvaluationError`."""
        expected, posts = self.expected_post, self._posts_by_event
        if expected is not None and event.index not in posts:
            items = self.reader.read_post(event, expected)
            comparison = build_comparison(self.case, extra_keys=True)
            posts[event.index] = _choose_item(items, expected, self._project_post, comparison)
        return posts.get(event.index)

    def _project_post(self, fields: FormFields, expected: Mapping[str, Any]) -> dict[str, Any]:
        fields = self._merge_fields(fields, f"{PATH}.post_data")
        checked = {name: value for name, value in fields.first.items() if not self.is_ignored(name)}
        projected = _project_fields(expected, replace(fields, first=checked), self._decode)
        if fields.is_form and self.case.rules.repeated_fields:
            projected = {key: self._read_array(key, value) for key, value in projected.items()}
        return self._parse_members(projected, build_reader(self.case, PATH, strict=False, sent=True))

    @cached_property
    def reader(self) -> BodyReader:
        return BodyReader(self.case)

    def content(self, event: NetworkEvent) -> dict[str, Any] | None:
        """What a response holds under the keys that the task asks for, read once. Raises `EvaluationError`."""
        expected, contents = self.expectation.expected.response_content, self._contents_by_event
        if expected and event.index not in contents:
            items = self.reader.read_content(event)
            comparison = replace(build_comparison(self.case, extra_keys=True), separate_lists=True)
            contents[event.index] = _choose_item(items, expected, self._project_content, comparison)
        return contents.get(event.index)

    def _project_content(self, fields: FormFields, expected: Mapping[str, Any]) -> dict[str, Any]:
        fields = self._merge_fields(fields, f"{PATH}.response_content")
        return select_fields(expected, fields.first, MISSING, fields.document, self._decode)

    def _decode(self, text: str) -> Any:
        """The value of a text that is JSON, in which an integer that Python does not read is a text of digits."""
        try:
            return _decode_json(text)
        except ValueError as error:
            if not self.case.rules.exact_numbers:
                problem = "a text in a body holds an integer of more digits than Python reads"
                raise EvaluationError(f"{problem}; --webeval-rules=strict reads it") from error
            self.case.notice("exact_numbers", PATH)
            return json.loads(text, parse_int=_parse_integer)

    def check(self, event: NetworkEvent) -> None:
        """Raise `EvaluationError` where a body that the task asks for is damaged in the trace itself."""
        if self.expected_post is not None:
            self.reader.check_type(event.read_post())
        if self.expectation.expected.response_content:
            self.reader.check_type(event.read_content())

    def list_checks(self, event: NetworkEvent) -> Iterator[Check]:
        """What each body that the task names comes to."""
        comparison = build_comparison(self.case, extra_keys=True)
        as_sent = replace(comparison, separate_lists=True)  # only what is read as values has the lists of Q34
        for field_, expected, read, compared in (
            ("post_data", self.expected_post, self.posted, comparison),
            ("response_content", self.expectation.expected.response_content or None, self.content, as_sent),
        ):
            if expected is None:
                continue
            try:
                yield check_trees(field_, compared, expected, read(event))
            except UnavailableBody as error:
                yield miss(failed(f"{PATH}.{field_}{UNAVAILABLE}", str(error)), field_, UNREADABLE, expected)

    def _merge_fields(self, fields: FormFields, where: str) -> FormFields:
        if not fields.repeated or not self.case.rules.repeated_fields:
            return fields
        self.case.notice("repeated_fields", f"{where}.{min(fields.repeated)}")
        merged = {  # one value that is repeated is still one where no array is expected
            name: values if self._is_array(name) or len(set(values)) > 1 else values[0]
            for name, values in fields.repeated.items()
        }
        return replace(fields, first=fields.first | merged)

    def _read_array(self, key: str, value: Any) -> Any:
        """A field of a form. Where an array is expected, one value is a list of one, and none is an empty list."""
        if not self._is_array(key) or not isinstance(value, str | None):
            return value
        self.case.notice("repeated_fields", f"{PATH}.post_data.{key}")
        expects_none = (self.expected_post or {}).get(key) == []
        if value is None or (expects_none and not value):
            return [] if expects_none else None
        try:
            return value if isinstance(_decode_json(value), list) else [value]
        except ValueError:  # an integer of too many digits
            return [value]

    def _is_array(self, key: str) -> bool:
        return bool(require_object(self._post_types.get(key) or {}).get("type") == "array")

    def _parse_members(self, members: Mapping[str, Any], reader: ValueParser) -> dict[str, Any]:
        types = self._post_types
        return {key: reader.member(raw, types.get(key), f"{PATH}.post_data.{key}") for key, raw in members.items()}

    @property
    def _post_types(self) -> Mapping[str, Any]:
        return require_object((self.expectation.post_data_schema or {}).get("properties") or {})

    def is_ignored(self, name: str) -> bool:
        """Whether a posted field is not compared."""
        return any(search(pattern, name) for pattern in self._ignored_patterns)

    @cached_property
    def _ignored_patterns(self) -> list[str]:
        """The patterns of ignored fields; as for queries, an invalid pattern matches nothing."""
        return [*filter(is_pattern, self.expectation.ignored_post_data_params_patterns or ())]


def _choose_item(
    items: Sequence[FormFields],
    expected: Mapping[str, Any],
    project: Callable[[FormFields, Mapping[str, Any]], dict[str, Any]],
    comparison: Comparison,
) -> dict[str, Any] | None:
    """What `project` selects of one item of an array, which equals what is expected or differs least.

    What is about the array as a whole is the same for each item, and looked up once.
    """
    if not items:
        return None
    of_array = {key: value for key, value in expected.items() if items[0].document is not None and _is_index(key)}
    of_item = {key: value for key, value in expected.items() if key not in of_array}
    shared = project(items[0], of_array) if of_array else {}
    projected = [project(item, of_item) for item in items]
    least, nearest = len(of_item) + 1, projected[0]
    for item in projected if len(projected) > 1 and of_item else ():
        wrong = len(list_failed(comparison.compare(of_item, item, PATH)))
        if wrong < least:
            least, nearest = wrong, item
        if not wrong:
            break
    return nearest | shared


def _project_fields(expected: Mapping[str, Any], fields: FormFields, decode: _Decoder) -> dict[str, Any]:
    """What was posted under each expected key. In a multipart form an empty field is also none at all (Q53)."""
    projected = select_fields(expected, fields.first, document=fields.document, decode=decode)
    if not fields.is_multipart:
        return projected
    for key in {key.strip() for key, value in expected.items() if value is None} & projected.keys():
        value = projected[key]
        texts = value if isinstance(value, list | tuple) else (value,)
        if all(isinstance(text, str) and not text.strip() for text in texts):
            projected[key] = None
    return projected
