"""How many changes to the code that decides verdicts the tests notice.

    python -m tests.mutation.count_killed [--processes 2] [pytest_webeval/values/url.py ...]

Makes the changes of cosmic-ray 8, one at a time, in copies of the project, and runs the tests that run the changed
line. Takes about half an hour for all modules on two idle processors. Those that change nothing by `survivors.toml` are
not run. Fails where any other survives.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest
from cosmic_ray.commands.init import init
from cosmic_ray.modules import find_modules
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec

from tests.mutation.covering_tests import TESTS, CoveringTests

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
CONFIG = tomllib.loads((HERE / "cosmic_ray.toml").read_text())
SETTINGS = CONFIG["cosmic-ray"]
EXCLUDED = re.compile("|".join(SETTINGS["filters"]["operators-filter"]["exclude-operators"]))
MEMORY = 4 * 2**30
SECONDS = int(SETTINGS["timeout"])
SAME = {name for group in tomllib.loads((HERE / "survivors.toml").read_text())["same"] for name in group["mutants"]}
_LEAVES = (ast.Name, ast.Attribute, ast.Constant)

# Only the plugins that the tests need.
QUIETLY = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "pytest_webeval.plugin.entry")


@dataclass(frozen=True)
class Mutant:
    """A changed module; `line` is what the first changed line has become."""

    module: str
    operator: str
    number: int
    last: int
    line: str
    code: str

    @property
    def name(self) -> str:
        """What `survivors.toml` calls it, wherever the line stands."""
        return f"{self.module.removeprefix('pytest_webeval/')}: {self.line}"

    def __str__(self) -> str:
        return f"{self.module}:{self.number} {self.operator.removeprefix('core/')}: {self.line}"


@dataclass(frozen=True)
class Count:
    """How many changes there are to a module, how many of them change nothing, and those that no test notices."""

    module: str
    made: int
    same: int
    left: list[Mutant]


def mutants(module: str) -> Iterator[Mutant]:
    """Every change to a module that makes other Python of it."""
    source = Path(module).read_text()
    for spec in _specs(module):
        code = "" if EXCLUDED.fullmatch(spec.operator_name) else _changed(source, spec)
        if code and _means_more(source, code):
            pairs = zip(source.split("\n"), code.split("\n"), strict=False)
            line = next(after.strip() for before, after in pairs if before != after)
            yield Mutant(module, spec.operator_name, spec.start_pos[0], spec.end_pos[0], line, code)


def _specs(module: str) -> list[MutationSpec]:
    with tempfile.TemporaryDirectory() as directory:
        session = WorkDB(f"{directory}/session.sqlite", WorkDB.Mode.create)
        init([Path(module)], session, {})
        specs = [item.mutations[0] for item in session.work_items]
        session.close()
    return specs


def _changed(source: str, spec: MutationSpec) -> str | None:
    try:
        return mutate_code(source, get_operator(spec.operator_name)(), spec.occurrence)
    except AttributeError:  # cosmic-ray cannot replace an exception that is written with a dot, such as re.error
        return None


def _means_more(source: str, code: str) -> bool:
    try:
        return _meaning(code) != _meaning(source)
    except SyntaxError:
        return False


def _meaning(code: str) -> str:
    """The syntax tree of a text without what no run of the code depends on."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for part in ("annotation", "returns"):  # strings to Python: names and constants count, not what joins them
            if (annotation := getattr(node, part, None)) is not None:
                setattr(node, part, sorted(ast.dump(one) for one in ast.walk(annotation) if isinstance(one, _LEAVES)))
        if isinstance(node, ast.arguments):  # "*" and "/" among parameters bind callers, which mypy checks
            node.args, node.posonlyargs, node.kwonlyargs = [*node.posonlyargs, *node.args, *node.kwonlyargs], [], []
            node.defaults, node.kw_defaults = [*node.defaults, *filter(None, node.kw_defaults)], []
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):  # imports for mypy alone
            node.test = ast.Constant(value=False)
    return ast.dump(tree)


def survives(tests: tuple[str, ...], seconds: int) -> bool:
    """Whether tests pass in a process of their own, which ends with the first that does not, or after a while."""
    child = os.fork()
    if not child:
        _run_and_leave(tests, seconds)
    end = threading.Timer(10 * seconds, os.kill, (child, signal.SIGKILL))  # a test that waits for ever
    end.start()
    status = os.waitpid(child, 0)[1]
    end.cancel()
    return status == 0


def _run_and_leave(tests: tuple[str, ...], seconds: int) -> None:
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # what else the machine does has no effect
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        status = pytest.main([*QUIETLY, "--basetemp=.tmp", *tests])
    finally:
        os._exit(status)


@cache
def check_tests() -> None:
    """Raise `RuntimeError` where tests fail here before anything is changed."""
    if not survives((TESTS,), SECONDS):
        raise RuntimeError(f"{TESTS} fail before anything is changed; fix them first")


def survivors(module: str, covering: CoveringTests) -> Count:
    """How many changes to a module there are, and which of them no test notices."""
    check_tests()
    file = Path(module)
    original, made = file.read_text(), list(mutants(module))
    same = [mutant for mutant in made if mutant.name in SAME]
    left = []
    for mutant in made:
        file.write_text(mutant.code)
        stages = covering.find_stages(module, mutant.number, mutant.last)
        if mutant not in same and all(survives(tests, SECONDS) for tests in stages):
            left.append(mutant)
    file.write_text(original)
    return Count(module, len(made), len(same), left)


def enter_copy(directory: str) -> None:
    """Make a copy of the project the place where this process works, and import all but the project."""
    copy = tempfile.mkdtemp(dir=directory)
    shutil.copytree(PROJECT, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    os.chdir(copy)
    sys.path.insert(0, copy)
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": copy, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in CONFIG["warm"]["modules"]:
        import_module(name)
    hypothesis.settings.register_profile("the same each time", deadline=None, derandomize=True)
    hypothesis.settings.load_profile("the same each time")
    gc.collect()
    gc.freeze()


def main() -> int:
    """Count for the modules that were named, or for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    os.chdir(PROJECT)
    modules = options.modules or [str(one) for one in find_modules([Path(one) for one in SETTINGS["module-path"]])]
    modules.sort(key=lambda module: -Path(module).stat().st_size)
    with tempfile.TemporaryDirectory() as directory, _pool(options.processes, directory) as pool:
        covering = _measure(Path(directory) / "covering.json", modules)
        waiting = [pool.submit(survivors, module, covering) for module in modules]
        counts = [_told(one.result()) for one in as_completed(waiting)]
    made, same, left = (sum(numbers) for numbers in zip(*counts, strict=True))
    share = (made - same - left) / made
    print(f"killed {made - same - left} of {made} ({share:.1%}); {same} change nothing, {left} survive")
    return 1 if left else 0


def _measure(path: Path, modules: list[str]) -> CoveringTests:
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "tests.mutation.covering_tests", str(path), *modules]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return CoveringTests.load(path)


def _pool(processes: int, directory: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, initializer=enter_copy, initargs=(directory,))


def _told(count: Count) -> tuple[int, int, int]:
    made, same, left = count.made, count.same, len(count.left)
    print(f"{count.module}: killed {made - same - left} of {made}; {same} change nothing, {left} survive", flush=True)
    for mutant in count.left:
        print(f"  {mutant}", flush=True)
    return made, same, left


if __name__ == "__main__":
    sys.exit(main())
