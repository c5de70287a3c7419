"""Multipart forms: as browsers write them, as the reference reads them, and what an empty field is (Q53)."""

from __future__ import annotations

import pytest

from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.form_fields import fields_as_reference, fields_as_written, parse_fields
from pytest_webeval.rules import RULES
from pytest_webeval.scoring.score import score

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed

NAMED = 'Content-Disposition: form-data; name="n"'
FILE_FIRST = 'Content-Disposition: form-data; filename="a.txt"; name="n"\r\n\r\n1'
MIME = "multipart/form-data; boundary=X"


def message(*parts, end="--X--\r\n"):
    """A message of these parts, each with its headers."""
    return "".join(f"--X\r\n{part}\r\n" for part in parts) + end


# A part or several, the fields as browsers write them, and those that the reference finds.
FORMS = {
    "a value": ([f"{NAMED}\r\n\r\n1"], [("n", "1")], [("n", "1")]),
    "an empty value": ([f"{NAMED}\r\n\r\n"], [("n", "")], []),
    "blanks": ([f"{NAMED}\r\n\r\n  "], [("n", "  ")], []),
    "blanks around a value": ([f"{NAMED}\r\n\r\n 1 "], [("n", " 1 ")], [("n", " 1")]),
    "line breaks around a value": ([f"{NAMED}\r\n\r\n\r\n1\r\n"], [("n", "\r\n1\r\n")], [("n", "\r\n1")]),
    "an empty value last": (
        [f"{NAMED}\r\n\r\n1", f"{NAMED}\r\n\r\n"],
        [("n", "1"), ("n", "")],
        [("n", "1")],
    ),
    "an empty value first": (
        [f"{NAMED}\r\n\r\n", f"{NAMED}\r\n\r\n1"],
        [("n", ""), ("n", "1")],
        [("n", "1")],
    ),
    "a file": ([f'{NAMED}; filename="a.txt"\r\n\r\n1'], [("n", "1")], [("n", "1")]),
    "a file name first": (
        [FILE_FIRST],
        [("n", "1")],
        [("a.txt", "1")],
    ),
    "a file name alone": (['Content-Disposition: form-data; filename="n"\r\n\r\n1'], [], [("n", "1")]),
    "a file name that looks like a parameter": (
        ['Content-Disposition: form-data; filename="; name=x"; name="n"\r\n\r\n1'],
        [("n", "1")],
        [("; name=x", "1")],
    ),
    "another parameter that ends in name": (
        ['Content-Disposition: form-data; x-name="m"; name="n"\r\n\r\n1'],
        [("n", "1")],
        [("m", "1")],
    ),
    "a name in another header": (['Content-Type: text/plain; name="n"\r\n\r\n1'], [], []),
    "a name in another header first": (
        [f'Content-Type: text/plain; name="m"\r\n{NAMED}\r\n\r\n1'],
        *[[("n", "1")]] * 2,
    ),
    "no header": (["\r\n1"], [], []),
    "no blank line": ([NAMED], [], []),
    "LF": ([f"{NAMED}\n\n1"], [("n", "1")], [("n", "1")]),
    "LF, type first": ([f"Content-Type: text/plain\n{NAMED}\n\n1"], [("n", "1")], []),
    "LF, type behind": ([f"{NAMED}\nContent-Type: text/plain\n\n1"], [("n", "1")], [("n", "1")]),
    "LF in the head, CRLFCRLF in the value": ([f"{NAMED}\n\n1\r\n\r\n2"], [("n", "1\r\n\r\n2")], [("n", "2")]),
    "CRLF in the head, LFLF in the value": ([f"{NAMED}\r\n\r\n1\n\n2"], [("n", "1\n\n2")], [("n", "1\n\n2")]),
    "an empty name": (['Content-Disposition: form-data; name=""\r\n\r\n1'], [("", "1")], []),
    "a folded header": (['Content-Disposition: form-data;\r\n name="n"\r\n\r\n1'], [("n", "1")], []),
    "a blank before the colon": (['Content-Disposition : form-data; name="n"\r\n\r\n1'], [("n", "1")], []),
    "capitals": (['CONTENT-DISPOSITION: FORM-DATA; NAME="n"\r\n\r\n1'], [("n", "1")], []),
    "no quotes": (["Content-Disposition: form-data; name=n\r\n\r\n1"], [("n", "1")], []),
    "the header twice": ([f"Content-Disposition: form-data\r\n{NAMED}\r\n\r\n1"], [], []),
    "escapes of browsers": (
        ['Content-Disposition: form-data; name="a%22b%0D%0Ac%41"\r\n\r\n1'],
        [('a"b\r\nc%41', "1")],
        [("a%22b%0D%0Ac%41", "1")],
    ),
    "a vertical tab in a header": ([f"X: y\x0b{NAMED}\r\n\r\n1"], [], []),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_read_as_browsers_write_it_and_as_the_reference_reads_it(name):
    parts, written, for_reference = FORMS[name]
    text = message(*parts)
    assert list(fields_as_written(text, "--X")) == written
    assert list(fields_as_reference(text, "--X")) == for_reference


@pytest.mark.parametrize(
    "text",
    [
        message(f"{NAMED}\r\n\r\n1") + f"\r\n{NAMED}\r\n\r\n2",
        message(f"{NAMED}\r\n\r\n1") + f"{NAMED}\r\n\r\n2",
        f"{NAMED}\r\n\r\n2\r\n" + message(f"{NAMED}\r\n\r\n1"),
        message(f"{NAMED}\r\n\r\n1", end=""),
    ],
    ids=["an epilogue", "an epilogue at once", "a preamble", "no end"],
)
def test_only_what_stands_between_the_first_and_the_last_delimiter_is_a_form(text):
    assert list(fields_as_written(text, "--X")) == [("n", "1")]


HIDDEN = 'Content-Disposition: form-data; name="id"'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (message(f"{NAMED}\r\n\r\n1--X2"), [("n", "1--X2")]),
        (message(f"{NAMED}\r\n\r\n1--X\r\n2"), [("n", "1--X\r\n2")]),
        (message(f"{NAMED}\r\n\r\n1--X--\r\n2"), [("n", "1--X--\r\n2")]),
        (message(f"{NAMED}\r\n\r\n1\r\n--XY\r\n2"), [("n", "1\r\n--XY\r\n2")]),
        (message(f"\r\n{HIDDEN}\r\n\r\n5"), []),
        (message(f"\r\n\r\n{HIDDEN}\r\n\r\n5"), []),
        (f"--X \t\r\n{NAMED}\r\n\r\n1\r\n--X-- ", [("n", "1")]),
        (f"--X\n{NAMED}\n\n1\n--X--\n", [("n", "1")]),
        (message(f"{NAMED}\r\n\r\n1\r"), [("n", "1\r")]),
    ],
    ids=[
        "in a line",
        "at the end of a line",
        "the last one in a line",
        "the beginning of a line",
        "a value like a header",
        "a value like a header behind a blank line",
        "blanks behind delimiters",
        "LF",
        "CR",
    ],
)
def test_a_delimiter_is_a_line_of_its_own_and_one_line_end_belongs_to_it(text, written):
    assert list(fields_as_written(text, "--X")) == written


