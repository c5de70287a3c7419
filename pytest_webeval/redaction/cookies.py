"""Values of the headers `Cookie` and `Set-Cookie`: names and attributes stay, values are secret."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_webeval.redaction.names import compact

COOKIE_FLAGS = frozenset({"", "httponly", "secure", "partitioned"})  # attributes that have no value
# A comma that a cookie follows: dates have none of which an equals sign comes next.
_COMMA = re.compile(r",(?=\s{0,8}[^\s=;,]{1,256}=)")

Replace = Callable[[str, str], str]  # a cookie's name and value become another value


def cookies(header: str, text: str, replace: Replace) -> str:
    """The text of such a header with other values; recordings join several of a response with line feeds."""
    is_setting = compact(header) == "setcookie"
    return "\n".join((_set if is_setting else _sent)(line, replace) for line in text.split("\n"))


def _sent(line: str, replace: Replace) -> str:
    return ";".join(_pair(pair, replace) for pair in line.split(";"))


def _set(line: str, replace: Replace) -> str:
    """Each cookie of a line; some recorders join several with commas, which dates have in them as well."""
    return ",".join(_one_set(one, replace) for one in _COMMA.split(line))


def _one_set(one: str, replace: Replace) -> str:
    pair, semicolon, attributes = one.partition(";")
    return f"{_pair(pair, replace)}{semicolon}{attributes}"


def _pair(pair: str, replace: Replace) -> str:
    name, equals, value = pair.partition("=")
    if not equals:  # a cookie without a name
        name, value = "", pair
    inner = value.strip()
    if not inner:
        return pair
    before, _, after = value.partition(inner)
    quote = '"' if len(inner) > 1 and inner[0] == inner[-1] == '"' else ""
    kept = inner[1:-1] if quote else inner
    return f"{name}{equals}{before}{quote}{replace(name.strip(), kept)}{quote}{after}"
