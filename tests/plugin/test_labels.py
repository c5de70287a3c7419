"""Names of directories in run roots, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_webeval.recordings.labels import Labels, quote_path

ROOTDIR = Path("/home/me/project")


def labels(*roots: str) -> Labels:
    return Labels(tuple(map(Path, roots)), ROOTDIR)


@pytest.mark.parametrize(
    ("roots", "path", "root", "label"),
    [
        (["/home/me/project/runs"], "/home/me/project/runs/7", "/home/me/project/runs", "runs/7"),
        (["/home/me/project/runs"], "/home/me/project/runs", "/home/me/project/runs", "runs"),
        (["/home/me/project/a/b"], "/home/me/project/a/b/c/7", "/home/me/project/a/b", "a/b/c/7"),
        (["/home/me/project"], "/home/me/project/7", "/home/me/project", "7"),
        (["/home/me/project"], "/home/me/project", "/home/me/project", "."),
        (["/data/runs"], "/data/runs/7", "/data/runs", "runs/7"),
        (["/data/runs", "/more/runs"], "/more/runs/7", "/more/runs", "runs-2/7"),
        (["/data/runs", "/data/runs-2"], "/data/runs-2/7", "/data/runs-2", "runs-2/7"),
        (["/data/x", "/home/me/project/x/y"], "/home/me/project/x/y/7", "/home/me/project/x/y", "x/y/7"),
        (["/data/runs"], "/data/runs/a é::b%", "/data/runs", "runs/a %C3%A9%3A%3Ab%25"),
        (["/data/runs"], "/data/runs/a\udce9", "/data/runs", "runs/a%E9"),
    ],
)
def test_a_directory_in_a_root_has_a_label_that_leads_back(roots, path, root, label):
    known = labels(*roots)
    assert known.root_of(Path(path)) == Path(root)
    assert known.of(Path(path)) == label
    assert known.path_of(label) == Path(path)


@pytest.mark.parametrize("path", ["/data", "/data/run", "/data/runs2/7", "/home/me/project/runs/7", "data/runs"])
def test_a_directory_in_no_root_has_none(path):
    known = labels("/data/runs")
    assert known.root_of(Path(path)) is None
    with pytest.raises(ValueError, match="is not inside a run root"):
        known.of(Path(path))


@pytest.mark.parametrize("label", ["run/7", "runs2/7", "7", ""])
def test_a_label_of_no_root_leads_nowhere(label):
    assert labels("/data/runs").path_of(label) is None


@pytest.mark.parametrize("name", ["a[1]", "a::b", "\x1b[31m::error::x", "-x --foo=[evil]::node"])
@pytest.mark.parametrize("ending", ["", "::task"])
def test_a_pasted_node_id_selects_its_run_whatever_the_directory_is_called(runs, webeval, name, ending):
    runs.add(107, name=f"{name}/107")
    runs.add(108)
    given = quote_path(f"runs/{name}/107")
    result = webeval(given + ending)
    result.assert_outcomes(passed=1)
    assert "\x1b" not in result.stdout.str() + result.stderr.str()
    assert [row["run"] for row in runs.summary["task_results"]] == [given]
    assert runs.summary["webeval"]["partial"]
