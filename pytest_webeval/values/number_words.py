"""Which numbers a text names in English words, where a parser would add them up."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+|[^\s\w]")
_SCALES = ("hundred", "thousand", "million", "billion")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def list_numbers(text: str) -> list[float]:
    """The numbers in a prepared text, in digits or in words: "five or six" has two, "two hundred and five" has one."""
    from word2number.w2n import word_to_num  # type: ignore[import-untyped]

    numbers = []
    for words in _split_numbers(text):
        try:
            numbers.append(float(words.replace(",", "") if words[0].isdigit() else word_to_num(words)))
        except (ValueError, IndexError):
            continue
    return numbers


def _split_numbers(text: str) -> Iterator[str]:
    """The words of each number."""
    from word2number.w2n import american_number_system

    number: list[str] = []
    for word in _TOKEN.findall(text):
        if word == "and" and number and number[-1] in _SCALES:
            continue  # two hundred and five
        if number and not (word in american_number_system and _continues(number, word)):
            yield " ".join(number)
            number = []
        if word in american_number_system:
            number.append(word)
        elif word[0].isdigit():
            yield word
    if number:
        yield " ".join(number)


def _continues(number: list[str], word: str) -> bool:
    """Whether a word goes on with the number of the words before it, as English spells numbers."""
    if "point" in number:
        return word not in _SCALES
    if word == "point":
        return True
    if word in _SCALES:
        return word not in _scales_since_larger(number, word)
    return number[-1] in _SCALES or (number[-1] in _TENS and word in _UNITS)


def _scales_since_larger(number: list[str], scale: str) -> list[str]:
    scales = [word for word in number if word in _SCALES]
    larger = [position for position, word in enumerate(scales) if _SCALES.index(word) > _SCALES.index(scale)]
    return scales[larger[-1] + 1 :] if larger else scales
