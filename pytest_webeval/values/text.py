"""How a text is prepared before its value type reads it."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, combining, name, normalize

from pytest_webeval.values.base import ParseContext, looks_like_pattern, parse_error

_TRADE_MARKS = str.maketrans("", "", "™®℠©")
_HYPHEN = "[-\u2010-\u2015\u2212\u00ad]"
_HYPHEN_AT_LETTER = re.compile(f"(?<=[A-Za-z]){_HYPHEN}|{_HYPHEN}(?=[A-Za-z])")
_MOST_MARKS = 1_000
_LATIN = ("LATIN", "COMBINING", "MODIFIER", "FEMININE", "MASCULINE")  # with what begins the names of their characters
_LINE_BREAKS_AND_TABS = str.maketrans("\t\n\r", "   ")


def normalize_text(text: str, context: ParseContext) -> str:
    """The text without what two ways of writing the same differ in: case, accents, blanks, dashes, trade marks."""
    if context.patterns and looks_like_pattern(text):
        return text
    if "http" in text:
        text = context.derender(text)
    is_plain = text.isascii() and text.isprintable()  # as most are: they have nothing of what follows but a dash
    if not is_plain:
        _check_accents(text)
        text = normalize("NFKC", text.translate(_TRADE_MARKS))
    if not is_plain or "-" in text:
        text = _HYPHEN_AT_LETTER.sub(" ", text)
    if not is_plain:
        text = text.translate(_LINE_BREAKS_AND_TABS)
        if not text.isprintable():
            text = "".join(character for character in text if not category(character).startswith("C"))
        text = _transliterate(text, keeps_foreign=context.foreign_letters)
    return " ".join(text.split()).casefold()


def _check_accents(text: str) -> None:
    """Raise `ValueParseError` for accents heaped up: Python orders them in time that grows with their square.

    Many of one kind are in order, and do no harm.
    """
    if len(text) <= _MOST_MARKS or text.isascii():
        return
    marks, kinds = 0, set[int]()
    for character in text:
        if character.isascii() or not category(character).startswith("M"):
            marks, kinds = 0, set()
            continue
        marks += 1
        kinds.add(combining(character))  # 0 for one that stands for several
        if marks > _MOST_MARKS and (len(kinds) > 1 or 0 in kinds):
            raise parse_error(text, f"has more than {_MOST_MARKS} accents of several kinds in a row; remove them")


def to_text(raw: object, context: ParseContext) -> str:
    """The prepared text of a datum; one that is not a text is taken as Python writes it. A list of guesses has none."""
    if isinstance(raw, str):
        return normalize_text(raw, context)
    if isinstance(raw, list | tuple) and not context.alternatives:
        raise parse_error(raw, "is a list instead of one value; write the value alone")
    try:
        return str(raw)
    except (RecursionError, ValueError) as error:  # nested too deep, or an int with too many digits
        raise parse_error(raw, "is too large to convert to a string; write a shorter one") from error


def _transliterate(text: str, *, keeps_foreign: bool) -> str:
    if text.isascii():
        return text
    from pytest_webeval.values.transliteration import ASCII_FORMS  # most texts are ASCII

    def to_ascii(character: str) -> str:
        if character.isascii() or (keeps_foreign and is_foreign_letter(character)):
            return character
        form = ASCII_FORMS.get(ord(character), character)
        return "".join(map(_find_ascii_form, form))

    return "".join(map(to_ascii, text))


@lru_cache(maxsize=1024)
def is_foreign_letter(character: str) -> bool:
    """Whether a character is a letter, or a mark at one, of a script other than Latin. Accents are of none."""
    if character.isascii() or category(character)[0] not in "LM":
        return False
    return not name(character, "").startswith(_LATIN)


def _find_ascii_form(character: str) -> str:
    if character.isascii():
        return character
    from text_unidecode import unidecode  # type: ignore[import-untyped]

    # "[?]" stands for a character of which nothing is known, such as the selector behind many an emoji.
    ascii_form = str(unidecode(character))
    return "" if ascii_form.strip() == "[?]" or not ascii_form.isascii() else ascii_form
