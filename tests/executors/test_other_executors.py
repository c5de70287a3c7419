"""Executors of other libraries as engines, each in an environment of its own, which is made in pytest's cache.

Where a library cannot be installed, its tests are skipped, unless WEBEVAL_EXPORTS=required.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.exports.harness.tool_environment import Tool, ToolEnvironment
from tests.parity.harness.reference_environment import NotInstallable

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/score-on-a-cluster.md"
# The package is installed for its metadata; its code is that of this directory.
OURS = (*tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"], str(ROOT))
LIBRARIES = {
    "ray": Tool("ray==2.60.0", 11, OURS),
    "mpi4py": Tool("mpi4py==4.1.2", 11, ("mpich==5.0.2", *OURS)),
    "loky": Tool("loky==3.7.0", 11, OURS),
}
SESSION = """
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.placement import wrap_executor
from tests.support import batch_functions

def check(executor, killer=None):
    engine, losses, name_loss = wrap_executor(executor, 2), [], batch_functions.name_loss
    results = list(map_batches(
        engine, batch_functions.kill_itself, killer, range(400), size=20, lost=name_loss, on_loss=losses.append
    ))
    lost = [result for result in results if isinstance(result, tuple)]
    assert [item for item, _ in lost] == [item for item in [killer] if item is not None], lost
    assert [result for result in results if result not in lost] == [2 * item for item in range(400) if item != killer]
    is_main = map_batches(engine, batch_functions.is_interruptible, None, range(3), size=1, lost=None)
    assert all(is_main)
    print(len(losses), *(reason for _, reason in lost))

"""
RAY = """
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
check(RayExecutor())
check(RayExecutor(), killer=77)
"""
MPI = """
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        check(executor)
"""
LOKY = """
from loky import get_reusable_executor

check(get_reusable_executor(2))
"""


def run(request, directory, library, program, *launcher):
    """What the program prints in the environment of a library; skips the test where there is none."""
    try:
        cache = getattr(request.config, "cache", None)
        if cache is None:
            raise NotInstallable("libraries are installed in pytest's cache: run without -p no:cacheprovider")
        python = ToolEnvironment.of(LIBRARIES[library], cache.mkdir("libraries")).installed()
    except NotInstallable as error:
        if os.environ.get("WEBEVAL_EXPORTS") == "required":
            raise
        pytest.skip(str(error))
    (directory / "program.py").write_text(SESSION + program, "utf-8")
    names = [str(Path(python).with_name(name)) if name == "mpiexec" else name for name in launcher]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [*names[:3], str(python), *names[3:], "program.py"],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line[:1].isdigit()]  # others are of the library


def test_the_executor_of_the_page_runs_batches_on_ray_and_loses_only_the_item_that_kills(request, tmp_path):
    (executor,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    undisturbed, killed = run(request, tmp_path, "ray", executor + RAY)
    assert undisturbed == "0"
    assert re.match(r"[5-9] a worker process that scored this run died 2 times \(WorkerCrashedError: ", killed)


def test_processes_of_mpi_run_batches(request, tmp_path):
    assert run(request, tmp_path, "mpi4py", MPI, "mpiexec", "-n", "3", "-m", "mpi4py.futures") == ["0"]


def test_processes_of_loky_run_batches(request, tmp_path):
    assert run(request, tmp_path, "loky", LOKY) == ["0"]
