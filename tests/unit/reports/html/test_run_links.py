"""Links to the files of a run, and commands that open its traces: names of strangers, links, pipes, many files."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from pytest_webeval.reports.html import task_page
from pytest_webeval.reports.html.task_page import ReportPaths, RunListing, list_commands, list_links, list_run_files
from pytest_webeval.safety.run_directory import open_run_directory


@pytest.fixture
def run(tmp_path):
    """A directory with such files in it."""

    def make(*names):
        for name in names:
            path = tmp_path / "runs" / "107" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        return tmp_path / "runs" / "107"

    return make


def commands(directory, inputs=()):
    paths = ReportPaths(directory / "report", directory, None, directory.parent)
    return [each["command"] for each in list_commands(list_run_files(directory, inputs), paths, None)]


@pytest.mark.parametrize(
    ("names", "inputs", "traces"),
    [
        (["network.har", "agent_response.json"], ["network.har"], []),
        (["network.har", "trace.zip"], ["network.har"], ["trace.zip"]),
        (["trace.zip"], ["trace.zip"], ["trace.zip"]),
        (["recording.zip"], ["recording.zip"], ["recording.zip"]),
        (["recording.zip"], [], []),
        (["a/trace.zip"], ["a/trace.zip"], ["a/trace.zip"]),
        (["a/trace.zip", "network.har"], ["network.har"], []),
        (["network.har.zip", "Trace-2.zip"], ["network.har.zip"], ["Trace-2.zip"]),
        (["mytrace.har.zip", "trace.zip.part"], [], []),
        ([], ["trace.zip"], []),
    ],
)
def test_traces_are_scored_archives_and_those_that_are_called_so(run, names, inputs, traces):
    assert list_run_files(run(*names, "other.txt"), inputs).traces == tuple(traces)


def test_a_trace_next_to_a_har_has_its_command(run):
    assert commands(run("network.har", "trace.zip"), ["network.har"]) == ["npx playwright show-trace 107/trace.zip"]


def test_several_traces_are_told_apart_by_their_names(run):
    directory = run("trace.zip", "trace-2.zip")
    listed = list_commands(list_run_files(directory, ()), ReportPaths(directory, directory, None, directory), "again")
    assert [each["label"] for each in listed] == [
        "score this run again",
        "open the trace trace-2.zip",
        "open the trace trace.zip",
    ]


@pytest.mark.parametrize(
    "name", ["-trace.zip", "--help trace.zip", "$(touch x) trace.zip", "trace';id;'.zip", "ünï trace.zip"]
)
def test_a_hostile_name_is_one_argument_and_no_option(run, name):
    directory = run(name)
    paths = ReportPaths(directory, directory, None, directory)
    (command,) = list_commands(list_run_files(directory, ()), paths, None)
    *viewer, argument = shlex.split(command["command"])
    assert viewer == ["npx", "playwright", "show-trace"]
    assert not argument.startswith("-")
    assert directory / argument == directory / name


@pytest.mark.parametrize("name", ["trace\n.zip", "trace\x1b[31m.zip", "trace\u202e.zip"])
def test_a_name_that_does_not_print_has_no_command(run, name):
    assert list_run_files(run(name), [name]) == RunListing()


def test_links_pipes_and_directories_are_no_files(run, tmp_path):
    directory = run("agent_response.json")
    (tmp_path / "secret.zip").write_text("x")
    (directory / "trace.zip").symlink_to(tmp_path / "secret.zip")
    (directory / "trace-2.zip").mkdir()
    os.mkfifo(directory / "trace-3.zip")
    inputs = [
        "agent_response.json",
        "trace.zip",
        "trace-2.zip",
        "trace-3.zip",
        "gone.har",
        "agent_response.json/x",
        "\0",
    ]
    assert list_run_files(directory, inputs) == RunListing(("agent_response.json",))


def test_no_file_is_opened(run, monkeypatch):
    directory = run("trace.zip", "network.har")
    monkeypatch.setattr(Path, "open", None)
    monkeypatch.setattr("builtins.open", None)
    monkeypatch.setattr(os, "open", None)
    listing = list_run_files(directory, ["network.har"])
    monkeypatch.undo()
    assert listing == RunListing(("network.har",), ("trace.zip",))


def test_a_directory_of_very_many_files_is_read_up_to_a_limit(run, monkeypatch):
    directory = run(*(f"trace-{number}.zip" for number in range(40)))
    assert len(list_run_files(directory, map(str, range(10**5))).traces) == task_page.MOST_TRACES
    monkeypatch.setattr(task_page, "MOST_NAMES", 0)
    assert list_run_files(directory, ()) == RunListing()
    assert list_run_files(directory / "none", ()) == RunListing(is_directory=False)


def test_links_lead_to_what_was_scored_and_lies_next_to_it(run):
    directory = run(
        "agent_response.json", "network.har", "trace.zip", "other.har", "my_result.json", "scores/a b#1.json"
    )
    paths = ReportPaths(directory.parent.parent / "report", directory, directory / "my_result.json", directory)
    listing = list_run_files(directory, ["agent_response.json", "network.har", "scores/a b#1.json"])
    assert {link["label"]: link["href"] for link in list_links(listing, paths)} == {
        "run directory": "../runs/107/",
        "my_result.json": "../runs/107/my_result.json",
        "agent_response.json": "../runs/107/agent_response.json",
        "network.har": "../runs/107/network.har",
        "scores/a b#1.json": "../runs/107/scores/a%20b%231.json",
        "trace.zip": "../runs/107/trace.zip",
        "other.har": "../runs/107/other.har",
    }


@pytest.mark.parametrize(
    ("name", "is_linked"), [("a.html", False), ("a.svg", False), ("a.JSON", True), ("a", False), ("a.log", True)]
)
def test_a_file_that_a_browser_may_run_has_no_address(run, name, is_linked):
    directory = run(name)
    (link,) = list(list_links(list_run_files(directory, [name]), ReportPaths(directory, directory, None, directory)))[
        1:
    ]
    assert (link["label"], link["href"]) == (name, f"../{directory.name}/{name}" if is_linked else None)


def test_what_takes_the_place_of_a_run_is_not_listed(run, tmp_path):
    directory = run("network.har")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret.har").touch()
    with open_run_directory(directory, directory.parent):
        directory.rename(tmp_path / "aside")
        directory.symlink_to(tmp_path / "other")
        assert list_run_files(directory, ()).recordings == ("network.har",)
