"""The command `webeval`, as it is installed: it imports nothing from the directory where it is called."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.runs import Runs

WEBEVAL = str(Path(sys.executable).with_name("webeval"))
NAMES = ("conftest", "jinja2", "msgspec", "multiprocessing", "pytest_webeval", "signal", "sitecustomize")
WITH_DASK = pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask")
MARK = "from pathlib import Path\nPath(__file__).with_suffix('.imported').touch()\n"


@pytest.fixture
def run(tmp_path):
    """A run whose agent has left modules that leave a mark when something imports them."""
    Runs(tmp_path).add(107)
    for name in NAMES:
        (tmp_path / f"107/{name}.py").write_text(MARK)
    (tmp_path / "107/pytest.ini").write_text("[pytest]\naddopts = -p msgspec\npythonpath = .\n")
    return tmp_path / "107"


def call(run, *command):
    return subprocess.run(command, cwd=run, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    "command",
    [
        ("score", "..", "--executor=process:1", "--output=../out", "--no-progress"),
        pytest.param(("score", "..", "--executor=local:1", "--output=../out", "--no-progress"), marks=WITH_DASK),
        ("export", "..", "--to=csv"),
        ("validate", ".."),
        ("compare", "../before", "../after"),
        ("audit", ".."),
        ("new-task", "."),
    ],
    ids=["score", "score by Dask", "export", "validate", "compare", "audit", "new-task"],
)
def test_no_module_of_a_run_is_imported(run, command):
    done = call(run, WEBEVAL, *command)

    assert done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert list(run.glob("*.imported")) == []


def test_the_module_imports_them_as_the_page_on_security_says(run):
    call(run, sys.executable, "-m", "pytest_webeval", "rules")
    assert [path.stem for path in run.glob("*.imported")] == ["pytest_webeval"]

    (run / "pytest_webeval.imported").unlink()
    done = call(run, sys.executable, "-P", "-m", "pytest_webeval", "rules")
    assert done.returncode == 0
    assert list(run.glob("*.imported")) == []
