"""A limit on what judges may cost in a session, whatever number of processes ask."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.prices import Price, PriceTable
from pytest_webeval.judges.questions import Question, Reply, TokenUsage
from pytest_webeval.storage import write_error

USUAL_COMPLETION = 16_384  # tokens of a reply whose question has no `max_completion_tokens`
_BYTES_PER_TOKEN = 3  # of UTF-8: fewer than any usual text has
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
_OPTION = "--webeval-judge-max-usd"


class _Line(Struct):
    """A line of the ledger: a reservation has an upper estimate, and is replaced by one with the real cost."""

    id: str
    usd: Decimal


class SpendingLimit(Struct, eq=False):
    """What all processes of a session may spend together, in US dollars.

    They share the file `ledger`, to which each appends: a reservation before it asks, then what the reply cost. A
    question whose upper estimate does not fit is not asked. So the limit is exceeded at most by what replies cost
    beyond their estimates. A reservation of a process that was killed counts to the end of the session, for the server
    may charge for the reply.
    """

    max_usd: Decimal
    ledger: Path
    prices: PriceTable
    _amounts: dict[str, Decimal] = field(default_factory=dict)
    _position: int = 0
    _lock: Any = field(default_factory=Lock)

    @property
    def spent(self) -> Decimal:
        """What is spent or reserved."""
        with self._open_ledger():
            return sum(self._amounts.values(), Decimal(0))

    def reserve(self, question: Question) -> Reservation:
        """Reserve what a question may cost. Raises `JudgeFailed`: `over_limit`; `SettingsError` without a price."""
        price = self.prices.require(question.model)
        amount = estimate(question, price)
        reservation = Reservation(self, os.urandom(8).hex(), price)
        with self._open_ledger() as handle:
            spent = sum(self._amounts.values(), Decimal(0))
            if spent + amount > self.max_usd:
                numbers = (
                    f"${spent:.4f} of ${self.max_usd} are spent or reserved, and this question may cost ${amount:.4f}"
                )
                raise JudgeFailed(f"the judge would exceed {_OPTION}: {numbers}; raise {_OPTION}", "over_limit")
            self._append(handle, reservation.id, amount)
        return reservation

    def replace(self, reservation: Reservation, amount: Decimal) -> None:
        """Put what a reply cost in place of its reservation."""
        with self._open_ledger() as handle:
            self._append(handle, reservation.id, amount)

    @contextmanager
    def _open_ledger(self) -> Iterator[int]:
        """The locked ledger, once all that others have appended is read."""
        with self._lock:
            try:
                handle = os.open(self.ledger, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise write_error(self.ledger, error, "choose another output directory") from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                self._read_on(handle)
                yield handle
            finally:
                os.close(handle)

    def _read_on(self, handle: int) -> None:
        """Read the lines since the last time. One that a killed process did not complete says nothing."""
        size = os.fstat(handle).st_size
        content = os.pread(handle, size - self._position, self._position)
        for line in content.splitlines():
            with suppress(msgspec.DecodeError):
                entry = msgspec.json.decode(line, type=_Line)
                self._amounts[entry.id] = entry.usd
        self._position = size

    def _append(self, handle: int, identifier: str, amount: Decimal) -> None:
        """Append a line, whose line feed in front ends one that a killed process did not complete."""
        line = f"\n{json.dumps({'id': identifier, 'usd': format(amount, 'f')})}\n".encode()
        try:
            os.pwrite(handle, line, self._position)
        except OSError as error:
            raise write_error(self.ledger, error, "make room for it") from error
        self._read_on(handle)


class Reservation(Struct, frozen=True, eq=False):
    """Money that is reserved for one question. It stays so until it is settled or released."""

    limit: SpendingLimit
    id: str
    price: Price

    def settle(self, reply: Reply) -> None:
        """Replace the estimate by what the reply cost. Where the server does not count tokens, the estimate stays."""
        if reply.usage == TokenUsage():
            return
        price = self.limit.prices.find(reply.model) or self.price
        self.limit.replace(self, price.cost(reply.usage))

    def release(self) -> None:
        """Give the money back, for nothing was paid."""
        self.limit.replace(self, Decimal(0))


def estimate(question: Question, price: Price) -> Decimal:
    """More than a question usually costs: a token for three bytes, the picture price, and the longest reply."""
    texts = [part for message in question.messages for part in message.parts if isinstance(part, str)]
    texts.append(json.dumps(question.schema or {}))
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    pictures = sum(1 for _ in question.images) * price.image_tokens
    limits = [limit for name in _LIMIT_NAMES if isinstance(limit := question.parameters.get(name), int)]
    completion = limits[0] if limits else USUAL_COMPLETION
    return price.cost(TokenUsage(prompt=-(-size // _BYTES_PER_TOKEN) + pictures, completion=completion))
