"""Which baselines a session refuses before it scores anything."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.session_end import SessionEnd
from tests.support.made_records import make_records
from tests.support.made_session import open_session

pytestmark = pytest.mark.unchecked_files("only the paths of summaries matter")

OWN = {
    "runs/eval_summary.json": [],
    "runs": [],
    "runs/107": ["--baseline-update"],
    "out": ["--output=out"],
    "link/eval_summary.json": ["--output=out"],
    "page/eval_summary.json": ["--output=out", "--report=page"],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with what sessions have left in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("runs/107", "out", "page"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("runs", "out", "page"):
        (tmp_path / name / "eval_summary.json").write_text("{}")
    (tmp_path / "link").symlink_to("out")
    return tmp_path


@pytest.mark.parametrize("baseline", OWN)
def test_a_baseline_is_not_what_the_session_writes(place, baseline):
    session = open_session(place, f"--baseline={baseline}", *OWN[baseline])
    with pytest.raises(SettingsError, match=f"--webeval-baseline: this session writes .*{baseline}.*; copy it to"):
        _ = session.checks


@pytest.fixture
def earlier(place):
    """The path of the summary of three runs."""
    session = open_session(place, "--output=before")
    session.collected.run_count = 3
    for record in make_records(3):
        session.records.keep(record)
    SessionEnd(session).sum_up(0)
    session.records.close()
    return place / "before/eval_summary.json"


@pytest.mark.parametrize("use", [[], ["--known-failures"], ["--gate=no-regression"]])
def test_a_partial_baseline_is_refused(place, earlier, use):
    summary = json.loads(earlier.read_bytes())
    summary["webeval"] |= {"partial": True, "deselected_count": 33}
    earlier.write_text(json.dumps(summary))
    session = open_session(place, f"--baseline={earlier}", *use)
    with pytest.raises(SettingsError, match=r"is partial \(3 of 36 tasks\); use a complete session"):
        _ = session.checks


def test_a_baseline_of_other_tasks_is_refused(place, earlier):
    session = open_session(place, f"--baseline={earlier}")
    assert session.checks is not None
    session.checks.check_baseline(["0", "7"])
    with pytest.raises(SettingsError, match="--webeval-baseline: no common task; check the path"):
        session.checks.check_baseline(["7"])