@pytest.mark.parametrize(("part", "same"), [(f"{NAMED}\r\n\r\n1", True), (f"{NAMED}\r\n\r\n", False)])
def test_what_the_reference_finds_is_kept_where_it_is_something_else(part, same):
    assert (parse_fields(Body(MIME, message(part))).for_reference is None) is same


@pytest.fixture
def posted(bench):
    """Status and warnings of a run that posted a multipart form, under each rule set."""

    def found(wanted, *parts, mime=MIME, text=None):
        event = {"url": "http://shop.test:7770/p", "method": "POST", "post": (mime, text or message(*parts))}
        bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [event])
        expected = {"url": "__SHOPPING__/p", "http_method": "POST", "post_data": wanted}
        task = bench.task(
            bench.expecting("MUTATE", schema={"type": "null"}),
            {"evaluator": "NetworkEventEvaluator", "expected": expected},
        )
        cases = {name: bench.case(task, name) for name in RULES}
        statuses = {name: str(score(case, default_evaluators()).status) for name, case in cases.items()}
        return statuses, list(cases["default"].warnings)

    return found


OTHER = 'Content-Disposition: form-data; name="m"\r\n\r\n2'
SUCCESS, FAILURE = "success", "failure"


@pytest.mark.parametrize(
    ("wanted", "parts", "reference", "default", "strict"),
    [
        ({"n": None}, [f"{NAMED}\r\n\r\n", OTHER], SUCCESS, SUCCESS, SUCCESS),
        ({"n": None}, [f"{NAMED}\r\n\r\n \t", OTHER], SUCCESS, SUCCESS, SUCCESS),
        ({"$.n": None}, [f"{NAMED}\r\n\r\n", OTHER], SUCCESS, SUCCESS, SUCCESS),
        ({"$.^n$": None}, [f"{NAMED}\r\n\r\n", OTHER], SUCCESS, SUCCESS, SUCCESS),
        ({"$.^n|o$": None}, [f"{NAMED}\r\n\r\n", NAMED.replace('n"', 'o"') + "\r\n\r\n", OTHER], *[SUCCESS] * 3),
        ({"n": None}, [f"{NAMED}\r\n\r\n1", OTHER], FAILURE, FAILURE, FAILURE),
        ({"n": None}, [f"{NAMED}\r\n\r\n"], FAILURE, SUCCESS, SUCCESS),
        ({"n": ""}, [f"{NAMED}\r\n\r\n", OTHER], FAILURE, SUCCESS, SUCCESS),
        ({"n": ""}, [OTHER], FAILURE, FAILURE, FAILURE),
        ({"n": "1"}, [f"{NAMED}\r\n\r\n1", f"{NAMED}\r\n\r\n"], SUCCESS, FAILURE, FAILURE),
        ({"n": "1"}, [f"{NAMED}\r\n\r\n2", f"{NAMED}\r\n\r\n1"], SUCCESS, SUCCESS, FAILURE),
        ({"n": "1"}, [f"{NAMED}\r\n\r\n", f"{NAMED}\r\n\r\n1"], SUCCESS, SUCCESS, FAILURE),
        (
            {"n": "1"},
            ['Content-Disposition: form-data; filename="a.txt"; name="n"\r\n\r\n1'],
            FAILURE,
            SUCCESS,
            SUCCESS,
        ),
        (
            {"a.txt": "1"},
            ['Content-Disposition: form-data; filename="a.txt"; name="n"\r\n\r\n1'],
            SUCCESS,
            FAILURE,
            FAILURE,
        ),
    ],
)
def test_what_a_form_says_decides_unless_the_reference_misreads_it(posted, wanted, parts, reference, default, strict):
    statuses, _ = posted(wanted, *parts)
    assert statuses == {"reference": reference, "default": default, "strict": strict}


