"""--webeval-reuse: a stored result stands as long as all that decided it does, and not a moment longer."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from pytest_webeval.scoring import provenance
from pytest_webeval.sessions.runs import fingerprints, run_files
from pytest_webeval.summary.store.row_database import is_unfinished
from tests.plugin.test_resume import everything
from tests.support import recorded

REUSE = "--webeval-reuse"
OPTIONS = (REUSE, "--webeval-config=config.json", "--webeval-today=2026-01-31")
# The runs of the directory `a`: a task of each kind. Those of `b` have evaluators of a user.
RETRIEVED, FAILED, DATED, ON_GITLAB, TRAJECTORY, IN_B = "107", "108", "109", "110", "books_find_1", "207"
ALL = [RETRIEVED, FAILED, DATED, ON_GITLAB, IN_B, TRAJECTORY]
SCORED = """
import pathlib
import pytest_webeval.plugin.runtest.evaluation as evaluation

if not hasattr(evaluation, "score_unwatched"):
    evaluation.score_unwatched = evaluation.score

def watched(case, *arguments):
    with (pathlib.Path(__file__).with_name("scored.txt")).open("a") as stream:
        print(case.run.label, file=stream)
    return evaluation.score_unwatched(case, *arguments)
evaluation.score = watched
"""
EVALUATOR = """
import os, sys, pathlib
from dataclasses import dataclass
import pytest, pytest_webeval as webeval

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import helping
from helping import LIMIT, check

@dataclass(frozen=True)
class Own(webeval.ResponseEvaluator):
    threshold: str
    helper: object

    def evaluate(self, expectation, case):
        import lately
        (case.run.path / "notes.txt").read_text()
        return super().evaluate(expectation, case)  # version {version}

@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Own(os.environ.get("THRESHOLD", "1"), {helper}))
"""


HELPING = """
import functools

NAME = "first"
LIMIT = 1

@functools.lru_cache
def check():
    return 1
