"""`webeval calibrate`: numbers computed by hand, labels, certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.judges.certificates import read_certificate
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.summary.judges import calibration
from tests.support.judged_results import JUDGE, judged, list_labels, to_csv, write_session
from tests.support.stored_results import row, write_results, write_summary

OUTPUT = """\
judge: gpt-4o, method webjudge, version 2, 3 votes, threshold 0.8
60 of 75 judged runs compared with labels.csv

                   label success  label failure
verdict success               20              5
verdict failure                4             31

accuracy          85.0% (95% interval 73.9% to 91.9%), 51 of 60
precision         80.0% (95% interval 60.9% to 91.1%), 20 of 25
recall            83.3% (95% interval 64.1% to 93.3%), 20 of 24
specificity       86.1% (95% interval 71.3% to 93.9%), 31 of 36
base rate         40.0% (95% interval 28.6% to 52.6%), 24 of 60
kappa             0.69 (95% interval 0.50 to 0.88)
annotators        agree in 83.3%, kappa 0.67, Fleiss' kappa -0.33 over 2 runs (the ceiling)
self-consistency  97.8% of votes, 70 of 75 runs unanimous

success rate      45.3% (95% interval 34.6% to 56.6%), 34 of 75: as the judge has it
corrected         45.3% (95% interval 24.2% to 68.7%): without the judge's errors

by site:
  site  labelled  accuracy  precision  recall  kappa  base rate
  shop        32     90.6%      92.3%   85.7%   0.81      43.8%
  map         28     78.6%      66.7%   80.0%   0.55      35.7%
