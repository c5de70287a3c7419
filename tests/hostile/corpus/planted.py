"""Code and configuration beside recordings, which would leave a file behind if anybody ran or obeyed it."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.corpus.cases import Case, run, trajectory

OBEYED = "obeyed.txt"
_CODE = "import pathlib; pathlib.Path({marker!r}).open('a').write({name!r} + chr(10))\n"
_MODULES = (
    "conftest.py",
    "test_x.py",
    "x_test.py",
    "__init__.py",
    "__main__.py",
    "sitecustomize.py",
    "usercustomize.py",
    "json.py",
    "msgspec.py",
    "pytest_webeval/__init__.py",
    "evaluators.py",
    "plugin.py",
    "setup.py",
    "tests/conftest.py",
    "tests/test_x.py",
    "test_data/conftest.py",
    "inner/conftest.py",
    "__pycache__/conftest.py",
    "resources/conftest.py",
    "scores/conftest.py",
    "noxfile.py",
    "tasks.py",
    "x.pth",
    "doc_test.rst",
)
_INI = (
    "[pytest]\naddopts = -p planted --co\npython_files = *.json\nwebeval_rules = reference\nwebeval_tasks = task.json\n"
)
_TOML = "[tool.pytest.ini_options]\naddopts = '-p planted --co'\n[tool.pytest]\naddopts = ['-p', 'planted']\n"
_SETTINGS = (
    ("pytest.ini", _INI),
    (".pytest.ini", _INI),
    ("tox.ini", _INI),
    ("setup.cfg", _INI.replace("[pytest]", "[tool:pytest]")),
    ("pyproject.toml", _TOML),
    ("pytest.toml", _TOML),
    (".env", "PYTEST_ADDOPTS=--co\n"),
    (".coveragerc", "[run]\n"),
    (".netrc", "machine x\n"),
    ("requirements.txt", "planted\n"),
)


def _marker(path: Path) -> str:
    """The file that tells; it lies above all roots."""
    root = next(above for above in path.parents if (above / "bystanders").is_dir())
    return str(root / OBEYED)


def _code(name: str):
    def spoil(path: Path) -> None:
        text = _CODE.format(marker=_marker(path), name=name)
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f">>> {text}" if name.endswith(".rst") else text)

    return spoil


def _settings(name: str, text: str):
    def spoil(path: Path) -> None:
        (path / name).write_text(text)
        (path / "planted.py").write_text(_CODE.format(marker=_marker(path), name=name))

    return spoil


def _compiled(path: Path) -> None:
    """Code that needs no source; of the Python that writes the corpus."""
    import importlib.util

    (path / "__pycache__").mkdir()
    code = compile(_CODE.format(marker=_marker(path), name="compiled"), "conftest.py", "exec")
    import marshal

    head = importlib.util.MAGIC_NUMBER + b"\x00" * 12
    tag = importlib.util.cache_from_source("conftest.py").rpartition("/")[2]
    (path / "__pycache__" / tag).write_bytes(head + marshal.dumps(code))
    (path / "conftest.pyc").write_bytes(head + marshal.dumps(code))


CASES: tuple[Case, ...] = (
    *(run(f"{name} beside the recordings", "success", _code(name)) for name in _MODULES),
    *(trajectory(f"{name} beside the log", "success", _code(name)) for name in _MODULES),
    *(
        run(f"{name} beside the recordings, with a plugin", "success", _settings(name, text))
        for name, text in _SETTINGS
    ),
    run("compiled code beside the recordings", "success", _compiled),
)
