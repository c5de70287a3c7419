"""Plain words in package and manual: few vague identifiers, and no phrase of a private dialect in a text.

`python tests/architecture/test_vocabulary.py` prints the counts of each module.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[2] / "pytest_webeval"
MANUAL = ("README.md", "SECURITY.md", "docs/**/*.md")
VAGUE = frozenset(["asked", "found", "given", "kept", "known", "made", "odd", "one", "said", "shown", "told", "wanted"])
DIALECT = (
    "aside",
    "became of",
    "beside",
    "came to no",
    "elsewhere",
    "gained",
    "in no (?:count|mean)",
    "in the way",
    "(?<!there )is no(?! longer)",
    "is none",
    "left out",
    "look(?:ed|s)? (?:at|into)",
    "mend(?:ed|s)?",
    "odd(?:it(?:y|ies))?",
    "of no use",
    "of ours",
    "said",
    "spared",
    "strangers?",
    "tells?",
    "told",
)
PHRASE = re.compile(rf"\b(?:{'|'.join(DIALECT)})\b", re.IGNORECASE)

MOST_VAGUE = 0.01  # share of all identifiers

_JS_TEXT = re.compile(r"""//.*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""")
_JS_CODE = re.compile(r"\$\{[^{}`]*\}")
_JINJA_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_QUOTED = re.compile(r'"[^"]*"')
_MARKDOWN_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Documented = ast.Module | Definition


class Place(NamedTuple):
    """A line with a vague identifier or a phrase."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of each assigned name, parameter, function and class; `self` and `cls` excluded."""
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            yield node.lineno, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def is_vague(name: str) -> bool:
    """Whether a name consists of vague words only, as `found` or `_told_one`."""
    words = [word for word in name.lower().split("_") if word]
    return bool(words) and VAGUE.issuperset(words)


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string literal except docstrings; an f-string yields its literal parts."""
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, Documented) and is_documented(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def script_texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each literal and comment of a script, without the code in template literals."""
    for match in _JS_TEXT.finditer(source):
        yield _line(source, match), _JS_CODE.sub("", match.group())


def template_texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of a template; of its expressions the literals only."""
    texts = _JINJA_CODE.sub(
        lambda match: "".join(_QUOTED.findall(match.group())) + "\n" * match.group().count("\n"), source
    )
    yield from enumerate(texts.splitlines(), 1)


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of a page in Markdown, without code."""
    texts = _MARKDOWN_CODE.sub(lambda match: "\n" * match.group().count("\n"), source)
    yield from enumerate(texts.splitlines(), 1)


def _line(source: str, match: re.Match[str]) -> int:
    return source.count("\n", 0, match.start()) + 1


def find_phrases(texts: Iterator[tuple[int, str]], path: str) -> list[Place]:
    """The phrases in some texts."""
    return [Place(path, line, hit.group()) for line, text in texts for hit in PHRASE.finditer(text)]


def is_documented(node: Documented) -> bool:
    """Whether a module, class or function starts with a docstring."""
    return ast.get_docstring(node, clean=False) is not None


class Vocabulary(NamedTuple):
    """The counts of one module, or of several."""

    names: int
    vague: list[Place]
    phrases: list[Place]

    @property
    def share(self) -> float:
        return len(self.vague) / max(self.names, 1)

    def __str__(self) -> str:
        return f"{len(self.vague):5} of {self.names:6} names ({self.share:6.2%}) {len(self.phrases):4} phrases"


def read_vocabulary(source: str, path: str) -> Vocabulary:
    """The vocabulary of one module."""
    tree = ast.parse(source)
    names = list(bindings(tree))
    vague = [Place(path, line, name) for line, name in names if is_vague(name)]
    return Vocabulary(len(names), vague, find_phrases(messages(tree), path))


def modules() -> dict[str, Vocabulary]:
    """The vocabulary of each module, script and template of the package, by its path."""
    sources = {name: path.read_text("utf-8") for name, path in _files("pytest_webeval/**/*.py").items()}
    vocabularies = {name: read_vocabulary(source, name) for name, source in sources.items()}
    for kind, texts in (("js", script_texts), ("jinja", template_texts)):
        for name, path in _files(f"pytest_webeval/**/*.{kind}").items():
            vocabularies[name] = Vocabulary(0, [], find_phrases(texts(path.read_text("utf-8")), name))
    return vocabularies


