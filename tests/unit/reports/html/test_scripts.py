"""Modules of JavaScript become one script, or are refused where that script would mean something else."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.writer import join_modules, parse_module, read_modules, read_report_script

MODULES = {
    "start.js": 'import { b } from "./b.js";\nimport { a, c } from "./a.js";\n\nb(a, c);\n',
    "a.js": "// Names.\n\nexport const a = 1;\nexport function* c() {}\nconst own = 2;\n",
    "b.js": 'import { a } from "./a.js";\n\nexport function b() {\n  return a;\n}\n',
    "unused.js": "const nobody = 1;\n",
}
JOINED = """\
(() => {
"use strict";

// a.js
// Names.

const a = 1;
function* c() {}
const own = 2;

// b.js
function b() {
  return a;
}

// start.js
b(a, c);
})();
"""


def test_each_module_comes_once_and_after_its_imports():
    assert join_modules(MODULES) == JOINED


def test_the_order_of_files_does_not_matter():
    assert join_modules(dict(reversed(MODULES.items()))) == JOINED


def test_the_parts_of_a_module_are_its_imports_names_and_exports():
    module = parse_module(
        "a.js", 'import { x, $y } from "./b-c.js";\nexport class A {}\nasync function f() {}\nlet z = 1;\n'
    )
    assert module.imports == (("b-c.js", ("x", "$y")),)
    assert module.names == ("A", "f", "z")
    assert module.exports == {"A"}
    assert module.code == "class A {}\nasync function f() {}\nlet z = 1;\n"


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("a default import", 'import a from "./a.js";'),
        ("an import of all names", 'import * as a from "./a.js";'),
        ("an import under another name", 'import { a as b } from "./a.js";'),
        ("an import for its effects", 'import "./a.js";'),
        ("an import of a package", 'import { a } from "a";'),
        ("an import from above", 'import { a } from "../a.js";'),
        ("an import from another host", 'import { a } from "https://example.invalid/a.js";'),
        ("an import on several lines", 'import {\n  a } from "./a.js";'),
        ("an import without blanks", 'import {a} from "./a.js";'),
        ("an import within another line", 'const x = 1;\n  import { a } from "./a.js";'),
        ("a dynamic import", 'const x = await import("./a.js");'),
        ("the address of a module", "const x = import.meta.url;"),
        ("a default export", "export default 1;"),
        ("a list of exports", "const x = 1;\nexport { x };"),
        ("exports of another module", 'export * from "./a.js";'),
        ("an export that changes", "export let x = 1;"),
        ("an export of several names", "export const { x, y } = z;"),
        ("several names in an object", "const { x, y } = z;"),
        ("several names in a list", "let [x, y] = z;"),
        ("a name of the old kind", "var x = 1;"),
    ],
    ids=lambda value: value if " " in value and "\n" not in value else "",
)
def test_forms_that_cannot_be_joined_are_refused(form, code):
    with pytest.raises(ValueError, match=r"cannot join report/start\.js: unsupported form '.+'; use import"):
        join_modules({"start.js": f"{code}\n", "a.js": "export const a = 1;\n"})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"start.js": 'import { x } from "./x.js";\n'},
            "start.js: import of x.js, which does not exist; correct the file name",
        ),
        (
            {"start.js": 'import { a, own } from "./a.js";\n'},
            "start.js: import of 'own', which a.js does not export; export it there",
        ),
        (
            {"b.js": 'import { d } from "./a.js";\nexport function b() {}\n'},
            "b.js: import of 'd', which a.js does not export; export it there",
        ),
        (
            {"b.js": "export function b() {}\nclass own {}\n"},
            "a.js: 'own' is also a name of b.js; rename one of them",
        ),
        (
            {"b.js": "export function b() {}\nfunction b() {}\n"},
            "b.js: 'b' is also a name of b.js; rename one of them",
        ),
        (
            {"a.js": 'import { b } from "./b.js";\nexport const a = 1;\nexport const c = 2;\n'},
            "a.js: circular import b.js -> a.js -> b.js; pass a callback instead",
        ),
        (
            {"start.js": 'import { e } from "./start.js";\nexport const e = 1;\n'},
            "start.js: circular import start.js -> start.js; pass a callback instead",
        ),
    ],
)
def test_modules_that_do_not_fit_together_are_refused(changes, problem):
    with pytest.raises(ValueError, match=r"^cannot join report/") as refusal:
        join_modules(MODULES | changes)
    assert str(refusal.value) == f"cannot join report/{problem}"


def test_names_of_a_module_that_is_not_imported_do_not_matter():
    assert join_modules(MODULES | {"unused.js": "const own = 1;\n"}) == JOINED


def test_the_word_import_may_stand_in_a_comment():
    assert "// we import nothing\n" in join_modules({"start.js": "// we import nothing\nf();\n"})


def test_the_script_of_a_report_is_read_once():
    assert read_report_script() is read_report_script()
    assert read_report_script() == join_modules(read_modules())
