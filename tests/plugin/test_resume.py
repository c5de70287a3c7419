"""--webeval-reuse after an interrupted session: its results stand if there is a row of each and nothing changed."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.summary.store.row_database import checksum_row
from tests.support.rows import read_rows

# Spread sessions of most tests are in the whole suite; the tests that stand for them run by default.
WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)
WORKERS_BY_DEFAULT = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])
INTERRUPTED_AT = """
import pathlib
here = pathlib.Path(__file__).parent
def pytest_runtest_setup(item):
    if {label!r} in item.nodeid and not (here / "go").exists():
        (here / "go").touch()
        raise KeyboardInterrupt
"""
KILLED = """
import os
def pytest_runtest_logfinish(nodeid):
    if not os.environ.get("GO_ON"):
        os._exit(9)
"""
DECODED = """
import pathlib
from pytest_webeval.recordings.run import Run

check = Run.check
def watched(self):
    with (pathlib.Path(__file__).with_name("decoded.txt")).open("a") as stream:
        print(self.label, file=stream)
    return check(self)
Run.check = watched
"""


def timeless(text: bytes) -> bytes:
    text = re.sub(rb'("timestamp": )"[^"]*"', rb"\1null", text)
    text = re.sub(rb'("wall_time": )[-+.e0-9]+', rb"\1null", text)
    text = re.sub(rb',\n    "reused_count": [0-9]+', b"", text)
    return re.sub(rb'("slowest": \[)[^]]*\]', rb"\1]", text)


def everything(place) -> dict[str, bytes]:
    """All that sessions wrote but their rows, times aside."""
    paths = [path for path in place.rglob("*eval_*") if path.suffix != ".sqlite"]
    return {path.relative_to(place).as_posix(): timeless(path.read_bytes()) for path in paths}


def forget(place) -> None:
    for path in place.rglob("*eval_*"):
        path.unlink()


@pytest.fixture
def scored_again(pytester):
    """Which runs were read for a verdict since it was asked last."""
    told = pytester.path / "decoded.txt"
    pytester.makeconftest(DECODED)

    def ask():
        found = sorted(set(told.read_text().split())) if told.exists() else []
        told.unlink(missing_ok=True)
        return [label.rpartition("/")[2] for label in found]

    return ask


@pytest.fixture
def halfway(runs, webeval, scored_again):
    """Four runs, of which the first two were scored: 107 passes, 108 fails, and -x ended the session."""
    for number in (107, 108, 109, 110):
        runs.add(number, passes=number != 108)
    webeval("-x").assert_outcomes(passed=1, failed=1)
    assert scored_again() == ["107", "108"]
    return runs


@pytest.fixture
def told():
    """What the terminal says of reused results."""
    return lambda result: next(line for line in result.outlines if line.startswith("reused: "))


def kept(runs) -> list[str]:
    """The runs of which there are rows that may be reused, in the order in which they were last kept."""
    rows = read_rows(runs.root / "eval_session.sqlite")
    return [run for run, row in rows.items() if row.seal is not None]


@WORKERS_BY_DEFAULT
@pytest.mark.parametrize("again", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serially", "spread"])
def test_an_interrupted_and_a_resumed_session_leave_what_an_undisturbed_one_leaves(
    runs, webeval_apart, pytester, workers, again
):
    for number in range(100, 112):
        runs.add(number, passes=bool(number % 3), site=("shopping", "gitlab")[number % 2], template=number % 4)
    (runs.root / "103" / "network.har").write_text("{")
    undisturbed = webeval_apart(*again)
    wanted = everything(runs.root)
    forget(runs.root)
    pytester.makeconftest(INTERRUPTED_AT.format(label="106"))
    webeval_apart(*workers)
    scored = kept(runs)
    resumed = webeval_apart("--webeval-reuse", *again)
    assert everything(runs.root) == wanted
    assert resumed.parseoutcomes() == undisturbed.parseoutcomes()
    taken = len(set(scored) - {"runs/103"})
    assert "runs/106" not in scored
    resumed.stdout.fnmatch_lines([f"reused: {taken} of 12 results taken from an earlier session"])
    assert 1 <= taken < 12


def test_of_what_is_taken_nothing_is_decoded_or_written_again(halfway, webeval, scored_again, told):
    def written(number):  # when, and which file; reading may change the time of access
        found = (halfway.root / number / "eval_result.json").stat()
        return found.st_ino, found.st_mtime_ns

    before = {number: written(number) for number in ("107", "108")}
    result = webeval("--webeval-reuse")
    result.assert_outcomes(passed=3, failed=1)
    assert scored_again() == ["109", "110"]
    assert told(result) == "reused: 2 of 4 results taken from an earlier session"
    assert {number: written(number) for number in before} == before


def test_what_is_taken_is_told_as_it_was_when_it_was_scored(halfway, webeval, pytester):
    def told(result):
        lines = result.outlines
        start = lines.index(next(line for line in lines if line.startswith("____") and "runs/108::task" in line))
        junit = (pytester.path / "junit.xml").read_text()
        return lines[start : start + 7], re.findall(r"<property [^>]*>|<failure .*?</failure>", junit, re.DOTALL)

    first = told(webeval("runs/108", "--junitxml=junit.xml"))
    resumed = webeval("--webeval-reuse", "runs/108", "--junitxml=junit.xml")
    resumed.stdout.fnmatch_lines(["reused: 1 of 1 *", "FAILED runs/108::task - agent_response.status: *"])
    assert told(resumed) == first
    assert '    expected "success"' in first[0]
    assert len(first[1]) == 9


def test_html_columns_show_what_is_taken_like_any_other_result(halfway, webeval, pytester):
    webeval("--webeval-reuse", "--html=report.html")
    scores = re.findall(r"col-score.{0,20}?([01]\.0)", (pytester.path / "report.html").read_text())
    assert sorted(scores) == ["0.0", "1.0", "1.0", "1.0"]


def test_without_rows_everything_is_scored(runs, webeval, told):
    runs.add(107)
    webeval().assert_outcomes(passed=1)
    (runs.root / "eval_session.sqlite").unlink()
    result = webeval("--webeval-reuse")
    result.assert_outcomes(passed=1)
    assert told(result) == "reused: 0 of 1 result taken from an earlier session"


def test_a_session_without_the_option_says_nothing_of_reused_results(runs, webeval):
    runs.add(107)
    webeval().stdout.no_fnmatch_line("reused: *")


def test_the_ini_key_resumes_as_well(halfway, webeval, pytester, scored_again):
    pytester.makeini("[pytest]\nwebeval_reuse = true")
    webeval().assert_outcomes(passed=3, failed=1)
    assert scored_again() == ["109", "110"]


# What must have 107 scored again, though there is a row of it.
def changing_the_result(runs):
    path = runs.root / "107" / "eval_result.json"
    path.write_text(path.read_text().replace('"task_revision": 1', '"task_revision": 2'))


def removing_the_result(runs):
    (runs.root / "107" / "eval_result.json").unlink()


def linking_the_result(runs):
    path = runs.root / "107" / "eval_result.json"
    path.rename(runs.root / "elsewhere.json")
    path.symlink_to(runs.root / "elsewhere.json")


def changing_an_input(runs):
    path = runs.root / "107" / "network.har"
    path.write_text(path.read_text().replace("GET", "PUT"))  # of the same size


def removing_an_input(runs):
    path = runs.root / "107" / "network.har"
    path.rename(runs.root / "107" / "trace.network")


def adding_an_input(runs):
    (runs.root / "107" / "rubric.json").write_text("{}")


def changing_the_record(runs):
    change_row(runs, lambda row, seal: (row.replace('"status":"success"', '"status":"failure"'), seal))


def changing_what_decided(runs):
    change_row(runs, lambda row, seal: (row, re.sub(r'"decided_by":"[0-9a-f]', '"decided_by":"x', seal)))


def changing_the_seal(runs):
    change_row(runs, lambda row, seal: (row, re.sub(r'"files":"[0-9a-f]+"', '"files":""', seal)))


def removing_the_seal(runs):
    change_row(runs, lambda row, _: (row, None))


def damaging_the_seal(runs):
    change_row(runs, lambda row, seal: (row, seal[:-9]), checksum_row)


def damaging_the_record(runs):
    change_row(runs, lambda row, seal: (row[:-9], seal), checksum_row)


def removing_what_decided(runs):
    change_row(
        runs, lambda row, seal: (row, re.sub(r'"decided_by":"[0-9a-f]+"', '"decided_by":""', seal)), checksum_row
    )


def removing_the_list_of_files(runs):
    empty = r'"\1":""'
    change_row(runs, lambda row, seal: (row, re.sub(r'"(files|identity)":"[0-9a-f]+"', empty, seal)), checksum_row)


def changing_the_definitions(runs):
    runs.define(runs.definition(7))


def change_row(runs, change, sign=None):
    """Change the row of 107; with `sign` it has the checksum that goes with it."""
    with closing(sqlite3.connect(runs.root / "eval_session.sqlite", isolation_level=None)) as connection:
        select = "SELECT row, seal, checksum FROM results WHERE run = 'runs/107'"
        row, seal, checksum = connection.execute(select).fetchone()
        changed = change(row, seal)
        assert changed != (row, seal)
        update = "UPDATE results SET row = ?, seal = ?, checksum = ? WHERE run = 'runs/107'"
        connection.execute(update, (*changed, sign(*changed) if sign else checksum))


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    "tamper",
    [
        changing_the_result,
        removing_the_result,
        linking_the_result,
        changing_an_input,
        removing_an_input,
        adding_an_input,
        changing_the_record,
        changing_what_decided,
        changing_the_seal,
        removing_the_seal,
        damaging_the_seal,
        damaging_the_record,
        removing_what_decided,
        removing_the_list_of_files,
    ],
)
def test_what_was_tampered_with_is_scored_anew_and_the_rest_is_taken(halfway, webeval, scored_again, told, tamper):
    tamper(halfway)
    result = webeval("--webeval-reuse")
    assert scored_again() == ["107", "109", "110"]
    assert told(result) == "reused: 1 of 4 results taken from an earlier session"
    assert halfway.result(107)["task_revision"] == 1


def test_definitions_of_other_tasks_change_nothing_but_their_checksum(halfway, webeval, scored_again):
    changing_the_definitions(halfway)
    webeval("--webeval-reuse").assert_outcomes(passed=3, failed=1)
    assert scored_again() == ["109", "110"]
    checksums = {halfway.result(number)["webarena_verified_data_checksum"] for number in (107, 108, 109, 110)}
    assert len(checksums) == 1


FORGED = {
    "a task of a wrong type": lambda row, seal: (with_value(row, "task_id", [1]), seal),
    "a warning of a wrong type": lambda row, seal: (with_value(row, "warnings", [1]), seal),
    "a time of a wrong type": lambda row, seal: (with_value(row, "wall_time", {}), seal),
    "a score that is a text": lambda row, seal: (with_value(row, "score", "high"), seal),
    "a score that is no number": lambda row, seal: (with_value(row, "score", float("nan")), seal),
    "a row that is nested too deep": lambda _, seal: ("[" * 200_000, seal),
    "a seal that is nested too deep": lambda row, _: (row, "[" * 200_000),
}


def with_value(row, name, value):
    return json.dumps(json.loads(row) | {name: value})


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_row_with_its_own_checksum_is_scored_anew(halfway, webeval, scored_again, forge):
    change_row(halfway, forge, sign=checksum_row)
    webeval("--webeval-reuse").assert_outcomes(passed=3, failed=1)
    assert scored_again() == ["107", "109", "110"]


@pytest.mark.parametrize(
    "options",
    [
        ("--webeval-rules=default",),
        ("--webeval-redact=off",),
        ("--webeval-config=config.json",),
        ("--webeval-output=elsewhere",),
    ],
    ids=lambda options: options[0],
)
def test_whoever_asks_for_something_else_gets_it(halfway, webeval, scored_again, pytester, options):
    addresses = {"environments": {"shopping": {"urls": ["http://shop.test"]}}}
    (pytester.path / "config.json").write_text(json.dumps(addresses))
    webeval("--webeval-reuse", *options)
    assert scored_again() == ["107", "108", "109", "110"]


@pytest.mark.parametrize(
    "options", [("--webeval-durations=0",), ("-k", "not 110"), ("-v", "--reruns=1"), ("--webeval-aborted=fail",)]
)
def test_what_makes_no_difference_to_a_result_is_no_reason_to_score_it_again(halfway, webeval, scored_again, options):
    webeval("--webeval-reuse", *options)
    assert not {"107", "108"} & set(scored_again())


EVALUATOR = """
import pytest, pytest_webeval as webeval

