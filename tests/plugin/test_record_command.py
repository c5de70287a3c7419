"""`webeval record`: what it refuses before a browser opens, and the answers that a person types."""

from __future__ import annotations

import io
import json
import sys

import pytest
from msgspec import structs

from pytest_webeval import Sites, load_sites, load_tasks
from pytest_webeval.__main__ import main
from pytest_webeval.commands import record
from pytest_webeval.recorder.person import Interrupts, Person, TypedLines
from pytest_webeval.recorder.recording import Recording
from tests.support.runs import definition

ADDRESS = "http://shop.test:7770"
CONFIG = {"environments": {"__SHOPPING__": {"urls": [ADDRESS]}}}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A directory with a task of each type, a task without a start page, and a configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISPLAY", ":0")
    kinds = enumerate(("retrieve", "navigate", "mutate"), start=1)
    tasks = [
        *(definition(number, kind=kind) for number, kind in kinds),
        definition(4) | {"start_urls": [], "sites": []},
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


@pytest.mark.whole
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--task=9", "--tasks=tasks.json"], "task 9 is not defined in tasks.json; add it or use --tasks\n"),
        (
            ["--task=4", "--tasks=tasks.json", "--config=config.json"],
            "task 4 has no start page; pass --url, or --config",
        ),
        (["--task=1", "--tasks=tasks.json"], "no URL for '__SHOPPING__', where task 1 starts; pass --config or --url"),
        (["--task=5"], "no definition of the task; pass --tasks, or --url to record a run before it has one"),
        (["--task=a/b", "--url=http://a.test"], "task id 'a/b' cannot name a directory"),
        (["--task=1", "--url=http://a.test", "--browser=/nowhere"], "cannot start the browser: "),
    ],
)
def test_what_cannot_be_recorded_is_refused_and_leaves_nothing(files, capsys, options, problem):
    assert main(["record", *options]) == 4
    assert capsys.readouterr().err.startswith(f"ERROR: {problem}")
    assert not list(files.glob("webeval-runs/*"))


def test_without_playwright_one_line_says_what_to_install(files, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert main(["record", "--tasks=tasks.json", "--task=1", "--config=config.json"]) == 4
    problem = "ERROR: recording requires Playwright; install it with pip install 'pytest-webeval[record]'\n"
    assert capsys.readouterr() == ("", problem)


@pytest.mark.whole
def test_without_a_display_a_window_is_refused(files, capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["record", "--tasks=tasks.json", "--task=1", "--config=config.json"]) == 4
    problem = "ERROR: no display to open a window on; pass --headless, or --cdp for a running Chromium\n"
    assert capsys.readouterr() == ("", problem)


def test_a_start_page_is_that_of_the_task_with_the_address_of_its_site(files):
    sites = load_sites("config.json")
    assert record.find_start_url(load_tasks("tasks.json").get(1), sites) == ADDRESS
    foreign = structs.replace(load_tasks("tasks.json").get(1), start_urls=["https://example.com/a"])
    assert record.find_start_url(foreign, Sites()) == "https://example.com/a"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ('["a", 1.5]', ["a", 1.5]),
        ('{"status": "SUCCESS"}', {"status": "SUCCESS"}),
        ("null", None),
        ("$1,149.00", "$1,149.00"),
        ("NaN", "NaN"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_an_answer_is_json_or_else_a_text(text, value):
    assert record.parse_answer(text) == value


@pytest.mark.parametrize(
    ("task_id", "lines", "response"),
    [
        (1, "\n\n42\n", ("RETRIEVE", "SUCCESS", [42], None)),
        (1, "\n\n[1, 2]\n", ("RETRIEVE", "SUCCESS", [1, 2], None)),
        (1, "\n\nBrass lamp\n", ("RETRIEVE", "SUCCESS", ["Brass lamp"], None)),
        (1, "\n\n\n", ("RETRIEVE", "SUCCESS", None, None)),
        (1, "\nnot_found_error\nno lamp\n", ("RETRIEVE", "NOT_FOUND_ERROR", None, "no lamp")),
        (1, "\nNOT_FOUND_ERROR\n", ("RETRIEVE", "NOT_FOUND_ERROR", None, None)),
        (2, "\n\n", ("NAVIGATE", "SUCCESS", None, None)),
        (3, "\n\n", ("MUTATE", "SUCCESS", None, None)),
        (2, "buy\nmutate\ndone\nsuccess\n", ("MUTATE", "SUCCESS", None, None)),
        (1, "\n\n", None),
        (1, "\n", None),
        (1, "", None),
    ],
)
def test_a_person_types_type_status_and_data(files, task_id, lines, response):
    recording = Recording.create(files / "runs", structs.replace(load_tasks("tasks.json").get(task_id), start_urls=[]))
    person = Person(TypedLines(io.StringIO(lines)), Interrupts(), lambda _: False)
    record.answer(recording, person, None)
    path = recording.directory / "agent_response.json"
    names = ("task_type", "status", "retrieved_data", "error_details")
    assert (json.loads(path.read_text()) if path.exists() else None) == (
        response and dict(zip(names, response, strict=True))
    )


def test_what_cannot_be_chosen_is_asked_again(files, capsys):
    person = Person(TypedLines(io.StringIO("buy\n\n\n7\n")), Interrupts(), lambda _: False)
    record.answer(Recording.create(files / "runs", name="a"), person, None)
    assert "invalid task type 'buy'; use one of RETRIEVE, MUTATE, NAVIGATE\n" in capsys.readouterr().out


def test_an_option_answers_before_anybody_types(files):
    recording = Recording.create(files / "runs", name="a")
    record.answer(recording, Person(TypedLines(io.StringIO()), Interrupts(), lambda _: False), "7")
    assert json.loads((recording.directory / "agent_response.json").read_text())["retrieved_data"] == [7]
