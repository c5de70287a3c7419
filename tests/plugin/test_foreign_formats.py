"""A format of the user's that raises costs its run, and no other."""

from __future__ import annotations

import pytest

from pytest_webeval.recordings.webarena_verified import WebArenaVerified

CONFTEST = """
    class Format:
        name = "mine"
        def load(self, path, label, rules):
            raise {raised}

    def pytest_webeval_recognize(path, config):
        return Format() if path.name == "108" else None
"""
RAISED = [
    ("OSError(5, 'Input/output error')", "OSError: [Errno 5] Input/output error"),
    ("ZeroDivisionError('one\\n two')", "ZeroDivisionError: one two"),
    ("KeyError('answer')", "KeyError: 'answer'"),
]


@pytest.fixture(params=RAISED, ids=["OSError", "ZeroDivisionError", "KeyError"])
def told(request, runs, pytester):
    """What is said of a run that its format cannot load, beside one that is good."""
    raised, shown = request.param
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(CONFTEST.format(raised=raised))
    return f"the format mine cannot load runs/108: {shown}; fix its load() and rerun"


def test_a_format_that_raises_costs_one_run(runs, webeval, told):
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.reasons == {"108": told}


def test_a_format_that_raises_costs_one_python_test(runs, webeval, pytester, told):
    path = pytester.makepyfile("def test_it(webeval_run): assert webeval_run.task_id == 107")
    result = webeval(path)
    result.assert_outcomes(passed=1, errors=1)
    shown = told.replace("runs", str(runs.root)).replace("[", "[[]")
    result.stdout.fnmatch_lines([f"*RecordingError: {shown}"])


def test_a_format_of_the_package_that_raises_costs_one_run(runs, webeval, monkeypatch):
    load = WebArenaVerified.load

    def load_or_raise(self, path, label, rules):
        if path.name == "108":
            raise ZeroDivisionError("one\n two")
        return load(self, path, label, rules)

    runs.add(107)
    runs.add(108)
    monkeypatch.setattr(WebArenaVerified, "load", load_or_raise)
    webeval().assert_outcomes(passed=1, errors=1)
    name = WebArenaVerified.name
    problem = f"the format {name} cannot load runs/108: ZeroDivisionError: one two"
    assert runs.reasons == {"108": f"{problem}; report it as a bug of pytest-webeval"}


def test_a_format_of_the_package_that_may_not_look_at_a_directory_costs_one_run(runs, webeval, monkeypatch):
    recognizes = WebArenaVerified.recognizes_listing

    def recognize_or_raise(self, listing):
        if "secret" in listing.names:
            raise PermissionError(13, "Permission denied")
        return recognizes(self, listing)

    runs.add(107)
    (runs.add(108) / "secret").touch()
    monkeypatch.setattr(WebArenaVerified, "recognizes_listing", recognize_or_raise)
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.reasons == {"108": "cannot read runs/108: Permission denied; make it readable"}
