"""Results in shards are read as files are; whatever stands in a shard or a manifest is a row or a problem."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval import SettingsError, find_result, load_results
from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import to_json_bytes, write_json
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.judges.judged_runs import read_judged_runs
from pytest_webeval.summary.results import result_files
from pytest_webeval.summary.results.result_files import build_rows, read_results
from pytest_webeval.summary.results.result_shards import ShardLayout
from pytest_webeval.summary.shards import Shard
from tests.support.stored_results import result, write_results, write_shards

pytestmark = pytest.mark.unchecked_files("shards hold what nobody should have written")
FILE = "eval_results-00001.jsonl"
LAYOUTS = pytest.mark.parametrize(
    "layout", [ShardLayout(size=2), ShardLayout("parquet", size=2)], ids=["jsonl", "parquet"]
)


def read(root):
    """The places of results and the ids of their tasks, and problems."""
    problems = []
    return [*read_results(root, lambda result, place: (place, result.task_id), problems)], problems


def line_of(label, task_id=1, **changed):
    return json.dumps({"run": label, "result": result(task_id, label), **changed}).encode()


def write_lines(root, *lines, first="r/1", last="r/9", count=None, end=b"\n", **changed):
    """A shard of some lines, with a manifest that has its checksum."""
    root.mkdir(exist_ok=True)
    content = b"".join(line + b"\n" for line in lines[:-1]) + lines[-1] + end
    (root / FILE).write_bytes(content)
    count = len(lines) if count is None else count
    shard = {"file": FILE, "first": first, "last": last, "count": count, "sha256": sha256(content)}
    manifest = {"schema_version": 1, "format": "jsonl", "prefix": "", "count": count, "shards": [shard]}
    (root / "eval_results.json").write_text(json.dumps(manifest | changed))
    return root


@LAYOUTS
def test_all_readers_have_the_same_from_shards_as_from_files(tmp_path, layout):
    contents = [result(1, "r/1"), result("b", "r/a", "failure"), result("c", "r/a b", "error", error_msg="Ü")]
    files, shards = (
        write_results(tmp_path / "files", *contents),
        write_shards(tmp_path / "shards", *contents, layout=layout),
    )
    assert read(shards) == read(files) == ([("r/1", 1), ("r/a", "b"), ("r/a b", "c")], [])
    assert list(load_results(shards)) == list(load_results(files))
    assert load_results(shards).assertions == load_results(files).assertions
    assert read_session(shards).runs == read_session(files).runs
    with pytest.raises(SettingsError, match=r"no verdict of a judge in .*; name sessions with judged runs"):
        read_judged_runs([shards])


def test_results_come_in_the_order_of_runs_with_those_in_files_among_them(tmp_path):
    write_shards(
        tmp_path / "a", *(result(number, f"r/{number}") for number in (1, 9, 10)), layout=ShardLayout(prefix="r")
    )
    write_results(tmp_path / "a", result(2, "2"), result(11, "11/x"))
    write_shards(tmp_path / "b", result(3, "r/3"))
    write_results(tmp_path, result(4, "c"))
    assert read(tmp_path) == (
        [("a/1", 1), ("a/2", 2), ("a/9", 9), ("a/10", 10), ("a/11/x", 11), ("b/r/3", 3), ("c", 4)],
        [],
    )


def test_a_line_counts_before_a_file_in_the_directory_of_the_run_which_an_agent_can_write(tmp_path):
    write_shards(tmp_path, result(1, "r/1"), result(2, "r/2"), result(3, "r/2/x"))
    write_results(tmp_path, result(7, "r/1"), result(7, "r/2"), result(9, "r/3"))
    rows, problems = read(tmp_path)
    assert rows == [("r/1", 1), ("r/2", 2), ("r/3", 9)]
    assert problems == [
        "the run has another result, in or above 'r/2/x' @ eval_results-00001.jsonl:3",
        "2 runs with another eval_result.json: the shards count @ eval_results.json",
    ]
    assert [find_result(tmp_path, f"r/{number}").task_id for number in (1, 2, 3)] == [1, 2, 9]


def test_what_an_agent_wrote_into_its_run_is_no_result(tmp_path):
    write_shards(tmp_path, result(1, "r/1"), result(2, "r/2"))
    write_results(tmp_path, result(7, "r/1/a"), result(7, "r/2/b/c"))
    write_shards(tmp_path / "r/1/deep", result(8, "r/8"))
    (tmp_path / "r/2/x").mkdir()
    write_lines(tmp_path / "r/2/x", b"no")
    write_lines(tmp_path / "r/2", b"no")
    assert read(tmp_path) == ([("r/1", 1), ("r/2", 2)], [])


def test_shards_below_others_and_in_the_directory_of_a_file_are_not_read(tmp_path):
    write_shards(tmp_path, result(1, "r/1"))
    write_shards(tmp_path / "s/t", result(2, "x"))
    assert read(tmp_path) == (
        [("r/1", 1)],
        ["results in shards below others are skipped; name their directory @ s/t/eval_results.json"],
    )
    write_results(tmp_path, result(3, "."))
    assert read(tmp_path) == ([(".", 3)], [])


def test_shards_of_a_session_in_one_directory_are_read_together(tmp_path):
    for index, numbers in ((1, (1, 10, 12)), (2, (2, 11)), (3, (10, 13))):
        layout = ShardLayout(session_shard=Shard(index, 3), size=2)
        write_shards(tmp_path, *(result(number, f"r/{number}") for number in numbers), layout=layout)
    rows, problems = read(tmp_path)
    assert [task for _, task in rows] == [1, 2, 10, 11, 12, 13]
    assert problems == ["the run has another result, in or above 'r/10' @ eval_results-3-of-3-00001.jsonl:1"]
    assert [find_result(tmp_path, f"r/{number}").task_id for number in (2, 12, 13)] == [2, 12, 13]
    assert find_result(tmp_path, "r/14") is None


@LAYOUTS
def test_the_bytes_of_the_file_are_those_of_the_line(tmp_path, layout):
    content = result(1, "r/1", error_msg="\ud83d Ü")
    write_shards(tmp_path, content, layout=layout)
    assert list(build_rows(tmp_path, lambda _, stored: stored.read_file(), [])) == [to_json_bytes(content)]


@pytest.mark.parametrize("content", ["[]", '{"accuracy": 0.5}'])
def test_a_file_of_another_tool_with_the_name_of_the_manifest_is_no_problem(tmp_path, content):
    write_results(tmp_path, result(1, "1"))
    (tmp_path / "eval_results.json").write_text(content)
    assert read(tmp_path) == ([("1", 1)], [])
    assert find_result(tmp_path, "1").task_id == 1


def test_a_session_without_a_manifest_is_one_line(tmp_path):
    write_shards(tmp_path / "out", *(result(number, f"r/{number}") for number in (1, 2, 3)), layout=ShardLayout(size=1))
    (tmp_path / "out/eval_results.json").unlink()
    write_results(tmp_path / "out", result(4, "4"))
    message = "the manifest of these shards is missing: the session did not finish; score again with --webeval-reuse"
    assert read(tmp_path) == ([("out/4", 4)], [f"{message} @ out/eval_results.json"])
    with pytest.raises(SettingsError) as caught:
        find_result(tmp_path / "out", "r/1")
    assert str(caught.value) == f"cannot read the result of 'r/1': {message}"


GOOD = line_of("r/2", 2)
# Lines, and the problem of the first.
LINES = [
    ([b'{"run":"r/1","res', GOOD], "is not JSON: Input data was truncated @ eval_results-00001.jsonl:1"),
    ([b"", GOOD], "is not JSON: Input data was truncated @ eval_results-00001.jsonl:1"),
    ([b"[]", GOOD], "Expected `object`, got `array` @ eval_results-00001.jsonl:1"),
    ([b'{"result":{}}', GOOD], "Object missing required field `run` @ eval_results-00001.jsonl:1"),
    ([b'{"run":1,"result":{}}', GOOD], "Expected `str`, got `int` @ run @ eval_results-00001.jsonl:1"),
    ([b'{"run":"r/1","result":"' + b"\xff" + b'"}', GOOD], "'utf-8' codec can't decode byte 0xff"),
    ([b'{"run":"r/\xff","result":{}}', GOOD], "'utf-8' codec can't decode byte 0xff"),
    ([b'{"run":"r/1","result":{}}', GOOD], "Object missing required field `task_id` @ eval_results-00001.jsonl:1"),
    ([b'{"run":"r/1","result":' + b"[" * 100_000 + b"]" * 100_000 + b"}", GOOD], "maximum recursion depth exceeded"),
    ([b'{"run":"r/1","result":' + b"9" * 5_000 + b"}", GOOD], "Exceeds the limit"),
    ([line_of("../x"), GOOD], "the label '../x' does not name the directory of a run @ eval_results-00001.jsonl:1"),
    ([line_of("/etc"), GOOD], "the label '/etc' does not name the directory of a run @ eval_results-00001.jsonl:1"),
    ([line_of("r/%2e%2e/1"), GOOD], "the label 'r/%2e%2e/1' does not name the directory of a run"),
    ([line_of("q/1"), GOOD], "the run 'q/1' is listed twice, or not in the order of the manifest"),
    ([line_of("s/1"), GOOD], "the run 's/1' is listed twice, or not in the order of the manifest"),
    (
        [line_of("r/1", result=result(1, "r/1", webeval={"schema_version": 2})), GOOD],
        "schema_version 2 is newer than 1",
    ),
    ([line_of("r/1", result=result(1, "r/1", status="passed")), GOOD], "Invalid enum value 'passed' @ status"),
]


@pytest.mark.parametrize(("lines", "problem"), LINES)
def test_a_line_that_cannot_be_used_is_named_and_the_others_are_read(tmp_path, lines, problem):
    rows, problems = read(write_lines(tmp_path, *lines))
    assert rows == [("r/2", 2)]
    assert len(problems) == 1
    assert problems[0].startswith(problem)
    assert problems[0].endswith(f" @ {FILE}:1")
    assert "\n" not in problems[0]


def test_a_label_twice_and_labels_in_disorder_count_once(tmp_path):
    lines = [line_of("r/3", 3), line_of("r/3", 4), line_of("r/2", 5), line_of("r/9", 9), line_of("r/10", 10)]
    rows, problems = read(write_lines(tmp_path, *lines))
    assert rows == [("r/3", 3), ("r/9", 9)]
    assert [problem.rpartition(":")[2] for problem in problems] == ["2", "3", "5"]


def test_very_many_bad_lines_are_few_problems(tmp_path):
    rows, problems = read(write_lines(tmp_path, *[b"x"] * 5_000, GOOD))
    assert rows == []
    assert len(problems) == 101
    assert problems[-1] == f"too many lines cannot be used; the others are skipped @ {FILE}"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"end": b""}, "it has 1 line instead of 2"),
        ({"count": 3}, "it has 2 lines instead of 3"),
        ({"count": 1}, "it has 2 lines instead of 1"),
    ],
)
def test_a_shard_with_another_number_of_lines_is_not_read(tmp_path, options, problem):
    assert read(write_lines(tmp_path, line_of("r/1"), GOOD, **options)) == ([], [f"{problem} @ {FILE}"])


@LAYOUTS
def test_a_shard_that_was_changed_removed_or_is_a_link_is_named(tmp_path, layout):
    write_shards(tmp_path, *(result(number, f"r/{number}") for number in range(8)), layout=layout)
    first, second, third, _ = sorted(tmp_path.glob("eval_results-*"))
    first.write_bytes(first.read_bytes().replace(b"success", b"failure"))
    second.unlink()
    third.rename(tmp_path / "mine")
    third.symlink_to(tmp_path / "mine")
    rows, problems = read(tmp_path)
    assert [task for _, task in rows] == [6, 7]
    assert problems[0] == f"the SHA-256 is not that of the manifest; score again @ {first.name}"
    assert problems[1].startswith(f"missing file: {second}"[:200])
    assert problems[2].startswith(f"cannot read {third}"[:200])
    assert find_result(tmp_path, "r/7").task_id == 7
    for label in ("r/1", "r/3", "r/5"):
        with pytest.raises(SettingsError, match=f"^cannot read the result of '{label}': "):
            find_result(tmp_path, label)


SHARD = {"file": FILE, "first": "r/1", "last": "r/9", "count": 1, "sha256": "0"}
MANIFESTS = [
    ({"schema_version": 2}, "schema_version 2 is newer than 1; update pytest-webeval"),
    ({"schema_version": 0}, "invalid schema_version 0; score again"),
    ({"format": "csv"}, "Invalid enum value 'csv' @ format"),
    ({"shards": [SHARD], "count": 2}, "the shards do not have 2 results"),
    ({"shards": [SHARD | {"file": "../x.jsonl"}]}, "'../x.jsonl' is not the name of a shard"),
    ({"shards": [SHARD | {"file": "a/x.jsonl"}]}, "'a/x.jsonl' is not the name of a shard"),
    ({"shards": [SHARD | {"file": "/etc/passwd"}]}, "'/etc/passwd' is not the name of a shard"),
    ({"shards": [SHARD | {"file": ".x.jsonl"}]}, "'.x.jsonl' is not the name of a shard"),
    ({"shards": [SHARD | {"file": "x.parquet"}]}, "'x.parquet' is not the name of a shard"),
    ({"shards": [SHARD, SHARD], "count": 2}, "a shard is listed twice"),
    ({"shards": [SHARD | {"first": "../x"}]}, "the label '../x' does not name the directory of a run"),
    ({"shards": [SHARD | {"first": "r/90"}]}, f"the labels of {FILE} are not in order"),
    ({"shards": [SHARD | {"count": 0}], "count": 0}, "Expected `int` >= 1 @ shards[0].count"),
    ({"shards": [SHARD, SHARD | {"file": "b.jsonl"}], "count": 2}, f"the labels of {FILE} are not in order"),
    ({"shards": [SHARD | {"first": "r/9", "count": 2}], "count": 2}, f"the labels of {FILE} are not in order"),
    ({"prefix": "q"}, "the label 'r/1' does not begin with 'q'"),
]


@pytest.mark.parametrize(("changes", "problem"), MANIFESTS)
def test_a_manifest_that_cannot_be_trusted_is_one_line_and_nothing_is_read(tmp_path, changes, problem):
    write_lines(tmp_path, line_of("r/1"), **changes)
    assert read(tmp_path) == ([], [f"{problem} @ eval_results.json"])
    with pytest.raises(SettingsError) as caught:
        find_result(tmp_path, "r/1")
    assert str(caught.value) == f"cannot read the result of 'r/1': {problem}"


@pytest.mark.parametrize("content", [b"", b"[", b"\xff", b"[" * 5_000, b"[" * 200_000])
def test_a_manifest_that_is_not_one_is_one_line(tmp_path, content):
    (tmp_path / "eval_results.json").write_bytes(content)
    rows, (problem,) = read(tmp_path)
    assert rows == []
    assert problem.endswith(" @ eval_results.json")


@pytest.mark.libraries
def test_a_table_that_is_none_or_has_other_columns_is_one_line(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    name = "eval_results-00001.parquet"

    def read_table(**columns):
        if columns:
            write_table(pyarrow.table(columns), tmp_path / name)
        digest = sha256((tmp_path / name).read_bytes())
        shard = SHARD | {"file": name, "sha256": digest}
        content = {"schema_version": 1, "format": "parquet", "count": 1, "shards": [shard]}
        (tmp_path / "eval_results.json").write_text(json.dumps(content))
        return read(tmp_path)

    text = json.dumps(result(1, "r/1"))
    assert read_table(run=["r/1"], result=[text]) == ([("r/1", 1)], [])
    assert read_table(run=["r/1"], result=[text], more=[1]) == ([("r/1", 1)], [])
    for columns in (
        {"run": ["r/1"]},
        {"run": [1], "result": [text]},
        {"run": ["r/1"], "result": [None]},
        {"run": ["r/1"] * 2, "result": [text] * 2},
    ):
        rows, (problem,) = read_table(**columns)
        assert rows == []
        assert problem.endswith(f" @ {name}")
    (tmp_path / name).write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")
    rows, (problem,) = read_table()
    assert problem.startswith("invalid Parquet: ")


def test_one_result_is_looked_up_in_one_shard(tmp_path):
    write_shards(tmp_path, *(result(number, f"r/{number}") for number in range(20)), layout=ShardLayout(size=5))
    for name in ("00001", "00002", "00004"):
        (tmp_path / f"eval_results-{name}.jsonl").write_text("not read")
    assert [find_result(tmp_path, f"r/{number}").task_id for number in (10, 12, 14)] == [10, 12, 14]
    assert find_result(str(tmp_path), "r/12.5") is None
    assert find_result(tmp_path, "a") is None
    assert find_result(tmp_path, "z") is None


def test_a_result_of_a_session_without_shards_is_looked_up_too(tmp_path):
    write_results(tmp_path, result(1, "r/1"))
    assert find_result(tmp_path, "r/1").task_id == 1
    assert find_result(tmp_path, "r/2") is None
    with pytest.raises(SettingsError, match=r"the label '\.\./x' does not name the directory of a run"):
        find_result(tmp_path, "../x")
    with pytest.raises(SettingsError, match=r"directory not found: .*; name a directory of results"):
        find_result(tmp_path / "none", "r/1")
    (tmp_path / "r/1/eval_result.json").write_text("{")
    with pytest.raises(SettingsError, match="cannot read the result of 'r/1': "):
        find_result(tmp_path, "r/1")


@pytest.mark.parametrize("prefix", ["runs", "a/runs"])
def test_a_result_is_looked_up_by_its_label_in_files_as_in_shards(tmp_path, prefix):
    label = f"{prefix}/x/1"
    write_shards(tmp_path / "shards", result(1, label), layout=ShardLayout(prefix=prefix))
    write_json(tmp_path / "files/x/1/eval_result.json", result(1, label))
    for name in ("shards", "files"):
        assert find_result(tmp_path / name, label).task_id == 1
        for unknown in (f"{prefix}/x/2", f"{prefix}/x", "other/x/1", f"{prefix}/1", prefix, "1", "."):
            assert find_result(tmp_path / name, unknown) is None
        with pytest.raises(SettingsError, match=r"the label '\.\./x' does not name the directory of a run"):
            find_result(tmp_path / name, "../x")
    assert find_result(tmp_path / "files", "x/1").task_id == 1  # its directory
    assert find_result(tmp_path / "shards", "x/1") is None


def test_a_root_that_is_a_run_is_looked_up_by_its_label(tmp_path):
    write_shards(tmp_path / "shards", result(1, "runs/107"), layout=ShardLayout(prefix="runs/107"))
    write_json(tmp_path / "files/eval_result.json", result(1, "runs/107"))
    for name in ("shards", "files"):
        assert find_result(tmp_path / name, "runs/107").task_id == 1
        assert find_result(tmp_path / name, "runs/108") is None


def test_a_line_that_cannot_be_read_may_be_that_of_the_run(tmp_path):
    write_lines(tmp_path, b"{", GOOD)
    assert find_result(tmp_path, "r/2").task_id == 2
    with pytest.raises(SettingsError, match=f"^cannot read the result of 'r/1': is not JSON: .* @ {FILE}:1$"):
        find_result(tmp_path, "r/1")


def test_results_in_shards_are_counted_like_files(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "MAX_RESULTS", 3)
    write_shards(tmp_path, *(result(number, f"r/{number}") for number in range(3)))
    assert len(read(tmp_path)[0]) == 3
    write_results(tmp_path, result(4, "r/4"))
    with pytest.raises(SettingsError, match=r"holds more than 3 results; name its eval_summary\.json"):
        read(tmp_path)


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([GOOD, line_of("r/1"), GOOD[:-5], b'{"run":"r/3","result":{}}']))
)
def test_any_bytes_in_a_shard_are_rows_or_problems(lines):
    lines = [line.replace(b"\n", b"") for line in lines] or [b""]
    with tempfile.TemporaryDirectory() as folder:
        rows, problems = read(write_lines(Path(folder), *lines))
        assert len(rows) + len(problems) == len(lines)
        assert set(rows) <= {("r/1", 1), ("r/2", 2)}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from([*SHARD, "schema_version", "format", "prefix", "shards"]), inner)
        ),
    )
)
def test_any_manifest_is_read_or_one_problem_and_other_json_is_none(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "eval_results.json").write_text(json.dumps(content))
        rows, problems = read(Path(folder))
        is_manifest = isinstance(content, dict) and {"schema_version", "count", "shards"} <= content.keys()
        assert rows == []
        assert len(problems) <= is_manifest
