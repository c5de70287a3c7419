"""Two trees become assertions, each named after its path and what differs (spec §6.2, §6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError
from pytest_webeval.results import Assertion
from pytest_webeval.results import Status
from pytest_webeval.rules import RuleListener
from pytest_webeval.rules import ignore_rule
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import preview as preview_json
from pytest_webeval.values.base import Value
from pytest_webeval.values.schema import UnparsedValue
from pytest_webeval.values.schema import to_plain_json


def find_maximum_matching(choices: Sequence[Sequence[int]]) -> dict[int, int]:
    """A largest matching of left positions to right ones; the result maps right to left.

    ``choices[left]`` lists the right positions that would do. Augmenting paths, sought without recursion (Kuhn 1955).
    """
    partners: dict[int, int] = {}
    for left in range(len(choices)):
        _augment(left, choices, partners)
    return partners


def _augment(start: int, choices: Sequence[Sequence[int]], partners: dict[int, int]) -> None:
    """Give `start` a partner if that is possible at all, moving others to a second choice of theirs."""
    reached_from: dict[int, int] = {}  # right position -> the left one that would take it
    pending = [start]
    while pending:
        left = pending.pop()
        for right in choices[left]:
            if right in reached_from:
                continue
            reached_from[right] = left
            if right not in partners:
                _flip(right, start, reached_from, partners)
                return
            pending.append(partners[right])


def _flip(free: int, start: int, reached_from: dict[int, int], partners: dict[int, int]) -> None:
    """Hand partners on along the path that ends at a free one."""
    previous_partners = {left: right for right, left in partners.items()}
    right: int | None = free
    while right is not None:
        left = reached_from[right]
        previous = None if left == start else previous_partners[left]
        partners[right] = left
        right = previous


UNAVAILABLE = "_unavailable"  # what the name of an assertion ends with where a body could not be read
MAX_PREVIEW = 300


def passed(name: str, message: str) -> Assertion:
    """An assertion that holds."""
    return Assertion.of(name, True, message)  # noqa: FBT003  (that it holds)


def failed(name: str, *messages: str) -> Assertion:
    """An assertion that does not hold; the messages say what was expected and what was found."""
    return Assertion.of(name, False, *messages)  # noqa: FBT003  (that it does not)


def preview(tree: Any) -> str:
    """A value on one line, cut where it gets long."""
    return preview_json(to_plain_json(tree), MAX_PREVIEW)


def _format_place(path: str) -> str:
    """Where an error is; items of unordered arrays are compared without a place of their own."""
    return f" @ {path}" if path else ""


class ComparisonState(Struct):
    """What a comparison has seen: in the reference all empty lists are one, which it refuses a second time (Q34)."""

    empty_list: bool = False


class Comparison(Struct, frozen=True):
    """How two trees are compared: `ordered` arrays, and `extra_keys` where objects may say more than expected.

    `maximum_matching` finds a matching of unordered arrays if there is one (Q14), `separate_lists` lets an answer have
    two empty lists (Q34). `notice` is called where one of these made a difference.
    """

    ordered: bool = False
    extra_keys: bool = False
    maximum_matching: bool = False
    separate_lists: bool = True
    notice: RuleListener = ignore_rule

    def equal(self, expected: Any, actual: Any, state: ComparisonState | None = None) -> bool:
        """Whether what was found is what was expected. Raises `EvaluationError`, as `compare` does."""
        assertions = list(self.compare(expected, actual, "", state))  # all, so that the state has seen all
        return all(assertion.status is Status.SUCCESS for assertion in assertions)

    def compare(
        self, expected: Any, actual: Any, path: str, state: ComparisonState | None = None
    ) -> Iterator[Assertion]:
        """An assertion for each leaf, and for each structure that differs. Raises `EvaluationError` (Q34)."""
        state = ComparisonState() if state is None else state
        if isinstance(actual, list | tuple) and not actual:
            self._record_empty_list(path, state)
        if expected is None and actual is None:
            yield passed(f"{path}_match", "both are null")
        elif expected is None or actual is None:
            yield _build_mismatch(f"{path}_none_mismatch", expected, actual)
        elif isinstance(expected, Mapping):
            yield from self._compare_objects(expected, actual, path, state)
        elif isinstance(expected, list | tuple):
            yield from self._compare_arrays(expected, actual, path, state)
        elif _is_same(expected, actual):
            yield passed(f"{path}_match", preview(actual))
        else:
            yield _build_mismatch(f"{path}_mismatch", expected, actual)

    def _record_empty_list(self, path: str, state: ComparisonState) -> None:
        if state.empty_list:
            self.notice("separate_lists", path)
            if not self.separate_lists:
                hint = "WebArena-Verified reports it as a circular reference; --webeval-rules=strict compares it"
                raise EvaluationError(f"a second empty list{_format_place(path)}; {hint}")
        state.empty_list = True

    def _compare_objects(
        self, expected: Mapping[str, Any], actual: Any, path: str, state: ComparisonState
    ) -> Iterator[Assertion]:
        if not isinstance(actual, Mapping):
            yield failed(
                f"{path}_invalid_format", f"expected {preview(expected)}", f"got {preview(actual)}, not an object"
            )
            return
        if not expected:
            raise EvaluationError(f"an expected object without keys{_format_place(path)}; write its keys, or null")
        extra, missing = sorted(actual.keys() - expected.keys()), sorted(expected.keys() - actual.keys())
        if missing or (extra and not self.extra_keys):
            differences = (f"missing keys: {', '.join(missing)}" if missing else "", f"extra keys: {', '.join(extra)}")
            yield failed(
                f"{path}_keys_mismatch",
                *(differences[:1] if self.extra_keys or not extra else filter(None, differences)),
            )
        for key in sorted(expected.keys() & actual.keys()):
            yield from self.compare(expected[key], actual[key], f"{path}.{key}", state)

    def _compare_arrays(
        self, expected: list[Any] | tuple[Any, ...], actual: Any, path: str, state: ComparisonState
    ) -> Iterator[Assertion]:
        if not isinstance(actual, list | tuple):
            yield failed(
                f"{path}_invalid_format", f"expected {preview(expected)}", f"got {preview(actual)}, not a list"
            )
        elif self.ordered:
            yield from self._compare_in_order(expected, actual, path, state)
        else:
            yield self._compare_in_any_order(expected, actual, path, state)

    def _compare_in_order(self, expected: Any, actual: Any, path: str, state: ComparisonState) -> Iterator[Assertion]:
        if len(expected) != len(actual):
            lengths = f"{pluralize(len(expected), 'item')} expected in this order, {len(actual)} found"
            yield failed(
                f"{path}_array_values_mismatch", lengths, f"expected {preview(expected)}", f"got {preview(actual)}"
            )
        for index, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=False)):
            yield from self.compare(expected_item, actual_item, f"{path}[{index}]", state)

    def _compare_in_any_order(self, expected: Any, actual: Any, path: str, state: ComparisonState) -> Assertion:
        missing, extra = self.unmatched_items(expected, actual, path, state)
        if not missing and not extra:
            return passed(f"{path}_match", preview(actual))
        counts = f"{len(expected) - len(missing)} of {pluralize(len(expected), 'item')} found"
        parts = [f"missing {preview([expected[index] for index in missing])}"] if missing else []
        parts += [f"not expected {preview([actual[index] for index in extra])}"] if extra else []
        messages = ("; ".join([counts, *parts]), f"expected {preview(expected)}", f"got {preview(actual)}")
        return failed(f"{path}_array_values_mismatch", *messages)

    def unmatched_items(
        self, expected: Any, actual: Any, path: str = "", state: ComparisonState | None = None
    ) -> tuple[list[int], list[int]]:
        """Positions of the items of two arrays in any order that find no partner. Raises `EvaluationError` (Q34)."""
        missing, extra = self._match_first_free(expected, actual, ComparisonState() if state is None else state)
        if missing and self.maximum_matching:
            missing, extra = self._match_maximum(expected, actual)
            self.notice("maximum_matching", path)
        return missing, extra

    def _match_first_free(self, expected: Any, actual: Any, state: ComparisonState) -> tuple[list[int], list[int]]:
        """What is left on either side after each expected item took the first free one that equals it."""
        free, missing = dict(enumerate(actual)), []
        for position, expected_item in enumerate(expected):
            partner = next(
                (
                    index
                    for index, actual_item in free.items()
                    if self._is_equal_item(expected_item, actual_item, state)
                ),
                None,
            )
            if partner is None:
                missing.append(position)
            else:
                del free[partner]
        return missing, list(free)

    def _is_equal_item(self, expected: Any, actual: Any, state: ComparisonState) -> bool:
        """Whether two items are equal. What a failed trial has seen does not count."""
        tried = ComparisonState(state.empty_list)
        equal = self.equal(expected, actual, tried)
        if equal:
            state.empty_list = tried.empty_list
        return equal

    def _match_maximum(self, expected: Any, actual: Any) -> tuple[list[int], list[int]]:
        """What is left on either side of a largest matching."""
        partners = find_maximum_matching(
            [
                [index for index, actual_item in enumerate(actual) if self.equal(expected_item, actual_item)]
                for expected_item in expected
            ]
        )
        matched = set(partners.values())
        missing = [position for position in range(len(expected)) if position not in matched]
        return missing, [index for index in range(len(actual)) if index not in partners]


def _is_same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, Value):
        return isinstance(actual, Value) and expected.matches(actual)
    return not isinstance(actual, Value | UnparsedValue) and bool(expected == actual)


def _build_mismatch(name: str, expected: Any, actual: Any) -> Assertion:
    reason = [actual.reason] if isinstance(actual, UnparsedValue) else []
    return failed(name, f"expected {preview(expected)}", f"got {preview(actual)}", *reason)
