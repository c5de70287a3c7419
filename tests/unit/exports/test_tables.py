"""Tables: cells that are safe in a spreadsheet, lines, and what pandas, polars and DuckDB read."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from pytest_webeval import TaskRow, load_results
from pytest_webeval.exports import EXPORTS
from pytest_webeval.exports.rows import AssertionRow, list_columns
from pytest_webeval.exports.settings import ExportSettings
from pytest_webeval.exports.tables import format_cell, join_lines
from pytest_webeval.safety.text import sanitize
from tests.support.stored_results import assertion, evaluated, result, write_results

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")

PARQUET = pytest.param("parquet", marks=pytest.mark.libraries)
DANGEROUS = '=HYPERLINK("http://x.test")'
TEXTS = [
    "plain",
    DANGEROUS,
    "two\nlines, and\ttabs\r",
    'a "quoted" text',
    "\u202e",
    "bücher",
    "007",
    "true",
    "##[group]",
]
POLARS = {"text": "String", "number": "Float64", "integer": "Int64", "boolean": "Boolean"}
DUCKDB = {"text": "VARCHAR", "number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"}
PANDAS = {"number": "float64", "integer": "int64", "boolean": "bool"}


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-12, "-12"),
        (0.5, "0.5"),
        ("-1", "-1"),
        ("+3.5e-7", "+3.5e-7"),
        ("=1", "'=1"),
        ("+1+1", "'+1+1"),
        ("-1\n", "'-1\\n"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),  # noqa: RUF001
        (" =1", "' =1"),
        ("'=1", "''=1"),
        ("'quoted'", "'quoted'"),
        ("\t=1", "\\t=1"),
        ("\r=1", "\\u000d=1"),
        ("a=1", "a=1"),
        ("-٣", "'-٣"),
        ("\x1b[31m", "\\u001b[31m"),
        ("::error::", "\\u003a:error::"),
    ],
)
def test_a_cell_is_one_line_and_no_formula(value, cell):
    assert format_cell(value) == cell


@given(st.text() | st.from_regex(r"['\s]*[=+@-].*"))
def test_no_text_is_a_formula_and_one_apostrophe_restores_it(text):
    cell = format_cell(text)
    assert not re.match(r"[=+\-@\t\r]", cell) or re.fullmatch(r"[+-][0-9.]+([eE][+-]?[0-9]+)?", cell)
    assert len(cell.splitlines()) <= 1
    plain = sanitize(text.replace("\n", "\\n").replace("\t", "\\t"))
    guarded = re.match(r"'['\s]*[=+\-@＝＋－＠]", cell)  # noqa: RUF001
    assert (cell[1:] if guarded else cell) == plain
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow([cell, "next"])
    assert next(csv.reader(io.StringIO(written.getvalue()))) == [cell, "next"]


@given(st.dictionaries(st.text(), st.text() | st.none() | st.booleans() | st.integers()))
def test_a_json_line_is_printable_and_the_same_object(content):
    line = join_lines([content]).decode()
    assert line.endswith("\n")
    assert sanitize(line) == line
    assert json.loads(line) == content
    assert len(line.splitlines()) == 1


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Results with texts that a format could break."""
    checked = [evaluated(*(assertion(f"field{number}_mismatch", text) for number, text in enumerate(TEXTS)))]
    tasks = [
        result(7 if number else "007", f"r/{number}", error_msg=text, status="error", evaluators_results=checked)
        for number, text in enumerate(TEXTS)
    ]
    graded = [evaluated(assertion("depth_match"), evaluator_name="Depth", score=0.25)]
    tasks.append(result(8, "r/graded", evaluators_results=graded, webeval={"evaluator_choice": ["Depth"]}))
    return load_results(write_results(tmp_path_factory.mktemp("exports"), *tasks))


@pytest.fixture(scope="module")
def export(loaded, tmp_path_factory):
    """Writes a table to a file."""
    folder = tmp_path_factory.mktemp("tables")

    def write(kind, rows):
        (content,) = EXPORTS[kind].load_writer()(loaded, ExportSettings(rows)).values()
        path = folder / f"{rows}.{kind}"
        path.write_bytes(content)
        return path

    return write


