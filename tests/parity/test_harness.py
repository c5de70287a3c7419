"""The harness itself: what it installs once, and what it leaves of a recording on which verdicts differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.parity.harness import reference_environment
from tests.parity.harness.recording import Recording
from tests.parity.harness.reference_environment import NotInstallable, ReferenceEnvironment
from tests.parity.harness.shrinking import smallest
from tests.parity.harness.synthetic import entry, retrieval


@pytest.fixture
def installs(monkeypatch):
    """The commands that would have installed the reference; they make a directory and nothing else."""
    commands = []

    def run(*command):
        commands.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr(reference_environment, "_run", run)
    return commands


def test_the_environment_is_installed_once(installs, tmp_path):
    for _ in range(2):
        ReferenceEnvironment.within(tmp_path).installed()
    assert [command[1:3] for command in installs] == [("-m", "venv"), ("-m", "pip")]


def test_an_interrupted_install_is_done_again_from_the_start(installs, tmp_path):
    environment = ReferenceEnvironment.within(tmp_path)
    (environment.directory / "lib").mkdir(parents=True)
    environment.installed()
    assert len(installs) == 2
    assert not (environment.directory / "lib").exists()


def test_other_requirements_are_another_environment(monkeypatch, tmp_path):
    before = ReferenceEnvironment.within(tmp_path).directory
    (tmp_path / "requirements.txt").write_text("webarena-verified==1.2.4\n")
    monkeypatch.setattr(reference_environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    assert ReferenceEnvironment.within(tmp_path).directory != before


def test_an_install_that_fails_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(reference_environment.sys, "executable", shutil.which("false"))
    told = r"cannot install webarena-verified: \S*false -m venv \S+ failed: no output; run once where pip reaches"
    with pytest.raises(NotInstallable, match=told):
        ReferenceEnvironment.within(tmp_path).installed()


def test_what_does_not_matter_is_left_out():
    entries = (entry(), entry("http://shop.test:7770/b"), entry())
    said = json.dumps({"task_type": "RETRIEVE", "retrieved_data": [1, "needle in hay", 3]}).encode()
    found = smallest(
        Recording(retrieval([1]), said, entries, "x"),
        lambda one: b"needle" in one.response and any("/b" in made["request"]["url"] for made in one.entries),
    )
    assert json.loads(found.response) == {"retrieved_data": ["needle"]}
    assert [made["request"] for made in found.entries] == [
        {"method": "GET", "url": "http://shop.test:7770/b", "headers": []}
    ]