def test_a_verdict_that_the_right_reading_changes_is_told_of(posted):
    _, warnings = posted({"n": ""}, f"{NAMED}\r\n\r\n", OTHER)
    told = "a multipart form is read as browsers write it; an expected null matches an empty field"
    place = "network_event.post_data; NetworkEventEvaluator, eval[1]"
    assert warnings == [f"Q53 (browser_forms) changed this verdict to success: {told} @ {place}"]


def test_a_verdict_that_is_the_references_is_not_told_of(posted):
    assert posted({"n": None}, f"{NAMED}\r\n\r\n", OTHER)[1] == []


def test_a_quoted_boundary_is_read_by_all_rules_but_the_references(posted):
    statuses, _ = posted({"n": "1", "m": "2"}, f"{NAMED}\r\n\r\n1", OTHER, mime='multipart/form-data; boundary="X"')
    assert statuses == {"reference": FAILURE, "default": SUCCESS, "strict": SUCCESS}


@pytest.mark.parametrize(
    ("mime", "text"),
    [("application/json", "{}"), ("application/x-www-form-urlencoded", "&"), (MIME, "--X--\r\n")],
)
def test_a_body_without_a_field_is_none(posted, mime, text):
    assert set(posted({"n": None}, mime=mime, text=text)[0].values()) == {FAILURE}


def test_an_empty_field_of_another_form_is_no_null(posted):
    assert set(posted({"n": None}, mime="application/x-www-form-urlencoded", text="n=&m=2")[0].values()) == {FAILURE}