"""


def own_evaluator(place, version=1, helper="helping.NAME"):
    (place / "conftest.py").write_text(EVALUATOR.format(version=version, helper=helper))


@pytest.fixture
def list_scored(pytester, monkeypatch):
    """The names of the runs that were scored since it was called last."""
    file = pytester.path / "scored.txt"
    pytester.makeconftest(SCORED)
    monkeypatch.syspath_prepend(str(pytester.path))

    def list_runs():
        labels = set(file.read_text().split()) if file.exists() else set()
        file.unlink(missing_ok=True)
        return sorted(label.rpartition("/")[2] for label in labels)

    return list_runs


@pytest.fixture
def suite(pytester, another_root, list_scored):
    """Two run roots, in directories of their own, each with runs of several kinds; already scored once."""
    suite = Suite(pytester, another_root("a/runs"), another_root("b/runs"))
    suite.a.add(107)
    suite.a.add(108, passes=False)
    suite.a.add(109)
    suite.a.tasks[-1]["eval"][0]["results_schema"]["items"] = {"type": "string", "format": "date"}
    suite.a.tasks[-1]["eval"][0]["expected"]["retrieved_data"] = ["May 5"]
    response = json.loads((suite.a.root / "109" / "agent_response.json").read_text())
    (suite.a.root / "109" / "agent_response.json").write_text(json.dumps(response | {"retrieved_data": ["May 5"]}))
    suite.a.add(110, site="gitlab")
    suite.a.define()
    suite.b.add(207)
    own_evaluator(pytester.path / "b")
    (pytester.path / "b" / "helping.py").write_text(HELPING)
    (pytester.path / "b" / "lately.py").write_text("")
    (suite.b.root / IN_B / "notes.txt").write_text("ok")
    suite.configure()
    recorded.write(suite.a.root / recorded.RUN / TRAJECTORY)
    suite.score()
    assert list_scored() == sorted(ALL)
    return suite


class Suite:
    """The roots, and a session over both in a process of its own."""

    def __init__(self, pytester, a, b):
        self.pytester, self.a, self.b, self.path = pytester, a, b, pytester.path

    def configure(self, gitlab="http://gitlab.test", **more):
        urls = {"shopping": "http://shop.test", "gitlab": gitlab} | more
        environments = {name: {"urls": [url]} for name, url in urls.items()}
        (self.path / "config.json").write_text(json.dumps({"environments": environments}))

    def score(self, *options):
        arguments = ("-pno:hypothesispytest", "-pno:benchmark", "-pno:rerunfailures", "-p", "no:cacheprovider")
        roots = ("--webeval-runs=a/runs", "--webeval-runs=b/runs")
        return self.pytester.runpytest_subprocess(*arguments, *roots, *OPTIONS, *options)

    def written(self):
        """All that sessions wrote but for their rows, times aside."""
        files = everything(self.path)
        return {name: content for name, content in files.items() if not name.endswith(".jsonl")}


def reused(result):
    return next(line for line in result.outlines if line.startswith("reused: "))


def without_count(files):
    return {name: re.sub(rb'"reused_count": \d+', b"", content) for name, content in files.items()}


@pytest.mark.parametrize("options", [(), ("-n2",), ("-p", "no:xdist")], ids=["serial", "spread", "without xdist"])
def test_what_is_unchanged_is_reused_and_the_session_leaves_the_same(suite, list_scored, options):
    before = suite.written()
    result = suite.score(*options)
    result.assert_outcomes(passed=5, failed=1)
    assert list_scored() == []
    assert reused(result) == "reused: 6 of 6 results taken from an earlier session"
    assert without_count(suite.written()) == without_count(before)
    assert suite.a.summary["webeval"]["reused_count"] == 5
    result.stdout.fnmatch_lines(["FAILED a/runs/108::task - agent_response.status: *"])


@pytest.mark.whole
def test_a_session_without_the_option_scores_all_and_says_nothing(suite, list_scored):
    result = suite.pytester.runpytest_subprocess("--webeval-runs=a/runs", "--webeval-runs=b/runs", *OPTIONS[1:])
    assert list_scored() == sorted(ALL)
    result.stdout.no_fnmatch_line("reused: *")
    assert "reused_count" not in suite.a.summary["webeval"]


def other_recording(suite):
    path = suite.a.root / RETRIEVED / "network.har"
    path.write_text(path.read_text().replace("GET", "PUT"))


def other_answer(suite):
    path = suite.a.root / FAILED / "agent_response.json"
    path.write_text(path.read_text().replace("NOT_FOUND_ERROR", "PERMISSION_ERROR"))


def other_file(suite):
    (suite.a.root / RETRIEVED / "notes.txt").touch()


def other_task(suite):
    suite.a.tasks[0]["intent"] = "Find another lamp."
    suite.a.define()


def other_judge(suite):
    (path,) = (suite.a.root / recorded.RUN / TRAJECTORY / "scores").iterdir()
    path.write_text(path.read_text() + " ")


def other_address(suite):
    suite.configure(gitlab="http://gitlab.example")


def address_of_another_site(suite):
    suite.configure(map="http://map.test")


def other_fixture(suite):
    own_evaluator(suite.path / "b", version=2)


def other_helper(suite):
    (suite.path / "b" / "helping.py").write_text(HELPING.replace("first", "second"))


def other_constant(suite):
    (suite.path / "b" / "helping.py").write_text(HELPING.replace("LIMIT = 1", "LIMIT = 2"))


def other_decorated_function(suite):
    (suite.path / "b" / "helping.py").write_text(HELPING.replace("return 1", "return 2"))


def other_module_that_is_imported_late(suite):
    (suite.path / "b" / "lately.py").write_text("# changed")


def other_file_that_an_evaluator_reads(suite):
    (suite.b.root / IN_B / "notes.txt").write_text("no")


def other_class_attribute(suite):
    own_evaluator(suite.path / "b", version="1\n\nOwn.LIMIT = 2")


def a_file_named_like_ours_in_a_directory(suite):
    place = suite.a.root / RETRIEVED / "inner"
    place.mkdir()
    (place / "eval_session.sqlite").touch()


def other_hook(suite):
    (suite.path / "conftest.py").write_text(SCORED + "\ndef pytest_report_header(): pass\n")


def no_address_at_all(suite):
    (suite.path / "config.json").write_text("{}")


def changed_result(suite):
    path = suite.a.root / RETRIEVED / "eval_result.json"
    path.write_text(path.read_text().replace('"task_revision": 1', '"task_revision": 2'))


def forged_result(suite):
    path = suite.a.root / FAILED / "eval_result.json"
    path.write_bytes((suite.a.root / RETRIEVED / "eval_result.json").read_bytes())


def no_result(suite):
    (suite.a.root / RETRIEVED / "eval_result.json").unlink()


def no_rows(suite):
    (suite.a.root / "eval_session.sqlite").unlink()


IN_A = [RETRIEVED, FAILED, DATED, ON_GITLAB, TRAJECTORY]
NUMBERED = [RETRIEVED, FAILED, DATED, ON_GITLAB, IN_B]


@pytest.mark.thinned(every=11)
@pytest.mark.parametrize(
    ("change", "touched"),
    [
        (other_recording, [RETRIEVED]),
        (other_answer, [FAILED]),
        (other_file, [RETRIEVED]),
        (other_task, [RETRIEVED]),
        (other_judge, [TRAJECTORY]),
        (other_address, [ON_GITLAB, IN_B]),  # an evaluator of a user may use any address
        (address_of_another_site, [IN_B]),
        (no_address_at_all, ALL),
        (other_fixture, [IN_B]),
        (other_helper, [IN_B]),
        (other_constant, [IN_B]),
        (other_decorated_function, [IN_B]),
        (other_module_that_is_imported_late, [IN_B]),
        (other_file_that_an_evaluator_reads, [IN_B]),
        (other_class_attribute, [IN_B]),
        (a_file_named_like_ours_in_a_directory, [RETRIEVED]),
        (other_hook, ALL),
        (changed_result, [RETRIEVED]),
        (forged_result, [FAILED]),
        (no_result, [RETRIEVED]),
        (no_rows, IN_A),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_thing_that_decides_touches_exactly_its_results(suite, list_scored, change, touched):
    change(suite)
    result = suite.score()
    assert list_scored() == sorted(touched)
    assert reused(result).startswith(f"reused: {6 - len(touched)} of 6 results")
    assert suite.a.result(RETRIEVED)["task_revision"] == 1
    assert suite.a.result(FAILED)["status"] == "failure"
    suite.score()
    assert list_scored() == []


@pytest.mark.whole
@pytest.mark.thinned(every=6)
@pytest.mark.parametrize(
    ("option", "touched"),
    [
        ("--webeval-rules=default", ALL),
        ("--webeval-redact=strict", ALL),
        ("--webeval-criterion=process", [TRAJECTORY, IN_B]),
        ("--webeval-rubric-threshold=0.9", [TRAJECTORY, IN_B]),
        ("--webeval-over-budget=zero", [TRAJECTORY, IN_B]),
        ("--webeval-today=2026-02-01", [DATED, IN_B]),
        ("-o webeval_limits=file_size=64MiB", ALL),
        ("--webeval-timeout=30", []),
        ("--webeval-aborted=fail", []),
        ("--webeval-durations=3", []),
    ],
    ids=str,
)
def test_each_option_that_decides_touches_exactly_its_results(suite, list_scored, option, touched):
    result = suite.score(*option.split(" "))
    assert list_scored() == sorted(touched)
    assert reused(result).startswith(f"reused: {6 - len(touched)} of 6 results")


@pytest.mark.whole
def test_the_state_of_an_evaluator_decides(suite, list_scored, monkeypatch):
    monkeypatch.setenv("THRESHOLD", "2")
    suite.score()
    assert list_scored() == [IN_B]
    suite.score()
    assert list_scored() == []


@pytest.mark.whole
def test_an_evaluator_whose_state_nobody_can_compare_is_always_asked(suite, list_scored):
    own_evaluator(suite.path / "b", helper="object()")
    for _ in range(2):
        suite.score()
        assert list_scored() == [IN_B]


@pytest.fixture
def two(runs, webeval, list_scored):
    """Two runs that were scored in this process."""
    runs.add(107)
    runs.add(108, passes=False)
    webeval(REUSE).assert_outcomes(passed=1, failed=1)
    assert list_scored() == ["107", "108"]
    return runs


@pytest.fixture
def five(runs, webeval, list_scored):
    """Five runs that were scored in this process. Those between the first and the last need no phase of pytest's."""
    for number in range(107, 112):
        runs.add(number, passes=number != 109)
    webeval(REUSE)
    list_scored()
    return runs


