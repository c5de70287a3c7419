"""Two sessions compared: kinds of changes, rates, tests, and what is said in words."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from pytest_webeval.summary.comparison.group_comparison import cluster_by_template
from pytest_webeval.summary.comparison.session_comparison import (
    ChangeKind,
    SessionComparison,
    find_kind,
    format_p_value,
    pair_runs,
)
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from pytest_webeval.summary.statistics import wilson

CORPUS = Path(__file__).parents[4] / "shared" / "corpora" / "online_mind2web_human_labels.json"
STATUS = {"+": "success", "-": "failure", "!": "error", "?": "excluded", "~": "partial_match"}


def runs(text, **fields):
    """Runs of words such as `a/1+`: a label, whose last part is the task id, and the outcome."""
    words = [(word[:-1], STATUS[word[-1]]) for word in text.split()]
    return [ScoredRun(run=run, task_id=int(run.rpartition("/")[2]), status=status, **fields) for run, status in words]


def compare(before, after, **fields):
    return SessionComparison(ScoredSession("A", runs(before, **fields)), ScoredSession("B", runs(after, **fields)))


def labels(pairs):
    return " ".join(pair.after.run for pair in pairs)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("r/1+", "r/1-", ChangeKind.REGRESSED),
        ("r/1+", "r/1~", ChangeKind.REGRESSED),
        ("r/1-", "r/1+", ChangeKind.FIXED),
        ("r/1!", "r/1+", ChangeKind.FIXED),
        ("r/1~", "r/1+", ChangeKind.FIXED),
        ("r/1+", "r/1!", ChangeKind.NEWLY_ERRING),
        ("r/1-", "r/1!", ChangeKind.NEWLY_ERRING),
        ("r/1!", "r/1!", ChangeKind.UNCHANGED),
        ("r/1!", "r/1-", ChangeKind.UNCHANGED),
        ("r/1-", "r/1~", ChangeKind.UNCHANGED),
        ("r/1?", "r/1+", ChangeKind.EXCLUDED),
        ("r/1+", "r/1?", ChangeKind.EXCLUDED),
        ("r/1?", "r/1!", ChangeKind.EXCLUDED),
        ("r/1?", "r/1?", ChangeKind.EXCLUDED),
    ],
)
def test_kinds_of_changes(before, after, kind):
    (pair,) = pair_runs(runs(before), runs(after))
    assert find_kind(pair) is kind


def test_an_error_counts_before_and_after_as_no_success():
    judged, erring = runs("r/1+")[0], runs("r/1!")[0]
    assert [find_kind(pair) for pair in pair_runs([judged], [erring])] == [ChangeKind.NEWLY_ERRING]
    assert [find_kind(pair) for pair in pair_runs([erring], [judged])] == [ChangeKind.FIXED]


@pytest.mark.parametrize(
    ("before", "after", "pairs", "missing", "extra"),
    [
        ("r/1+", "elsewhere/1-", "elsewhere/1", "", ""),
        ("a/1+ b/1-", "a/1- b/1+", "a/1 b/1", "", ""),
        ("a/1+ b/1-", "c/1-", "", "a/1 b/1", "c/1"),
        ("try-1/1+ try-2/1-", "attempt-2/1- attempt-1/1+", "attempt-1/1 attempt-2/1", "", ""),
        ("a/1+ b/1-", "a/1-", "a/1", "b/1", ""),
        ("x/a/1+ x/b/1-", "y/b/1+ y/a/1+", "y/b/1 y/a/1", "", ""),
        ("r/1+", "r/1+ r/2-", "r/1", "", "r/2"),
        ("r/1+ r/2-", "r/2-", "r/2", "r/1", ""),
        ("", "", "", "", ""),
    ],
)
def test_runs_of_two_sessions_are_paired_by_task_or_label(before, after, pairs, missing, extra):
    comparison = compare(before, after)
    assert labels(comparison.pairs) == pairs
    assert [run.run for run in comparison.missing] == missing.split()
    assert [run.run for run in comparison.extra] == extra.split()


def test_an_id_is_the_same_as_a_number_and_as_a_text():
    (pair,) = pair_runs(
        [ScoredRun(run="a", task_id=7, status="success")], [ScoredRun(run="b", task_id="7", status="error")]
    )
    assert pair.after.run == "b"


def test_rates_count_all_judged_runs_and_the_test_those_that_both_judged():
    told = compare("r/1+ r/2- r/3? r/4+ r/5+", "r/1- r/2+ r/3+ r/4? r/5+ r/6-").to_json()["overall"]
    assert {name: told["before"][name] for name in ("success_count", "judged_count", "run_count")} == {
        "success_count": 3,
        "judged_count": 4,
        "run_count": 5,
    }
    assert (told["after"]["judged_count"], told["after"]["run_count"]) == (5, 6)
    assert (told["both_judged"], told["better"], told["worse"], told["difference"]) == (3, 1, 1, 0.0)


def test_several_runs_of_a_task_count_as_one_task():
    told = compare("a/1+ b/1- c/1- a/2+ a/3+", "a/1+ b/1+ c/1- a/2+ a/3-")
    assert (told.overall.better, told.overall.worse, len(told.tasks)) == (1, 1, 3)
    assert told.overall.interval is None
    assert told.overall.difference == pytest.approx((1 / 3 - 1) / 3)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("r/1+", "r/1-", "no test: both sessions judged 1 task; a test needs 2"),
        ("", "", "no task is in both sessions"),
        ("r/1+ r/2-", "r/1+ r/2-", "no task of 2 changed sides"),
        (
            "r/1+ r/2-",
            "r/1- r/2+",
            "as many solved of 2 that both judged, and 1 against 1 changed sides: p = 1.000, this can be noise",
        ),
        (
            "r/1+ r/2-",
            "r/1- r/2-",
            "1 task fewer solved of 2 that both judged, but 0 against 1 changed sides: p = 1.000, this can be noise",
        ),
    ],
)
def test_the_result_in_words(before, after, sentence):
    assert compare(before, after).sentence == sentence


def test_a_certain_difference_in_words():
    before, after = (" ".join(f"r/{number}{sign}" for number in range(12)) for sign in "-+")
    comparison = compare(before, after)
    assert comparison.sentence == (
        "12 tasks more solved of 12 that both judged, "
        "and 12 against 0 changed sides: p < 0.001, this is more than noise"
    )
    assert not comparison.is_regression
    assert compare(after, before).is_regression


@pytest.mark.parametrize(
    ("p_value", "text"), [(1.0, "= 1.000"), (0.1147, "= 0.115"), (0.001, "= 0.001"), (0.0009, "< 0.001")]
)
def test_p_values_in_words(p_value, text):
    assert format_p_value(p_value) == text


def clustered(failing):
    return [
        ScoredRun(
            run=f"r/{number}",
            task_id=number,
            status="failure" if number in failing else "success",
            template=number // 6,
        )
        for number in range(30)
    ]


@pytest.mark.parametrize(("failing", "has_doubt"), [(range(6), True), (range(0, 30, 5), False)])
def test_a_difference_in_few_templates_is_named(failing, has_doubt):
    comparison = SessionComparison(ScoredSession("A", clustered(())), ScoredSession("B", clustered(set(failing))))
    assert comparison.is_regression
    doubts = [problem for problem in comparison.problems if problem.startswith("few templates account for")]
    assert bool(doubts) is has_doubt


def test_tasks_with_more_runs_than_before_have_no_test():
    told = compare("a/1+ a/2+", "a/1+ b/1- a/2+")
    assert told.overall.p_value is None
    assert told.sentence == "no test: some tasks have more or fewer judged runs than before"
    assert told.problems == [told.sentence]


def test_sites_have_adjusted_p_values():
    before = [*runs("r/1+ r/2+ r/3+ r/4+ r/5+ r/6+", sites=["b"]), *runs("r/7+ r/8-", sites=["a"])]
    after = [*runs("r/1- r/2- r/3- r/4- r/5- r/6-", sites=["b"]), *runs("r/7+ r/8-", sites=["a"])]
    told = SessionComparison(ScoredSession("A", before), ScoredSession("B", after)).to_json()
    assert [(site["name"], site["p_value"], site["p_value_adjusted"]) for site in told["sites"]] == [
        ("a", 1.0, 1.0),
        ("b", 0.03125, 0.0625),
    ]
    assert (told["types"], told["templates"]) == ([], [])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"partial": True}, "B is a partial session: only some of its runs were scored"),
        ({"subset": "hard"}, "the subsets differ: none and hard"),
        ({"rules": "strict"}, "the rules differ: default and strict"),
        ({"evaluators": "other"}, "the evaluators differ"),
        ({"tasks": "other"}, "the task definitions differ"),
        ({"problems": ["broken"]}, "broken"),
    ],
)
def test_what_does_not_fit_is_named(changes, problem):
    same = {"rules": "default", "evaluators": "code", "tasks": "data"}
    before = ScoredSession("A", runs("r/1+ r/2+"), **same)
    assert SessionComparison(before, ScoredSession("B", runs("r/1+ r/2+"), **(same | changes))).problems == [problem]
    assert SessionComparison(before, before).problems == []


@pytest.mark.parametrize(
    ("before", "after", "is_other"),
    [
        ("a,b", "a", False),  # the runs of the other kind are only in one of the sessions
        ("a", "a,b", False),
        ("a", "b", True),
        ("a,b", "a,c", True),
        ("", "b", False),
    ],
)
def test_runs_of_another_kind_are_no_other_evaluators(before, after, is_other):
    sessions = [ScoredSession("A", runs("r/1+ r/2+"), evaluators=checksums) for checksums in (before, after)]
    assert ("the evaluators differ" in SessionComparison(*sessions).problems) == is_other


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("r/1+", "r/2+", "no task is in both sessions"),
        ("r/1+ r/2?", "r/1+ r/2+", "no test: both sessions judged 1 task; a test needs 2"),
    ],
)
def test_too_few_tasks_in_common_are_named(before, after, problem):
    assert compare(before, after).problems == [problem]


def test_all_json_is_json():
    told = compare("r/1+ r/2- r/3?", "r/1- r/2+ r/3+ r/4-").to_json()
    assert json.loads(json.dumps(told)) == json.loads(json.dumps(told, allow_nan=False))
    assert [(change["kind"], change["task_id"]) for change in told["changes"]] == [
        ("regressed", 1),
        ("fixed", 2),
        ("excluded", 3),
        ("extra", 4),
    ]


LABELS = {"0": "failure", "1": "success", "2": "excluded"}


@pytest.fixture(scope="module")
def agents():
    """The sessions of six agents, as people labelled them: 0 failed, 1 succeeded, 2 not executable."""
    if not CORPUS.is_file():
        pytest.skip("the corpus is not on this machine")
    rows = json.loads(CORPUS.read_bytes())
    names = [name.removesuffix("_human_label") for name in rows[0] if name.endswith("_human_label")]
    return {
        name: ScoredSession(
            name,
            [
                ScoredRun(
                    run=f"{name}/{row['task_id']}", task_id=row["task_id"], status=LABELS[row[f"{name}_human_label"]]
                )
                for row in rows
            ],
        )
        for name in names
    }


def test_human_labels_of_two_agents(agents):
    told = SessionComparison(agents["Claude_Computer_Use_3.7"], agents["Operator"])
    overall = told.to_json()["overall"]
    assert [overall[side]["success_count"] for side in ("after", "before")] == [184, 169]
    assert [overall[side]["run_count"] for side in ("after", "before")] == [300, 300]
    assert (overall["both_judged"], overall["better"], overall["worse"]) == (283, 47, 32)
    assert overall["p_value"] == pytest.approx(0.115, abs=5e-4)
    assert told.sentence == (
        "15 tasks more solved of 283 that both judged, but 47 against 32 changed sides: p = 0.115, this can be noise"
    )
    assert told.kind_counts["excluded"] == 17


@pytest.mark.libraries
def test_all_pairs_of_agents_agree_with_statsmodels(agents):
    from statsmodels.stats import contingency_tables as tables

    pairs = list(itertools.combinations(agents, 2))
    assert len(pairs) == 15
    for first, second in pairs:
        status = [{run.task_id: run.status for run in agents[name].runs} for name in (first, second)]
        table = [[0, 0], [0, 0]]
        for task_id in status[0]:
            outcomes = [each[task_id] for each in status]
            if "excluded" not in outcomes:
                table[outcomes[0] == "success"][outcomes[1] == "success"] += 1
        expected = tables.mcnemar(table, exact=True).pvalue
        overall = SessionComparison(agents[first], agents[second]).overall
        assert (overall.better, overall.worse) == (table[0][1], table[1][0])
        assert overall.p_value == pytest.approx(expected, abs=1e-9)


def test_the_result_of_several_attempts_in_words():
    told = compare("a/1+ b/1+ a/2+ b/2-", "a/1+ b/1- a/2+ b/2-")
    assert told.sentence == "0 of 2 tasks succeed more often, 1 less often: p = 1.000, this can be noise"
    assert told.to_json()["before"]["success_rate_interval_95"] == pytest.approx(wilson(1.5, 2))


def test_the_same_id_in_two_formats_is_compared_as_two_tasks():
    before = runs("a/7+", format="x") + runs("b/7-", format="y")
    after = runs("a/7-", format="x") + runs("b/7+", format="y")
    compared = SessionComparison(ScoredSession("A", before), ScoredSession("B", after))
    assert (compared.overall.better, compared.overall.worse) == (1, 1)
    assert compared.to_json()["before"]["judged_task_count"] == 2
    assert len(cluster_by_template(compared.tasks)) == 2
    lost = SessionComparison(ScoredSession("A", before), ScoredSession("B", after[:1]))
    assert lost.lost_tasks == ["7"]
    assert [len(compared.by_kind[kind]) for kind in (ChangeKind.REGRESSED, ChangeKind.FIXED)] == [1, 1]


def test_runs_with_new_labels_are_paired_within_their_format():
    before = runs("a/7+", format="x") + runs("b/7-", format="y")
    (pair,) = pair_runs(before, runs("c/7+", format="y"))
    assert pair.before.run == "b/7"


def test_sessions_of_two_recorders_are_compared_by_the_ids_of_their_tasks():
    before, after = runs("a/7+ a/8+", format="x"), runs("b/7- b/8+", format="y")
    compared = SessionComparison(ScoredSession("A", before), ScoredSession("B", after))
    assert (len(compared.tasks), compared.overall.worse, compared.lost_tasks) == (2, 1, [])
