"""The environments of tools: their Python, and what a machine without it reads."""

from __future__ import annotations

import sys
from collections import namedtuple
from pathlib import Path

import pytest

from tests.exports.harness import tool_environment
from tests.exports.harness.tool_environment import Tool, ToolEnvironment, find_python
from tests.parity.harness.reference_environment import NotInstallable

Version = namedtuple("Version", "major minor")  # noqa: PYI024  (compares like sys.version_info)


@pytest.fixture
def older(monkeypatch):
    """As if this Python were 3.9."""
    monkeypatch.setattr(tool_environment.sys, "version_info", Version(3, 9))


def program(path, output, status=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {output}\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_this_python_is_taken_if_it_is_new_enough():
    assert find_python(sys.version_info.minor) == Path(sys.executable)


def test_another_python_of_the_machine_is_taken_otherwise(older, monkeypatch, tmp_path):
    program(tmp_path / "bin/python3.13", "nothing", status=1)
    older_one = program(tmp_path / "pyenv/versions/3.12.1/bin/python", "3 12")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_python(12) == older_one
    newer = program(tmp_path / "bin/python3.14", "3 14")
    assert find_python(12) == newer
    assert find_python(10) == newer


def test_a_machine_without_such_a_python_is_told_so(older, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(NotInstallable, match=r"no Python 3\.12 or newer on this machine; install one"):
        find_python(12)


def test_a_tool_is_installed_once_with_its_version(monkeypatch, tmp_path):
    commands = []

    def note(*command):
        commands.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr(tool_environment, "run", note)
    tool = Tool("name==1.2", 10)
    for _ in range(2):
        ToolEnvironment.of(tool, tmp_path).installed()
    assert [command[-1] for command in commands[1:]] == ["name==1.2"]
    assert ToolEnvironment.of(Tool("name==1.3", 10), tmp_path) != ToolEnvironment.of(tool, tmp_path)


def test_an_install_that_fails_says_what_to_do(tmp_path):
    broken = program(tmp_path / "python", "no such package", status=1)
    environment = ToolEnvironment(tmp_path / "tool", Tool("name==1.2", 10), broken)
    with pytest.raises(NotInstallable, match=r"-m venv \S+ failed: no such package; run once where pip reaches"):
        environment.installed()