@pytest.mark.parametrize("name", ["deciding code", "library", "Python", "nothing"])
def test_code_and_libraries_decide(five, webeval, list_scored, monkeypatch, name):
    if name == "deciding code":
        monkeypatch.setattr(provenance, "_own_code", lambda *_: b"other code")
        provenance.record_code_checksum.cache_clear()
        provenance.code_checksum.cache_clear()
    if name == "library":
        monkeypatch.setattr(fingerprints, "libraries", lambda: {"msgspec": "0"})
    if name == "Python":
        monkeypatch.setattr(fingerprints, "sys", SimpleNamespace(version_info=(3, 99, 1)))
    webeval(REUSE).assert_outcomes(passed=4, failed=1)
    monkeypatch.undo()
    provenance.record_code_checksum.cache_clear()
    provenance.code_checksum.cache_clear()
    assert len(list_scored()) == (0 if name == "nothing" else 5)


@pytest.fixture
def hashed(monkeypatch):
    """The names of the recordings that were read, by this process."""
    from pytest_webeval.recordings.inputs import RunInputs

    names, read = [], RunInputs.read

    def watch(self, name, *arguments):
        names.append(f"{self.directory.name}/{name}")
        return read(self, name, *arguments)

    monkeypatch.setattr(RunInputs, "read", watch)
    return names


