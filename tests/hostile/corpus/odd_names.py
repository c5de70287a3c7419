"""Names of directories and files that terminals, CI systems, file names, node ids or web pages take for something."""

from __future__ import annotations

import os

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import Case, holding, run, trajectory
from tests.support import recorded

_ANSWER, _CORE = recorded.final_answer(), recorded.core_log("x", evaluated=True)
# What it is, and the name. None of them can hold a slash.
NAMES = (
    ("two lines", "line\nfeed"),
    ("a workflow command on its own line", "x\n::error::pwned"),
    ("a workflow command", "::error file=app.py,line=1::pwned"),
    ("a command to stop commands", "::stop-commands::x"),
    ("a section of Azure's log", "##[section]pwned"),
    ("a command of Azure's log", "##vso[task.setvariable variable=x]pwned"),
    ("a service message of TeamCity", "##teamcity[testFailed name='x']"),
    ("a section of GitLab's log", "section_start:1:x\r\x1b[0Kpwned"),
    ("colours", "\x1b[31mred"),
    ("a cleared screen", "\x1b[2J\x1b[H"),
    ("a title for the terminal", "\x1b]0;pwned\x07"),
    ("a link for the terminal", "\x1b]8;;http:\x07x\x1b]8;;\x07"),
    ("C1 control characters", "\x9b31mred"),
    ("carriage return", "x\rPASSED"),
    ("backspaces", "FAILED\b\b\b\b\b\bPASSED"),
    ("a bell and a form feed", "\x07\x0c"),
    ("a script", "<script>window.__pwned=1<\u2215script>"),
    ("an image with a handler", "<img src=x onerror=window.__pwned=1>"),
    ("the end of an attribute", "\"'><svg onload=window.__pwned=1>"),
    ("entities", "&lt;script&gt;&#x27;&amp;"),
    ("a comment", "<!-- x"),
    ("the end of CDATA", "]]>x"),
    ("a template", "{{7*7}}${7*7}<%=7*7%>"),
    ("double quotes", '"quoted"'),
    ("single quotes", "'quoted'"),
    ("a superscript two", "²"),
    ("Arabic digits", "١٠٧"),
    ("an encoded number sign", "%23"),
    ("an encoded slash", "x%2f..%2fetc"),
    ("an encoded NUL", "%00"),
    ("a number sign", "#fragment"),
    ("a question mark", "x?y=1"),
    ("brackets", "[x-y]"),
    ("braces and stars", "{a,b}*?"),
    ("an expression of -k", "not x and (y or z)"),
    ("a leading dash", "-k"),
    ("an option", "--webeval-rules=reference"),
    ("a node id", "x::task"),
    ("two colons", "::"),
    ("a place of a class", "a::b::c"),
    ("a tilde", "~root"),
    ("a drive", "C:\\x"),
    ("a variable", "$HOME`id`$(id)"),
    ("a semicolon", "x; touch pwned"),
    ("a right-to-left override", "abc\u202egnp.exe"),
    ("marks of direction", "\u200f\u2066x\u2069"),
    ("zero width", "a\u200bb\ufeffc"),
    ("a line separator", "x\u2028::error::y"),
    ("a tag character", "x\U000e0041"),
    ("emoji joined", "👩\u200d👩\u200d👧"),
    ("composed letters", "é"),
    ("the same letters, decomposed", "e\u0301"),
    ("a name of 255 bytes", "n" * 255),
    ("a name of 255 bytes, three times as long when quoted", "ü" * 127),
    ("blanks at both ends", " x "),
    ("nothing but a blank", " "),
    ("bytes that are no UTF-8", os.fsdecode(b"\xff\xfe\x80x")),
    ("half a surrogate pair", os.fsdecode(b"\xed\xa0\x80")),
    ("a cut character", os.fsdecode("naïve".encode()[:3])),
    ("a device's name", "con"),
    ("a mark of order", "\ufeffx"),
    ("the word for no result", "null"),
    ("a truth", "true"),
    ("a number with an exponent", "1e999"),
    ("a number of 300 digits less 60", "9" * 240),
    ("leading zeros", "00000107x"),
    ("a negative number", "-107"),
    ("an underscore in a number", "1_007"),
    ("a comma", "a,b"),
    ("an equals sign", "a=b"),
    ("an at sign", "@file"),
    ("the name of the result", "eval_result.json"),
    ("the name of the definitions", "tasks"),
    ("a module", "test_x.py"),
    ("a configuration", "pytest.ini"),
    ("a plugin", "conftest.py"),
    ("a package", "__init__.py"),
    ("the name of a root", "runs"),
    ("what is hidden", ".hidden"),
    ("a folder of three dots", "..."),
    ("an editor's backup", ".x.swp"),
    ("a folder of logs", "logs"),
    ("a folder of pytest-html", "assets"),
    ("a virtual environment", "venv"),
    ("a folder that is built", "build"),
)
# Of each a run of WebArena-Verified too, whose name must be a number; those in which a digit could be seen all.
AS_RUNS = tuple(pair for index, pair in enumerate(NAMES) if index % 3 == 0 or any(map(str.isdigit, pair[1])))


def _named(what: str, name: str) -> Case:
    return trajectory(
        f"a trajectory whose directory is named like {what}",
        "success",
        holding("x_final_answer.json", _ANSWER),
        name=name,
        answer=None,
        core_log=_CORE,
    )


def _numbered(what: str, name: str) -> Case:
    return run(
        f"a run whose directory is named like {what}",
        "error",
        lambda path: None,
        "not defined|is not a number",
        name=name,
    )


CASES: tuple[Case, ...] = (
    *(_named(what, name) for what, name in NAMES),
    *(_numbered(what, name) for what, name in AS_RUNS),
    *(
        run(f"a file named like {what} beside the recordings", "success", holding(name, b"::error::pwned"))
        for what, name in NAMES[:20]
    ),
    run("an answer in a file of another name", "error", lambda path: (path / honest.RESPONSE).rename(path / "\x1b[2J")),
)
