"""--webeval-audit-secrets lists what runs contain, and shows none of it."""

from __future__ import annotations

import json
import os

import pytest

from tests.support import canaries, recorded


@pytest.fixture
def audit(webeval):
    return lambda *arguments: webeval("--webeval-audit-secrets", *arguments)


def add(runs, task_id, body, write):
    path = runs.add(task_id)
    write(path, body)
    (path / "agent_response.json").write_text(canaries.answer())
    return path


def test_it_lists_place_kind_name_count_and_replacement_of_each_secret(runs, audit):
    add(runs, 107, "form", canaries.as_har)
    done = audit()
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(
        [
            "runs/107: * secrets",
            "  agent_response.json: credentials of a URL password, 1 time: redacted-????????-17",
            "  network.har, event 1: cookie sid, 2 times: redacted-????????-19",
            "  network.har, event 1: header Authorization, 1 time: redacted-????????-21",
            "  network.har, event 1: parameter access_token, 1 time: redacted-????????-15",
            "* secrets in 1 of 1 run",
            "  cookie: *",
        ]
    )


@pytest.mark.parametrize("body", canaries.BODIES)
@pytest.mark.parametrize("write", [canaries.as_har, canaries.as_trace])
def test_it_finds_every_secret_and_shows_none(runs, audit, body, write):
    add(runs, 107, body, write)
    shown = audit().stdout.str()
    assert canaries.seen(shown) == set()
    for found in ("card_token", "password") if body == "form" else ("password",):
        assert f" {found}, 1 time: redacted-" in shown
    for found in ("X-CSRF-Token", "access_token", "session_token", "cookie sid", "client_secret", "web token", "key"):
        assert f" {found}, " in shown


def test_it_reads_logs_answers_scores_and_the_log_of_the_execution(runs, audit):
    canaries.fara(runs.root / recorded.RUN / "a")
    done = audit()
    assert canaries.seen(done.stdout.str()) == set()
    for place in ("a_final_answer.json", "core.log, line 2", "scores/mmrubric_0.8-5-3.json", "web_surfer.log, line 1"):
        done.stdout.fnmatch_lines([f"  {place}: *redacted-*"])


def test_replacements_are_those_of_the_results(runs, audit, pytester, webeval):
    runs.add(107, expects=(canaries.expectation("form"),))
    canaries.as_har(runs.root / "107", "form")
    webeval("--webeval-output=out")
    result = json.loads((pytester.path / "out/107/eval_result.json").read_bytes())
    assert f": {result['evaluators_results'][1]['actual']['response_cookies']['sid']}\n" in audit().stdout.str()


def test_nothing_is_scored_or_written(runs, audit):
    runs.add(107, passes=False)
    done = audit()
    assert done.ret == pytest.ExitCode.OK
    assert runs.written == []
    done.stdout.fnmatch_lines(["0 secrets in 0 of 1 run"])


def test_a_run_that_cannot_be_read_costs_a_line(runs, audit):
    os.mkfifo(add(runs, 107, "form", canaries.as_har) / "pipe.json")
    (runs.add(108) / "trace.zip").write_bytes(b"PK")
    add(runs, 109, "json", canaries.as_har)
    done = audit()
    assert done.ret == pytest.ExitCode.OK
    done.stdout.fnmatch_lines(
        [
            "runs/107: * secrets",
            "  not read: *pipe.json is not a regular file*",
            "runs/108: 0 secrets",
            "  not read: cannot read archive *trace.zip*",
            "runs/109: * secrets",
        ]
    )


def test_control_characters_of_names_reach_no_terminal(runs, audit):
    path = runs.add(107)
    (path / "agent_response.json").write_text(json.dumps({"\x1b[31mpassword": "secret12"}))
    done = audit()
    assert "\x1b" not in done.stdout.str()
    done.stdout.fnmatch_lines(["  agent_response.json: member ?u001b?31mpassword, 1 time: *"])


def test_without_runs_it_says_how_to_name_them(pytester):
    done = pytester.runpytest("--webeval-audit-secrets")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--webeval-audit-secrets requires recorded runs; pass --webeval-runs=DIR*"])


def test_two_audits_say_the_same(runs, audit):
    add(runs, 107, "json", canaries.as_trace)
    assert audit().outlines == audit().outlines
