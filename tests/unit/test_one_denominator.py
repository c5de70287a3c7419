"""One rate in every output: success / (success + failure + error), for each format and with damaged runs next to it.

The counts are those of a few lines that read the files of the recorder and nothing of ours.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from pytest_webeval import load_results, load_sites, score_runs
from pytest_webeval.exports.every_eval_ever import format_records
from pytest_webeval.exports.settings import EvaluationFacts, ExportSettings
from pytest_webeval.reports.ci import annotation, markdown, open_metrics
from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_rows import IndexRow
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.reports.terminal import SessionFacts, render_summary
from pytest_webeval.summary.comparison.history import build_history
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import write_summary
from tests.support.recorded_runs import find_samples

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "example_suite"
VERDICTS = json.loads((EXAMPLES / "verdicts.json").read_bytes())


def read(path):
    return json.loads(path.read_bytes())


def judge_response(run):
    return VERDICTS[run.name]["status"] == "success"


def judge_fara(run):
    scores = [read(path)["score"] for path in sorted(run.glob("scores/*.json"))]
    answer = next((read(path) for path in run.glob("*_answer.json")), {"is_aborted": True})
    return None if answer["is_aborted"] or not scores else scores[0] == 1


def judge_online_mind2web(run):
    result = read(run / "result.json")
    if "judge" in result:
        return result["judge"]["score"] == 100
    return None if result.get("final_result_response", result.get("agent_final_answer")) else False


def judge_stagehand(run):
    return read(next(run.glob("scores/*.json")))["outcomeSuccess"]


def judge_atif(run):
    rewards = (read(run / "result.json")["verifier_result"] or {}).get("rewards")
    return rewards["reward"] == 1 if rewards else None


def judge_webvoyager(run):
    last = read(run / "interact_messages.json")[-1]
    is_lost = "Driver error" in (run / "agent.log").read_text() or last["role"] != "assistant"
    return None if is_lost or "ANSWER" in last["content"] else False


def judge_browser_use(run):
    history = read(run / "AgentHistory.json")["history"]
    last = history[-1]["result"][-1] if history else {}
    if (last.get("judgement") or {}).get("verdict") is not None:
        return last["judgement"]["verdict"]
    is_lost = all(entry["model_output"] is None for entry in history) or "Rate limit" in (last.get("error") or "")
    return None if last.get("is_done") or is_lost else False


def judge_agentlab(run):
    summary = read(run / "summary_info.json")
    is_ended = summary.get("terminated") or summary.get("truncated")
    is_of_agent = summary["err_msg"] is not None and summary["stack_trace"] and summary.get("terminated") is not None
    is_counted = (is_ended or is_of_agent) and not run.name.startswith("_")
    return summary["cum_reward"] == 1 if is_counted else None


def judge_clawbench(run):
    meta = read(run / "run-meta.json")
    if not meta["intercepted"]:
        return None if meta["failure_category"] == "infra_failure" else False
    judged = [read(path)["match"] for path in sorted(run.glob("judge*.json"))]
    return judged[0] if judged else meta.get("judge_match")


# The runs of a format, their main file, and what they say of a run: success, failure, or None where it is excluded.
SAMPLES = {
    "webarena-verified": (EXAMPLES / "runs", "agent_response.json", judge_response),
    "fara": (EXAMPLES / "trajectories/runs", "*_answer.json", judge_fara),
    "online-mind2web": (find_samples("online-mind2web"), "result.json", judge_online_mind2web),
    "stagehand": (find_samples("stagehand") / "2026-06_run_task", "trajectory.json", judge_stagehand),
    "atif": (find_samples("atif"), "result.json", judge_atif),
    "webvoyager": (find_samples("webvoyager"), "interact_messages.json", judge_webvoyager),
    "browser-use": (find_samples("browser-use"), "AgentHistory.json", judge_browser_use),
    "agentlab": (find_samples("agentlab"), "summary_info.json", judge_agentlab),
    "clawbench": (find_samples("clawbench"), "run-meta.json", judge_clawbench),
}
OTHER_RUNS = ("105", "307")  # of a task with an evaluator of its own, and one that is an error
DAMAGES = (
    lambda path: path.write_bytes(path.read_bytes().rstrip()[:-1]),
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b"[1]"),
    lambda path: path.write_bytes(b"\0" * 99),
)
ABOUT = {"subset": None, "partial": False, "unscored": [], "stopped": None}
FACTS = EvaluationFacts(benchmark="b", model="m/m", organization="o", relationship="third_party")


def count(judged):
    """Successes, failures and excluded runs."""
    return [sum(verdict is expected for verdict in judged.values()) for expected in (True, False, None)]


def damage_copy(run, main, number):
    """Add a copy of a run and damage its main file."""
    copy = run.with_name(f"{run.name[:-1]}{number}{run.name[-1]}")
    shutil.copytree(run, copy)
    DAMAGES[number](next(copy.glob(main)))


def score(root, output):
    """Score all runs and write the summary. Returns it with its records."""
    sites = load_sites(EXAMPLES / "config.json") if (root / "tasks.json").exists() else None
    results = score_runs(root, sites=sites, output=output)
    records = [Record.of(result, None) for result in results]
    summary = summarize_records(records, about=ABOUT)
    write_summary(output / "eval_summary.json", summary)
    return summary, records


def list_outputs(summary, records, output):
    """What each output says: rate in percent, and of how many runs."""
    rerun = RerunCommands({record.run: record.task_id for record in records})
    text = "\n".join(render_summary(summary, rerun, SessionFacts([], 0, [], [], [])))
    (scored,), (rate,) = re.findall(r"(?m)^(\d+) scored: ", text), re.findall(r"(?m)^success rate ([\d.]+)%", text)
    totals = index_view([IndexRow(record) for record in records], summary, "t", lambda _: None)["totals"]
    exported = [row for row in load_results(output) if row.is_judged]
    (document, _) = format_records(load_results(output), ExportSettings(facts=FACTS)).values()
    public = json.loads(document)["evaluation_results"][0]["score_details"]
    (session,) = build_history([read_session(output)])["sessions"]
    metrics = dict(line.rsplit(" ", 1) for line in open_metrics(summary).splitlines()[:-1])
    page = markdown(summary, rerun, 2**20)
    return {
        "summary": (100 * summary.webeval["success_rate"], summary.webeval["success_rate_denominator"]),
        "counts": (100 * summary.success_count / summary.total, summary.total),
        "terminal": (float(rate), int(scored)),
        "report": (100 * totals["rate"], totals["denominator"]),
        "export": (100 * sum(row.is_success for row in exported) / len(exported), len(exported)),
        "public record": (100 * public["score"], int(public["details"]["runs"])),
        "history": (100 * session["success_rate"], session["judged_count"]),
        "metrics": (100 * float(metrics["webeval_success_rate"]), int(metrics["webeval_total"])),
        "page": (float(re.search(r"([\d.]+)% success", page)[1]), int(re.search(r" of (\d+) succeeded", page)[1])),
        "annotation": tuple(
            float(re.search(form, annotation(summary, "t"))[1]) for form in (r"\(([\d.]+)%25\)", r"of (\d+) succeeded")
        ),
    }


@pytest.mark.thinned(every=3)
@pytest.mark.filterwarnings("ignore:runs inside other runs")
@pytest.mark.parametrize("name", SAMPLES)
def test_every_output_has_the_rate_of_an_independent_count_with_damaged_runs(tmp_path, name):
    samples, main, judge = SAMPLES[name]
    root = tmp_path / "runs"
    shutil.copytree(samples, root)
    for run in OTHER_RUNS:
        shutil.rmtree(root / run, ignore_errors=True)
    runs = sorted({path.parent for sign in (main, "web_surfer.log") for path in root.rglob(sign)})
    success, failure, excluded = count({run: judge(run) for run in runs})
    template = next(run for run in runs if judge(run) is not None)
    before = None
    for errors in range(len(DAMAGES) + 1):
        if errors:
            damage_copy(template, main, errors - 1)
        output = tmp_path / f"output{errors}"
        summary, records = score(root, output)
        assert (summary.success_count, summary.failed_count, summary.error_count) == (success, failure, errors)
        assert summary.webeval["excluded_count"] == sum(summary.webeval["excluded_counts"].values()) == excluded
        total = success + failure + errors
        for place, (rate, denominator) in list_outputs(summary, records, output).items():
            assert (place, round(rate, 1), denominator) == (place, round(100 * success / total, 1), total)
        session = read_session(output)
        compared = SessionComparison(before or session, session).to_json()["after"]
        assert (compared["success_count"], compared["judged_count"]) == (success, total)
        before = session
