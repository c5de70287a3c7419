"""Results written in shards: names, order, bytes, and what is left of earlier and of killed sessions."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval import SettingsError, load_sites, load_tasks, score_runs
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.storage import to_json_bytes, write_json
from pytest_webeval.summary.results.result_files import read_rows
from pytest_webeval.summary.results.result_shards import (
    ResultShardWriter,
    ShardLayout,
    compact_result,
    expand_result,
    has_shards,
    remove_shards,
)
from pytest_webeval.summary.shards import Shard
from pytest_webeval.summary.store.result_manifest import find_order, find_path, name_manifest
from tests.support.stored_results import result, write_shards

pytestmark = pytest.mark.unchecked_files("results have only what the readers need")
EXAMPLES = Path(__file__).parents[3] / "example_suite"
FORMATS = pytest.mark.parametrize("storage_format", ["jsonl", "parquet"])


def list_names(root):
    return sorted(path.name for path in root.iterdir())


def read_back(root):
    problems = []
    rows = {row.place: row.read_file() for row in read_rows(root, "eval_results.json", problems)}
    assert problems == []
    return rows


@FORMATS
def test_shards_are_numbered_and_the_manifest_names_them(tmp_path, storage_format):
    contents = [result(number, f"r/{number}") for number in (8, 9, 10, 100, 101)]
    write_shards(tmp_path, *contents, layout=ShardLayout(storage_format, "r", size=2))
    files = [f"eval_results-0000{number}.{storage_format}" for number in (1, 2, 3)]
    assert list_names(tmp_path) == [*files, "eval_results.json"]
    manifest = json.loads((tmp_path / "eval_results.json").read_text())
    digests = [shard.pop("sha256") for shard in manifest["shards"]]
    assert len(set(digests)) == 3
    assert manifest == {
        "schema_version": 1,
        "format": storage_format,
        "prefix": "r",
        "count": 5,
        "shards": [
            {"file": files[0], "first": "r/8", "last": "r/9", "count": 2},
            {"file": files[1], "first": "r/10", "last": "r/100", "count": 2},
            {"file": files[2], "first": "r/101", "last": "r/101", "count": 1},
        ],
    }
    assert read_back(tmp_path) == {str(each["task_id"]): to_json_bytes(each) for each in contents}


def test_a_line_is_the_label_and_the_result(tmp_path):
    content = result(1, "r/1", error_msg="Ü")
    write_shards(tmp_path, content)
    (line,) = (tmp_path / "eval_results-00001.jsonl").read_text("utf-8").splitlines()
    assert line == json.dumps({"run": "r/1", "result": content}, ensure_ascii=False, separators=(",", ":"))


def test_no_results_are_a_manifest_alone(tmp_path):
    write_shards(tmp_path / "new")
    assert list_names(tmp_path / "new") == ["eval_results.json"]
    assert read_back(tmp_path / "new") == {}


def test_large_results_make_smaller_shards(tmp_path):
    text = "x" * 6_000_000
    write_shards(tmp_path, *(result(number, f"r/{number}", error_msg=text) for number in range(5)))
    manifest = json.loads((tmp_path / "eval_results.json").read_text())
    assert [shard["count"] for shard in manifest["shards"]] == [2, 2, 1]


UNUSUAL = [
    {"a": [1e300, -0.0, 1.0, 5e-324, 10**400, -(2**63)], "b": {}, "c": [], "d": [[], {}]},
    {"half": "\ud83d", "\udc00": ['\x00\x7f\u2028\u202e"\\/'], "long": "Ü" * 3_000},
    {"nan": math.nan, "more": [math.inf, {"x": -math.inf}], "texts": ["NaN", "1e5"]},
    {"deep": json.loads("[" * 700 + "]" * 700)},
    {1: "a", "1": "b", None: True},
]


@FORMATS
@pytest.mark.parametrize("added", UNUSUAL, ids=["numbers", "texts", "no numbers", "deep", "keys"])
def test_the_bytes_of_the_single_file_come_back(tmp_path, storage_format, added):
    content = result(1, "r/1", webeval={"more": added})
    write_shards(tmp_path / "shards", content, layout=ShardLayout(storage_format))
    write_json(tmp_path / "eval_result.json", content)
    assert read_back(tmp_path / "shards") == {"r/1": (tmp_path / "eval_result.json").read_bytes()}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_the_bytes_of_any_json_come_back(tree):
    content = to_json_bytes(tree)
    line = compact_result(content)
    assert b"\n" not in line
    assert expand_result(line) == content


@FORMATS
def test_the_results_of_the_example_suite_come_back_byte_for_byte(tmp_path, storage_format):
    tasks, sites = load_tasks(EXAMPLES / "runs/tasks.json"), load_sites(EXAMPLES / "config.json")
    assert len(list(score_runs(EXAMPLES / "runs", tasks, sites, output=tmp_path / "files"))) == 36
    files = {path.parent.relative_to(tmp_path / "files").as_posix(): path for path in tmp_path.rglob("*.json")}
    with ResultShardWriter(tmp_path / "shards", ShardLayout(storage_format, size=10)) as writer:
        for path in sorted(files, key=find_order):
            writer.add(path, files[path].read_bytes())
    assert read_back(tmp_path / "shards") == {path: file.read_bytes() for path, file in files.items()}


PATHS = st.lists(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1), min_size=1)


@given(st.sets(PATHS.map("/".join), min_size=1, max_size=8), st.integers(1, 4))
def test_results_of_any_paths_come_back_in_their_order(paths, size):
    paths = sorted((path for path in paths if not {".", ".."} & set(path.split("/"))), key=find_order)
    with tempfile.TemporaryDirectory() as folder:
        with ResultShardWriter(Path(folder), ShardLayout(size=size)) as writer:
            for path in paths:
                writer.add(quote_path(path), to_json_bytes(path))
        assert list(read_back(Path(folder)).items()) == [(path, to_json_bytes(path)) for path in paths]


@pytest.mark.parametrize(
    ("label", "prefix", "path"),
    [
        ("r/1", "", "r/1"),
        ("r/1", "r", "1"),
        ("r", "r", "."),
        (".", "", "."),
        ("a b%C3%9C/%FF", "", "a bÜ/\udcff"),
        ("r/..a", "r", "..a"),
    ],
)
def test_a_label_names_the_directory_of_a_result(label, prefix, path):
    assert find_path(label, prefix) == path


HOSTILE = [
    "../x",
    "r/../x",
    "%2e%2e/x",
    "/etc/x",
    "%2Fetc",
    "r//x",
    "r/./x",
    "./x",
    "",
    "r/",
    "a%00b",
    "%41",
    "a%zz",
    "Ü",
]


@pytest.mark.parametrize("label", [*HOSTILE, "x" * 13_000, "%2E", "%2e", "a%20b", "a\nb", "a\\b"])
def test_a_label_that_leads_elsewhere_is_refused(tmp_path, label):
    with pytest.raises(ValueError, match=r"^the label '"):
        find_path(label)
    with pytest.raises(ValueError, match=r"^the label '"):
        ResultShardWriter(tmp_path).add(label, b"{}")


def test_a_label_of_another_root_is_refused():
    with pytest.raises(ValueError, match="the label 'rr/1' does not begin with 'r'"):
        find_path("rr/1", "r")


@pytest.mark.parametrize(
    ("first", "second"), [("r/10", "r/9"), ("r/9", "r/9"), ("r/a/b", "r/a"), ("s", "r/1"), ("a", "1")]
)
def test_results_come_in_the_order_in_which_runs_are_collected(tmp_path, first, second):
    writer = ResultShardWriter(tmp_path)
    writer.add(first, b"{}")
    with pytest.raises(ValueError, match=f"the run '{second}' is not after the last one; add runs in the order"):
        writer.add(second, b"{}")


def test_what_is_not_json_is_refused(tmp_path):
    with pytest.raises(ValueError, match="invalid JSON"):
        ResultShardWriter(tmp_path).add("r/1", b"{")


@pytest.mark.libraries
def test_shards_of_an_earlier_and_longer_session_are_removed(tmp_path):
    contents = [result(number, f"r/{number}") for number in range(5)]
    write_shards(tmp_path, *contents, layout=ShardLayout(size=1))
    write_shards(tmp_path, *contents[:2], layout=ShardLayout("parquet", size=1))
    left = tmp_path / ".eval_results-00009.jsonl.0123456789abcdef"
    split = [tmp_path / name for name in ("eval_results-1-of-2.json", "eval_results-1-of-2-00001.jsonl")]
    kept = [tmp_path / name for name in ("eval_results.txt", ".eval_results.json.x")]
    for path in (left, *split, *kept):
        path.touch()
    write_shards(tmp_path, *contents[:3], layout=ShardLayout(size=2))
    own = ["eval_results-00001.jsonl", "eval_results-00002.jsonl", "eval_results.json"]
    assert list_names(tmp_path) == sorted([*own, *(path.name for path in kept)])


def test_each_shard_of_a_session_has_results_of_its_own(tmp_path):
    for index in (1, 2):
        layout = ShardLayout(session_shard=Shard(index, 2))
        write_shards(tmp_path, result(index, f"r/{index}"), layout=layout)
    assert list_names(tmp_path) == [
        "eval_results-1-of-2-00001.jsonl",
        "eval_results-1-of-2.json",
        "eval_results-2-of-2-00001.jsonl",
        "eval_results-2-of-2.json",
    ]


def test_a_split_session_takes_the_place_of_all_but_its_other_shards(tmp_path):
    write_shards(tmp_path)
    for shard in (Shard(1, 3), Shard(1, 2), Shard(2, 2)):
        (tmp_path / name_manifest(shard)).touch()
    remove_shards(tmp_path, Shard(2, 2))
    assert list_names(tmp_path) == ["eval_results-1-of-2.json"]


@pytest.mark.parametrize("content", ["", "[]", '{"accuracy": 0.5}', '{"schema_version": 1, "shards": []}', None])
def test_a_file_of_another_tool_with_the_name_of_the_manifest_stays(tmp_path, content):
    place = tmp_path / "eval_results.json"
    place.symlink_to(tmp_path) if content is None else place.write_text(content)
    assert has_shards(tmp_path) == (not content)  # which may be a damaged manifest
    (tmp_path / "eval_results-00001.jsonl").touch()
    assert has_shards(tmp_path)
    remove_shards(tmp_path, None)
    assert list_names(tmp_path) == ["eval_results.json"]


def test_the_longest_path_has_a_label(tmp_path):
    path = "/".join(["é" * 127] * 16)[: 4_096 // 2]
    assert find_path(quote_path(path)) == path


def test_a_session_that_fails_leaves_complete_shards_without_a_manifest(tmp_path):
    contents = [result(number, f"r/{number}") for number in range(5)]
    write_shards(tmp_path, result(7, "r/7"))

    def fail():
        with ResultShardWriter(tmp_path, ShardLayout(size=2)) as writer:
            for content in contents:
                writer.add(content["webeval"]["run"], to_json_bytes(content))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list_names(tmp_path) == ["eval_results-00001.jsonl", "eval_results-00002.jsonl"]


def test_a_link_in_the_place_of_a_file_is_replaced_and_never_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out").mkdir()
    for name in ("eval_results.json", "eval_results-00001.jsonl", "eval_results-00002.jsonl"):
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
    write_shards(tmp_path / "out", result(1, "r/1"))
    assert list_names(tmp_path / "out") == ["eval_results-00001.jsonl", "eval_results.json"]
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "mine").read_text() == "mine"


def test_each_file_is_synced_before_the_manifest(tmp_path):
    synced = []

    def sync(handle):
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        synced.append(name.removeprefix(".").partition(".json")[0])

    with ResultShardWriter(tmp_path, ShardLayout(size=1), sync) as writer:
        writer.add("r/1", b"{}")
        writer.add("r/2", b"{}")
    assert [name for name in synced if name.startswith("eval")] == [
        "eval_results-00001",
        "eval_results-00002",
        "eval_results",
    ]


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"^cannot remove .*file/out/eval_results\.json: Not a directory; choose"):
        write_shards(tmp_path / "file/out", result(1, "r/1"))


def test_parquet_without_pyarrow_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingsError, match="pip install 'pytest-webeval"):
        ResultShardWriter(tmp_path, ShardLayout("parquet"))


@pytest.mark.libraries
def test_a_table_has_columns_for_queries(tmp_path):
    import pandas as pd

    excluded = result("b", "r/2", "error", webeval={"excluded": "aborted", "wall_time": None})
    write_shards(tmp_path, result(1, "r/1"), excluded, layout=ShardLayout("parquet"))
    frame = pd.read_parquet(tmp_path / "eval_results-00001.parquet")
    assert list(frame.columns) == ["run", "task_id", "status", "score", "excluded", "wall_time", "result"]
    assert frame["task_id"].tolist() == ["1", "b"]
    assert frame["excluded"].tolist() == [False, True]
    assert frame["status"].tolist() == ["success", "error"]
    assert frame["wall_time"].isna().tolist() == [False, True]
    assert json.loads(frame["result"][1]) == excluded
