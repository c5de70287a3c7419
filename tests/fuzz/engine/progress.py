"""What a child process tells of its work in shared memory, so that it can be told even when the child hangs or dies."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass

_HEAD = struct.Struct(
    "<QdQdQ"
)  # number of the input, when it began, its length, slowest seconds, number of the slowest
MOST = 2**20  # bytes of an input


@dataclass(frozen=True, slots=True)
class Present:
    """The input that a child works on, since when by the clock of the machine, and the slowest one so far."""

    number: int
    began: float
    content: bytes
    slowest: float
    slowest_number: int


class Progress:
    """Memory that a parent and its child share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD.size + MOST)

    def begin(self, number: int, began: float, content: bytes) -> None:
        """Say which input comes now; before it is read, so that nothing is lost."""
        _, _, _, slowest, slowest_number = _HEAD.unpack_from(self._memory)
        kept = content[:MOST]
        self._memory[_HEAD.size : _HEAD.size + len(kept)] = kept
        _HEAD.pack_into(self._memory, 0, number, began, len(kept), slowest, slowest_number)

    def end(self, number: int, seconds: float) -> None:
        """Say that an input is done."""
        _, _, length, slowest, slowest_number = _HEAD.unpack_from(self._memory)
        if seconds > slowest:
            slowest, slowest_number = seconds, number
        _HEAD.pack_into(self._memory, 0, number + 1, 0.0, length, slowest, slowest_number)

    @property
    def present(self) -> Present:
        """What the child works on; `began` is 0 between two inputs."""
        number, began, length, slowest, slowest_number = _HEAD.unpack_from(self._memory)
        content = self._memory[_HEAD.size : _HEAD.size + length]
        return Present(number, began, content, slowest, slowest_number)
