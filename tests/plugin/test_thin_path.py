"""What a session looks at, keeps and passes on: no more than it needs, whatever the number of runs."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from pytest_webeval.plugin.runtest.report_payloads import attach_payload, find_payload
from pytest_webeval.sessions.runs.record_payload import RecordPayload
from pytest_webeval.summary.record import Record

KEPT = """
import collections, gc, pathlib, pytest

COUNTED = {names!r}
told = pathlib.Path(__file__).with_name("kept.txt")

def pytest_configure():
    gc.collect()
    gc.disable()  # what only cycles keep is kept for long where the objects are few and large

def alive():
    kinds = collections.Counter(type(one).__name__ for one in gc.get_objects())
    return sum(kinds[name] for name in COUNTED)

@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish(nodeid):
    with told.open("a") as stream:
        print(nodeid, alive(), file=stream)

def pytest_unconfigure():
    gc.enable()
"""
READ = ("NetworkTrace", "NetworkEvent")
FOUND = (*READ, "RecordEvaluation", "Case", "EvaluatorResult", "TaskResult")


@pytest.fixture
def kept(pytester):
    """How many objects of the kinds that `count` names are alive after each item, by its node id."""

    def count(*names):
        pytester.makeconftest(KEPT.format(names=names))

    def read():
        lines = (pytester.path / "kept.txt").read_text().splitlines()
        return {node: int(number) for node, number in (line.rsplit(" ", 1) for line in lines)}

    count.read = read
    return count


def test_of_a_run_that_passed_nothing_is_kept_but_its_record(runs, webeval_apart, kept):
    for number in (107, 108):
        runs.add(number, expects=(runs.visited(),))
    kept(*FOUND)
    webeval_apart().assert_outcomes(passed=2)
    assert kept.read() == {"runs/107::task": 0, "runs/108::task": 0}


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--reruns=1",),
        *(
            pytest.param(options, marks=pytest.mark.whole)
            for options in (("--setup-show",), ("--setup-only",), ("-x",))
        ),
    ],
)
def test_no_recording_is_kept_whatever_became_of_its_run(runs, webeval, kept, options):
    runs.add(107, passes=False)
    (runs.add(108) / "agent_response.json").write_bytes(b"\xff")
    runs.add(109)
    empty = {"log": {"entries": [runs.navigation("http://shop.test/a.png")]}}
    (runs.add(110) / "network.har").write_text(json.dumps(empty))
    kept(*READ)
    webeval(*options)
    assert set(kept.read().values()) == {0}


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@pytest.mark.parametrize("wanted", [1, 2])
def test_no_recording_is_kept_that_a_python_test_looked_at(runs, webeval, kept, pytester, wanted):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(
        test_it=f"""
        def test_it(webeval_run):
            count = len(webeval_run.trace.events)
            assert count == {wanted}
        """
    )
    kept(*READ)
    webeval("test_it.py")
    assert kept.read() == {"test_it.py::test_it[runs/107]": 0, "test_it.py::test_it[runs/108]": 0}


def test_definitions_that_cannot_be_read_keep_no_run_that_asked_for_them(runs, webeval_apart, pytester):
    for number in range(107, 113):
        runs.add(number)
    runs.define(*(runs.definition(number) | {"sites": 5} for number in range(107, 113)))
    pytester.makeconftest(
        """
        import gc, pathlib
        def pytest_sessionfinish():
            gc.collect()
            alive = sum(type(one).__name__ == "Run" for one in gc.get_objects())
            pathlib.Path(__file__).with_name("alive.txt").write_text(str(alive))
        """
    )
    webeval_apart("-p", "no:rerunfailures").assert_outcomes(errors=6)  # which keeps every exception
    assert int((pytester.path / "alive.txt").read_text()) <= 1


WATCHED = """
import os, pathlib, sys
here = pathlib.Path(__file__).parent
seen = []
now = ["start"]

