"""Pairing what was expected with what was found, so that as many as possible find a partner."""

from __future__ import annotations

from collections.abc import Sequence


def largest_matching(choices: Sequence[Sequence[int]]) -> dict[int, int]:
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
