"""What the rows of runs are sorted by, as Python compares it and as bytes that SQLite compares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_manifest import Order, find_order, find_path


class Ordered(ABC):
    """Records in the order of a summary, to be read again and again."""

    @abstractmethod
    def __iter__(self) -> Iterator[Record]: ...

    @abstractmethod
    def __len__(self) -> int: ...


def sort_records(records: Iterable[Record]) -> Ordered | list[Record]:
    """The records in the order of a summary."""
    return records if isinstance(records, Ordered) else sorted(records, key=order_of)


def order_of(record: Record) -> tuple[str, int | str, str]:
    """By what records are sorted in a summary: two types of ids cannot be compared."""
    return str(type(record.task_id)), record.task_id, record.run


def encode_position(record: Record) -> bytes:
    """What sorts as `order_of` does."""
    task_id = record.task_id
    first = b"i" + _encode_number(task_id) if isinstance(task_id, int) else b"s" + _encode_text(task_id)
    return first + _encode_text(record.run)


def encode_path_order(label: str) -> bytes:
    """What sorts as `find_order` of the path of a run, by its label without a prefix."""
    order: Order = find_order(find_path(label))
    return b"".join(bytes([kind]) + _encode_number(number) + _encode_text(name) for kind, number, name in order)


def _encode_number(number: int) -> bytes:
    """The sign, the length and the bytes: what is longer is larger, or smaller below zero."""
    size = (abs(number).bit_length() + 7) // 8
    if number < 0:
        return b"\0" + (2**32 - 1 - size).to_bytes(4) + ((1 << 8 * size) + number).to_bytes(size)
    return b"\1" + size.to_bytes(4) + number.to_bytes(size)


def _encode_text(text: str) -> bytes:
    """UTF-8, whose bytes sort as the characters do, with an end that sorts before any character."""
    return text.encode("utf-8", "surrogatepass").replace(b"\0", b"\0\xff") + b"\0\1"
