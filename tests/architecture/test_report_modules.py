"""The modules of the report's script: each is needed, and says what it needs."""

from __future__ import annotations

import re
from functools import cache

from pytest_webeval.reports.html.writer import Module, join_modules, parse_module, read_modules
from tests.architecture.test_vocabulary import VAGUE

SOURCES = read_modules()
MOST_LINES = 200
# Comments and literals; in template literals, the code in ${} is kept.
TEXT = re.compile(
    r"""//.*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=[( ])/(?![/ *])(?:\\.|[^\\/\n])+/"""
)
TEMPLATE = re.compile(r"`(?:\\.|[^`\\])*`")
CODE_IN_TEMPLATE = re.compile(r"\$\{([^{}]*)\}")
NAME = re.compile(r"(?<![.\w$#])[A-Za-z_$][\w$]*(?![\w$:])")  # a key has its colon without a blank


@cache
def modules() -> dict[str, Module]:
    return {name: parse_module(name, source) for name, source in SOURCES.items()}


def names_used(code: str) -> set[str]:
    """The names in some code, without properties, keys, comments and texts."""
    code = TEXT.sub('""', code)
    code = TEMPLATE.sub(lambda match: f"[{', '.join(CODE_IN_TEMPLATE.findall(match.group()))}]", code)
    return set(NAME.findall(code))


def test_the_modules_join():
    assert join_modules(SOURCES).startswith('(() => {\n"use strict";\n')


def test_each_module_is_part_of_the_script():
    script = join_modules(SOURCES)
    assert len(SOURCES) > 20
    assert [name for name in SOURCES if f"\n// {name}\n" not in script] == []


def names_imported(name: str) -> set[str]:
    return {imported for _, names in modules()[name].imports for imported in names}


def test_a_module_uses_what_it_imports():
    unused = {name: names_imported(name) - names_used(modules()[name].code) for name in SOURCES}
    assert [(name, names) for name, names in unused.items() if names] == []


def test_a_module_imports_what_it_uses():
    """Joined, a name of another module could be used without an import, and nobody would notice."""
    missing = {}
    for name in SOURCES:
        foreign = {declared for other, module in modules().items() if other != name for declared in module.names}
        missing[name] = names_used(modules()[name].code) & foreign - names_imported(name)
    assert [(name, names) for name, names in missing.items() if names] == []


def test_a_module_has_no_vague_name():
    vague = {name: names_used(modules()[name].code) & VAGUE for name in SOURCES}
    assert [(name, names) for name, names in vague.items() if names] == []


def test_a_module_is_short_and_starts_with_its_subject():
    assert [name for name, source in SOURCES.items() if not source.startswith("// ")] == []
    assert [name for name, source in SOURCES.items() if len(source.splitlines()) > MOST_LINES] == []
    assert [name for name, source in SOURCES.items() if max(map(len, source.splitlines())) > 120] == []


def test_names_are_distinguished_from_texts_and_properties():
    code = 'const aa = b.c + "d" + `e ${f(g)}`; // h\nnew I({ jj: k, l }); /* m */'
    assert names_used(code) == {"const", "aa", "b", "f", "g", "new", "I", "k", "l"}
    assert names_used("(x) => /o/.test(p?.q) ? r : this.#s") == {"x", "p", "r", "this"}
