"""Patterns that match too much or nothing, and texts that are not the patterns that they look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.evaluators.network.urls import UrlMatcher, bases_match, queries_match
from pytest_webeval.evaluators.readers import build_reader
from pytest_webeval.lint.definition import ANSWER, CONTENT, QUERY, Datum, Definition, RequestCheck
from pytest_webeval.lint.findings import Problem, Steps
from pytest_webeval.safety import regex
from pytest_webeval.values.base import ParseContext, looks_like_pattern
from pytest_webeval.values.string import StringValue
from pytest_webeval.values.text import normalize_text

PATTERN_TYPES = ("string", "base64")
_IGNORED_PATTERNS = ("ignored_query_params_patterns", "ignored_post_data_params_patterns")
_LOOKS_LIKE_PATTERN = "looks like a pattern but is compared as a text; write '^…$'"
UNLIKELY = ("q7zx kw93", "5", "vj", "")  # texts that no pattern means, unless it means all
UNLIKELY_PAGES = ("/q7zx/kw93", "/5.vj")
# What only patterns have. In `Magento\SalesRule` the backslash is one of a name.
_SIGNS = re.compile(r"\.\*|\.\+(?!\w)|\\[dDwWsS](?![A-Za-z])|\[\^?[A-Za-z0-9]-[A-Za-z0-9]|\(\?:|\[\^")
# What stands for a part of a path: `/*`, `/*.html`, `{id}`, `<int:id>`, `/:id`. `Sagittarius_A*` is a name.
_GLOB = re.compile(r"(?:/|(?<=__))(\*)\*?(?=/|$|\.\w+$)|((?<!\{)\{\w+\}(?!\})|<[\w:]+>)|/(:[A-Za-z_]\w*)[*+]?(?=/|$)")
_QUERY = re.compile(r"(?<!\()\?.*", re.DOTALL)  # of a URL: `(?` is a part of a pattern
_BARE_QUERY = re.compile(r"(?<=[\w/\])])\?(?=[\w.%~-]+(?:\[\w*\])?=)")  # a mark that means "or not" in a pattern
_GROUP = re.compile(r"\((?:\\.|[^()\\])*\)")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[:=!]|[*+?]|\{[0-9,]+\}|.", re.DOTALL)
_OPTIONAL = re.compile(r"[*?]|\{0?,")
_LOOKAHEAD = re.compile(r"\(\?!((?:\\.|[^()\\]|\((?:\\.|[^()\\])*\))*)\)")
_SYNTAX = re.compile(r"\|.*|\(\?:|\.[*+]|[\^$()]")
_CAPITAL_CLASS = re.compile(r"\\[DSWB]")


class Token(Struct, frozen=True):
    """A part of a pattern that every text which it matches has: `text` as it is written, outside of groups."""

    text: str
    is_literal: bool


def list_tokens(pattern: str) -> list[Token]:
    """What is outside of groups in a pattern. In place of what may be missing there is a token without text."""
    tokens: list[Token] = []
    depth, begin = 0, 0
    for text in _TOKEN.findall(pattern.removeprefix("^").removesuffix("$")):
        if text.startswith("(") and depth == 0:
            begin = len(tokens)
        depth += text.startswith("(") - (text == ")")
        if _OPTIONAL.match(text) and depth == 0:
            tokens[begin if tokens and tokens[-1].text == ")" else max(len(tokens) - 1, 0) :] = [
                Token("", is_literal=False)
            ]
        elif depth == 0 and not text.startswith("("):
            is_literal = (len(text) == 1 and text not in ".*+?^$|()") or (len(text) == 2 and not text[1].isalnum())
            tokens.append(Token(text, is_literal))
    return tokens


class Pattern(Struct, frozen=True):
    """A pattern of a task, `role` says of what. `accepts` asks the reader that decides verdicts."""

    steps: Steps
    text: str
    role: str
    accepts: Callable[[str], bool]

    def accepts_all(self, texts: tuple[str, ...]) -> bool:
        """Whether it matches each of the texts. A pattern that is invalid or takes too long matches none."""
        try:
            return all(map(self.accepts, texts))
        except (WebEvalError, regex.InvalidPattern):
            return False


URL, REFERER, URL_PART, KEY, IGNORED, CODED = "url", "referer", "part of a url", "key", "ignored", "base64"


def list_patterns(definition: Definition) -> Iterator[Pattern]:
    """All patterns that some reader takes as such."""
    for datum in definition.singles:
        if looks_like_pattern(datum.raw) and datum.role != CONTENT and datum.type_name in PATTERN_TYPES:
            role = CODED if datum.type_name == "base64" else datum.role
            yield Pattern(datum.steps, datum.raw, role, _value_matcher(definition, datum))
    for request in definition.requests:
        yield from _list_patterns_of_request(request)
    for each in definition.request_patterns:
        text = each.expected.url_pattern
        yield Pattern((*each.steps, "url_pattern"), text, URL_PART, partial(regex.search, text))


def _value_matcher(definition: Definition, datum: Datum) -> Callable[[str], bool]:
    if datum.role == QUERY:
        return lambda text: queries_match({"": (datum.raw.lower(),)}, {"": (text,)})
    expected, reading = StringValue.read(datum.raw, definition.context), _find_reading(definition, datum.role)
    return lambda text: expected.matches(StringValue.read(text, reading))


def _find_reading(definition: Definition, role: str) -> ParseContext:
    """How a recorded text is read before a pattern of this role decides on it."""
    reader = partial(build_reader, definition.case, sent=role != ANSWER)
    return reader("", strict=False).context


def _list_patterns_of_request(request: RequestCheck) -> Iterator[Pattern]:
    for role, places in ((URL, request.urls), (REFERER, request.referer_urls)):
        for steps, text in places:
            if looks_like_pattern(text.strip()):
                yield Pattern(steps, text.strip(), role, partial(_accepts_page, text, request.matcher.urls))
    for name in _IGNORED_PATTERNS:
        for index, text in enumerate(getattr(request.config, name) or ()):
            yield Pattern((*request.steps, name, index), text, IGNORED, partial(regex.search, text))
    for field in ("post_data", "response_content"):
        for key in getattr(request.expected, field) or ():
            if key.endswith("$") and key.startswith(("^", "$.^")):
                text = key.removeprefix("$.")
                yield Pattern(request.at(field, key), text, KEY, partial(regex.match, text))


def _accepts_page(text: str, matcher: UrlMatcher, page: str) -> bool:
    return bases_match(matcher.expected(text)[0], matcher.actual(page), matcher)


def check_invalid_patterns(definition: Definition) -> Iterator[Problem]:
    """Patterns that are no regular expressions: they match nothing, or are an error of every run."""
    unused: set[Steps] = set()  # what to ignore, where nothing that it could mean is compared
    for request in definition.requests:
        is_compared = not request.config.should_not_exist
        for name, fields in zip(_IGNORED_PATTERNS, (True, request.expected.post_data), strict=True):
            if not (is_compared and fields):
                texts = getattr(request.config, name) or ()
                unused.update((*request.steps, name, index) for index, _ in enumerate(texts))
    for pattern in list_patterns(definition):
        try:
            regex.search(pattern.text, "")
        except (regex.InvalidPattern, WebEvalError) as error:
            yield Problem(pattern.steps, f"{error}; fix the pattern", is_fatal=pattern.steps not in unused)


def check_broad_patterns(definition: Definition) -> Iterator[Problem]:
    environments = definition.case.sites.environments.values()
    pages = [tuple(f"{each.url.rstrip('/')}{path}" for path in UNLIKELY_PAGES) for each in environments]
    for pattern in list_patterns(definition):
        if pattern.role in (URL, REFERER):
            if any(map(pattern.accepts_all, pages)):
                yield Problem(pattern.steps, f"{pattern.text!r:.80} matches every page of a site; name the page")
        elif pattern.role != IGNORED:
            # A text for each negative lookahead, which the pattern must refuse: `main` for `^(?!main$).+$`.
            excluded = [_SYNTAX.sub("", part) for part in _LOOKAHEAD.findall(pattern.text)]
            if pattern.accepts_all((*UNLIKELY, *excluded)):
                yield Problem(pattern.steps, f"{pattern.text!r:.80} matches every text; write what it must have")


def check_open_alternations(definition: Definition) -> Iterator[Problem]:
    """Alternatives outside of a group where the beginning of a text is enough: `^a|b$` matches `about`."""
    for pattern in list_patterns(definition):
        is_searched = pattern.role == IGNORED
        is_partial = pattern.role in (URL, REFERER, QUERY, KEY) or (is_searched and pattern.text[:1] == "^")
        texts = [token.text for token in list_tokens(pattern.text)] if is_partial else []
        bars = [index for index, text in enumerate(texts) if text == "|"]
        is_open = any(texts[index - 1 : index] != ["$"] for index in bars)
        if is_open or (is_searched and any(texts[index + 1 : index + 2] != ["^"] for index in bars)):
            inner = pattern.text.removeprefix("^").removesuffix("$")
            text = f"{pattern.text!r:.80} matches more than its parts, for ^ and $ belong to one each"
            yield Problem(pattern.steps, f"{text}; use '^({inner:.80})$'")


def check_unmatchable_patterns(definition: Definition) -> Iterator[Problem]:
    """Patterns that match nothing, for the recorded text never has what they ask for.

    Of a forbidden URL any reading counts, also with its query or its last slash.
    """
    forbidden = {steps for each in definition.requests if each.config.should_not_exist for steps, _ in each.urls}
    for pattern in list_patterns(definition):
        has_alternation = any(token.text == "|" for token in list_tokens(pattern.text))
        if regex.is_pattern(pattern.text) and not has_alternation:
            reason = _find_obstacle(pattern, definition, is_forbidden=pattern.steps in forbidden)
            if reason:
                yield Problem(pattern.steps, f"{pattern.text!r:.80} never matches: {reason}")


def _find_obstacle(pattern: Pattern, definition: Definition, *, is_forbidden: bool) -> str | None:
    # A query outside of groups whose mark is not written as one: `^/cart?id=1$`.
    is_bare = "?" in pattern.text and _BARE_QUERY.search(_GROUP.sub("()", pattern.text)) is not None
    if pattern.role in (URL, REFERER, URL_PART) and is_bare:
        use = "write \\? for the mark of a query" if is_forbidden or pattern.role == URL_PART else "use query_params"
        return f"its ? means that what is before it may be missing; {use}"
    if is_forbidden or pattern.role in (KEY, IGNORED, URL_PART, CODED):
        return None
    if pattern.role in (URL, REFERER):
        return _find_url_obstacle(pattern, definition)
    return _find_text_obstacle(pattern, definition)


def _find_url_obstacle(pattern: Pattern, definition: Definition) -> str | None:
    tokens = list_tokens(pattern.text)
    roots = [f"{each.url.rstrip('/')}/" for each in definition.case.sites.environments.values()]
    if pattern.text.endswith("/$") and not any(pattern.accepts_all((root,)) for root in roots):
        return "a recorded URL has no slash at its end; end it with '/?$' or without"
    if any(token.text in ("\\?", "[?]") for token in tokens):
        return "it is compared without the query; write the parameters in query_params"
    letters = "".join(token.text for token in tokens if token.is_literal)
    if pattern.role == REFERER and any(map(str.isupper, re.sub(r"__[A-Z0-9_]+?__", "", letters))):
        return "a recorded referer is in lower case; write it so"
    return None


def _find_text_obstacle(pattern: Pattern, definition: Definition) -> str | None:
    tokens = list_tokens(pattern.text)
    if pattern.role == QUERY:
        capital = next((token.text for token in tokens if _CAPITAL_CLASS.fullmatch(token.text)), None)
        if capital is None:
            return None
        return f"query patterns are lower-cased, so {capital} means {capital.lower()}; write a class"
    letters = [token.text if token.is_literal else "\0" for token in tokens]
    reading = _find_reading(definition, pattern.role)
    foreign = (letter for letter in letters if not letter.isascii())
    for letter in (each for each in foreign if each.casefold() not in normalize_text(each, reading)):
        return f"texts are compared in ASCII, without {letter!r}; write its plain form"
    if re.search(r"[A-Za-z]\\?-|-[A-Za-z]", "".join(letters)):
        return "a hyphen at a letter is compared as a blank; write a blank"
    return None


def check_literal_patterns(datum: Datum) -> Iterator[Problem]:
    """Texts that look like patterns, and patterns where only texts are compared."""
    text, is_text = datum.raw, datum.type_name in PATTERN_TYPES
    if not isinstance(text, str) or is_text is looks_like_pattern(text):  # a plain text, or a pattern where one may be
        return
    if not is_text:
        compared = f"as {datum.type_name}" if datum.type_name else "exactly"
        problem = f"{text!r:.80} is not a pattern here, it is compared {compared}; write the value"
        yield Problem(datum.steps, problem)
    elif looks_like_pattern(text.strip()):
        yield Problem(datum.steps, f"{text!r:.80} is not a pattern, for blanks are around it; remove them")
    elif _SIGNS.search(text) or (text.startswith("^") and len(text) > 1):
        yield Problem(datum.steps, f"{text!r:.80} {_LOOKS_LIKE_PATTERN}")


def check_literal_urls(request: RequestCheck) -> Iterator[Problem]:
    """URLs that look like patterns: no request has such a URL, and one that is forbidden would never be seen."""
    for steps, text in (*request.urls, *request.referer_urls):
        if looks_like_pattern(text.strip()):
            continue
        place = _QUERY.sub("", text.strip())
        if _SIGNS.search(place) or place.startswith("^"):
            yield Problem(steps, f"{text!r:.80} {_LOOKS_LIKE_PATTERN}")
        elif sign := _GLOB.search(place):
            part = next(filter(None, sign.groups()))
            use = "write '^…$' with .* for it, or %2A for a star" if part == "*" else "write '^…$' with [^/]+ for it"
            yield Problem(steps, f"{text!r:.80} has a {part:.40} that is compared as a text; {use}")


def check_ignored_parameters(request: RequestCheck) -> Iterator[Problem]:
    """Expected parameters and fields that the same expectation ignores."""
    event, matcher, ignored = request.expected, request.matcher, list[Steps]()
    with suppress(EvaluationError):
        compared = matcher.expected_urls[0].query if event.query_params else {}
        values_by_name = (event.query_params or {}).items()
        ignored += [
            request.at("query_params", name) for name, values in values_by_name if values and name not in compared
        ]
    with suppress(EvaluationError):
        posted = matcher.bodies.expected_post or {}
        ignored += [request.at("post_data", name) for name in event.post_data or () if name not in posted]
    for steps in ignored:
        name = steps[-1]
        text = f"{name!r:.80} is ignored by this expectation, so nothing compares it; ignore less, or remove it"
        yield Problem(steps, text)
