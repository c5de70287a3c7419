"""Without `--webeval-rules`, published tasks are judged by `default` and all others by `strict`."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_webeval import api, load_tasks

BOTH = "rules: default for 1 run of published tasks, strict for 2 runs of other tasks"
Q13 = "Q13 (tolerant_decoding)"


@pytest.fixture
def marked(runs, publish):
    """Runs of a published task and of two others, whose answers begin with a byte order mark: `default` reads none."""
    for task_id in (7, 8, 9):
        path = runs.add(task_id) / "agent_response.json"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    publish(runs.tasks[0])
    return runs


def judged(runs):
    return {name: (runs.result(name)["webeval"]["rules"], runs.result(name)["status"]) for name in (7, 8, 9)}


AUTO = {7: ("default", "failure"), 8: ("strict", "success"), 9: ("strict", "success")}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), AUTO),
        (("--webeval-rules=auto",), AUTO),
        (("--webeval-rules=default",), dict.fromkeys((7, 8, 9), ("default", "failure"))),
        (("--webeval-rules=reference",), dict.fromkeys((7, 8, 9), ("reference", "failure"))),
        (("--webeval-rules=strict",), dict.fromkeys((7, 8, 9), ("strict", "success"))),
    ],
)
def test_the_origin_of_a_task_chooses_its_rules_if_no_option_does(marked, webeval, options, expected):
    result = webeval(*options)
    assert judged(marked) == expected
    names = {rules for rules, _ in expected.values()}
    assert marked.summary["webeval"]["rules"] == ",".join(sorted(names))
    assert (BOTH in result.stdout.str()) is (len(names) > 1)


def test_the_command_and_the_api_choose_them_too(marked, pytester):
    assert (
        pytester.run(sys.executable, "-m", "pytest_webeval", "score", "runs").ret == 0
    )  # which knows no published task
    assert {rules for rules, _ in judged(marked).values()} == {"strict"}
    tasks = load_tasks(str(marked.root / "tasks.json"))
    found = {run.task_id: api.score(run, tasks) for run in api.find_runs(marked.root)}
    assert {name: (found[name].webeval["rules"], str(found[name].status)) for name in found} == AUTO
    assert api.score(api.load_run(marked.root / "7"), tasks).webeval["rules"] == "default"
    assert [result.webeval["rules"] for result in api.score_runs(marked.root)] == ["default", "strict", "strict"]
    assert {result.webeval["rules"] for result in api.score_runs(marked.root, rules="reference")} == {"reference"}
    with pytest.raises(api.SettingsError, match="unknown rules 'right'; use one of auto, default, reference, strict"):
        next(api.find_runs(marked.root, rules="right"))


def test_an_ini_file_chooses_and_the_command_line_goes_back(marked, webeval, pytester):
    pytester.makeini("[pytest]\nwebeval_rules = strict\n")
    webeval()
    assert {rules for rules, _ in judged(marked).values()} == {"strict"}
    webeval("--webeval-rules=auto")
    assert judged(marked) == AUTO


def test_only_published_tasks_are_compared_with_the_reference(marked, webeval):
    webeval("--webeval-rules=strict")
    warned = {name: marked.result(name)["webeval"]["warnings"] for name in (7, 8, 9)}
    assert [text.startswith(f"{Q13} changed this verdict to success") for text in warned[7]] == [True]
    assert (warned[8], warned[9]) == ([], [])


def test_what_a_recording_lacked_is_said_of_every_task(runs, publish, webeval):
    for task_id in (7, 8):
        path = runs.add(task_id) / "network.har"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    publish(runs.tasks[0])
    webeval()
    (published,), (own,) = (runs.result(name)["webeval"]["warnings"] for name in (7, 8))
    assert published.startswith("Q43 (repaired_traces) changed this verdict to success")
    assert own == "runs/8/network.har starts with a byte order mark; what can be read of it is read"


def test_a_recording_that_is_refused_names_a_rule_only_for_a_published_task(runs, publish, webeval):
    for task_id in (7, 8):
        (runs.add(task_id) / "network.har").write_bytes(b"")
    publish(runs.tasks[0])
    webeval().assert_outcomes(errors=2)
    (published,), own = (runs.result(name)["webeval"]["warnings"] for name in (7, 8))
    assert published.startswith("Q4 (events_required) changed this verdict to error")
    assert own == []
    assert [runs.result(name)["webeval"]["rules"] for name in (7, 8)] == ["default", "strict"]


def test_a_definition_in_the_run_is_judged_by_its_digest_and_stays_untrusted(runs, publish, webeval):
    path = runs.add(7)
    (path / "task.json").write_text(json.dumps(runs.tasks[0]))
    (runs.root / "tasks.json").unlink()
    publish(runs.tasks[0])
    webeval("--webeval-own-tasks")
    assert runs.result(7)["webeval"]["rules"] == "default"
    assert "comes from the run directory" in runs.result(7)["webeval"]["warnings"][0]


def test_results_are_reused_where_the_same_rules_judge(marked, webeval):
    webeval("--webeval-reuse")
    webeval("--webeval-rules=strict", "--webeval-reuse")
    assert marked.summary["webeval"]["reused_count"] == 2
    assert judged(marked) == {7: ("strict", "success"), 8: ("strict", "success"), 9: ("strict", "success")}
    webeval("--webeval-reuse")
    assert marked.summary["webeval"]["reused_count"] == 2
    assert judged(marked) == AUTO


def test_a_task_that_is_no_longer_published_is_scored_again(marked, webeval, publish):
    webeval("--webeval-reuse")
    publish(*marked.tasks[:2])
    webeval("--webeval-reuse")
    assert marked.summary["webeval"]["reused_count"] == 2
    assert judged(marked)[8] == ("default", "failure")


def test_a_session_over_some_of_the_tasks_has_the_rules_of_one_over_all(marked, webeval, pytester):
    webeval()
    (marked.root / "eval_summary.json").rename(pytester.path / "before.json")
    some = webeval("--webeval-baseline=before.json", "runs/8")
    assert "used other" not in some.stdout.str()
    assert comparison(marked)["same_rules"]
    other = webeval("--webeval-baseline=before.json", "--webeval-rules=strict")
    other.stdout.fnmatch_lines(["the baseline used other rules (default,strict)*"])
    assert not comparison(marked)["same_rules"]


def comparison(runs):
    name = next(runs.root.glob("eval_summary*.json"))
    return json.loads(name.read_text())["webeval"]["baseline"]


def test_shards_of_a_session_choose_alike(marked, webeval, pytester):
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", f"--webeval-output=shard{index}")
    merged = pytester.run(sys.executable, "-m", "pytest_webeval", "merge", "shard1", "shard2", "--output", "merged")
    assert merged.ret in (0, 1)
    summary = json.loads((pytester.path / "merged/eval_summary.json").read_text())
    assert summary["webeval"]["rules_counts"] == {"default": 1, "strict": 2}
