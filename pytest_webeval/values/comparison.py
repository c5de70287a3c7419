"""Two trees become assertions, each named after its path and what differs (spec §6.2, §6.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.results import Assertion
from pytest_webeval.rules import RuleListener, ignore_rule
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import preview as preview_json
from pytest_webeval.values.base import Value
from pytest_webeval.values.matching import Items, PairFinder, Pairs, find_maximum_matching, walk
from pytest_webeval.values.schema import UnparsedValue, to_plain_json

UNAVAILABLE = "_unavailable"  # what the name of an assertion ends with where a body could not be read
MAX_PREVIEW = 300
MOST_PAIRS_TRIED = 100  # of items of two arrays; of more, those are left out that cannot be equal
MOST_PAIRS_IN_MESSAGE = 20_000  # that are compared to count the items without a partner


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

    def equal(self, expected: Any, actual: Any, state: ComparisonState | None = None, path: str = "") -> bool:
        """Whether what was found is what was expected. Raises `EvaluationError`, as `compare` does."""
        state = ComparisonState() if state is None else state
        if isinstance(actual, list | tuple) and not actual:
            self._record_empty_list(path, state)
        if expected is None or actual is None:
            return expected is actual
        if isinstance(expected, Mapping):
            return self._is_equal_object(expected, actual, path, state)
        if isinstance(expected, list | tuple):
            return self._is_equal_array(expected, actual, path, state)
        return _is_same(expected, actual)

    def _is_equal_object(self, expected: Mapping[str, Any], actual: Any, path: str, state: ComparisonState) -> bool:
        if not isinstance(actual, Mapping):
            return False
        _require_keys(expected, path)
        shared = sorted(expected.keys() & actual.keys())
        # All members, so that each error in them is one.
        same = [self.equal(expected[key], actual[key], state, f"{path}.{key}") for key in shared]
        has_all = len(shared) == len(expected) and (self.extra_keys or len(shared) == len(actual))
        return has_all and all(same)

    def _is_equal_array(self, expected: Items, actual: Any, path: str, state: ComparisonState) -> bool:
        if not isinstance(actual, list | tuple):
            return False
        if not self.ordered:
            return self._is_permutation(expected, actual, path, state)
        pairs = enumerate(zip(expected, actual, strict=False))
        same = [self.equal(left, right, state, f"{path}[{index}]") for index, (left, right) in pairs]
        return len(expected) == len(actual) and all(same)

    def _is_permutation(self, expected: Items, actual: Items, path: str, state: ComparisonState) -> bool:
        if len(expected) != len(actual) and self._is_error_free(expected, actual):
            return False
        pairs = self._find_pairs(expected, actual, path, 0)
        if pairs is not None and len(pairs) < len(expected):
            return False
        return not any(self._match_items(expected, actual, path, state, pairs))

    def _is_error_free(self, expected: Items, actual: Items) -> bool:
        """Whether no pair of parts of two trees is an error, so that not every pair has to be compared."""
        has_lists = not self.separate_lists and any(_is_empty_list(part) for part in walk(actual))
        return not has_lists and not any(_is_error(part) for part in (*walk(expected), *walk(actual)))

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
        _require_keys(expected, path)
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

    def _compare_in_any_order(self, expected: Items, actual: Items, path: str, state: ComparisonState) -> Assertion:
        name, sides = f"{path}_array_values_mismatch", (f"expected {preview(expected)}", f"got {preview(actual)}")
        is_large = len(expected) * len(actual) > MOST_PAIRS_IN_MESSAGE
        if is_large and len(expected) != len(actual) and self._is_error_free(expected, actual):
            return failed(name, f"{pluralize(len(expected), 'item')} expected, {len(actual)} found", *sides)
        pairs = self._find_pairs(expected, actual, path, MOST_PAIRS_IN_MESSAGE)
        if pairs is not None and len(pairs) < len(expected):
            return failed(name, f"no item is {preview(expected[len(pairs) - 1])}", *sides)
        missing, extra = self._match_items(expected, actual, path, state, pairs)
        if not missing and not extra:
            return passed(f"{path}_match", preview(actual))
        counts = f"{len(expected) - len(missing)} of {pluralize(len(expected), 'item')} found"
        parts = [f"missing {preview([expected[index] for index in missing])}"] if missing else []
        parts += [f"not expected {preview([actual[index] for index in extra])}"] if extra else []
        return failed(name, "; ".join([counts, *parts]), *sides)

    def unmatched_items(self, expected: Items, actual: Items) -> tuple[list[int], list[int]]:
        """Positions of the items of two arrays in any order that find no partner. Raises `EvaluationError` (Q34)."""
        pairs = self._find_pairs(expected, actual, "", len(expected) * len(actual))
        return self._match_items(expected, actual, "", ComparisonState(), pairs)

    def _find_pairs(self, expected: Items, actual: Items, path: str, most: int) -> Pairs | None:
        """For each expected item the positions of all actual ones that equal it; None where each pair is to be tried.

        The list ends with an item that nothing equals after so many comparisons: the arrays differ then.
        """
        if len(expected) * len(actual) <= MOST_PAIRS_TRIED or not self._is_error_free(expected, actual):
            return None
        # Of very many the notice would cost too much: the verdict without the rule tries every pair.
        if len(expected) * len(actual) <= MOST_PAIRS_IN_MESSAGE and sum(map(_is_empty_list, walk(actual))) > 1:
            self.notice("separate_lists", path)
        finder = PairFinder(actual, self.equal)
        pairs: Pairs = []
        for item in expected:
            pairs.append(finder.find(item))
            if not pairs[-1] and finder.count > most:
                break
        return pairs

    def _match_items(
        self, expected: Items, actual: Items, path: str, state: ComparisonState, pairs: Pairs | None
    ) -> tuple[list[int], list[int]]:
        missing, extra = self._match_first_free(expected, actual, state, pairs)
        if missing and self.maximum_matching:
            missing, extra = self._match_maximum(expected, actual, pairs)
            self.notice("maximum_matching", path)
        return missing, extra

    def _match_first_free(
        self, expected: Items, actual: Items, state: ComparisonState, pairs: Pairs | None
    ) -> tuple[list[int], list[int]]:
        """What is left on either side after each expected item took the first free one that equals it."""
        free, missing = dict(enumerate(actual)), []
        for position, expected_item in enumerate(expected):
            equal_items: Iterable[int] = (
                (index for index, item in free.items() if self._is_equal_item(expected_item, item, state))
                if pairs is None
                else filter(free.__contains__, pairs[position])
            )
            partner = next(iter(equal_items), None)
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

    def _match_maximum(self, expected: Items, actual: Items, pairs: Pairs | None) -> tuple[list[int], list[int]]:
        """What is left on either side of a largest matching."""
        if pairs is None:
            pairs = [[index for index, item in enumerate(actual) if self.equal(each, item)] for each in expected]
        partners = find_maximum_matching(pairs)
        matched = set(partners.values())
        missing = [position for position in range(len(expected)) if position not in matched]
        return missing, [index for index in range(len(actual)) if index not in partners]


def _require_keys(expected: Mapping[str, Any], path: str) -> None:
    if not expected:
        raise EvaluationError(f"an expected object without keys{_format_place(path)}; write its keys, or null")


def _is_empty_list(part: Any) -> bool:
    return isinstance(part, list | tuple) and not part


def _is_error(part: Any) -> bool:
    """Whether a part may be an error to compare: an object without keys, or a measure without end."""
    if isinstance(part, Value):
        return any(isinstance(each, float | Decimal) and not isfinite(each) for each in part.alternatives)
    return isinstance(part, Mapping) and not part


def _is_same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, Value):
        return expected.matches(actual) if isinstance(actual, Value) else _is_whole_list(expected, actual)
    return not isinstance(actual, Value | UnparsedValue) and bool(expected == actual)


def _is_whole_list(expected: Value, actual: Any) -> bool:
    """Whether a list names each alternative of an expected value and nothing else, so that it is no guess."""
    read_item = actual.read_item if isinstance(actual, UnparsedValue) else None
    if read_item is None or len(actual.raw) != len(expected.alternatives):
        return False
    try:
        items = [read_item(item) for item in actual.raw]
    except ValueParseError:
        return False
    singles = [type(expected)((alternative,)) for alternative in expected.alternatives]
    choices = [[index for index, item in enumerate(items) if single.matches(item)] for single in singles]
    return len(find_maximum_matching(choices)) == len(items)


def _build_mismatch(name: str, expected: Any, actual: Any) -> Assertion:
    reason = [actual.reason] if isinstance(actual, UnparsedValue) else []
    return failed(name, f"expected {preview(expected)}", f"got {preview(actual)}", *reason)