"""

pytestmark = pytest.mark.unchecked_files("results of a synthetic judge")


@pytest.fixture
def session(tmp_path, monkeypatch):
    """The directory of a judged session, and the labels of its runs."""
    monkeypatch.chdir(tmp_path)
    write_session(tmp_path / "session")
    (tmp_path / "labels.csv").write_text(to_csv(list_labels()), "utf-8")
    return tmp_path


def calibrate(capsys, *arguments):
    """Exit code, output and errors of the command."""
    capsys.readouterr()
    code = main(["calibrate", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def read_numbers(capsys, *arguments):
    code, _, problem = calibrate(capsys, *arguments, "--json", "numbers.json")
    assert (code, problem) == (0, "")
    return json.loads(Path("numbers.json").read_text("utf-8"))


def refused(capsys, *arguments):
    code, output, problem = calibrate(capsys, *arguments)
    assert (code, output) == (4, "")
    return problem


def write(path, content):
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, "utf-8")
    return path.name


def test_the_numbers_of_60_labelled_runs_are_those_computed_by_hand(session, capsys):
    assert calibrate(capsys, "session", "--labels", "labels.csv") == (0, OUTPUT, "")


def test_the_json_has_the_same_numbers_unrounded(session, capsys):
    raw = read_numbers(capsys, "session", "--labels", "labels.csv")
    table = raw["table"]
    assert {name: table[name]["value"] for name in ("accuracy", "precision", "recall", "specificity")} == {
        "accuracy": 51 / 60,
        "precision": 20 / 25,
        "recall": 20 / 24,
        "specificity": 31 / 36,
    }
    assert (table["base_rate"]["value"], table["base_rate"]["count"], table["base_rate"]["total"]) == (0.4, 24, 60)
    expected = (25 * 24 + 35 * 36) / 3600
    assert table["kappa"]["value"] == pytest.approx((51 / 60 - expected) / (1 - expected))
    assert raw["annotators"]["agreement"] == 20 / 24
    assert raw["annotators"]["mean_kappa"] == pytest.approx((20 * 0.8 + 2 * 1.0 + 2 * -1.0) / 24)
    assert raw["annotators"]["fleiss_kappa"] == pytest.approx((1 / 3 - 1 / 2) / (1 / 2))
    pairs = [(pair["annotators"], pair["total"], pair["accuracy"]["count"]) for pair in raw["annotators"]["pairs"]]
    assert pairs == [(["ann", "bob"], 20, 18), (["ann", "cleo"], 2, 2), (["bob", "cleo"], 2, 0)]
    assert raw["self_consistency"] == {"value": pytest.approx((70 + 5 * 2 / 3) / 75), "unanimous": 70, "run_count": 75}
    assert raw["raw_success_rate"]["value"] == 34 / 75
    corrected = (34 / 75 + 31 / 36 - 1) / (20 / 24 + 31 / 36 - 1)
    assert raw["corrected_success_rate"]["value"] == pytest.approx(corrected)
    assert [(site["name"], site["total"]) for site in raw["sites"]] == [("map", 28), ("shop", 32)]
    assert raw["benchmarks"] == []
    counts = ("schema_version", "judged_count", "task_count", "labelled_count", "unjudged_count")
    assert [raw[name] for name in counts] == [1, 75, 75, 60, 0]
    assert raw["judges"] == [{name: JUDGE[name] for name in raw["judges"][0]}]


@pytest.mark.parametrize("shape", ["rows", "lines", "by task", "coded", "by run", "several files"])
def test_labels_of_any_shape_give_the_same_table(session, capsys, shape):
    labels = list_labels()
    options = ["--labels", "other.json"]
    by_task = {}
    for label in labels:
        by_task.setdefault(label["task_id"], {})[label["annotator"]] = label["label"]
    if shape == "rows":
        write(session / "other.json", labels)
    elif shape == "lines":
        options = ["--labels", write(session / "other.jsonl", "\n".join(map(json.dumps, labels)))]
    elif shape == "by task":
        write(session / "other.json", by_task)
    elif shape == "coded":
        rows = [{"t": each["task_id"], "who": each["annotator"], "y": each["label"] == "success"} for each in labels]
        write(session / "other.json", rows)
        options += ["--id-column=t", "--label-column=y", "--annotator-column=who"]
        options += ["--coding=true=success,false=failure"]
    elif shape == "by run":
        write(session / "other.json", {f"runs/{task.removeprefix('t')}": given for task, given in by_task.items()})
    else:
        options = []
        for name in ("ann", "bob", "cleo"):
            given = {each["task_id"]: each["label"] for each in labels if each["annotator"] == name}
            options += ["--labels", write(session / f"{name}.json", given)]
    code, output, problem = calibrate(capsys, "session", *options)
    assert (code, problem) == (0, "")
    assert output.splitlines()[3:] == OUTPUT.splitlines()[3:]


def test_ties_exclusions_and_labels_without_a_run_are_named(session, capsys):
    labels = [*list_labels(), {"task_id": "t60", "annotator": "ann", "label": "excluded"}]
    labels += [{"task_id": "t61", "annotator": name, "label": label} for name, label in
               [("ann", "success"), ("bob", "failure")]]  # fmt: skip
    labels += [{"task_id": "t99", "annotator": "ann", "label": "success"}]
    labels += [{"task_id": "", "annotator": "ann", "label": ""}]
    (session / "labels.csv").write_text(to_csv(labels), "utf-8")
    _, output, _ = calibrate(capsys, "session", "--labels", "labels.csv")
    assert output.splitlines()[1] == "60 of 75 judged runs compared with labels.csv"
    assert output.splitlines()[-3:] == [
        "note: 1 label is a tie and does not count: runs/61",
        "note: 1 run is excluded by its label: runs/60",
        "note: 1 label matches no judged run: t99",
    ]


def test_runs_that_no_judge_decided_do_not_count(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    excluded = judged(6, verdict=False)
    excluded["webeval"]["excluded"] = "aborted"
    unjudged = judged(7, verdict=True)
    unjudged["evaluators_results"][0]["evaluator_name"] = "AgentResponseEvaluator"
    results = [
        judged(1, verdict=True),
        judged(2, verdict=False, status="gate"),
        judged(3, verdict=False, status="zero"),
        judged(4, verdict=True, writer="human"),
        judged(5, verdict=None),
        excluded,
        unjudged,
        judged(8, verdict=False),
    ]
    write_results(tmp_path / "session", *results)
    labels = write(tmp_path / "labels.json", {f"t{number}": "success" for number in range(1, 9)})
    raw = read_numbers(capsys, "session", "--labels", labels)
    assert (raw["judged_count"], raw["unjudged_count"], raw["labelled_count"]) == (2, 6, 2)
    assert raw["unmatched"] == ["t2", "t3", "t4", "t5", "t6", "t7"]
    assert (raw["table"]["true_positive"], raw["table"]["false_negative"]) == (1, 1)
    _, output, _ = calibrate(capsys, "session", "--labels", labels)
    assert output.splitlines()[1] == "2 of 2 judged runs compared with labels.json; 6 without a verdict of a judge"
    lines = [line.split(maxsplit=1) for line in output.splitlines()]
    assert ["specificity", "undefined"] in lines
    assert ["kappa", "0.00 (95% interval 0.00 to 0.00)"] in lines
    assert ["annotators", "one label of each run: the ceiling is unknown"] in lines
    assert ["corrected", "undefined: without the judge's errors"] in lines


def test_benchmarks_have_tables_where_there_are_several(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    results = [judged(1, verdict=True), judged(2, verdict=False, benchmark="Online-Mind2Web"), judged(3, verdict=True)]
    write_results(tmp_path / "session", *results)
    labels = write(tmp_path / "labels.json", {"t1": "success", "t2": "success", "t3": "success"})
    _, output, _ = calibrate(capsys, "session", "--labels", labels)
    assert output.splitlines()[-4:] == [
        "by benchmark:",
        "  benchmark        labelled  accuracy  precision  recall  kappa  base rate",
        "  WebVoyager              2    100.0%     100.0%  100.0%      -     100.0%",
        "  Online-Mind2Web         1      0.0%          -    0.0%   0.00     100.0%",
    ]


def test_a_task_with_several_runs_is_labelled_by_the_names_of_its_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    results = [judged("1", verdict=True), judged("1", verdict=False)]
    results[1]["webeval"]["run"] = "runs/again"
    write_results(tmp_path / "session", *results)
    labels = write(tmp_path / "labels.json", {"t1": "success", "runs/again": "failure"})
    _, output, _ = calibrate(capsys, "session", "--labels", labels)
    assert output.splitlines()[-2:] == [
        "note: 1 task id is that of several runs; label them by name: t1",
        "note: 2 runs are of 1 task; intervals take runs as independent",
    ]


def test_a_summary_is_calibrated_without_the_name_of_its_judge(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [row("t1", "runs/1"), row("t2", "runs/2", "failure", reason="no order"), row("t3", "runs/3", "error")]
    path = write_summary(tmp_path / "session", *rows, row("t4", "runs/4", "excluded"))
    labels = write(tmp_path / "labels.json", {"t1": "success", "t2": "success"})
    for name in (path, path.parent):
        raw = read_numbers(capsys, name, "--labels", labels, "--disagreements", "open.jsonl")
        assert (raw["judges"], raw["judged_count"], raw["unjudged_count"]) == ([None], 2, 2)
    assert json.loads((tmp_path / "open.jsonl").read_text("utf-8"))["reasoning"] == "no order"
    assert calibrate(capsys, path, "--labels", labels)[1].startswith("judge: not named by the results\n")
    problem = "cannot certify the judge: 2 verdicts of 2 do not say who judged (first: runs/1)"
    expected = f"ERROR: {problem}; pass the directory of a session that judged them\n"
    assert refused(capsys, path, "--labels", labels, "--certificate", "c.json") == expected


def test_a_result_that_cannot_be_used_is_named(session, capsys):
    write_results(session / "session", judged(80, verdict=True, judge=JUDGE | {"votes": "3"}))
    _, output, _ = calibrate(capsys, "session", "--labels", "labels.csv")
    problem = "Expected `int`, got `str` @ judge.votes @ runs/80/eval_result.json"
    assert output.splitlines()[-1] == f"note: 1 row of session cannot be used: {problem}"
    assert output.splitlines()[1] == "60 of 75 judged runs compared with labels.csv"


def test_shares_of_votes_that_are_no_shares_do_not_count(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shares = [0.5, 1, None, "1", True, -0.1, 1.1, float("nan")]
    results = [judged(number, verdict=True, judge=JUDGE | {"agreement": share}) for number, share in enumerate(shares)]
    write_results(tmp_path / "session", *results)
    raw = read_numbers(capsys, "session", "--labels", write(tmp_path / "labels.json", {"t0": "success"}))
    assert raw["self_consistency"] == {"value": 0.75, "unanimous": 1, "run_count": 2}
    assert raw["judged_count"] == len(shares)


# Certificates


def test_the_certificate_has_the_numbers_and_is_bound_to_its_judge(session, capsys):
    _, output, _ = calibrate(capsys, "session", "--labels", "labels.csv", "--certificate", "certificate.json")
    assert output == f"{OUTPUT}certificate.json: certificate of gpt-4o, webjudge 2, 3 votes\n"
    certificate = read_certificate(session / "certificate.json")
    assert certificate.judge == JudgeIdentity.read(JUDGE)
    assert (certificate.counts.judged, certificate.counts.labelled) == (75, 60)
    numbers = certificate.numbers
    assert numbers.accuracy.value == 51 / 60
    assert numbers.accuracy.interval_95 == pytest.approx((0.7389, 0.9190), abs=1e-4)
    assert [numbers.precision.value, numbers.recall.value] == [20 / 25, 20 / 24]
    assert [numbers.specificity.value, numbers.base_rate.value] == [31 / 36, 0.4]
    assert numbers.kappa.value == pytest.approx(0.6897, abs=1e-4)
    assert numbers.annotator_agreement.value == 20 / 24
    assert numbers.annotator_kappa.value == pytest.approx(16 / 24)
    assert numbers.self_consistency.value == pytest.approx(0.9778, abs=1e-4)
    assert [numbers.raw_success_rate.value, numbers.corrected_success_rate.value] == pytest.approx([34 / 75, 0.4528])
    (source,) = certificate.labels
    assert (source.name, source.coding) == ("labels.csv", "words")
    first = (session / "certificate.json").read_bytes()
    calibrate(capsys, "session", "--labels", "labels.csv", "--certificate", "certificate.json")
    assert (session / "certificate.json").read_bytes() == first


def test_a_certificate_of_an_earlier_judge_is_replaced_with_a_word_about_it(session, capsys):
    calibrate(capsys, "session", "--labels", "labels.csv", "--certificate", "c.json")
    write_session(session / "later", judge=JUDGE | {"version": "3"})
    _, output, _ = calibrate(capsys, "later", "--labels", "labels.csv", "--certificate", "c.json")
    expected = "c.json: certificate of gpt-4o, webjudge 3, 3 votes; the one before was stale: version was 2 and is 3"
    assert output.splitlines()[-1] == expected
    (session / "c.json").write_text("{", "utf-8")
    _, output, _ = calibrate(capsys, "later", "--labels", "labels.csv", "--certificate", "c.json")
    assert output.splitlines()[-1] == "c.json: certificate of gpt-4o, webjudge 3, 3 votes"


def test_verdicts_of_several_judges_are_not_certified(session, capsys):
    other = JUDGE | {"model": "gpt-5", "threshold": "0.7"}
    write_results(session / "more", judged(80, verdict=True, judge=other))
    arguments = ("session", "more", "--labels", "labels.csv")
    _, output, _ = calibrate(capsys, *arguments)
    assert output.splitlines()[1:3] == [
        "judge: gpt-5, method webjudge, version 2, 3 votes, threshold 0.7",
        "note: the verdicts are those of 2 judges",
    ]
    problem = "cannot certify 2 judges at once: model is gpt-4o or gpt-5; threshold is 0.8 or 0.7"
    expected = f"ERROR: {problem}; name sessions of one judge\n"
    assert refused(capsys, *arguments, "--certificate", "c.json") == expected
    assert not (session / "c.json").exists()


# Disagreements


def test_disagreements_are_adjudicated_and_then_labels(session, capsys):
    _, output, _ = calibrate(capsys, "session", "--labels", "labels.csv", "--disagreements", "open.jsonl")
    assert output.splitlines()[-1] == "open.jsonl: 9 disagreements to adjudicate"
    rows = [json.loads(line) for line in (session / "open.jsonl").read_text("utf-8").splitlines()]
    assert rows[0] == {
        "run": "runs/20",
        "task_id": "t20",
        "verdict": "success",
        "label": "failure",
        "reasoning": "verdict on 20",
        "adjudicated": None,
    }
    assert [row["run"] for row in rows] == [f"runs/{number}" for number in range(20, 29)]
    rows[0]["adjudicated"] = "success"  # the label was wrong
    rows[1]["adjudicated"] = "failure"  # the judge was wrong
    rows[2]["adjudicated"] = "excluded"
    write(session / "open.jsonl", "\n".join(map(json.dumps, rows)))
    both = ("session", "--labels", "labels.csv", "--labels", "open.jsonl")
    raw = read_numbers(capsys, *both, "--disagreements", "rest.jsonl")
    table = [raw["table"][name] for name in ("true_positive", "false_positive", "false_negative", "true_negative")]
    assert table == [21, 3, 4, 31]
    assert raw["annotators"]["pair_count"] == 24
    left = [json.loads(line)["run"] for line in (session / "rest.jsonl").read_text("utf-8").splitlines()]
    assert left == [f"runs/{number}" for number in range(23, 29)]
    problem = "open.jsonl has adjudications, which would be lost"
    advice = "pass it as --labels, and choose another file for --disagreements"
    assert refused(capsys, *both, "--disagreements", "open.jsonl") == f"ERROR: {problem}; {advice}\n"


def test_adjudications_alone_certify_no_judge(session, capsys):
    rows = [{"run": "runs/20", "adjudicated": "success"}, {"run": "runs/21", "adjudicated": None}]
    name = write(session / "open.jsonl", "\n".join(map(json.dumps, rows)))
    raw = read_numbers(capsys, "session", "--labels", name)
    assert (raw["labelled_count"], raw["annotators"]) == (1, None)
    problem = "cannot certify the judge by adjudicated disagreements alone"
    expected = f"ERROR: {problem}; add the labels that they were made from with another --labels\n"
    assert refused(capsys, "session", "--labels", name, "--certificate", "c.json") == expected


# Refused


def test_a_broken_label_file_is_an_error(session, capsys):
    write(session / "labels.json", "[")
    expected = "labels.json is not valid JSON: Expecting value: line 1 column 2 (char 1); repair the file"
    assert refused(capsys, "session", "--labels", "labels.json") == f"ERROR: {expected}\n"
    expected = 'invalid --coding "x"; use osu, abp or e.g. 1=success,0=failure,2=excluded'
    assert refused(capsys, "session", "--labels", "labels.csv", "--coding=x") == f"ERROR: {expected}\n"


def test_labels_of_other_runs_are_an_error(session, capsys):
    write(session / "labels.json", {"7": "success", "8": "failure"})
    runs = "runs/0, runs/1, runs/10, runs/11, runs/12, … and 70 more"
    problem = f"no judged run has a label of success or failure (labels: 7, 8; runs: {runs})"
    expected = f"ERROR: {problem}; label runs by name, or by a task id that no other run has\n"
    assert refused(capsys, "session", "--labels", "labels.json") == expected
    write(session / "labels.json", {"t0": "excluded"})
    assert "(labels: runs/0; runs: runs/0" in refused(capsys, "session", "--labels", "labels.json")


def test_two_labels_of_one_annotator_are_an_error(session, capsys):
    rows = [{"task_id": "t0", "label": "success"}, {"task_id": "runs/0", "label": "success"}]
    write(session / "labels.json", rows)
    problem = 'run "runs/0" has two labels of "labels.json"'
    expected = f"ERROR: {problem}; keep one, or name the column of annotators with --annotator-column\n"
    assert refused(capsys, "session", "--labels", "labels.json") == expected


def test_too_many_annotators_are_an_error(session, capsys, monkeypatch):
    monkeypatch.setattr(calibration, "MOST_ANNOTATORS", 2)
    problem = "the labels are of 3 annotators, and at most 2 are compared"
    assert refused(capsys, "session", "--labels", "labels.csv") == f"ERROR: {problem}; check --annotator-column\n"


def test_two_verdicts_on_a_run_are_an_error(session, capsys):
    write_session(session / "again")
    problem = 'run "runs/0" has two verdicts in session, again'
    expected = f"ERROR: {problem}; calibrate one judge at a time\n"
    assert refused(capsys, "session", "again", "--labels", "labels.csv") == expected


def test_results_without_a_verdict_are_an_error(session, capsys):
    write_results(session / "broken", judged(1, verdict=None))
    expected = "ERROR: no verdict of a judge in broken; name sessions with judged runs\n"
    assert refused(capsys, "broken", "--labels", "labels.csv") == expected
    (session / "broken/runs/1/eval_result.json").write_text("{", "utf-8")
    problem = refused(capsys, "broken", "--labels", "labels.csv")
    assert problem.startswith("ERROR: no verdict of a judge in broken (1 row of broken cannot be used: Expecting prop")
    expected = "ERROR: session not found: missing; name a summary or a directory of results\n"
    assert refused(capsys, "missing", "--labels", "labels.csv") == expected


def test_labels_are_required(session, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["calibrate", "session"])
    assert caught.value.code == 4
    assert "ERROR: the following arguments are required: --labels" in capsys.readouterr().err


def test_untrusted_texts_are_printed_without_control_characters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    spoiled = judged(1, verdict=True, site="a\x1b[2J", reason="::error::x\x1b[0m", judge=JUDGE | {"model": "m\x1b[1m"})
    write_results(tmp_path / "session", spoiled, judged(2, verdict=True))
    labels = write(tmp_path / "labels.json", {"t1": "failure", "t2": "success", "t\x1b": "success"})
    _, output, _ = calibrate(capsys, "session", "--labels", labels, "--disagreements", "open.jsonl")
    assert "\x1b" not in output
    assert "judge: m\\u001b[1m, method webjudge" in output
    assert json.loads((tmp_path / "open.jsonl").read_text("utf-8"))["reasoning"] == "\\u003a:error::x\\u001b[0m"
