"""The recorded runs of all formats in one session, and what a session over one format loads.

A format is in these tests by its row in `FORMATS` and by its samples, which `tests/support/recorded_runs.py` finds.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from pytest_webeval.recordings.formats import FORMATS
from tests.support import recorded
from tests.support.recorded_runs import RECORDED_FORMATS, find_samples, list_runs

NAMES = [entry.name for entry in FORMATS]
TIMES = ("timestamp", "wall_time", "slowest")  # what differs from session to session
LIST_LOADED = """
import sys

def pytest_sessionfinish():
    names = sorted(name for name in sys.modules if name.startswith("pytest_webeval.recordings."))
    open("loaded", "w").write("\\n".join(names))
"""


def add_samples(runs, name):
    """Copy the recorded runs of a format to a directory of its name."""
    if name == "fara":
        for task, changed in {"a": {}, "b": {"scores": None}}.items():
            recorded.write(runs.root / "fara" / recorded.RUN / task, **changed)
    elif name == "webarena-verified":
        for task_id in (107, 108):
            runs.add(task_id, name=f"webarena-verified/{task_id}", passes=task_id == 107)
    else:
        shutil.copytree(find_samples(name), runs.root / name)


def timeless(value):
    """JSON without the times of a session."""
    if isinstance(value, dict):
        return {key: timeless(member) for key, member in value.items() if key not in TIMES}
    return [timeless(member) for member in value] if isinstance(value, list) else value


def read_results(directory):
    """All that a session wrote below a directory, without times, by its place there."""
    paths = [path for path in sorted(directory.rglob("eval_*.json")) if path.is_file()]
    return {
        path.relative_to(directory).as_posix(): json.dumps(timeless(json.loads(path.read_bytes()))) for path in paths
    }


def count_outcomes(result):
    """How many items had which outcome."""
    return {word: count for word, count in result.parseoutcomes().items() if word in ("passed", "failed", "skipped")}


@pytest.fixture
def mixed(runs):
    """The recorded runs of all formats in one root, and an outcome for each."""
    for name in NAMES:
        add_samples(runs, name)
    return runs


@pytest.mark.unchecked_files("samples of recorders have files of any name")
def test_all_formats_are_scored_alike_by_one_process_and_by_two(mixed, pytester, webeval_apart):
    serial = webeval_apart("--webeval-output=serial")
    parallel = webeval_apart("--webeval-output=parallel", "-n2")
    assert count_outcomes(serial) == count_outcomes(parallel)
    found, others = (read_results(pytester.path / name) for name in ("serial", "parallel"))
    assert found == others
    summary = json.loads(found["eval_summary.json"])
    by_format = Counter(row["run"].split("/")[1] for row in summary["task_results"])
    assert sorted(by_format) == sorted(NAMES)
    for name in RECORDED_FORMATS:
        assert by_format[name] == len(list_runs(name)), name
    judged = [row for row in summary["task_results"] if not (row["reason"] or "").startswith("not scored: ")]
    assert len(found) == len(judged) + 1  # with the summary
    formats = {name: json.loads(content)["webeval"].get("format") for name, content in found.items()}
    assert {name for name in formats if formats[name] not in name.split("/")} == {"eval_summary.json"}


@pytest.mark.whole
@pytest.mark.thinned(every=4)
@pytest.mark.parametrize("name", NAMES)
def test_a_session_over_one_format_loads_no_reader_of_another(runs, webeval_apart, pytester, name):
    add_samples(runs, name)
    pytester.makeconftest(LIST_LOADED)
    webeval_apart()
    loaded = [line.rpartition(".")[2] for line in (pytester.path / "loaded").read_text().splitlines()]
    modules = {entry.name: entry.module for entry in RECORDED_FORMATS.values()}
    assert modules.get(name, "signatures") in loaded
    strangers = [module for other, module in modules.items() if other != name]
    assert [module for module in loaded if module.startswith(tuple(strangers))] == []
