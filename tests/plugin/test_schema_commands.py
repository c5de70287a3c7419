"""`webeval schema` and `validate`, on files that sessions wrote and on broken ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.schemas.registry import SCHEMAS, load_schema
from pytest_webeval.summary.results.result_shards import ShardLayout
from tests.plugin.test_compare_command import edit
from tests.support.stored_results import result, write_shards

ROOT = Path(__file__).parents[2]
CHANGED = "the SHA-256 is not that of the manifest; score again @ eval_results-00002."
REASON = "broken files are what it is about"


def test_a_schema_is_printed_as_it_is(capsys):
    for schema in SCHEMAS:
        assert main(["schema", schema.name]) == 0
        assert json.loads(capsys.readouterr().out) == load_schema(schema.name)


def test_the_schemas_are_listed_with_their_files(capsys):
    assert main(["schema"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == [schema.name for schema in SCHEMAS]
    names = "eval_summary.json, eval_summary.partial.json, baseline.json"
    assert f"eval_summary        Summary of a session ({names})" in lines


def test_an_unknown_schema_is_a_wrong_option(capsys, tmp_path):
    (tmp_path / "times.json").touch()
    for arguments in (["schema", "eval"], ["validate", str(tmp_path / "times.json"), "--schema=eval"]):
        assert main(arguments) == 4
        assert capsys.readouterr().err.startswith(
            "ERROR: unknown schema 'eval'; use one of eval_result, eval_results, "
        )


@pytest.fixture
def scored(runs, tree, webeval, pytester, capsys):
    """The directory of a session over runs of both formats, with all that it can write, and a comparison."""
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(108, passes=False, name="again/108", defined=False)
    (runs.add(109) / "network.har").write_text("{")
    tree("judged")
    tree("aborted", answer=None)
    gate = ("--webeval-gate=errors <= 9",)
    webeval("--webeval-output=out", "--webeval-metrics=metrics", *gate, "--webeval-write-subset=subset.json")
    webeval("--webeval-baseline=out/eval_summary.json", "--webeval-baseline-update", "--webeval-output=later", *gate)
    comparison = f"--json={pytester.path}/comparison.json"
    main(["compare", "out", "later", comparison, "--gate=success >= 1%"])
    capsys.readouterr()
    return pytester.path


def test_all_that_a_session_writes_is_valid(scored, capsys):
    names = ["out", "later", "metrics", "comparison.json", "subset.json"]
    assert main(["validate", *(str(scored / name) for name in names)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    count = len(
        [*scored.glob("out/**/eval_*.json"), *scored.glob("later/**/eval_*.json"), *scored.rglob("metrics.json")]
    )
    assert line == f"{count + 2} files valid"
    assert count > 10
    summary = json.loads((scored / "later/eval_summary.json").read_bytes())
    assert {"baseline", "trajectories", "attempts", "gates", "self_report"} <= summary["webeval"].keys()


def test_an_updated_baseline_is_valid_under_its_own_name(scored, capsys):
    (scored / "out/eval_summary.json").rename(scored / "baseline.json")
    assert main(["validate", str(scored / "baseline.json")]) == 0
    assert "known_failures" in json.loads((scored / "baseline.json").read_bytes())["webeval"]


@pytest.mark.unchecked_files(REASON)
def test_each_problem_is_a_line_with_its_place(scored, capsys):
    edit(scored / "out/eval_summary.json", lambda raw: raw["task_results"][4].update(run=3))
    (scored / "out/107/eval_result.json").write_text("[")
    assert main(["validate", f"{scored}/out", f"{scored}/subset.json"]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{scored}/out/eval_summary.json: expected a string, got 3 @ task_results[4].run",
        f"{scored}/out/107/eval_result.json: is not JSON: Expecting value: line 1 column 2 (char 1)",
    ]
    assert last == f"2 of {len(list(scored.glob('out/**/eval_*.json'))) + 1} files invalid"


@pytest.mark.unchecked_files(REASON)
@pytest.mark.parametrize("storage_format", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda shard: shard.write_bytes(shard.read_bytes().replace(b"success", b"failure")), CHANGED),
        (lambda shard: shard.unlink(), "missing file: {shard}"),
    ],
    ids=["edited", "removed"],
)
def test_shards_are_those_of_their_manifest(tmp_path, capsys, storage_format, change, problem):
    layout = ShardLayout(storage_format, size=2)
    write_shards(tmp_path / "out", *(result(number, f"r/{number}") for number in range(5)), layout=layout)
    assert main(["validate", str(tmp_path / "out/eval_results.json")]) == 0
    _, shard, _ = sorted((tmp_path / "out").glob("eval_results-*"))
    change(shard)
    (tmp_path / "link.json").symlink_to(tmp_path / "out/eval_results.json")
    capsys.readouterr()
    for path, options in (("out/eval_results.json", []), ("link.json", ["--schema=eval_results"])):
        assert main(["validate", str(tmp_path / path), *options]) == 1
        line, last = capsys.readouterr().out.splitlines()
        assert line.startswith(f"{tmp_path / path}: {problem.format(shard=shard)}")
        assert last == "1 of 1 file invalid"


@pytest.mark.libraries
def test_tables_that_cannot_be_read_here_are_not_called_invalid(tmp_path, capsys, monkeypatch):
    write_shards(tmp_path, result(1, "r/1"), layout=ShardLayout("parquet"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert main(["validate", str(tmp_path)]) == 4
    assert capsys.readouterr() == (
        "",
        "ERROR: pyarrow is not installed; run: pip install 'pytest-webeval[parquet]'\n",
    )


def test_many_problems_of_a_file_are_counted(tmp_path, capsys):
    for name, count, more in (("a", 11, "1"), ("b", 10, None), ("c", 3_000, "at least 990")):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps([{"task_summary": 3}] * count))
        assert main(["validate", str(path), "--schema=tasks"]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert lines[9] == f"{path}: expected a string or null, got 3 @ [9].task_summary"
        assert lines[10:-1] == ([f"{path}: … and {more} more"] if more else [])
        assert lines[-1] == "1 of 1 file invalid"


def test_texts_of_files_and_their_names_are_escaped(tmp_path, capsys):
    folder = tmp_path / "a\n::error::b"
    folder.mkdir()
    (folder / "rubric.json").write_text(json.dumps({"items": ["\x1b[31m\u202e##[error]\n"]}))
    assert main(["validate", str(tmp_path)]) == 1
    line, _ = capsys.readouterr().out.splitlines()
    assert line.isprintable()
    assert line.endswith('expected an object, got "\\u001b[31m\\u202e\\u0023#[error]\\n" @ items[0]')
    assert line.startswith(f"{str(folder / 'rubric.json')!r}: ")


@pytest.mark.parametrize("name", ["gone.json", "notes.txt"])
def test_a_file_that_cannot_be_checked_is_a_wrong_option(tmp_path, capsys, name):
    (tmp_path / "notes.txt").touch()
    assert main(["validate", str(tmp_path / name)]) == 4
    told = capsys.readouterr()
    assert told.err.startswith("ERROR: ")
    assert not told.out


def test_the_files_of_the_example_suite_are_valid_but_for_those_that_are_damaged_on_purpose(capsys):
    suite = ROOT / "example_suite"
    assert main(["validate", *(str(suite / name) for name in ("runs", "trajectories", "config.json"))]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    damaged = ["agent_response.json", "network.har", "web_surfer.log"]
    assert [Path(line.partition(":")[0]).name for line in lines] == damaged
    assert all(": is not JSON: " in line for line in lines)
    count = int(last.removeprefix("3 of ").partition(" ")[0])
    assert count > 90


def test_other_commands_do_not_import_jsonschema():
    code = "import sys, pytest_webeval.__main__ as m; m.main(['schema']); sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.thinned(every=2)
@pytest.mark.unchecked_files(REASON)
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (2, "schema_version 2 is newer than 1; update pytest-webeval"),
        (10**30, "schema_version 10000000000000000000 is newer than 1; update pytest-webeval"),
        (0, "invalid schema_version 0; score again"),
        (-1, "invalid schema_version -1; score again"),
    ],
)
def test_a_summary_of_another_version_is_refused(scored, capsys, version, expected):
    edit(scored / "out/eval_summary.json", lambda raw: raw["webeval"].update(schema_version=version))
    assert main(["compare", f"{scored}/out", f"{scored}/later"]) == 4
    assert capsys.readouterr().err == f"ERROR: cannot read {scored}/out: {expected}\n"


@pytest.mark.thinned(every=2)
@pytest.mark.unchecked_files(REASON)
@pytest.mark.parametrize("version", [2, True, "1", None])
def test_a_result_of_another_version_is_left_out_and_named(scored, capsys, version):
    (scored / "out/eval_summary.json").unlink()
    edit(scored / "out/107/eval_result.json", lambda raw: raw["webeval"].update(schema_version=version))
    main(["compare", f"{scored}/out", f"{scored}/later"])
    expected = "schema_version 2 is newer than 1; update pytest-webeval"
    if version != 2:
        expected = f"invalid schema_version {version!r}; score again"
    assert f"1 row of {scored}/out cannot be used: {expected} @ 107/eval_result.json" in capsys.readouterr().out


def test_files_of_before_there_were_versions_are_read(scored, capsys):
    for path in scored.rglob("eval_*.json"):
        edit(path, lambda raw: raw["webeval"].pop("schema_version"))
    main(["compare", f"{scored}/out", f"{scored}/later"])
    assert "cannot" not in capsys.readouterr().out
    (scored / "out/eval_summary.json").unlink()
    main(["compare", f"{scored}/out", f"{scored}/later"])
    assert "cannot" not in capsys.readouterr().out