def watch(event, given):
    if event in ("os.scandir", "os.listdir", "open"):
        is_handle = isinstance(given[0], int) and event != "open"
        seen.append((*now, event, (os.readlink(f"/proc/self/fd/{given[0]}"),) if is_handle else given))

sys.addaudithook(watch)

def pytest_collection():
    now[:] = ["collection"]

def pytest_runtestloop():
    now[:] = ["running"]

def pytest_sessionfinish():
    now[:] = ["end"]
    with (here / "seen.txt").open("w") as stream:
        for when, event, (path, *_) in list(seen):
            print(when, event, path, sep="\\t", file=stream)
"""


@pytest.fixture
def watched(pytester):
    """What a session looked at below the run root: when, how, and where."""
    pytester.makeconftest(WATCHED)

    def read():
        rows = [line.split("\t") for line in (pytester.path / "seen.txt").read_text().splitlines()]
        root = f"{pytester.path}/runs"
        return [(when, event, path.removeprefix(root)) for when, event, path in rows if path.startswith(root)]

    return read


@pytest.mark.parametrize("arguments", [(), ("runs/107", "runs/more/108")])
def test_collection_looks_at_each_directory_once_and_opens_no_recording(runs, webeval_apart, watched, arguments):
    runs.add(107)
    runs.add(108, name="more/108")
    (runs.root / "empty").mkdir()
    webeval_apart("--co", "-q", *arguments)
    listed = [path for when, event, path in watched() if when != "start" and event != "open"]
    assert sorted(listed) == ["", "/107", "/empty", "/more", "/more/108"]
    opened = {path for when, event, path in watched() if event == "open"}
    assert opened <= {"", "/tasks.json"}  # the root is opened to read the definitions in it


@pytest.mark.whole
def test_who_looks_for_missing_tasks_looks_at_no_run_again(runs, webeval_apart, watched):
    runs.add(107)
    runs.add(108, name="more/108")
    runs.define(runs.definition(109))
    webeval_apart("--webeval-require-all").assert_outcomes(passed=2, errors=1)
    listed = [path for when, event, path in watched() if event != "open" and when != "running"]  # then to seal results
    assert [listed.count(path) for path in ("/107", "/more/108")] == [1, 1]


@pytest.mark.whole
def test_of_a_run_that_was_scored_its_directory_is_looked_at_once_more(runs, webeval_apart, watched):
    runs.add(107)
    webeval_apart().assert_outcomes(passed=1)
    listed = [(when, path) for when, event, path in watched() if event != "open" and path]
    assert listed == [("collection", "/107"), ("running", "/107")]


@pytest.mark.whole
def test_python_tests_over_runs_share_one_look_at_them(runs, webeval_apart, watched, pytester):
    runs.add(107)
    pytester.makepyfile(test_it="def test_a(webeval_run): pass\ndef test_b(webeval_run): pass")
    webeval_apart("test_it.py").assert_outcomes(passed=2)
    assert [path for _, event, path in watched() if event != "open" and path] == ["/107"]


def test_a_definition_in_the_run_itself_is_read_once_to_collect_and_once_to_score(runs, webeval_apart, pytester):
    for number in (107, 108):
        path = runs.add(number, defined=False)
        (path / "task.json").write_text(json.dumps(runs.definition(number)))
    pytester.makeconftest(
        """
        import pathlib
        import pytest_webeval.safety.files as files
        from pytest_webeval.tasks import dataset as task_sets

        read = files.read_file_inside
        asked = pathlib.Path(__file__).with_name("asked.txt")

        def watched(directory, name, *more):
            with asked.open("a") as stream:
                print(directory.name, name, file=stream)
            return read(directory, name, *more)

        task_sets.read_file_inside = watched
        """
    )
    webeval_apart("--webeval-own-tasks").assert_outcomes(passed=2)
    asked = (pytester.path / "asked.txt").read_text().splitlines()
    assert sorted(asked) in (["107 task.json"] * 2 + ["108 task.json"] * 2, ["107 task.json"] * 2 + ["108 task.json"])


def test_where_an_item_lies_is_told_as_pytest_would(runs, another_root, pytester):
    runs.add(107)
    outside = another_root("../outside")
    outside.add(108)
    pytester.makeconftest(
        """
        import pytest
        def pytest_collection_modifyitems(items):
            for item in items:
                assert item.location == pytest.Item.location.func(item)
                print("at", *item.location)
        """
    )
    result = pytester.runpytest("--webeval-runs=runs", f"--webeval-runs={outside.root}", "--co", "-q", "-s")
    result.stdout.fnmatch_lines(["*at runs/107 0 runs/107::task*", "at ../outside/108 0 outside/108::task*"])


@pytest.mark.parametrize(
    ("told", "carried"),
    [
        ("plain", "plain"),
        ("\u00e9 \U0001f600 \\ud800", "\u00e9 \U0001f600 \\ud800"),
        ("a\ud800b \u00e9", "a\\ud800b \u00e9"),  # what no process can send is spelled out
    ],
)
@pytest.mark.parametrize("part", [None, {"a": ["\ud800", None, 1.5]}])
@pytest.mark.parametrize("trajectory", [None, {"answer": "\ud800 \u00e9", "verdict": {"flags": []}}])
def test_what_a_report_carries_is_one_text_of_ascii(told, carried, part, trajectory):
    fields = {"rules": "default", "version": "1", "evaluator_checksum": "a", "data_checksum": "b"}
    fields |= {"trajectory": trajectory}
    record = Record("runs/1", 1, "error", 0.0, ["shopping"], 1, None, told, [["other", told, False]], 0.25, **fields)
    report = SimpleNamespace()
    assert find_payload(report) is None
    attach_payload(RecordPayload(record, part), report)
    (text,) = vars(report).values()
    assert isinstance(text, str)
    assert text.isascii()
    assert [type(member) for member in json.loads(text)[:2]] == [dict, type(part)]  # and no text of JSON in it
    assert json.loads(text)[0]["trajectory"] == trajectory
    changed = replace(record, reason=carried, warnings=[["other", carried, False]])
    assert find_payload(report) == RecordPayload(changed, part)


def test_what_a_teardown_printed_is_shown_under_its_failure(runs, webeval, pytester):
    for number in (107, 108):
        runs.add(number, passes=number != 107)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def around(request):
            yield
            print("tidied up after", request.node.nodeid)
        """
    )
    result = webeval()
    result.stdout.fnmatch_lines(["*Captured stdout teardown*", "tidied up after runs/107::task"])
    result.stdout.no_fnmatch_line("tidied up after runs/108::task")


def test_phases_without_a_word_are_out_of_the_way_of_failures_and_there_for_what_follows(runs, webeval, pytester):
    for number in (107, 108):
        runs.add(number, passes=number != 107)
    pytester.makeconftest(
        """
        import pytest

        def phases(config):
            terminal = config.pluginmanager.get_plugin("terminalreporter")
            return [(report.nodeid, report.when) for report in terminal.stats.get("", ())]

        class Latest:
            def pytest_sessionfinish(self, session):
                assert phases(session.config) == []

            def pytest_terminal_summary(self, config):
                nodes = ("runs/107::task", "runs/108::task")
                assert phases(config) == [(node, when) for node in nodes for when in ("setup", "teardown")]

        @pytest.hookimpl(trylast=True)
        def pytest_configure(config):
            config.pluginmanager.register(Latest())
        """
    )
    result = webeval("--durations=0", "-vv")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines_random(["*s setup    runs/107::task", "*s teardown runs/108::task"])


def test_a_session_without_a_terminal_reporter_is_scored_all_the_same(runs, webeval):
    runs.add(107, passes=False)
    webeval("-p", "no:terminal")
    assert runs.counts == (0, 1, 0)
