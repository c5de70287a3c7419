"""Choices that look random and never change: they depend on what is chosen for and on nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TypeVar

Option = TypeVar("Option")


def rank(*seed: object) -> int:
    """A number that the seed alone decides."""
    return int.from_bytes(blake2b(repr(seed).encode(), digest_size=8).digest())


def drawn(options: Iterable[Option], count: int, *seed: object) -> list[Option]:
    """That many of the options, in an order that the seed decides."""
    ranked = sorted(enumerate(options), key=lambda pair: rank(pair[0], *seed))
    return [option for _, option in ranked[:count]]
