"""`webeval export`: each target, where it goes, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import sys

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.exports import EXPORTS
from pytest_webeval.results import TaskResult
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.results.result_shards import ShardLayout
from tests.support.stored_results import assertion, evaluated, result, row, write_results, write_shards, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")

FACTS = ("--benchmark=shop", "--model=acme/m", "--organization=Us", "--relationship=third_party")


@pytest.fixture
def export(capsysbinary):
    """Exit code, output and warnings of the command."""

    def run(*arguments):
        capsysbinary.readouterr()
        code = main(["export", *map(str, arguments)])
        output, warnings = capsysbinary.readouterr()
        return code, output, warnings.decode()

    return run


@pytest.fixture
def out(tmp_path):
    """A directory of results."""
    return write_results(tmp_path / "out", result(1, "r/1"), result(2, "r/2", "failure"))


def test_a_session_is_exported_as_it_was_scored(runs, webeval, pytester, export):
    runs.add(101)
    runs.add(102, passes=False)
    webeval("--webeval-output=out")
    code, table, warnings = export(pytester.path / "out", "--to=csv")
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    assert (code, warnings) == (0, "")
    summary = json.loads((pytester.path / "out/eval_summary.json").read_text())
    assert [(row["run"], row["status"], row["reason"], row["timestamp"], row["type"]) for row in rows] == [
        (row["run"], row["status"], row["reason"] or "", summary["timestamp"], row["type"])
        for row in summary["task_results"]
    ]


def test_rows_are_tasks_or_assertions(out, export):
    _, tasks, _ = export(out, "--to=jsonl")
    _, named, _ = export(out, "--to=jsonl", "--rows=tasks")
    _, assertions, _ = export(out, "--to=jsonl", "--rows=assertions")
    assert tasks == named
    assert "wall_time" in json.loads(tasks.splitlines()[0])
    assert "evaluator_index" in json.loads(assertions.splitlines()[0])


@pytest.mark.parametrize("target", ["csv", "jsonl", "inspect"])
def test_the_output_and_a_file_are_the_same_bytes(out, export, tmp_path, target):
    _, shown, _ = export(out, "--to", target)
    path = tmp_path / "new" / f"table.{target}"
    code, line, _ = export(out, "--to", target, "--output", path)
    assert code == 0
    assert path.read_bytes() == shown != b""
    assert line.decode() == f"{path}: {len(shown):,} bytes\n"


def test_the_output_is_utf8_on_any_terminal(tmp_path, export, monkeypatch):
    ascii_only = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    content = evaluated(actual={"retrieved_data": "Ü"})
    assert export(write_results(tmp_path, result(1, "r/1", evaluators_results=[content])), "--to=csv")[0] == 0
    assert '""Ü""'.encode() in ascii_only.buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "start"), [("jsonl", b"{"), pytest.param("parquet", b"PAR1", marks=pytest.mark.libraries)]
)
def test_files_are_replaced_in_one_step_and_links_are_not_followed(out, export, tmp_path, kind, start):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "table").symlink_to(tmp_path / "mine")
    assert export(out, f"--to={kind}", "--output", tmp_path / "table")[0] == 0
    assert (tmp_path / "table").read_bytes().startswith(start)
    assert (tmp_path / "mine").read_text() == "mine"
    assert not list(tmp_path.glob(".table*"))


def test_records_are_written_below_a_directory(out, export, tmp_path):
    code, lines, _ = export(out, "--to=every-eval-ever", "--output", tmp_path / "store", *FACTS)
    written = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert (code, len(written)) == (0, 2)
    assert {path.parent for path in written} == {tmp_path / "store/data/shop/acme/m"}
    assert {line.partition(": ")[0] for line in lines.decode().splitlines()} == set(map(str, written))


def test_every_fact_reaches_the_record(out, export, tmp_path):
    others = {"developer": "Acme", "deployment": "self_deployed", "availability": "open_weights", "dataset-url": "u:v"}
    options = [*FACTS, *(f"--{name}={value}" for name, value in others.items()), "--output", tmp_path / "store"]
    export(out, "--to=every-eval-ever", *options)
    (path,) = (tmp_path / "store").rglob("*[0-9a-f].json")
    text = path.read_text()
    assert not [
        value for value in (*others.values(), "Us", "third_party", "acme/m", "shop") if f'"{value}"' not in text
    ]


def test_what_cannot_be_read_is_named_and_the_rest_is_exported(out, export):
    (out / "r/2/eval_result.json").write_text("\x1b[31m{")
    code, table, warnings = export(out, "--to=csv")
    assert code == 0
    assert len(table.splitlines()) == 2
    assert warnings.startswith(f"WARNING: 1 row of {out} cannot be used: ")
    assert "@ r/2/eval_result.json" in warnings


def test_shards_become_the_tree_of_single_files(tmp_path, export):
    contents = [TaskResult.read(result(number, f"runs/{number}")).to_json() for number in (9, 10)]  # with all fields
    write_shards(tmp_path / "out", *contents, layout=ShardLayout(prefix="runs"))
    code, line, warnings = export(tmp_path / "out", "--to=files", "--output", tmp_path / "tree")
    assert (code, line.decode(), warnings) == (0, f"{tmp_path / 'tree'}: 2 files\n", "")
    written = {
        path.relative_to(tmp_path / "tree").as_posix(): path.read_bytes()
        for path in (tmp_path / "tree").rglob("*.json")
    }
    assert written == {f"{each['task_id']}/eval_result.json": to_json_bytes(each) for each in contents}


def test_single_files_are_copied_and_what_cannot_be_read_is_named(out, tmp_path, export):
    (out / "r/2/eval_result.json").write_text("{")
    single = out / "r/1/eval_result.json"
    single.write_bytes(to_json_bytes(TaskResult.read(json.loads(single.read_bytes())).to_json()))  # as we write it
    code, line, warnings = export(out, "--to=files", "--output", tmp_path / "tree")
    assert (code, line.decode()) == (0, f"{tmp_path / 'tree'}: 1 file\n")
    assert (tmp_path / "tree/r/1/eval_result.json").read_bytes() == single.read_bytes()
    assert warnings.startswith(f"WARNING: 1 row of {out} cannot be used: ")


def test_single_files_are_not_written_among_shards(out, tmp_path, export):
    for output in (out, out / "tree"):
        message = f"ERROR: {output} is in the directory of the results; choose another --output\n"
        assert export(out, "--to=files", "--output", output)[::2] == (4, message)
        assert not (out / "tree").exists()
    (tmp_path / "none").mkdir()
    message = f"ERROR: {tmp_path / 'none'} holds no results; name a directory of results\n"
    assert export(tmp_path / "none", "--to=files", "--output", tmp_path / "tree")[::2] == (4, message)
    message = f"ERROR: {out / 'x'} is not a directory; name a directory of results\n"
    assert export(out / "x", "--to=files", "--output", tmp_path / "tree")[::2] == (4, message)


def test_a_formula_of_an_agent_is_a_text(tmp_path, export):
    checks = evaluated(assertion("a_mismatch", "=cmd|'/C calc'!A0"))
    out = write_results(tmp_path, result(1, "r/1", evaluators_results=[checks]))
    _, table, _ = export(out, "--to=csv", "--rows=assertions")
    assert b",'=cmd|'/C calc'!A0," in table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to=parquet",), "parquet requires a file; use --output PATH.parquet"),
        (("--to=every-eval-ever", *FACTS), "every-eval-ever requires a directory; use --output DIRECTORY"),
        (
            ("--to=every-eval-ever", "--output=store", "--model=acme/m"),
            "every-eval-ever requires --benchmark, --organization, --relationship; results do not say it",
        ),
        (("--to=files",), "files requires a directory; use --output DIRECTORY"),
        (("--to=inspect", "--rows=tasks"), "inspect has no --rows; use it with csv, jsonl, parquet"),
        (
            ("--to=csv", "--model=m", "--dataset-url=u"),
            "csv has no --model, --dataset-url; use it with every-eval-ever",
        ),
        (("--to=csv", "--output=taken/x"), "cannot write taken/x: File exists; choose another --output"),
    ],
)
def test_wrong_use_is_refused_in_one_line(out, export, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    assert export(out, *options) == (4, b"", f"ERROR: {message}\n")
    assert not (tmp_path / "store").exists()


def test_assertions_of_a_summary_are_refused(tmp_path, export):
    path = write_summary(tmp_path, row(1, "r/1"))
    code, _, message = export(path, "--to=csv", "--rows=assertions")
    assert (code, message) == (4, f"ERROR: {path} holds no assertions; name a directory with eval_result.json files\n")


def test_a_missing_directory_and_a_missing_library_are_refused(out, export, tmp_path, monkeypatch):
    code, _, message = export(tmp_path / "none", "--to=csv")
    assert code == 4
    assert "results not found" in message
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, message = export(out, "--to=parquet", "--output", tmp_path / "x")
    line = "ERROR: pyarrow is not installed; run: pip install 'pytest-webeval[parquet]'\n"
    assert (code, message) == (4, line)
    assert not (tmp_path / "x").exists()


def test_an_unknown_target_is_refused_with_those_that_there_are(export, out):
    code, _, message = export(out, "--to=xlsx")
    listed = "csv, jsonl, parquet, inspect, files, every-eval-ever"
    assert (code, message) == (4, f"ERROR: unknown target 'xlsx'; use {listed}\n")


@pytest.mark.parametrize("options", [(), ("--to=csv", "--rows=runs"), ("--to=csv", "--deployment=x")])
def test_unknown_words_are_usage_errors(out, options):
    with pytest.raises(SystemExit) as raised:
        main(["export", str(out), *options])
    assert raised.value.code == 4


def test_every_target_has_a_writer():
    assert [callable(target.load_writer()) for target in EXPORTS.values()] == [True] * 6
