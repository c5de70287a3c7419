"""Sessions over time: order, notes, sites, and the tasks whose verdict changed."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pytest_webeval.summary.comparison.flip_causes import LIBRARIES_NAMED
from pytest_webeval.summary.comparison.history import LEGEND, build_history, condense, find_outcome, parse_time
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from pytest_webeval.summary.statistics import wilson

STATUS = {"+": "success", "-": "failure", "!": "error", "x": "excluded", "~": "partial_match"}
FLIP_FIELDS = ("flips", "flips_same_inputs", "causes", "last_outcome")


def run(word, **fields):
    """The run of a word such as `a/1+`: a label, whose last part is the task id, and the outcome."""
    label, task_id = word[:-1], word[:-1].rpartition("/")[2]
    return ScoredRun(**{"run": label, "task_id": int(task_id), "status": STATUS[word[-1]]} | fields)


def session(day, text="", **fields):
    """A session of that day of January; its runs are words."""
    runs = [run(word) for word in text.split()]
    return ScoredSession(**{"name": f"s{day}", "runs": runs, "timestamp": f"2026-01-{day:02}T03:00:00Z"} | fields)


def follow(*texts, **fields):
    """The history of a session a text, one after the other."""
    return build_history([session(day, text, **fields) for day, text in enumerate(texts, 1)])


def names(content):
    return [each["name"] for each in content["sessions"]]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("", "."),
        ("r/1+", "+"),
        ("r/1-", "-"),
        ("r/1~", "-"),
        ("r/1!", "!"),
        ("r/1x", "x"),
        ("a/1+ b/1+", "+"),
        ("a/1+ b/1-", "~"),
        ("a/1+ b/1!", "~"),
        ("a/1- b/1!", "-"),
        ("a/1! b/1!", "!"),
        ("a/1+ b/1x", "+"),
        ("a/1- b/1x", "-"),
        ("a/1x b/1x", "x"),
    ],
)
def test_the_outcome_of_a_task_is_that_of_its_judged_runs(words, outcome):
    assert find_outcome([run(word) for word in words.split()]) == outcome
    assert outcome in LEGEND


@pytest.mark.parametrize(
    ("texts", "outcomes", "flips", "last"),
    [
        (["r/1+", "r/1-"], "+-", 1, "failure"),
        (["r/1-", "r/1+", "r/1-", "r/1+"], "-+-+", 3, "success"),
        (["r/1+", "r/1!"], "+!", 1, "error"),
        (["r/1-", "r/1+", "r/1x"], "-+x", 1, "success"),
        (["r/1+", "r/1x", "r/1-"], "+x-", 1, "failure"),
        (["r/1+", "r/2+", "r/1-", "r/2+"], "+.-.", 1, "failure"),
        (["r/2+", "r/1+", "r/1-"], ".+-", 1, "failure"),
        (["a/1+ b/1-", "a/1+ b/1+"], "~+", 1, "success"),
        (["a/1+ b/1- c/1-", "a/1+ b/1+ c/1-"], "~~", 1, "success of some attempts"),
        (["a/1+ b/1-", "a/1-", "a/1-"], "~--", 1, "failure"),
    ],
)
def test_flips_are_changes_between_sessions_that_judged_the_task(texts, outcomes, flips, last):
    (flip,) = (flip for flip in follow(*texts)["flips"] if flip["task_id"] == 1)
    assert (flip["outcomes"], flip["flips"], flip["last_outcome"]) == (outcomes, flips, last)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["r/1+"],
        ["r/1+", "r/1+"],
        ["r/1-", "r/1!", "r/1~"],
        ["r/1x", "r/1+"],
        ["a/1+ b/1-", "a/1- b/1+"],
        ["a/1+ b/1-", "c/1- d/1- e/1+ f/1+"],
    ],
)
def test_no_flip(texts):
    content = follow(*texts)
    assert content["flips"] == []
    assert content["tasks"]["flipping"] == 0


def test_flips_are_sorted_by_their_number_and_then_by_id():
    texts = ["r/10+ r/9+ r/3-", "r/10- r/9- r/3+", "r/10- r/9- r/3-"]
    assert [flip["task_id"] for flip in follow(*texts)["flips"]] == [3, 9, 10]
    mixed = [
        session(day, runs=[ScoredRun(run=f"r/{task_id}", task_id=task_id, status=status) for task_id in ("b", 2, "a")])
        for day, status in ((1, "success"), (2, "failure"))
    ]
    assert [flip["task_id"] for flip in build_history(mixed)["flips"]] == [2, "a", "b"]


def test_an_id_is_the_same_task_as_a_number_and_as_a_text():
    sessions = [session(1, "r/7+"), session(2, runs=[ScoredRun(run="r/7", task_id="7", status="failure")])]
    (flip,) = build_history(sessions)["flips"]
    assert flip["outcomes"] == "+-"


SAME = {"rules": "default", "evaluators": "e1", "tasks": "t", "libraries": {"geopy": "1"}}
DIGESTS = "recording=r1 task=t1"


def flip_of(run_fields=(), session_fields=(), before="r/1+", after="r/1-"):
    """The flip of a task whose later run or session has other values."""
    first = session(1, runs=[run(word, checksums=DIGESTS) for word in before.split()], **SAME)
    later = [run(word, **({"checksums": DIGESTS} | dict(run_fields))) for word in after.split()]
    (flip,) = build_history([first, session(2, runs=later, **(SAME | dict(session_fields)))])["flips"]
    return flip["causes"], flip["flips_same_inputs"]


@pytest.mark.parametrize(
    ("run_fields", "session_fields", "causes", "same"),
    [
        ({}, {}, ["unknown"], 1),
        ({"checksums": "recording=r2 task=t1"}, {}, ["recording"], 0),
        ({"checksums": "recording=r1 task=t2"}, {}, ["task definition"], 0),
        ({"checksums": "task=t1"}, {}, ["unknown"], 0),
        ({"checksums": None}, {}, ["unknown"], 0),
        ({"rules": "strict"}, {}, ["rules"], 0),
        ({}, {"rules": "strict"}, ["rules"], 0),
        ({}, {"evaluators": "e2"}, ["evaluator code"], 1),
        ({}, {"libraries": {"geopy": "2"}}, ["parser library"], 1),
        ({"checksums": "recording=r1 task=t1 judge=j"}, {}, ["judge"], 1),
        ({"checksums": "recording=r2 task=t1"}, {"evaluators": "e2"}, ["recording", "evaluator code"], 0),
    ],
)
def test_a_flip_has_the_causes_of_a_comparison(run_fields, session_fields, causes, same):
    assert flip_of(run_fields, session_fields) == (dict.fromkeys(causes, 1), same)


def test_a_flip_of_attempts_has_the_causes_of_those_that_changed():
    assert flip_of(before="a/1+ b/1+", after="a/1+ b/1-") == ({"unknown": 1}, 1)
    changed = [run("a/1+", checksums="recording=other"), run("b/1-", checksums=DIGESTS)]
    first = session(1, runs=[run("a/1+", checksums=DIGESTS), run("b/1+", checksums=DIGESTS)])
    (flip,) = build_history([first, session(2, runs=changed)])["flips"]
    assert (flip["causes"], flip["flips_same_inputs"]) == ({"unknown": 1}, 1)
    assert flip_of(before="a/1+ b/1+", after="c/1-") == ({"unknown": 1}, 0)


def test_causes_are_those_between_the_sessions_that_judged_the_task():
    texts = ["r/1+", "r/1x", "r/1-"]
    rules = ("default", "strict", "default")
    sessions = [session(day, text, rules=name) for day, text, name in zip((1, 2, 3), texts, rules, strict=True)]
    assert build_history(sessions)["flips"][0]["causes"] == {"unknown": 1}


def test_causes_are_counted():
    digests = ("r1", "r2", "r2", "r3")
    sessions = [
        session(day, runs=[run(f"r/1{'+-'[day % 2]}", checksums=f"recording={digest}")])
        for day, digest in enumerate(digests, 1)
    ]
    (flip,) = build_history(sessions)["flips"]
    assert {name: flip[name] for name in FLIP_FIELDS} == {
        "flips": 3,
        "flips_same_inputs": 1,
        "causes": {"recording": 2, "unknown": 1},
        "last_outcome": "success",
    }


TEXTS = st.lists(
    st.dictionaries(st.integers(1, 6), st.sampled_from(["+", "-", "!", "x", "~", "++", "+-", "--", "+x"]), max_size=6),
    min_size=1,
    max_size=5,
)


def build_sessions(drawn):
    return [
        session(day, " ".join(f"{n}/{task}{char}" for task, chars in tasks.items() for n, char in enumerate(chars)))
        for day, tasks in enumerate(drawn, 1)
    ]


@given(TEXTS)
def test_flips_of_two_sessions_are_what_compare_counts(drawn):
    sessions = build_sessions(drawn)
    for before, after in itertools.pairwise(sessions):
        overall = SessionComparison(before, after).overall
        content = build_history([before, after])
        assert sum(flip["flips"] for flip in content["flips"]) == overall.better + overall.worse


@given(TEXTS, st.randoms())
def test_the_order_of_the_arguments_does_not_matter(drawn, random):
    sessions = build_sessions(drawn)
    shuffled = random.sample(sessions, len(sessions))
    assert build_history(shuffled) == build_history(sessions)


@given(TEXTS)
def test_each_task_is_counted_once_and_each_session_has_an_outcome(drawn):
    content = build_history(build_sessions(drawn))
    tasks = content["tasks"]
    kinds = ("always_solved", "never_solved", "sometimes_solved", "never_judged")
    assert sum(tasks[name] for name in kinds) == tasks["count"] == len(set().union(*drawn))
    assert tasks["flipping"] == len(content["flips"])
    for flip in content["flips"]:
        assert len(flip["outcomes"]) == len(drawn)
        assert [character == "." for character in flip["outcomes"]] == [flip["task_id"] not in day for day in drawn]


def test_tasks_are_counted_by_what_became_of_them():
    assert follow("r/1+ r/2- r/3+ r/4x a/5+ b/5- r/6x", "r/1+ r/2! r/3- r/4x a/5+ b/5- r/6+")["tasks"] == {
        "count": 6,
        "always_solved": 2,
        "never_solved": 1,
        "sometimes_solved": 2,
        "never_judged": 1,
        "flipping": 1,
    }


@pytest.mark.parametrize(
    ("timestamps", "order"),
    [
        (["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"], [1, 0]),
        (["2026-01-01T01:00:00Z", "2026-01-01T01:30:00+02:00"], [1, 0]),
        (["2026-01-01T01:00:00", "2026-01-01T00:30:00Z"], [1, 0]),
        (["2026-01-02", ""], [1, 0]),
        (["2026-01-02", "yesterday"], [1, 0]),
        (["2026-01-02", "9999-12-31T23:59:59-23:00"], [1, 0]),
        (["2026-01-01", "2026-01-01"], [0, 1]),
        (["b", "a"], [0, 1]),
    ],
)
def test_sessions_are_sorted_by_time_and_then_by_name(timestamps, order):
    sessions = [
        session(1, f"r/{number}+", name=f"s{number}", timestamp=timestamp)
        for number, timestamp in enumerate(timestamps)
    ]
    for given_order in (sessions, sessions[::-1]):
        assert names(build_history(given_order)) == [f"s{number}" for number in order]


def test_the_present_session_is_the_last_whatever_its_time():
    content = build_history([session(3, "r/1+"), session(2, "r/2+")], session(1, "r/1-", name="now"))
    assert names(content) == ["s2", "s3", "now"]


def test_the_time_of_a_session_is_in_utc():
    assert parse_time("2026-01-01T01:00:00+02:00") == parse_time("2025-12-31T23:00:00Z")
    assert parse_time("x") is None


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone of the process cannot be changed")
def test_a_time_without_a_zone_is_in_utc_wherever_it_is_read(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        parsed = parse_time("2026-01-01T01:00:00")
    time.tzset()
    assert parsed == parse_time("2026-01-01T01:00:00Z")


def test_the_same_content_counts_once_and_is_named():
    first, again = session(1, "r/1+"), session(1, "r/1+", name="copy", problems=["of the copy"])
    content = build_history([first, again, session(1, "r/1-", name="other")])
    assert names(content) == ["other", "s1"]
    assert content["problems"] == ["copy is the same session as s1: it counts once"]


def test_a_session_is_described_with_its_rate_and_those_of_its_sites():
    rows = [
        run("r/1+", sites=["shopping"], type="mutate", template=7),
        run("r/2-", sites=["shopping"], type="mutate", template=8),
        run("s/3!", sites=["map", "gitlab"], type="retrieve", template=7),
        run("r/4x", sites=["map"]),
        run("r/5x"),
    ]
    told = SAME | {"subset": "hard", "problems": ["a row"]}
    content = build_history([session(1, runs=rows, **told)])
    assert content["problems"] == ["a row"]
    assert content["sites"] == ["", "gitlab-map", "map", "shopping"]
    assert content["types"] == ["", "mutate", "retrieve"]
    assert content["templates"] == ["", "7", "8"]
    assert content["folders"] == ["r", "s"]
    (described,) = content["sessions"]
    sites = described.pop("sites")
    counts = {
        group: {name: (each["success_count"], each["judged_count"]) for name, each in described.pop(group).items()}
        for group in ("types", "templates", "folders")
    }
    assert counts == {
        "types": {"mutate": (1, 2), "retrieve": (0, 1), "": (0, 0)},
        "templates": {"7": (1, 2), "8": (0, 1), "": (0, 0)},
        "folders": {"r": (1, 2), "s": (0, 1)},
    }
    assert described == {
        "name": "s1",
        "timestamp": "2026-01-01T03:00:00Z",
        "rules": "default",
        "evaluators": "e1",
        "tasks": "t",
        "partial": False,
        "subset": "hard",
        "task_count": 5,
        "error_count": 1,
        "excluded_count": 2,
        "success_count": 1,
        "judged_count": 3,
        "judged_task_count": 3,
        "run_count": 5,
        "success_rate": 1 / 3,
        "success_rate_interval_95": list(wilson(1, 3)),
        "notes": [],
    }
    assert {name: (site["success_count"], site["judged_count"], site["run_count"]) for name, site in sites.items()} == {
        "shopping": (1, 2, 2),
        "gitlab-map": (0, 1, 1),
        "map": (0, 0, 1),
        "": (0, 0, 1),
    }


def test_the_interval_of_attempts_is_that_of_the_number_of_tasks():
    (described,) = follow("a/1+ b/1- c/1+ a/2- b/2- c/2+")["sessions"]
    assert described["success_rate_interval_95"] == list(wilson(1, 2))
    assert (described["task_count"], described["run_count"]) == (2, 6)


def test_the_site_of_a_task_is_that_of_the_latest_session():
    sessions = [session(1, runs=[run("r/1+", sites=["old"])]), session(2, runs=[run("r/1-", sites=["new"])])]
    assert build_history(sessions)["flips"][0]["site"] == "new"


@pytest.mark.parametrize(
    ("before", "after", "notes"),
    [
        ({}, {}, []),
        ({}, {"rules": "strict"}, ["other rules: default to strict"]),
        ({"rules": ""}, {}, ["other rules: unknown to default"]),
        ({}, {"rules": ""}, ["other rules: default to unknown"]),
        ({"policy": {"a": 1}}, {"policy": {"a": 2}}, ["other options for stored verdicts"]),
        ({"policy": {}}, {"policy": {"a": 2}}, []),
        ({"policy": {"a": 1}}, {"policy": {}}, []),
        ({}, {"evaluators": "0123456789"}, ["other evaluator code: e1 to 01234567"]),
        ({}, {"evaluators": ""}, []),
        ({"evaluators": ""}, {}, []),
        ({}, {"tasks": "u"}, ["other task definitions: t to u"]),
        ({}, {"libraries": {"geopy": "2"}}, ["other libraries: geopy 1 to 2"]),
        ({}, {"libraries": {}}, []),
        ({"libraries": {}}, {}, []),
        ({}, {"subset": "hard"}, ["other subset: none to hard"]),
        ({"subset": "hard"}, {}, ["other subset: hard to none"]),
        ({}, {"runs": [run("r/1+"), run("r/2+")]}, ["2 tasks after 1"]),
        ({}, {"runs": [run("a/1+"), run("b/1+")]}, []),
        ({}, {"partial": True}, ["partial session"]),
        ({"partial": True}, {}, []),
        ({"timestamp": "2025-01-01"}, {"timestamp": ""}, []),
    ],
)
def test_notes_say_what_differs_from_the_session_before(before, after, notes):
    sessions = [session(day, "r/1+", **(SAME | fields)) for day, fields in ((1, before), (2, after))]
    assert build_history(sessions)["sessions"][1]["notes"] == notes


def test_notes_of_a_session_without_neighbours():
    sessions = [session(1, "r/1+", timestamp="", partial=True)]
    assert build_history(sessions)["sessions"][0]["notes"] == ["without a time, so it comes first", "partial session"]


@pytest.mark.parametrize(("extra", "more"), [(0, ""), (1, ", … and 1 more"), (3, ", … and 3 more")])
def test_a_note_names_some_libraries_and_counts_the_others(extra, more):
    versions = [{f"l{number:02}": day for number in range(LIBRARIES_NAMED + extra)} for day in ("1", "2")]
    sessions = [session(day, "r/1+", libraries=libraries) for day, libraries in enumerate(versions, 1)]
    (note,) = build_history(sessions)["sessions"][1]["notes"]
    assert note == "other libraries: " + ", ".join(f"l{n:02} 1 to 2" for n in range(LIBRARIES_NAMED)) + more


def test_the_same_id_in_two_formats_has_two_histories():
    mixed = [[run("a/7+", format="x"), run("b/7-", format="y")], [run("a/7-", format="x"), run("b/7+", format="y")]]
    content = build_history([session(day, runs=rows) for day, rows in enumerate(mixed, 1)])
    assert [each["outcomes"] for each in content["flips"]] == ["+-", "-+"]
    assert [each["task_count"] for each in content["sessions"]] == [2, 2]


def test_a_condensed_session_has_the_same_history():
    rows = [
        run("r/1+", sites=["b", "a"], checksums=DIGESTS, reason="long", type="retrieve", tags=["x"], format="fara"),
        run("r/2-", rules="strict", today="2026-01-01", template=3),
    ]
    first, later = session(1, runs=rows), session(2, "r/1- r/2+")
    condensed = condense(first)
    assert build_history([condensed, condense(later)]) == build_history([first, later])
    texts = {"reason": None, "tags": []}
    assert condensed == structs.replace(first, runs=[structs.replace(each, **texts) for each in rows])
    assert condense(session(3, runs=rows)).runs[0].sites is condensed.runs[0].sites
