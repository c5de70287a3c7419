"""The command that scores some runs again."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.rerun import MOST, Rerun, RerunCommands, keyword


@pytest.mark.parametrize(
    ("task_id", "expected"),
    [
        (107, "[107]"),
        (-1, "[-1]"),
        ("books_find_7", "[books_find_7]"),
        ("a.b+c-d", "[a.b+c-d]"),
        ("", None),
        ("two words", None),
        ("a]", None),
        ("a or b", None),
        ("é", None),
        ("line\n", None),
        ("a/b", None),
    ],
)
def test_a_task_has_a_keyword_if_k_can_spell_its_id(task_id, expected):
    assert keyword(task_id) == expected


def reruns(**changed):
    ids = {"runs/107": 107, "runs/1072": 1072, "runs/a": "a", "runs/b%20c": "b c", "other/A": "A"}
    return RerunCommands(ids, **({"options": ("--webeval-runs=runs",), "pinned": ("--rootdir=.",)} | changed))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (["runs/107"], "pytest --webeval-runs=runs -k '[107]'"),
        (["runs/107", "runs/1072"], "pytest --webeval-runs=runs -k '[107] or [1072]'"),
        (["runs/b%20c"], "pytest --rootdir=. --webeval-runs=runs runs/b%20c::task"),
        (["runs/107", "runs/b%20c"], "pytest --rootdir=. --webeval-runs=runs runs/107::task runs/b%20c::task"),
        (["runs/a"], "pytest --rootdir=. --webeval-runs=runs runs/a::task"),  # -k ignores case
    ],
)
def test_a_command_selects_by_keywords_or_where_these_mean_other_runs_too_by_node_ids(runs, expected):
    assert reruns().command(runs) == Rerun(expected, len(runs), len(runs))


def test_a_directory_that_is_named_like_a_keyword_counts_as_its_bearer():
    found = RerunCommands({"runs/x%5B107%5D": 5, "runs/107": 107})
    assert found.command(["runs/107"]).command == "pytest runs/107::task"
    assert found.command(["runs/x%5B107%5D"]).command == "pytest -k '[5]'"


def test_a_missing_task_goes_by_its_own_item():
    found = reruns(missing={"runs/b%20c"}).command(["runs/b%20c"])
    assert found.command.endswith("runs/b%20c::missing")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--webeval-runs=my runs",), "pytest '--webeval-runs=my runs' -k '[107]'"),
        (("--webeval-runs=$(rm -r .)",), "pytest '--webeval-runs=$(rm -r .)' -k '[107]'"),
        (("--webeval-runs=it's",), """pytest '--webeval-runs=it'"'"'s' -k '[107]'"""),
    ],
)
def test_a_shell_takes_options_for_what_they_are(options, expected):
    assert reruns(options=options).command(["runs/107"]).command == expected


@pytest.mark.parametrize(("longest", "named"), [(None, 40), (600, 40), (61, 4), (60, 3), (52, 3), (51, 2), (1, 1)])
def test_a_command_names_as_many_runs_as_fit(longest, named):
    ids = {f"r/{number}": number for number in range(100, 140)}
    found = RerunCommands(ids, ("--webeval-runs=r",)).command(list(ids), longest)
    assert (found.named, found.of) == (named, 40)
    assert found.command.count("[") == named
    assert named == 1 or longest is None or len(found.command) <= longest


def test_a_command_never_names_more_runs_than_pytest_can_take():
    ids = {f"r/{number}": number for number in range(MOST + 1)}
    found = RerunCommands(ids).command(list(ids))
    assert found == Rerun(found.command, MOST, MOST + 1)