def _files(pattern: str) -> dict[str, Path]:
    root = PACKAGE.parent
    return {
        path.relative_to(root).as_posix(): path for path in sorted(root.glob(pattern)) if "_build" not in path.parts
    }


def combined(parts: list[Vocabulary]) -> Vocabulary:
    """The vocabulary of several modules."""
    return Vocabulary(
        sum(part.names for part in parts),
        [place for part in parts for place in part.vague],
        [place for part in parts for place in part.phrases],
    )


def format_places(places: list[Place]) -> str:
    """How often each text occurs, then each place on a line of its own."""
    counts = Counter(place.text.lower() for place in places)
    return "\n".join([", ".join(f"{text} {count}" for text, count in counts.most_common()), *map(str, places)])


@pytest.fixture(scope="module")
def package():
    return combined(list(modules().values()))


def test_few_identifiers_are_vague(package):
    assert package.names > 5_000
    assert package.share <= MOST_VAGUE, f"{package}; name the thing instead:\n{format_places(package.vague)}"


def test_no_message_has_a_phrase_of_the_dialect(package):
    assert not package.phrases, f"{package}; use plain words:\n{format_places(package.phrases)}"


def test_no_page_of_the_manual_has_a_phrase_of_the_dialect():
    pages = {name: path for pattern in MANUAL for name, path in _files(pattern).items()}
    assert len(pages) > 20
    places = [place for name, path in pages.items() for place in find_phrases(prose(path.read_text("utf-8")), name)]
    assert not places, f"use plain words:\n{format_places(places)}"


SCRIPT = """
const told = "odd", aside = `${left.elsewhere} left out`; // said
/* no
strangers */ beside('mend', "\\"told", there);
"""
TEMPLATE = """{# Tells. #}
<p class="beside">{{ told | format("odd {}") }}{% if
gained %}left out</p>
"""
PAGE = """There is no room, and it is no longer `told`, but is
```sh
said
```
no page, said
"""


@pytest.mark.parametrize(
    ("read", "source", "places"),
    [
        (script_texts, SCRIPT, ["2: odd", "2: left out", "2: said", "3: strangers", "4: mend", "4: told"]),
        (template_texts, TEMPLATE, ["1: Tells", "2: beside", "2: odd", "3: left out"]),
        (prose, PAGE, ["5: said"]),
    ],
)
def test_phrases_in_other_files_are_counted_with_their_lines(read, source, places):
    assert [str(place) for place in find_phrases(read(source), "x")] == [f"x:{place}" for place in places]


SAMPLE = '''"""Told in a docstring."""
import told
class Found:
    """Is no message."""
    def shown(self, one, *, rows):
        """Odd."""
        for _told_one, row in rows:
            path = lambda given: row.found
        try: "a docstring is first"
        except OSError as known: raise ValueError(f"{path} is no HAR: {known}, said beside an oddity")
    founder, found_rows = 1, _
'''


def test_names_and_phrases_are_counted_with_their_lines():
    vocabulary = read_vocabulary(SAMPLE, "sample.py")
    assert sorted(str(place) for place in vocabulary.vague) == [
        "sample.py:10: known",
        "sample.py:3: Found",
        "sample.py:5: one",
        "sample.py:5: shown",
        "sample.py:7: _told_one",
        "sample.py:8: given",
    ]
    assert [str(place) for place in vocabulary.phrases] == [
        "sample.py:10: is no",
        "sample.py:10: said",
        "sample.py:10: beside",
        "sample.py:10: oddity",
    ]
    assert vocabulary.names == 11


@pytest.mark.parametrize("text", ["is not valid", "besides", "retold", "a failed run", "webeval_told", "maintained"])
def test_ordinary_words_are_allowed(text):
    assert not PHRASE.search(text)


if __name__ == "__main__":
    counts = modules()
    for name, vocabulary in sorted(counts.items(), key=lambda pair: (-len(pair[1].vague), pair[0])):
        print(vocabulary, name)
    print(combined(list(counts.values())), "total")
