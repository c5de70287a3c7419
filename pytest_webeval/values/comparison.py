"""Two trees become assertions, each named after its path and what differs (spec §6.2, §6.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.results import Assertion
from pytest_webeval.results import Status
from pytest_webeval.rules import RuleListener
from pytest_webeval.rules import ignore_rule
from pytest_webeval.values.base import Value
from pytest_webeval.values.schema import UnparsedValue
from pytest_webeval.values.schema import to_plain_json


def maximum_matching(choices: Sequence[Sequence[int]]) -> dict[int, int]:
    """A largest matching of left positions to right ones; the result maps right to left.

    ``choices[left]`` lists the right positions that would do. Augmenting paths, sought without recursion (Kuhn 1955).
    """
    taken: dict[int, int] = {}
    for left in range(len(choices)):
        _augment(left, choices, taken)
    return taken


def _augment(start: int, choices: Sequence[Sequence[int]], taken: dict[int, int]) -> None:
    """Give `start` a partner if that is possible at all, moving others to a second choice of theirs."""
    came_from: dict[int, int] = {}  # right position -> the left one that would take it
    waiting = [start]
    while waiting:
        left = waiting.pop()
        for right in choices[left]:
            if right in came_from:
                continue
            came_from[right] = left
            if right not in taken:
                _flip(right, start, came_from, taken)
                return
            waiting.append(taken[right])


def _flip(free: int, start: int, came_from: dict[int, int], taken: dict[int, int]) -> None:
    """Hand partners on along the path that ends at a free one."""
    held = {left: right for right, left in taken.items()}
    right: int | None = free
    while right is not None:
        left = came_from[right]
        previous = None if left == start else held[left]
        taken[right] = left
        right = previous


UNAVAILABLE = "_unavailable"  # what the name of an assertion ends with where a body could not be read
MAX_SHOWN = 300
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)


def passed(name: str, message: str) -> Assertion:
    """An assertion that holds."""
    return Assertion.of(name, True, message)  # noqa: FBT003  (that it holds)


def failed(name: str, *messages: str) -> Assertion:
    """An assertion that does not hold; the messages say what was expected and what was found."""
    return Assertion.of(name, False, *messages)  # noqa: FBT003  (that it does not)


def preview(tree: Any) -> str:
    """A value on one line, cut where it gets long."""
    try:
        text = _JSON.encode(to_plain_json(tree))
    except (ValueError, RecursionError):
        text = repr(type(tree))
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


@dataclass(slots=True)
class ComparisonState:
    """What a comparison has met: in the reference all empty lists are one, which it will not meet twice (Q34)."""

    empty_list: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two trees are compared: `ordered` arrays, and `extra_keys` where objects may say more than expected.

    `best_matching` finds a matching of unordered arrays if there is one (Q14), `separate_lists` lets an answer have two
    empty lists (Q34). `notice` is told where one of these made a difference.
    """

    ordered: bool = False
    extra_keys: bool = False
    best_matching: bool = False
    separate_lists: bool = True
    notice: RuleListener = ignore_rule

    def equal(self, expected: Any, actual: Any, trail: ComparisonState | None = None) -> bool:
        """Whether what was found is what was expected. Raises `EvaluationError`, as `compare` does."""
        found = list(self.compare(expected, actual, "", trail))  # all, so that the trail has met all
        return all(one.status is Status.SUCCESS for one in found)

    def compare(
        self, expected: Any, actual: Any, path: str, trail: ComparisonState | None = None
    ) -> Iterator[Assertion]:
        """An assertion for each leaf, and for each structure that differs. Raises `EvaluationError` (Q34)."""
        trail = ComparisonState() if trail is None else trail
        if isinstance(actual, list | tuple) and not actual:
            self._meet_empty_list(path, trail)
        if expected is None and actual is None:
            yield passed(f"{path}_match", "both are null")
        elif expected is None or actual is None:
            yield _differs(f"{path}_none_mismatch", expected, actual)
        elif isinstance(expected, Mapping):
            yield from self._objects(expected, actual, path, trail)
        elif isinstance(expected, list | tuple):
            yield from self._arrays(expected, actual, path, trail)
        elif _same(expected, actual):
            yield passed(f"{path}_match", preview(actual))
        else:
            yield _differs(f"{path}_mismatch", expected, actual)

    def _meet_empty_list(self, path: str, trail: ComparisonState) -> None:
        if trail.empty_list:
            self.notice("separate_lists", path)
            if not self.separate_lists:
                told = "WebArena-Verified takes it for a circular reference; rules strict compare it"
                raise EvaluationError(f"a second empty list @ {path}; {told}")
        trail.empty_list = True

    def _objects(
        self, expected: Mapping[str, Any], actual: Any, path: str, trail: ComparisonState
    ) -> Iterator[Assertion]:
        if not isinstance(actual, Mapping):
            yield failed(
                f"{path}_invalid_format", f"expected {preview(expected)}", f"got {preview(actual)}, not an object"
            )
            return
        if not expected:
            raise EvaluationError(f"an expected object without a key @ {path}; write its keys, or null")
        extra, missing = sorted(actual.keys() - expected.keys()), sorted(expected.keys() - actual.keys())
        if missing or (extra and not self.extra_keys):
            told = (f"missing keys: {', '.join(missing)}" if missing else "", f"extra keys: {', '.join(extra)}")
            yield failed(f"{path}_keys_mismatch", *(told[:1] if self.extra_keys or not extra else filter(None, told)))
        for key in sorted(expected.keys() & actual.keys()):
            yield from self.compare(expected[key], actual[key], f"{path}.{key}", trail)

    def _arrays(
        self, expected: list[Any] | tuple[Any, ...], actual: Any, path: str, trail: ComparisonState
    ) -> Iterator[Assertion]:
        if not isinstance(actual, list | tuple):
            yield failed(
                f"{path}_invalid_format", f"expected {preview(expected)}", f"got {preview(actual)}, not a list"
            )
        elif self.ordered:
            yield from self._in_order(expected, actual, path, trail)
        else:
            yield self._any_order(expected, actual, path, trail)

    def _in_order(self, expected: Any, actual: Any, path: str, trail: ComparisonState) -> Iterator[Assertion]:
        if len(expected) != len(actual):
            lengths = f"{len(expected)} items expected in this order, {len(actual)} found"
            yield failed(
                f"{path}_array_values_mismatch", lengths, f"expected {preview(expected)}", f"got {preview(actual)}"
            )
        for index, (wanted, found) in enumerate(zip(expected, actual, strict=False)):
            yield from self.compare(wanted, found, f"{path}[{index}]", trail)

    def _any_order(self, expected: Any, actual: Any, path: str, trail: ComparisonState) -> Assertion:
        missing, extra = self.unmatched_items(expected, actual, path, trail)
        if not missing and not extra:
            return passed(f"{path}_match", preview(actual))
        counts = f"{len(expected) - len(missing)} of {len(expected)} items found"
        parts = [f"missing {preview([expected[one] for one in missing])}"] if missing else []
        parts += [f"not expected {preview([actual[one] for one in extra])}"] if extra else []
        messages = ("; ".join([counts, *parts]), f"expected {preview(expected)}", f"got {preview(actual)}")
        return failed(f"{path}_array_values_mismatch", *messages)

    def unmatched_items(
        self, expected: Any, actual: Any, path: str = "", trail: ComparisonState | None = None
    ) -> tuple[list[int], list[int]]:
        """Positions of the items of two arrays in any order that find no partner. Raises `EvaluationError` (Q34)."""
        missing, extra = self._unmatched(expected, actual, ComparisonState() if trail is None else trail)
        if missing and self.best_matching:
            missing, extra = self._best_matched(expected, actual)
            self.notice("best_matching", path)
        return missing, extra

    def _unmatched(self, expected: Any, actual: Any, trail: ComparisonState) -> tuple[list[int], list[int]]:
        """What is left on either side after each expected item took the first free one that equals it."""
        free, missing = dict(enumerate(actual)), []
        for position, wanted in enumerate(expected):
            taken = next((index for index, found in free.items() if self._fits(wanted, found, trail)), None)
            if taken is None:
                missing.append(position)
            else:
                del free[taken]
        return missing, list(free)

    def _fits(self, expected: Any, actual: Any, trail: ComparisonState) -> bool:
        """Whether two items are equal. What a trial that failed has met does not count as met."""
        tried = ComparisonState(trail.empty_list)
        equal = self.equal(expected, actual, tried)
        if equal:
            trail.empty_list = tried.empty_list
        return equal

    def _best_matched(self, expected: Any, actual: Any) -> tuple[list[int], list[int]]:
        """What is left on either side of a largest matching."""
        taken = maximum_matching(
            [[index for index, found in enumerate(actual) if self.equal(wanted, found)] for wanted in expected]
        )
        matched = set(taken.values())
        missing = [position for position in range(len(expected)) if position not in matched]
        return missing, [index for index in range(len(actual)) if index not in taken]


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, Value):
        return isinstance(actual, Value) and expected.matches(actual)
    return not isinstance(actual, Value | UnparsedValue) and bool(expected == actual)


def _differs(name: str, expected: Any, actual: Any) -> Assertion:
    reason = [actual.reason] if isinstance(actual, UnparsedValue) else []
    return failed(name, f"expected {preview(expected)}", f"got {preview(actual)}", *reason)