def expected(loaded, kind, rows):
    """The rows that a reader should give: in CSV, texts are safe and an empty one is none."""
    listed = [asdict(row) for row in (loaded if rows == "tasks" else loaded.assertions)]
    if kind != "csv":
        return listed
    return [
        {name: (format_cell(value) or None) if isinstance(value, str) else value for name, value in row.items()}
        for row in listed
    ]


def read_by_python(path, kind, columns):
    if kind == "jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return True, list(rows[0]), rows
    with path.open(encoding="utf-8", newline="") as stream:
        table = csv.DictReader(stream)
        rows = [{name: read_cell(text, columns[name]) for name, text in row.items()} for row in table]
    return True, table.fieldnames, rows


def read_cell(text, column):
    readers = {
        "text": str,
        "number": float,
        "integer": int,
        "boolean": lambda text: {"true": True, "false": False}[text],
    }
    return readers[column](text) if text else None


def read_by_pandas(path, kind, columns):
    import pandas as pd

    names = [name for name, column in columns.items() if column == "text"]
    if kind == "parquet":
        frame = pd.read_parquet(path)
    elif kind == "csv":
        frame = pd.read_csv(path, dtype=dict.fromkeys(names, "string"), keep_default_na=False, na_values=[""])
    else:
        frame = pd.read_json(path, lines=True, dtype=False)
    types = {name: str(frame[name].dtype) for name, column in columns.items() if column != "text"}
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return types == {name: PANDAS[columns[name]] for name in types}, list(frame.columns), rows


def read_by_polars(path, kind, columns):
    import polars as pl

    schema = {name: getattr(pl, POLARS[column]) for name, column in columns.items()}
    readers = {
        "csv": lambda: pl.read_csv(path, schema=schema),
        "jsonl": lambda: pl.read_ndjson(path, schema=schema),
        "parquet": lambda: pl.read_parquet(path),
    }
    frame = readers[kind]()
    return frame.schema == pl.Schema(schema), frame.columns, frame.to_dicts()


def read_by_duckdb(path, kind, columns):
    import duckdb

    types = {name: DUCKDB[column] for name, column in columns.items()}
    source = {
        "csv": f"read_csv('{path}', columns = {types}, header = true)",
        "jsonl": f"read_json('{path}', format = 'newline_delimited', columns = {types})",
        "parquet": f"'{path}'",
    }
    with duckdb.connect() as connection:
        answer = connection.sql(f"select * from {source[kind]}")
        described = dict(zip(answer.columns, map(str, answer.types), strict=True))
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]
    return described == types, list(described), rows


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("rows", ["tasks", "assertions"])
def test_a_table_has_what_was_written(loaded, export, kind, rows):
    columns = list_columns(TaskRow if rows == "tasks" else AssertionRow)
    _, names, read_rows = read_by_python(export(kind, rows), kind, columns)
    assert (names, read_rows) == (list(columns), expected(loaded, kind, rows))


@pytest.mark.libraries
@pytest.mark.parametrize("read", [read_by_pandas, read_by_polars, read_by_duckdb])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("rows", ["tasks", "assertions"])
def test_data_frames_and_databases_read_what_was_written(loaded, export, read, kind, rows):
    columns = list_columns(TaskRow if rows == "tasks" else AssertionRow)
    has_types, names, read_rows = read(export(kind, rows), kind, columns)
    assert has_types
    assert names == list(columns)
    assert read_rows == expected(loaded, kind, rows)


@pytest.mark.parametrize("kind", ["csv", "jsonl", PARQUET])
def test_the_same_results_are_the_same_bytes(loaded, export, kind):
    first = export(kind, "tasks").read_bytes()
    assert export(kind, "tasks").read_bytes() == first
    if kind != "parquet":
        assert len(first.decode().splitlines()) == len(first.splitlines()) == len(loaded) + (kind == "csv")
