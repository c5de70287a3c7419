"""Inputs made from others: bytes are flipped and spliced, values in JSON replaced, one file of several damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.engine.parts import is_parted, joined, parts
from tests.fuzz.engine.tokens import TOKENS
from tests.fuzz.engine.trees import changed

LONG, LONGEST = 12_000, 200_000  # bytes of a part that is repeated, and of an input
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_WORD = re.compile(rb"[A-Za-z_]{2,}")

Change = Callable[[bytes, Random, Sequence[bytes]], bytes]


def mutated(content: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """An input like this one, with one to four changes."""
    for _ in range(random.choice((1, 1, 2, 4))):
        content = _once(content, others, random)
    return content[:LONGEST]


def _once(content: bytes, others: Sequence[bytes], random: Random) -> bytes:
    if is_parted(content) and random.random() < 0.95:
        return _in_a_part(content, others, random)
    if content[:1] in (b"{", b"[") and random.random() < 0.6:
        return _in_json(content, random)
    if b"\n" in content and random.random() < 0.4:
        return _in_a_line(content, others, random)
    return random.choice(_CHANGES)(content, random, others)


def _in_a_part(content: bytes, others: Sequence[bytes], random: Random) -> bytes:
    found = parts(content)
    position = random.randrange(len(found))
    name, inner = found[position]
    if random.random() < 0.05:
        found[position] = (random.choice(TOKENS[:60]) + name, inner)
    elif random.random() < 0.05:
        del found[position]
    else:
        found[position] = (name, _once(inner, others, random))
    return joined(found)


def _in_json(content: bytes, random: Random) -> bytes:
    try:
        tree = json.loads(content)
        return json.dumps(changed(tree, random)).encode()
    except (ValueError, RecursionError):
        return _insert(content, random, ())


def _in_a_line(content: bytes, others: Sequence[bytes], random: Random) -> bytes:
    lines = content.split(b"\n")
    position = random.randrange(len(lines))
    what = random.random()
    if what < 0.1:
        lines.insert(position, random.choice(lines))
    elif what < 0.2:
        del lines[position]
    elif what < 0.3:
        other = random.randrange(len(lines))
        lines[position], lines[other] = lines[other], lines[position]
    else:
        lines[position] = _once(lines[position], others, random)
    return b"\n".join(lines)


def _flip(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    found = bytearray(content or b"x")
    for _ in range(random.randint(1, 4)):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def _any_byte(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    found = bytearray(content or b"x")
    found[random.randrange(len(found))] = random.randrange(256)
    return bytes(found)


def _insert(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    place = random.randint(0, len(content))
    return content[:place] + random.choice(TOKENS) + content[place:]


def _cut(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin, end = sorted((random.randint(0, len(content)), random.randint(0, len(content))))
    return content[:begin] + content[end:] if random.random() < 0.7 else content[:begin]


def _repeat(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
    begin = random.randint(0, len(content))
    piece = content[begin : begin + random.choice((1, 2, 5, 30))]
    times = random.choice((2, 10, 100)) if random.random() < 0.95 else LONG // max(len(piece), 1)
    return content[:begin] + piece * times + content[begin:]


def _splice(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    return content[: random.randint(0, len(content))] + other[random.randint(0, len(other)) :]


def _swap(pattern: re.Pattern[bytes], choices: Sequence[bytes]) -> Change:
    """Another text in the place of one that looks so."""

    def swap(content: bytes, random: Random, _: Sequence[bytes]) -> bytes:
        found = list(pattern.finditer(content))
        if not found:
            return _insert(content, random, ())
        one = random.choice(found)
        return content[: one.start()] + random.choice(choices) + content[one.end() :]

    return swap


_NUMBERS = tuple(token for token in TOKENS if token[:1].isdigit() or token[:1] in b"-N")
_CHANGES: tuple[Change, ...] = (
    _flip,
    _any_byte,
    _insert,
    _insert,
    _cut,
    _repeat,
    _splice,
    _swap(_NUMBER, _NUMBERS),
    _swap(_WORD, TOKENS),
)
