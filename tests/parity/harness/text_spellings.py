"""How people and programs write a text, a yes or no, a month, an address: some still mean the same, some do not."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from typing import Any

Spellings = Mapping[str, Callable[[Any], Any]]
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_YES_AND_NO = "yes no Yes NO y n t f on off True FALSE true. Yes. correct none 1 0 1.0 01 yeah ja".split()  # noqa: SIM905
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_ACCENTS = str.maketrans("aeiounc", "áéíóúñç")
_CYRILLIC = str.maketrans("aeocpxy", "аеосрху")  # noqa: RUF001  (letters that look like Latin ones)

ANY: Spellings = {
    "in a list": lambda value: [value],
    "in a list of lists": lambda value: [[value]],
    "in an object": lambda value: {"value": value},
    "as text": str,
    "as JSON text": json.dumps,
    "null": lambda _: None,
    "empty text": lambda _: "",
    "blank": lambda _: " ",
    "empty list": lambda _: [],
    "empty object": lambda _: {},
    "zero": lambda _: 0,
    "true": lambda _: True,
    "false": lambda _: False,
    "N/A": lambda _: "N/A",
    "null as text": lambda _: "null",
    "unknown": lambda _: "unknown",
    "one half": lambda _: "½",
    "huge": lambda _: 10**30,
    "huge float": lambda _: 1e308,
    "only punctuation": lambda _: "...",
    "an emoji": lambda _: "🤖",
}
TEXT: Spellings = {
    "upper case": lambda text: text.upper(),
    "lower case": lambda text: text.lower(),
    "title case": lambda text: text.title(),
    "swapped case": lambda text: text.swapcase(),
    "full stop": lambda text: f"{text}.",
    "ellipsis": lambda text: f"{text}…",
    "exclamation mark": lambda text: f"{text}!",
    "double quotes": lambda text: f'"{text}"',
    "typographic quotes": lambda text: f"“{text}”",
    "typographic apostrophe": lambda text: text.replace("'", "’") if "'" in text else f"‘{text}’",  # noqa: RUF001
    "guillemets": lambda text: f"«{text}»",
    "brackets": lambda text: f"({text})",
    "backticks": lambda text: f"`{text}`",
    "bold": lambda text: f"**{text}**",
    "blanks around": lambda text: f"  {text}\t",
    "doubled blanks": lambda text: text.replace(" ", "  ") + " ",
    "no blanks": lambda text: text.replace(" ", ""),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0") + "\u00a0",
    "line break": lambda text: text.replace(" ", "\n", 1) + "\n",
    "escaped line break": lambda text: text.replace(" ", "\\n", 1) + "\\n",
    "vertical tab": lambda text: text.replace(" ", "\v", 1),
    "zero-width blank": lambda text: f"{text[:1]}\u200b{text[1:]}",
    "byte order mark": lambda text: f"\ufeff{text}",
    "soft hyphen": lambda text: f"{text[:2]}\u00ad{text[2:]}",
    "NUL": lambda text: f"{text}\0",
    "en dash": lambda text: text.replace("-", "–") if "-" in text else f"{text} –",  # noqa: RUF001
    "em dash": lambda text: f"— {text}",
    "hyphens to blanks": lambda text: text.replace("-", " "),
    "blanks to hyphens": lambda text: text.replace(" ", "-"),
    "blanks to underscores": lambda text: text.replace(" ", "_"),
    "accents": lambda text: text.translate(_ACCENTS),
    "combining accent": lambda text: f"{text[:1]}\u0301{text[1:]}",
    "Cyrillic letters": lambda text: text.translate(_CYRILLIC),
    "full width": lambda text: text.translate(_FULL_WIDTH),
    "ligature": lambda text: text.replace("fi", "ﬁ").replace("fl", "ﬂ"),
    "sharp s": lambda text: text.replace("ss", "ß"),
    "dotted I": lambda text: text.replace("I", "İ").replace("i", "ı"),  # noqa: RUF001
    "trade mark": lambda text: f"{text}™",
    "registered inside": lambda text: text.replace(" ", "® ", 1),
    "copyright": lambda text: f"© {text}",
    "HTML entities": lambda text: html.escape(text) + "&nbsp;",
    "truncated": lambda text: text[:-1],
    "first word": lambda text: text.split(" ", 1)[0],
    "half": lambda text: text[: len(text) // 2],
    "shortened": lambda text: f"{text[:12]}...",
    "extended": lambda text: f"{text}x",
    "with a label": lambda text: f"Answer: {text}",
    "in a sentence": lambda text: f"The answer is {text}.",
    "with an article": lambda text: f"the {text}",
    "with a remark": lambda text: f"{text} (see above)",
    "twice": lambda text: f"{text} {text}",
    "letters swapped": lambda text: text[1::-1] + text[2:],
    "words reversed": lambda text: " ".join(reversed(text.split())),
    "ampersand": lambda text: text.replace(" and ", " & ").replace(" & ", " and "),
    "at sign": lambda text: f"@{text}",
    "hash": lambda text: f"#{text}",
    "leading zeros": lambda text: f"000{text}",
    "no leading zeros": lambda text: text.lstrip("0"),
    "as number": lambda text: int(text) if text.isdecimal() else text,
    "as float": lambda text: float(text) if text.isdecimal() else text,
    "comma added": lambda text: text.replace(" ", ", ", 1),
    "punctuation lost": lambda text: "".join(letter for letter in text if letter.isalnum() or letter == " "),
    "list mark": lambda text: f"- {text}",
    "numbered": lambda text: f"1. {text}",
    "as link": lambda text: f"[{text}](http://shop.test:7770/x)",
    "as JSON list text": lambda text: json.dumps([text]),
    "with address": lambda text: f"http://shop.test:7770/{text}",
    "right-to-left mark": lambda text: f"\u200f{text}",
    "Chinese": lambda text: f"{text} 北京",
}
BOOLEAN: Spellings = {
    "other": lambda value: not value,
    **{word: lambda _, word=word: word for word in _YES_AND_NO},
    "as number": int,
    "other as number": lambda value: int(not value),
    "as float": float,
    "two": lambda _: 2,
    "minus one": lambda _: -1,
    "blanks around": lambda value: f" {value} ",
    "sentence": lambda value: "Yes, it is." if value else "No, it is not.",
}
MONTH: Spellings = {
    "number": int,
    "number as text": str,
    "two digits": lambda n: f"{n:02}",
    "float": float,
    "a half more": lambda n: n + 0.5,
    "full": lambda n: MONTHS[n - 1],
    "three letters": lambda n: MONTHS[n - 1][:3],
    "four letters": lambda n: MONTHS[n - 1][:4],
    "three letters, stop": lambda n: MONTHS[n - 1][:3] + ".",
    "next month": lambda n: MONTHS[n % 12],
    "next number": lambda n: n + 1,
    "with year": lambda n: f"{MONTHS[n - 1]} 2023",
    "with short year": lambda n: f"{MONTHS[n - 1][:3]} '23",
    "ISO month": lambda n: f"2023-{n:02}",
    "ISO date": lambda n: f"2023-{n:02}-17",
    "US date": lambda n: f"{n}/17/2023",
    "month of": lambda n: f"month of {MONTHS[n - 1]}",
    "thirteen": lambda _: 13,
    "weekday": lambda _: "Monday",
    "in Spanish": lambda _: "enero",
}
ADDRESS: Spellings = {
    "ssh": lambda text: "ssh://" + text.replace(":", ":2222/", 1),
    "ssh, no port": lambda text: "ssh://" + text.replace(":", "/", 1),
    "other host": lambda text: text.replace("git.test", "metis.lti.cs.cmu.edu"),
    "port inside": lambda text: text.replace(":", ":2222/", 1),
    "https": lambda text: text.replace("git@", "https://").replace("test:", "test/"),
    "http": lambda text: text.replace("git@git.test:", "http://git.test:8023/"),
    "no suffix": lambda text: text.removesuffix(".git"),
    "slash behind": lambda text: f"{text}/",
    "git clone": lambda text: f"git clone {text}",
    "other user": lambda text: text.replace("git@", "root@"),
    "no user": lambda text: text.replace("git@", ""),
}


def month_of(text: Any) -> int | None:
    """The number of the month that a task's text names, if it is one."""
    names = (number for number, name in enumerate(MONTHS, 1) if str(text)[:3].title() == name[:3])
    return next(names, None)