@pytest.mark.parametrize(("settled", "is_read"), [(-60.0, False), (60.0, True)], ids=["old files", "new files"])
def test_files_that_were_not_touched_since_are_not_even_read(
    runs, webeval, list_scored, hashed, monkeypatch, settled, is_read
):
    monkeypatch.setattr(run_files, "SETTLED", settled)
    for number in range(107, 112):
        runs.add(number, passes=number != 109)
    webeval(REUSE)
    hashed.clear()
    webeval(REUSE).assert_outcomes(passed=4, failed=1)
    assert len(hashed) == (10 if is_read else 0)


def test_a_file_that_was_only_touched_is_read_once_and_its_result_stands(
    two, webeval, list_scored, hashed, monkeypatch
):
    monkeypatch.setattr(run_files, "SETTLED", -60.0)
    (two.root / "107" / "network.har").touch()
    list_scored()
    for expected in ({"107", "108"}, set()):
        hashed.clear()
        assert reused(webeval(REUSE)).startswith("reused: 2 of 2")
        assert {name.partition("/")[0] for name in hashed} == expected
    assert list_scored() == []


def test_other_definitions_are_named_in_a_reused_result(two, webeval, webeval_apart, list_scored, pytester):
    before = two.result(107)
    two.define(two.definition(7))
    webeval(REUSE)
    assert list_scored() == []
    reused_files = everything(two.root)
    after = two.result(107)
    assert after["webarena_verified_data_checksum"] != before["webarena_verified_data_checksum"]
    webeval(REUSE)
    assert list_scored() == []
    for path in two.root.rglob("eval_*"):
        path.unlink()
    webeval(REUSE)
    ours = {name: content for name, content in reused_files.items() if name.endswith(".json")}
    again = {name: content for name, content in everything(two.root).items() if name.endswith(".json")}
    assert without_count(again) == without_count(ours)


def test_an_interrupted_session_keeps_what_it_has(two, webeval, list_scored):
    two.add(109)
    two.add(110)
    webeval(REUSE, "--maxfail=1")
    assert list_scored() == []
    assert reused(webeval(REUSE)) == "reused: 2 of 4 results taken from an earlier session"
    assert list_scored() == ["109", "110"]


def count_pages(pytester):
    """How many tasks have a page, leaving aside the details of their requests."""
    return sum("-events" not in path.name for path in (pytester.path / "report" / "data").iterdir())


def test_a_page_is_made_for_what_is_reused(two, webeval, list_scored, pytester):
    webeval(REUSE, "--webeval-report=report")
    assert "107" not in list_scored()
    assert count_pages(pytester) == 2


def test_an_expected_failure_of_an_evaluator_is_found_again(runs, webeval, pytester, list_scored):
    pytester.makeconftest(
        SCORED
        + """
import pytest, pytest_webeval as webeval

class Own(webeval.ResponseEvaluator):
    def evaluate(self, expectation, case):
        pytest.xfail("known")

@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Own())
"""
    )
    runs.add(107)
    for _ in range(2):
        webeval(REUSE).assert_outcomes(xfailed=1)


