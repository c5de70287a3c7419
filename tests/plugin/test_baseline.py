"""Sessions that are compared with an earlier one."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval import plugin


@pytest.fixture
def earlier(runs, webeval, pytester):
    """The summary of a session in which 107 failed and 108 and 109 succeeded; now it is the other way round for two."""
    runs.add(107, passes=False)
    runs.add(108)
    runs.add(109)
    webeval()
    path = pytester.path / "then.json"
    told = json.loads((runs.root / "eval_summary.json").read_bytes())
    path.write_text(json.dumps(told | {"timestamp": "2026-01-30T12:00:00Z"}))
    for task_id, name in ((107, "109"), (108, "107")):
        shutil.copy(runs.root / name / "agent_response.json", runs.root / f"{task_id}.json")
    for task_id in (107, 108):
        (runs.root / f"{task_id}.json").replace(runs.root / str(task_id) / "agent_response.json")
    return path


DETAILS = ("overall", "sites", "problems", "changes", "sentence", "is_regression")


def lines(result):
    return [line for line in result.outlines if line.startswith(("since baseline", "the baseline"))]


@pytest.mark.parametrize("spread", [[], pytest.param(["-n2"], marks=pytest.mark.whole)])
def test_flips_are_told_and_written(runs, webeval_apart, earlier, spread):
    runs.add(110)
    result = webeval_apart("--webeval-baseline=then.json", *spread)
    assert lines(result) == [
        "since baseline (2026-01-30): 1 regressed: 108; 1 fixed: 107; 1 extra: 110",
        "the baseline used other task definitions; these may explain the changes",
    ]
    told = runs.summary["webeval"]["baseline"]
    assert {name: told[name] for name in told if name not in DETAILS} == {
        "timestamp": "2026-01-30T12:00:00Z",
        "success_rate": 2 / 3,
        "rules": "strict",
        "partial": False,
        "same_rules": True,
        "same_evaluators": True,
        "same_tasks": False,
        "regressed": ["runs/108"],
        "newly_erring": [],
        "fixed": ["runs/107"],
        "new": ["runs/110"],
        "gone": [],
    }
    assert [(change["kind"], change["task_id"], change["causes"]) for change in told["changes"]] == [
        ("regressed", 108, ["recording"]),
        ("fixed", 107, ["recording"]),
    ]
    assert told["sentence"] == (
        "as many solved of 3 that both judged, and 1 against 1 changed sides: p = 1.000, this can be noise"
    )
    result.stdout.fnmatch_lines([f"  {told['sentence']}", "  because of other recording: 108, 107"])
    assert result.ret == 1


def test_without_a_change_nothing_is_said_to_have_flipped(runs, webeval):
    runs.add(107, passes=False)
    webeval("--webeval-output=before")
    result = webeval("--webeval-baseline=before")
    assert [line.partition("): ")[2] for line in lines(result)] == ["no changes"]


def test_what_else_changed_is_told_in_one_line(runs, webeval, earlier):
    told = json.loads(earlier.read_bytes())
    told |= {f"webarena_verified_{name}": "other" for name in ("evaluator_checksum", "data_checksum")}
    told["webeval"]["rules"] = "\x1b[0mstrict"
    earlier.write_text(json.dumps(told))
    assert lines(webeval("--webeval-baseline=then.json"))[1] == (
        "the baseline used other rules (\\u001b[0mstrict) and evaluators and task definitions; "
        "these may explain the changes"
    )


def test_runs_that_were_not_asked_for_are_not_said_to_be_gone(runs, webeval, earlier):
    assert lines(webeval("--webeval-baseline=then.json", "-k", "[108]")) == [
        "since baseline (2026-01-30): 1 regressed: 108"
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "--webeval-baseline: not found: *then.json; name a summary or a directory of results"),
        ("{", "--webeval-baseline: *then.json as JSON:*"),
        ("[]", "--webeval-baseline: invalid eval_summary.json *then.json: Expected `object`, got `array`*"),
    ],
)
def test_a_baseline_that_cannot_be_read_ends_the_session_before_it_scores(runs, webeval, pytester, content, told):
    runs.add(107)
    if content:
        (pytester.path / "then.json").write_text(content)
    result = webeval("--webeval-baseline=then.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {told}"])
    assert runs.written == []


def test_an_ini_file_names_a_baseline_beside_it(runs, webeval, pytester, earlier):
    pytester.makeini("[pytest]\nwebeval_baseline = then.json")
    assert len(lines(webeval())) == 1


def test_the_summary_of_each_root_tells_of_its_own_runs(runs, webeval, another_root, pytester):
    runs.add(107)
    webeval()
    (runs.root / "eval_summary.json").rename(pytester.path / "before.json")
    other = another_root("others")
    other.add(207)
    (runs.root / "107" / "agent_response.json").write_text("{}")
    webeval("--webeval-runs=others", "--webeval-baseline=before.json")
    of_root, of_other = runs.summary["webeval"]["baseline"], other.summary["webeval"]["baseline"]
    assert (of_root["regressed"], of_root["new"], of_root["gone"]) == (["runs/107"], [], [])
    assert (of_other["regressed"], of_other["new"], of_other["gone"]) == ([], ["others/207"], [])


def assigned_attributes(tree):
    """The attributes that code assigns, as text: `reporter.compare`."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            members = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (ast.unparse(member) for member in members if isinstance(member, ast.Attribute))


def test_no_module_replaces_a_part_of_the_reporter_from_outside():
    paths = sorted(Path(plugin.__path__[0]).rglob("*.py"))
    names = [name for path in paths for name in assigned_attributes(ast.parse(path.read_text()))]
    assert "self.session.unscored" in names  # the session is what the reporter fills
    assert [name for name in names if name.startswith(("reporter.", "self.reporter.", "self.end."))] == []
