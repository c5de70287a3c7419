"""A row of the option table is all that an option needs."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from pytest_webeval.redaction.policy import MODES
from pytest_webeval.rubrics.policy import CRITERIA, OVER_BUDGET
from pytest_webeval.rules import RULE_CHOICES
from pytest_webeval.sessions.settings import options, settings
from pytest_webeval.sessions.settings.option_values import PARSERS
from pytest_webeval.sessions.settings.options import OPTIONS, RERUN, RESULTS, option
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.tasks.dataset import BUNDLED, REFERENCE_NAME, SUITES


@dataclass(frozen=True, kw_only=True)
class LitSettings(Settings):
    """The settings with one more row."""

    lamp_colour: str = option(RERUN | RESULTS, "colour of the lamp", "COLOUR", "word", choices="white red")


COLOUR = fields(LitSettings)[-1].metadata["row"]._replace(name="lamp_colour")
SHOWING = """
def pytest_webeval_summary(summary, config):
    from pytest_webeval.plugin.workspace import WORKSPACE
    print("colour:", config.stash[WORKSPACE].settings.lamp_colour)
"""


@pytest.fixture(autouse=True)
def _one_more_option(monkeypatch):
    monkeypatch.setattr(options, "OPTIONS", (*OPTIONS, COLOUR))
    monkeypatch.setattr(settings, "Settings", LitSettings)


def test_a_row_is_an_option_with_help_and_an_ini_key(pytester):
    result = pytester.runpytest("--help")
    result.stdout.re_match_lines(
        [r"  --webeval-lamp-colour=COLOUR", r" +colour of the lamp", r"  webeval_lamp_colour .*"]
    )


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_help_text_is_one_short_phrase(option):
    assert len(option.help) < 80
    assert option.help[0].islower()
    assert not option.help.endswith(".")


@pytest.mark.parametrize(
    ("ini", "arguments", "value"),
    [("", (), "white"), ("", ("--webeval-lamp-colour=red",), "red"), ("webeval_lamp_colour = red", (), "red")],
)
def test_a_row_is_a_setting_of_the_command_line_and_of_the_ini_file(pytester, runs, webeval, ini, arguments, value):
    pytester.makeini(f"[pytest]\n{ini}")
    pytester.makeconftest(SHOWING)
    runs.add(107)
    webeval("-s", *arguments).stdout.fnmatch_lines([f"*colour: {value}"])


@pytest.mark.parametrize(
    ("ini", "arguments", "name"),
    [
        ("", ("--webeval-lamp-colour=x",), "--webeval-lamp-colour"),
        ("webeval_lamp_colour = x", (), "webeval_lamp_colour"),
    ],
)
def test_an_invalid_value_is_an_error_that_names_its_place(pytester, runs, webeval, ini, arguments, name):
    pytester.makeini(f"[pytest]\n{ini}")
    runs.add(107)
    webeval(*arguments).stderr.fnmatch_lines([f"ERROR: invalid {name} 'x'; use white or red"])


def test_commands_that_score_runs_again_repeat_it(runs, webeval):
    runs.add(107, passes=False)
    runs.add(108, passes=False)
    result = webeval("--webeval-lamp-colour", "red")
    result.stdout.fnmatch_lines(["*pytest --webeval-runs=runs --webeval-lamp-colour=red -k *"])


def test_results_of_a_session_with_another_value_are_not_reused(monkeypatch):
    names = [row.name for row in options.OPTIONS]
    white, red = (LitSettings(**dict.fromkeys(names, value)) for value in ("white", "red"))
    assert white.affecting_results()["lamp_colour"] == "'white'"
    assert white.affecting_results() != red.affecting_results()
    monkeypatch.setattr(options, "OPTIONS", (*OPTIONS, COLOUR._replace(effect=RERUN)))
    assert "lamp_colour" not in white.affecting_results()


def test_every_row_has_a_parser():
    assert {row.parse for row in OPTIONS} == PARSERS.keys()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("criterion", CRITERIA),
        ("over_budget", OVER_BUDGET),
        ("redact", MODES),
        ("rules", [*RULE_CHOICES]),
        ("subset", [*BUNDLED]),
        ("tasks", [REFERENCE_NAME, *SUITES]),
    ],
)
def test_the_choices_are_the_words_that_the_reader_of_the_setting_knows(name, words):
    (row,) = [row for row in OPTIONS if row.name == name]
    assert sorted(row.choices) == sorted(words)


def test_settings_do_not_change():
    settings = LitSettings(**{row.name: 60.0 for row in options.OPTIONS})
    with pytest.raises(AttributeError, match=r"^cannot assign to field 'timeout'$"):
        settings.timeout = 1