def test_tags_of_a_reused_run_are_those_of_now(runs, webeval, pytester, list_scored, monkeypatch):
    marking = """
import os
def pytest_collection_modifyitems(items):
    for item in items:
        if "TAGGED" in os.environ:
            item.add_marker("smoke")
"""
    pytester.makeconftest(SCORED + marking)
    pytester.makeini("[pytest]\nmarkers = smoke")
    for number in (107, 108):
        runs.add(number)
    webeval(REUSE)
    list_scored()
    monkeypatch.setenv("TAGGED", "1")
    webeval(REUSE)
    assert list_scored() == []
    assert {tuple(row["tags"]) for row in runs.summary["task_results"]} == {("smoke",)}
    monkeypatch.delenv("TAGGED")
    webeval(REUSE)
    assert all("tags" not in row for row in runs.summary["task_results"])


def test_known_failures_are_expected_of_reused_runs_as_well(two, webeval, list_scored, pytester):
    webeval(REUSE, "--webeval-baseline=base.json", "--webeval-baseline-update")
    list_scored()
    webeval(REUSE, "--webeval-baseline=base.json", "--webeval-known-failures").assert_outcomes(passed=1, xfailed=1)
    assert list_scored() == []


def test_a_report_of_results_elsewhere_says_why_nothing_is_reused(runs, webeval, pytester):
    runs.add(107)
    options = (REUSE, "--webeval-output=out", "--webeval-report=report")
    webeval(*options)
    why = "; a report of results in another directory needs all runs to be scored"
    assert reused(webeval(*options)) == f"reused: 0 of 1 result taken from an earlier session{why}"


def shown(result):
    """How the terminal shows the failure."""
    lines = result.outlines
    start = lines.index(next(line for line in lines if line.startswith("____") and "runs/109::task" in line))
    return lines[start : start + 7]


def test_a_reused_failure_is_shown_as_it_was(five, webeval, list_scored):
    before = shown(webeval())
    webeval(REUSE)
    list_scored()
    again = webeval(REUSE)
    assert list_scored() == []
    assert shown(again) == before
    assert '    expected "success"' in before


SEEN = """
import pathlib

def pytest_runtest_logreport(report):
    with pathlib.Path(__file__).with_name("seen.txt").open("a") as stream:
        print(report.nodeid, report.when, report.outcome, file=stream)
"""


def test_a_plugin_sees_each_phase_of_a_reused_run(five, webeval, pytester, list_scored):
    pytester.makeconftest(SCORED + SEEN)
    webeval(REUSE)
    list_scored()
    (pytester.path / "seen.txt").unlink()
    webeval(REUSE)
    assert list_scored() == []
    seen = (pytester.path / "seen.txt").read_text().splitlines()
    outcomes = {(number, when): "passed" for number in range(107, 112) for when in ("setup", "call", "teardown")}
    outcomes[109, "call"] = "failed"
    assert seen == [f"runs/{number}::task {when} {outcome}" for (number, when), outcome in outcomes.items()]


def test_the_durations_of_all_phases_of_a_reused_run_are_listed(five, webeval, list_scored):
    result = webeval(REUSE, "--durations=0", "-vv")
    assert list_scored() == []
    assert sum(bool(re.match(r"[\d.]+s (setup|call|teardown) +runs/", line)) for line in result.outlines) == 15


def test_nothing_of_a_reused_run_is_kept_to_the_end(five, webeval, pytester, list_scored):
    pytester.makeconftest(
        SCORED
        + """
from pytest_webeval.plugin.runtest.evaluation import ATTEMPT

def pytest_sessionfinish(session):
    kept = [item.nodeid for item in session.items if ATTEMPT in item.stash]
    assert not kept, kept
"""
    )
    webeval(REUSE)
    list_scored()
    assert webeval(REUSE).ret == 1
    assert list_scored() == []


def test_each_reused_run_has_a_page(five, webeval, pytester, list_scored):
    webeval(REUSE, "--webeval-report=report")
    assert count_pages(pytester) == 5


def test_all_reused_results_name_the_definitions_of_now(five, webeval, list_scored):
    five.define(five.definition(7))
    webeval(REUSE)
    assert list_scored() == []
    checksum = five.summary["webarena_verified_data_checksum"]
    assert {five.result(number)["webarena_verified_data_checksum"] for number in range(107, 112)} == {checksum}