class Own(webeval.ResponseEvaluator):
    def evaluate(self, expectation, case):
        return super().evaluate(expectation, case)  # {version}

@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Own())
"""


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(("version", "taken"), [(1, 2), (2, 0)])
def test_other_code_has_everything_scored_anew(runs, webeval_apart, pytester, told, version, taken):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108)
    pytester.makeconftest(EVALUATOR.format(version=1))
    webeval_apart("-x")
    pytester.makeconftest(EVALUATOR.format(version=version))
    result = webeval_apart("--webeval-reuse", "-p", "no:cacheprovider")
    assert told(result) == f"reused: {taken} of 3 results taken from an earlier session"


def test_errors_and_skipped_runs_are_always_scored_anew(runs, webeval, scored_again, pytester):
    (runs.add(107) / "network.har").write_text("{")
    runs.add(108, expects=({"evaluator": "PalmReader"},))
    runs.add(109, passes=False)
    runs.add(110)
    webeval("--maxfail=3")
    scored_again()
    webeval("--webeval-reuse").assert_outcomes(errors=1, failed=2, passed=1)
    assert scored_again() == ["107", "108", "110"]


def test_a_result_in_a_run_directory_is_never_taken_without_its_row(runs, webeval, scored_again, told):
    runs.add(107, passes=False)
    webeval()
    path = runs.root / "107" / "eval_result.json"
    forged = runs.result(107) | {"status": "success", "score": 1.0, "evaluators_results": [], "error_msg": None}
    path.write_text(json.dumps(forged))
    result = webeval("--webeval-reuse")
    result.assert_outcomes(failed=1)
    assert told(result).startswith("reused: 0 of 1 ")
    assert runs.result(107)["status"] == "failure"


@pytest.fixture
def lone(pytester, runs):
    """A root that is itself a run, whose directory was written by a stranger."""
    path = runs.add(107, passes=False)
    (runs.root / "tasks.json").rename(path / "tasks.json")
    return path


@pytest.mark.whole
def test_rows_in_a_run_directory_are_neither_believed_nor_written(pytester, lone, scored_again, monkeypatch):
    options = ("--webeval-runs=runs/107", "--webeval-tasks=runs/107/tasks.json")
    pytester.makeconftest(DECODED + KILLED)
    pytester.runpytest_subprocess(*options, "--webeval-output=out")
    for name in ("eval_session.sqlite", "eval_result.json"):
        (pytester.path / "out" / name).rename(lone / name)
    before = (lone / "eval_session.sqlite").read_bytes()
    monkeypatch.setenv("GO_ON", "1")
    assert scored_again() == ["107"]
    result = pytester.runpytest_subprocess(*options, "--webeval-reuse")
    result.stdout.fnmatch_lines(["reused: 0 of 1 result *"])
    assert scored_again() == ["107"]
    assert (lone / "eval_session.sqlite").read_bytes() == before


@pytest.mark.whole
def test_a_root_that_is_a_run_has_rows_where_the_output_goes_or_none(pytester, lone, scored_again, monkeypatch):
    pytester.makeconftest(DECODED + KILLED)
    options = ("--webeval-runs=runs/107", "--webeval-own-tasks")
    pytester.runpytest_subprocess(*options)
    assert [path.name for path in lone.glob("eval_*")] == ["eval_result.json"]
    options += ("--webeval-output=out",)
    pytester.runpytest_subprocess(*options)
    assert (pytester.path / "out" / "eval_session.sqlite").exists()
    scored_again()
    monkeypatch.setenv("GO_ON", "1")
    result = pytester.runpytest_subprocess(*options, "--webeval-reuse")
    result.stdout.fnmatch_lines(["reused: 1 of 1 result *"])
    assert scored_again() == []


def test_rows_behind_a_link_are_left_alone(halfway, webeval, scored_again):
    rows = halfway.root / "eval_session.sqlite"
    rows.rename(halfway.root / "precious")
    rows.symlink_to("precious")
    before = rows.read_bytes()
    result = webeval("--webeval-reuse")
    assert scored_again() == ["107", "108", "109", "110"]
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["cannot write *eval_session.sqlite: Too many levels of symbolic links; *"])
    assert rows.is_symlink()
    assert rows.read_bytes() == before


def test_rows_that_cannot_be_used_are_set_aside(halfway, webeval, scored_again):
    (halfway.root / "eval_session.sqlite").write_bytes(b"no database")
    result = webeval("--webeval-reuse")
    assert scored_again() == ["107", "108", "109", "110"]
    result.stdout.fnmatch_lines(["*eval_session.sqlite is damaged (*); it is now eval_session.old-1.sqlite, *"])
    assert (halfway.root / "eval_session.old-1.sqlite").read_bytes() == b"no database"
    webeval("--webeval-reuse")
    assert scored_again() == []


def test_a_session_that_chooses_some_runs_adds_rows_and_removes_none(halfway, webeval, pytester, scored_again):
    (pytester.path / "few.json").write_text('{"task_ids": [109]}')
    main(["score", "runs", "--subset=few.json", "--executor=process:1"])
    assert kept(halfway) == ["runs/107", "runs/108", "runs/109"]
    webeval("runs/109", "runs/107")
    webeval("--webeval-subset=few.json")
    assert sorted(kept(halfway)) == ["runs/107", "runs/108", "runs/109"]
    scored_again()
    webeval("--webeval-reuse")
    assert scored_again() == ["110"]


def test_a_session_over_all_runs_forgets_those_that_are_gone(halfway, webeval):
    (halfway.root / "107").rename(halfway.root / "111")
    webeval("--webeval-reuse")
    assert sorted(kept(halfway)) == ["runs/108", "runs/109", "runs/110", "runs/111"]


def test_leftovers_of_a_killed_session_are_removed_where_the_session_writes(halfway, webeval):
    name = ".eval_result.json.0123456789abcdef"
    for place in ("107", "110"):
        (halfway.root / place / name).touch()
    (halfway.root / ".eval_summary.json.0123456789abcdef").touch()
    (halfway.root / "108" / ".eval_result.json.0123456789ABCDEF").touch()
    (halfway.root / "109" / name).symlink_to("../tasks.json")
    webeval("runs/107")
    assert (halfway.root / "107" / name).exists()
    webeval("--webeval-reuse")
    left = [path.parent.name for path in halfway.root.rglob(".eval_*")]
    assert sorted(left) == ["107", "108", "109"]  # the result of 107 stands, and is not looked after
    assert (halfway.root / "tasks.json").exists()


@pytest.mark.whole
@WORKERS
def test_checks_of_python_tests_come_out_as_in_an_undisturbed_session(runs, webeval_apart, pytester, workers):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108)
    pytester.makepyfile(
        test_checks="""
        def test_a(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/", "http_method": "GET"})
        def test_b(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "GET"})
        """
    )
    arguments = ("runs", "test_checks.py", *workers)
    webeval_apart(*arguments)
    wanted = everything(runs.root)
    for label in ("runs/109::task", "test_b[runs/108]"):
        forget(runs.root)
        (pytester.path / "go").unlink(missing_ok=True)
        pytester.makeconftest(INTERRUPTED_AT.format(label=label))
        webeval_apart(*arguments)
        (pytester.path / "conftest.py").unlink()
        webeval_apart("--webeval-reuse", *arguments).stdout.fnmatch_lines(["reused: *"])
        assert everything(runs.root) == wanted


def test_what_a_fixture_records_beside_a_run_item_is_not_taken(runs, webeval, pytester, told):
    for number in (107, 108):
        runs.add(number, passes=number == 107)
    runs.add(109)
    pytester.makeconftest(
        """
        import pytest
        from pytest_webeval import Assertion, EvaluatorResult

        @pytest.fixture(autouse=True)
        def more(record_evaluation):
            if record_evaluation.case.run.task_id == 107:
                found = [Assertion.of("more", True)]
                record_evaluation(EvaluatorResult(evaluator_name="M", status="success", score=1, assertions=found))
        """
    )
    webeval()
    wanted = everything(runs.root)
    forget(runs.root)
    webeval("-x")
    result = webeval("--webeval-reuse")
    assert told(result) == "reused: 1 of 3 results taken from an earlier session"
    assert everything(runs.root) == wanted


@pytest.mark.whole
@WORKERS
def test_each_of_several_roots_has_rows_of_its_own(runs, another_root, pytester, workers):
    more = another_root("more")
    for number in (107, 108, 109):
        runs.add(number)
        more.add(number)
    roots = ("--webeval-runs=runs", "--webeval-runs=more", *workers)
    pytester.runpytest_subprocess(*roots)
    wanted = everything(pytester.path)
    forget(pytester.path)
    pytester.makeconftest(INTERRUPTED_AT.format(label="more/108"))
    pytester.runpytest_subprocess(*roots)
    assert (runs.root / "eval_session.sqlite").exists()
    result = pytester.runpytest_subprocess(*roots, "--webeval-reuse")
    result.stdout.re_match_lines([r"reused: [345] of 6 results taken from an earlier session$"])
    assert everything(pytester.path) == wanted


def test_results_that_go_elsewhere_are_taken_from_there(runs, another_root, pytester, scored_again):
    more = another_root("more")
    for number in (107, 108, 109):
        runs.add(number, passes=number != 108)
        more.add(number)
    options = ("--webeval-runs=runs", "--webeval-runs=more", "--webeval-output=out")
    pytester.runpytest(*options)
    wanted = everything(pytester.path / "out")
    forget(pytester.path / "out")
    pytester.runpytest(*options, "-x")
    scored_again()
    pytester.runpytest(*options, "--webeval-reuse").assert_outcomes(passed=5, failed=1)
    assert scored_again() == ["107", "108", "109", "109"]
    assert everything(pytester.path / "out") == wanted
    assert not list(runs.root.rglob("eval_*"))


@pytest.mark.whole
@WORKERS
def test_trajectories_are_taken_as_well(runs, tree, webeval_apart, pytester, workers):
    for number in range(6):
        tree(f"books_find_{number}")
    webeval_apart(*workers)
    wanted = everything(runs.root)
    forget(runs.root)
    pytester.makeconftest(INTERRUPTED_AT.format(label="books_find_4"))
    webeval_apart(*workers)
    count = len(kept(runs))
    result = webeval_apart("--webeval-reuse", *workers)
    result.stdout.fnmatch_lines([f"reused: {count} of 6 results taken from an earlier session"])
    assert count >= 1
    assert everything(runs.root) == wanted
