"""No secret in any text of a recorded run leaves its directory, whichever recorder wrote it."""

from __future__ import annotations

import pytest

from tests.support import canaries
from tests.support.recorded_canaries import PLANTED_RUNS, Planting
from tests.support.recorded_runs import RECORDED_FORMATS

REPORTS = ("--junitxml=out/junit.xml", "--html=out/report.html", "--self-contained-html", "--webeval-report=out/report")
LOUD = ("-v", "-rA", "--webeval-metrics=out/metrics", "-p", "html")
WAYS = {
    "serial": ("--webeval-redact=default",),
    "parallel": ("--webeval-redact=default", "-n2", "-p", "xdist"),
    "strict": ("--webeval-redact=strict",),
}


@pytest.fixture
def planted(runs):
    """The runs of all formats with their secrets, below directories of the formats' names."""
    plantings = {name: Planting(name) for name in PLANTED_RUNS}
    for name, planting in plantings.items():
        for run in PLANTED_RUNS[name].runs():
            planting.copy(run, runs.root / name / run.parent.name / run.name)
    return plantings


@pytest.fixture
def leaving(pytester, webeval_apart):
    """All that a session lets out of the run directories: its output directory, and what it prints."""

    def read(*arguments):
        done = webeval_apart("--webeval-output=out", *REPORTS, *LOUD, *arguments)
        files = [path for path in (pytester.path / "out").rglob("*") if path.is_file()]
        assert len([path for path in files if path.name == "eval_result.json"]) > len(PLANTED_RUNS)
        return [*(path.read_bytes() for path in files), done.stdout.str(), done.stderr.str()]

    return read


def list_places(planted, texts):
    """The place of each secret that can be read in some texts, with the name of the format."""
    secrets = {secret: f"{name}: {place}" for name, plan in planted.items() for secret, place in plan.places.items()}
    return {secrets[secret] for secret in canaries.seen(*texts, names=secrets)}


def test_each_format_of_the_table_has_runs_with_secrets():
    assert sorted(PLANTED_RUNS) == sorted(RECORDED_FORMATS)


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("way", WAYS)
def test_no_secret_of_any_text_leaves_the_run_directories(planted, leaving, way):
    assert list_places(planted, leaving(*WAYS[way])) == set()


@pytest.mark.whole
def test_what_is_told_of_a_run_has_its_secrets_without_redaction(planted, leaving):
    places = list_places(planted, leaving("--webeval-redact=off"))
    for name, runs in PLANTED_RUNS.items():
        told = {place.rpartition(" ")[2] for place in places if place.startswith(f"{name}: ")}
        assert set(runs.told) <= told, name


def test_the_audit_finds_secrets_in_each_file_and_shows_none(planted, webeval):
    shown = webeval("--webeval-audit-secrets").stdout.str()
    assert list_places(planted, [shown]) == set()
    for name, planting in planted.items():
        files = {place.split(" ")[0] for place in planting.places.values()}
        assert [file for file in files if f"\n  {file}" not in shown] == [], name
