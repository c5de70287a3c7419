"""The criteria of a rubric, nested groups laid flat, and what they add up to (`fara_webeval.md` §6.1, §6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from pytest_webeval.rubrics.payload import point_count, quote_value
from pytest_webeval.rubrics.policy import UnreadableVerdict

MAX_DEPTH = 32
ROUNDING = 1e-9  # more than any order of adding up can shift a share
_DIGITS = 80  # more than any sum of bounded numbers needs
Field = Literal["post_image", "earned"]


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One criterion with its points. `place` says where in the rubric it stands: ``items[0].items[1]``.

    `earned` are the points for what the agent did, `post_image` those after a look at the screenshots; None where
    nobody gave any. `is_met` is None unless the judge decided whether the condition holds. `justification` explains the
    later points.
    """

    place: str
    criterion: str
    condition: str | None
    is_conditional: bool
    is_met: bool | None
    is_penalty: bool
    max_points: Decimal
    earned: Decimal | None
    post_image: Decimal | None
    justification: str

    @property
    def counts(self) -> bool:
        """Whether it is in the sums: an unconfirmed condition excludes it from both."""
        return not self.is_conditional or self.is_met is True


@dataclass(frozen=True, slots=True)
class Points:
    """What the items add up to: exactly, and as the writers of verdicts do it, in binary floating point."""

    earned: Decimal
    maximum: Decimal
    float_earned: float
    float_maximum: float

    @property
    def share(self) -> Fraction:
        """The exact share of the points, 0 where there are none to earn."""
        return Fraction(self.earned) / Fraction(self.maximum) if self.maximum > 0 else Fraction(0)

    @property
    def float_share(self) -> float:
        """The share as a writer stored it."""
        return self.float_earned / self.float_maximum if self.float_maximum > 0 else 0.0

    def reaches(self, threshold: Decimal) -> bool:
        """Whether the exact share is a process success."""
        return self.share >= Fraction(threshold)

    def float_reaches(self, threshold: Decimal) -> bool:
        """Whether a writer took it for one: 2.4 of 3 points miss 0.8 there."""
        return self.float_share >= float(threshold)

    def is_edge(self, threshold: Decimal) -> bool:
        """Whether rounding alone decides."""
        return self.reaches(threshold) is not self.float_reaches(threshold)

    def is_near(self, threshold: Decimal) -> bool:
        """Whether the order of adding up may decide: a group at a time, or all items in a row."""
        return abs(self.float_share - float(threshold)) <= ROUNDING


def add_up(items: Iterable[RubricItem], field: Field) -> Points:
    """The sums over the items that count, with 0 for missing points. A penalty only enlarges the maximum."""
    exact = Context(prec=_DIGITS)
    earned = maximum = Decimal(0)
    float_earned = float_maximum = 0.0
    for item in items:
        if not item.counts:
            continue
        awarded = awarded_points(item, is_unseen=field == "earned")
        earned, maximum = exact.add(earned, awarded), exact.add(maximum, item.max_points)
        # One by one: the built-in sum compensates for rounding since Python 3.12, which no writer relied on.
        float_earned += float(awarded)
        float_maximum += float(item.max_points)
    return Points(earned, maximum, float_earned, float_maximum)


def awarded_points(item: RubricItem, *, is_unseen: bool) -> Decimal:
    """The points that an item adds to the sum: those for the actions if the screenshots were not scored."""
    awarded = item.earned if is_unseen else item.post_image
    return Decimal(0) if item.is_penalty or awarded is None else awarded


def is_action_only(items: Sequence[RubricItem]) -> bool:
    """Whether the screenshots were not scored, so that only the points for the actions count."""
    return all(item.post_image is None for item in items)


def without_points(items: Sequence[RubricItem]) -> tuple[RubricItem, ...]:
    """The items that count but lack the points that are added up."""
    field: Field = "earned" if is_action_only(items) else "post_image"
    return tuple(item for item in items if item.counts and not item.is_penalty and getattr(item, field) is None)


def points_of(items: Sequence[RubricItem]) -> Points | None:
    """The points of a judged rubric, None for one without all points.

    As long as one item has points after the screenshots, those count, and the others have 0 (Q25).
    """
    if not is_action_only(items):
        return add_up(items, "post_image")
    if without_points(items) or all(item.earned is None for item in items):
        return None
    return add_up(items, "earned")


def flatten_items(items: object) -> tuple[RubricItem, ...]:
    """The items of nested groups in their order. Raises `UnreadableVerdict` with the place of a malformed item."""
    flat_items: list[RubricItem] = []
    open_groups = [_number_items(items, "items")]
    while open_groups:
        place, item = next(open_groups[-1], ("", None))
        if not place:
            open_groups.pop()
        elif not isinstance(item, Mapping):
            raise _item_error(place, f"is {quote_value(item)}; expected an object with criterion and max_points")
        elif item.get("items") is None:
            flat_items.append(_build_item(item, place))
        elif len(open_groups) == MAX_DEPTH:
            raise _item_error(place, f"is nested in more than {MAX_DEPTH} groups; flatten the rubric")
        else:
            open_groups.append(_number_items(item["items"], f"{place}.items"))
    return tuple(flat_items)


def _number_items(items: object, place: str) -> Iterator[tuple[str, object]]:
    if not isinstance(items, list) or (place == "items" and not items):
        raise _item_error(place, f"is {quote_value(items)}; expected a list of criteria")
    return ((f"{place}[{index}]", item) for index, item in enumerate(items))


def _build_item(item: Mapping[str, Any], place: str) -> RubricItem:
    criterion, condition, is_met = item.get("criterion"), item.get("condition"), item.get("is_condition_met")
    if not isinstance(criterion, str) or not criterion.strip():
        raise _item_error(f"{place}.criterion", f"is {quote_value(criterion)}; expected a string")
    maximum = point_count(item.get("max_points"))
    if maximum is None or maximum < 0:
        problem = f"is {quote_value(item.get('max_points'))}; expected a number of points"
        raise _item_error(f"{place}.max_points", problem)
    texts = (item.get("post_image_justification"), item.get("justification"))
    return RubricItem(
        place=place,
        criterion=criterion,
        condition=condition if isinstance(condition, str) else None,
        is_conditional="condition" in item,
        is_met=is_met if isinstance(is_met, bool) else None,
        is_penalty=item.get("penalty") is True,
        max_points=maximum,
        earned=_read_points(item, "earned_points", place),
        post_image=_read_points(item, "post_image_earned_points", place),
        justification=next((text for text in texts if isinstance(text, str) and text), ""),
    )


def _read_points(item: Mapping[str, Any], key: str, place: str) -> Decimal | None:
    """The points under a key; an unscored rubric has an empty text there."""
    raw = item.get(key)
    if raw is None or raw == "":
        return None
    number = point_count(raw)
    if number is None:
        raise _item_error(f"{place}.{key}", f"is {quote_value(raw)}; expected a number of points")
    return number


def _item_error(place: str, problem: str) -> UnreadableVerdict:
    return UnreadableVerdict("rubric_invalid", f"the rubric's {place} {problem}", advice="")