def test_all_reused_results_name_the_file_with_the_definitions(five, webeval, pytester, list_scored):
    (five.root / "tasks.json").rename(pytester.path / "moved.json")
    options = (REUSE, "--webeval-tasks=moved.json")
    webeval(*options)
    assert list_scored() == []
    reused_files = everything(five.root)
    assert five.result(109)["webeval"]["tasks_from"].endswith("moved.json")
    webeval(*options)
    assert list_scored() == []
    for path in five.root.rglob("eval_*"):
        path.unlink()
    webeval(*options)
    names = [name for name in reused_files if name.endswith(".json")]
    assert len(names) == 6
    again = everything(five.root)
    assert without_count({name: again[name] for name in names}) == without_count(
        {name: reused_files[name] for name in names}
    )


def test_files_of_a_run_with_a_link_are_always_read(five, webeval, list_scored):
    for number in ("108", "109"):
        (five.root / number / "link").symlink_to("network.har")
    webeval(REUSE)
    assert list_scored() == ["108", "109"]  # there is one more file
    path = five.root / "108" / "network.har"
    path.write_text(path.read_text().replace("GET", "PUT"))
    webeval(REUSE)
    assert list_scored() == ["108"]


def test_a_fixture_that_a_plugin_adds_to_items_may_do_anything(five, webeval, pytester, list_scored):
    pytester.makeconftest(
        SCORED
        + """
import pytest

@pytest.fixture
def own():
    pass

def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("runs/109"):
            item.fixturenames.insert(0, "own")
"""
    )
    webeval(REUSE)
    list_scored()
    webeval(REUSE)
    assert list_scored() == ["109"]


FORMAT = """
from pytest_webeval.recordings.webarena_verified import WebArenaVerified

class Format(WebArenaVerified):
    name = "{name}"
"""
RECOGNIZE = """
import first_format, second_format

def pytest_webeval_recognize(path, config):
    kinds = {"108": first_format, "109": second_format}
    return kinds[path.name].Format() if path.name in kinds else None
"""


@pytest.mark.parametrize(("name", "number"), [("first", "108"), ("second", "109")])
def test_the_module_of_a_format_decides_for_its_runs(five, webeval, pytester, list_scored, name, number):
    for each in ("first", "second"):
        (pytester.path / f"{each}_format.py").write_text(FORMAT.format(name=each))
    pytester.makeconftest(SCORED + RECOGNIZE)
    webeval(REUSE)
    assert len(list_scored()) == 5  # there is another hook
    webeval(REUSE)
    assert list_scored() == []
    (pytester.path / f"{name}_format.py").write_text(FORMAT.format(name=name) + "# changed\n")
    webeval(REUSE)
    assert list_scored() == [number]


def test_leftovers_are_removed_where_a_result_is_written_anew(five, webeval, list_scored):
    name = ".eval_result.json.0123456789abcdef"
    for number in ("107", "108"):
        (five.root / number / name).touch()
    (five.root / "108" / "notes.txt").touch()
    webeval(REUSE)
    assert list_scored() == ["108"]
    assert [path.parent.name for path in five.root.rglob(name)] == ["107"]


def test_a_hook_that_raises_once_and_not_again_disturbs_nothing(runs, webeval, pytester):
    pytester.makeconftest(
        """
        failed = []

        def pytest_webeval_scored(run):
            if not failed:
                failed.append(run)
                raise ZeroDivisionError
        """
    )
    runs.add(107)
    webeval("--reruns=1").assert_outcomes(passed=1)
    assert not is_unfinished(runs.root / "eval_session.sqlite")


def test_an_undefined_task_names_the_file_of_tasks_of_now(runs, tree, webeval, pytester, list_scored):
    names = [f"books_find_{number}" for number in range(3)]
    for name in names:
        tree(name)
    (pytester.path / "tasks.json").write_text(json.dumps([runs.definition(7)]))
    webeval(REUSE)
    assert list_scored() == names
    webeval(REUSE, "--webeval-tasks=tasks.json")
    reused_results = [runs.result(f"{recorded.RUN}/{name}")["webeval"]["warnings"] for name in names]
    for path in runs.root.rglob("eval_*"):
        path.unlink()
    webeval(REUSE, "--webeval-tasks=tasks.json")
    assert [runs.result(f"{recorded.RUN}/{name}")["webeval"]["warnings"] for name in names] == reused_results
    assert any("tasks.json" in str(texts) for texts in reused_results)
