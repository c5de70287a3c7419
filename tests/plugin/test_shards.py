"""--webeval-shard and merge: several jobs leave what one leaves."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.summary.results.result_shards import ResultShardWriter
from pytest_webeval.summary.store.result_manifest import find_order
from pytest_webeval.summary.trajectories import metrics_json
from tests.plugin.test_resume import timeless
from tests.support import recorded
from tests.support.leaks import TEXTS, list_leaks
from tests.support.rows import read_rows

SHARDS = 4
APART = ("-pno:hypothesispytest", "-pno:benchmark", "-pno:rerunfailures", "-p", "no:cacheprovider")
OPTIONS = ("--webeval-output=out", "--webeval-report=report", "--webeval-runs=runs", "--webeval-today=2026-01-31")
DAMAGED = pytest.mark.unchecked_files("changes the file of a shard")
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "spread"])


def tree(place):
    """All files below a directory, times aside."""
    return {path.relative_to(place).as_posix(): scrub(path.read_bytes()) for path in place.rglob("*") if path.is_file()}


def scrub(content):
    """Without times: those of pages are in JSON that is a text of JavaScript."""
    content = timeless(content)
    content = re.sub(rb'(\\*"wall_time\\*":)[-+.e0-9]+', rb"\1null", content)
    content = re.sub(rb"sha256-[\w+/]{43}=", b"", content)  # of a script with times in it
    content = re.sub(rb'"timestamp":"[^"]*"', b"", content)
    content = re.sub(rb'<time datetime="[^"]*">[^<]*</time>', b"", content)
    content = re.sub(rb',[-+.e0-9]+,("task-[0-9a-f]{16}"|null),', rb",null,\1,", content)  # a row of the list
    return re.sub(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"", content)


@pytest.fixture
def suite(runs):
    """Ten runs of several kinds: two that fail, a broken one, a missing one, a trajectory."""
    for number in range(101, 109):
        runs.add(number, passes=bool(number % 3), site=("shopping", "gitlab")[number % 2], template=number % 4)
    (runs.root / "103" / "network.har").write_text("{")
    runs.define(runs.definition(109))
    recorded.write(runs.root / recorded.RUN / "books_find_1")
    (runs.root / "notes").mkdir()
    return runs


@pytest.fixture
def session(pytester):
    """A session over the runs, in a process of its own."""
    return lambda *options: pytester.runpytest_subprocess(*APART, *OPTIONS, *options)


@pytest.fixture
def score_shards(pytester, session):
    """Scores all shards, each of which leaves `out` and `report` in a directory of its own, as CI jobs do."""

    def score(*options, count=SHARDS, expected=None):
        results = []
        for index in range(1, count + 1):
            results.append(session(f"--webeval-shard={index}/{count}", *options))
            job = pytester.mkdir(f"job-{index}")
            for name in ("out", "report"):
                if (pytester.path / name).exists():
                    shutil.move(pytester.path / name, job / name)
        return results

    return score


def jobs(count=SHARDS, *names):
    return [f"job-{index}/{name}" for name in names or ("out", "report") for index in range(1, count + 1)]


@pytest.mark.thinned(every=8)
@WORKERS
@pytest.mark.parametrize(
    "options",
    [
        ("--webeval-require-all",),
        ("-k", "not 104", "--webeval-reuse"),
        ("--webeval-subset=subset.json", "--webeval-attempts=r*"),
        ("--webeval-report-embed=25MB",),
    ],
    ids=["all", "chosen", "subset", "embedded"],
)
def test_merged_shards_are_what_one_session_leaves(suite, session, score_shards, pytester, workers, options, capsys):
    (pytester.path / "subset.json").write_text(json.dumps({"task_ids": [101, 102, 103, 105, "books_find_1"]}))
    score_shards(*options, *workers)
    session(*options)
    expected_results, expected_report = tree(pytester.path / "out"), tree(pytester.path / "report")
    shutil.rmtree(pytester.path / "out")
    shutil.rmtree(pytester.path / "report")
    assert main(["merge", *jobs(), "--output=out", "--report=report"]) == 0
    assert capsys.readouterr().err == ""
    expected_results.pop("eval_session.sqlite", None)
    assert tree(pytester.path / "out") == expected_results
    assert tree(pytester.path / "report") == expected_report
    assert len(expected_results) >= 6


@pytest.mark.whole
def test_shards_split_all_runs_and_say_so(suite, score_shards, pytester):
    results = score_shards("--webeval-require-all", "-v")
    labels = []
    for index, result in enumerate(results, 1):
        content = json.loads((pytester.path / f"job-{index}" / "out" / f"eval_shard-{index}-of-4.json").read_bytes())
        labels += [record["run"] for record in content["records"]]
        count = len(content["records"])
        assert count in {2, 3}
        result.stdout.fnmatch_lines([f"shard {index}/4: {count} of 10 runs; merge all shards with *"])
        result.stdout.no_fnmatch_line("partial session*")
        assert not (pytester.path / f"job-{index}" / "out" / "eval_summary.json").exists()
    assert len(labels) == len(set(labels)) == 10


def test_a_shard_in_the_run_root_keeps_the_summary_of_all(runs, webeval, pytester, capsys):
    for number in range(101, 106):
        runs.add(number)
    webeval()
    before = (runs.root / "eval_summary.json").read_bytes()
    for index in (1, 2):
        outcomes = webeval(f"--webeval-shard={index}/2").parseoutcomes()
        assert outcomes["passed"] + outcomes["deselected"] == 5
    assert (runs.root / "eval_summary.json").read_bytes() == before
    assert main(["merge", "runs"]) == 0
    assert timeless((runs.root / "eval_summary.json").read_bytes()) == timeless(before)
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert (lines[0], lines[2]) == ("merged 2 shards: 5 scored, 5 success", "summary: runs/eval_summary.json")
    assert lines[1].startswith("shards ended: ")


@pytest.mark.parametrize(("options", "leaks"), [((), False), (("--redact=off",), True)], ids=["redacted", "off"])
def test_results_are_merged_without_the_secrets_of_their_run_directories(runs, webeval, pytester, options, leaks):
    for number in (101, 102):
        path = runs.add(number)
        answer = path / "agent_response.json"
        answer.write_text(answer.read_text().replace('"lamp"', json.dumps(TEXTS["github"])))
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2")
    assert main(["merge", "runs", "--output=merged", *options]) == 0
    written = [path.read_bytes() for path in (pytester.path / "merged").rglob("eval_result.json")]
    assert len(written) == 2
    assert bool(list_leaks(*written)) == leaks


def test_more_shards_than_runs_leave_empty_ones(runs, webeval, pytester):
    runs.add(101)
    codes = [webeval(f"--webeval-shard={index}/3").ret for index in (1, 2, 3)]
    assert codes == [0, 0, 0]
    assert main(["merge", "runs"]) == 0
    assert runs.counts == (1, 0, 0)


def test_recorded_times_balance_the_shards(runs, webeval, pytester):
    for number in range(101, 107):
        runs.add(number)
    webeval()
    summary = runs.summary
    for row in summary["task_results"]:
        row["wall_time"] = 10.0 if row["task_id"] == 104 else 1.0
    (runs.root / "eval_summary.json").write_text(json.dumps(summary))
    webeval("--webeval-shard=1/2").assert_outcomes(passed=1, deselected=5)
    (pytester.path / "times.json").write_text(json.dumps(summary | {"task_results": []}))
    webeval("--webeval-shard=1/2", "--webeval-shard-times=times.json").assert_outcomes(passed=3, deselected=3)


@pytest.mark.whole
def test_tests_about_a_run_go_with_it_and_others_to_all_shards(runs, webeval_apart, pytester):
    for number in (101, 102):
        runs.add(number)
    file = pytester.makepyfile("def test_run(webeval_run): pass\ndef test_other(): pass")
    for index in (1, 2):
        webeval_apart("runs", str(file), f"--webeval-shard={index}/2").assert_outcomes(passed=3, deselected=2)


def test_what_is_about_all_runs_is_refused_in_a_shard(runs, webeval):
    runs.add(101)
    result = webeval("--webeval-shard=1/2", "--webeval-gate=success >= 1%")
    assert result.ret == 4
    message = "ERROR: --webeval-gate is about all runs, --webeval-shard scores a part; leave it out and use "
    assert f"{message}`webeval compare --gate` after `merge`" in str(result.stderr)


@pytest.mark.parametrize("value", ["0/2", "3/2", "2", "a/b", "1/0", "-1/2", "1/99999", "1/2/3", "1 / 2"])
def test_an_invalid_shard_is_a_usage_error(runs, webeval, value):
    runs.add(101)
    result = webeval(f"--webeval-shard={value}")
    assert result.ret == 4
    assert f"invalid --webeval-shard {value!r}; use e.g. 2/8 for the second of eight" in str(result.stderr)


@pytest.mark.parametrize("text", ["{", '{"task_results": 1}'])
def test_times_that_cannot_be_read_are_a_usage_error(runs, webeval, pytester, text):
    runs.add(101)
    (pytester.path / "times.json").write_text(text)
    assert webeval("--webeval-shard=1/2", "--webeval-shard-times=times.json").ret == 4


@pytest.fixture
def two_jobs(runs, score_shards):
    """Six runs in two shards."""
    for number in range(101, 107):
        runs.add(number)
    score_shards(count=2)
    return runs


def edit_shard(pytester, index, change, place="out", count=2):
    path = pytester.path / f"job-{index}" / place / f"eval_shard-{index}-of-{count}.json"
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))


def merge(capsys, *arguments):
    code = main(["merge", *arguments])
    return code, capsys.readouterr().err


MERGED = ("--output=merged", "--report=merged-report")


@pytest.mark.whole
def test_a_missing_shard_is_named(two_jobs, capsys):
    code, message = merge(capsys, "job-1/out", *MERGED)
    assert (code, message) == (4, "ERROR: 1 shard missing: 2/2; score and name all shards\n")


@pytest.mark.whole
@DAMAGED
def test_a_shard_that_was_scored_twice_is_named(two_jobs, pytester, capsys):
    shutil.copytree(pytester.path / "job-1", pytester.path / "again")
    assert merge(capsys, *jobs(2), "again/out", *MERGED)[0] == 0
    path = pytester.path / "again" / "out" / "eval_shard-1-of-2.json"
    path.write_text(path.read_text().replace('"status": "success"', '"status": "failure"', 1))
    code, message = merge(capsys, *jobs(2), "again/out", *MERGED)
    expected = (
        "again/out/eval_shard-1-of-2.json and job-1/out/eval_shard-1-of-2.json are both shard 1/2; name one of them"
    )
    assert (code, message) == (4, f"ERROR: {expected}\n")


@pytest.mark.whole
@DAMAGED
def test_a_run_in_two_shards_is_named(two_jobs, pytester, capsys):
    (record, *_) = json.loads((pytester.path / "job-1" / "out" / "eval_shard-1-of-2.json").read_bytes())["records"]
    edit_shard(pytester, 2, lambda content: content["records"].append(record))
    code, message = merge(capsys, *jobs(2, "out"), "--output=merged")
    assert code == 4
    assert f"both have the run {record['run']}; score both again\n" in message


@pytest.mark.thinned(every=9)
@DAMAGED
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda content: content.update(split_checksum="0"), "they split other runs, or by other times;"),
        (lambda content: content.update(run_count=7), ": they split other runs, or by other times"),
        (lambda content: content.update(count=3), "one is of 2 shards, the other of 3"),
        (lambda content: content["session"].update(rules="strict", evaluators="00"), "rules auto, strict"),
        (lambda content: content["session"]["options"].update(limits="x"), "option limits "),
        (lambda content: content["session"].update(selection="a"), "selection "),
        (lambda content: content["session"].update(evaluators="00"), "evaluators"),
        (lambda content: content["details"].update(today="2026-02-01"), "today 2026-01-31, 2026-02-01"),
        (lambda content: content["details"].update(libraries={}), "libraries"),
    ],
)
def test_shards_of_other_sessions_are_refused(two_jobs, pytester, capsys, change, problem):
    edit_shard(pytester, 2, change)
    code, message = merge(capsys, *jobs(2, "out"), "--output=merged")
    assert code == 4
    assert message.startswith(
        "ERROR: job-2/out/eval_shard-2-of-2.json and job-1/out/eval_shard-1-of-2.json are not shards of one session: "
    )
    assert problem in message
    assert message.count("\n") == 1
    assert not (pytester.path / "merged").exists()


@pytest.mark.thinned(every=7)
@DAMAGED
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda content: content.update(records=1), "invalid shard"),
        (lambda content: content["records"][0].update(status=1), "records[0].status"),
        (lambda content: content.pop("details"), "details"),
        (lambda content: content.update(index=0), "there is no shard 0/2; score it again"),
        (lambda content: content.update(index=3), "there is no shard 3/2; score it again"),
        (lambda content: content.update(count=10**9), "there is no shard 2/1000000000; score it again"),
        (lambda content: content.update(schema_version=2), "has schema version 2, not 1; merge with the version"),
    ],
)
def test_a_damaged_shard_is_refused_with_its_place(two_jobs, pytester, capsys, change, problem):
    edit_shard(pytester, 2, change)
    code, message = merge(capsys, *jobs(2, "out"), "--output=merged")
    assert code == 4
    assert problem in message
    assert "job-2/out/eval_shard-2-of-2.json" in message


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "directory not found: nowhere; name the directories that the shards wrote to"),
        (("runs",), "runs holds no eval_shard-*-of-*.json; score with --webeval-shard=I/N to get one"),
        (("job-1/out", "job-2/out"), "several directories; name one for the summary and the results with --output"),
        (
            ("job-1/out", "job-2/out", "--output=m", "--report=r"),
            "--report: 0 of 2 shards have a report; score with --webeval-report=DIR and name these directories too",
        ),
        (
            ("job-1/report", "job-2/report", "--output=m", "--report=job-1/report"),
            "--report: job-1/report is the report of a shard; choose another directory",
        ),
    ],
)
def test_wrong_use_is_one_line(two_jobs, capsys, arguments, message):
    code, printed = merge(capsys, *arguments)
    assert (code, printed.splitlines()[-1]) == (4, f"ERROR: {message}")


@pytest.mark.whole
def test_only_results_of_the_shard_itself_are_copied(two_jobs, pytester, capsys):
    own = json.loads((pytester.path / "job-1" / "out" / "eval_shard-1-of-2.json").read_bytes())["records"][0]["run"]
    name = own.rpartition("/")[2]
    stale = pytester.path / "job-2" / "out" / name
    stale.mkdir()
    content = (pytester.path / "job-1" / "out" / name / "eval_result.json").read_text()
    (stale / "eval_result.json").write_text(content.replace('"status": "success"', '"status": "failure"'))
    assert merge(capsys, *jobs(2, "out"), "--output=merged")[0] == 0
    assert (pytester.path / "merged" / name / "eval_result.json").read_text() == content


@pytest.mark.whole
def test_results_in_shards_are_merged_too(two_jobs, pytester, capsys):
    out = pytester.path / "job-1" / "out"
    contents = {path.parent.name: path.read_bytes() for path in out.glob("*/eval_result.json")}
    with ResultShardWriter(out) as writer:
        for name in sorted(contents, key=find_order):
            writer.add(name, contents[name])
            shutil.rmtree(out / name)
    assert contents
    assert merge(capsys, *jobs(2, "out"), "--output=merged")[0] == 0
    for name, content in contents.items():
        assert (pytester.path / "merged" / name / "eval_result.json").read_bytes() == content


def test_shards_with_other_sites_tasks_or_fixtures_are_refused(runs, webeval, pytester, capsys):
    for number in (101, 102):
        runs.add(number)
    (pytester.path / "config.json").write_text(
        json.dumps({"environments": {"shopping": {"urls": ["http://shop.test"]}}})
    )
    webeval("--webeval-shard=1/2")
    webeval("--webeval-shard=2/2", "--webeval-config=config.json")
    assert "not shards of one session: sites None, " in merge(capsys, "runs")[1]
    webeval("--webeval-shard=2/2")
    assert merge(capsys, "runs")[0] == 0
    runs.tasks[0]["intent"] = "Find another lamp."
    runs.define()
    (runs.root / "eval_summary.json").unlink()
    webeval("--webeval-shard=2/2")
    assert "not shards of one session: tasks " in merge(capsys, "runs")[1]
    webeval("--webeval-shard=1/2")
    pytester.makeconftest(
        "import pytest\n@pytest.fixture\ndef webeval_evaluators(webeval_evaluators): return webeval_evaluators"
    )
    webeval("--webeval-shard=2/2")
    assert "not shards of one session: fixtures , " in merge(capsys, "runs")[1]


def test_an_interrupted_shard_leaves_no_file_of_an_earlier_session(runs, webeval, webeval_apart, pytester, capsys):
    for number in (101, 102):
        runs.add(number)
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", "--webeval-report=report")
    pytester.makeconftest("import os\ndef pytest_collection_finish(): os._exit(9)")
    webeval_apart("--webeval-shard=2/2", "--webeval-report=report")
    code, message = merge(capsys, "runs")
    assert (code, message) == (4, "ERROR: 1 shard missing: 2/2; score and name all shards\n")
    assert [path.name for path in (pytester.path / "report").glob("eval_shard*")] == ["eval_shard-1-of-2.json"]


def test_runs_that_were_not_scored_are_counted(runs, webeval, pytester, capsys):
    for number in range(101, 107):
        runs.add(number, passes=False)
    webeval("--webeval-shard=1/2", "-x")
    webeval("--webeval-shard=2/2")
    assert main(["merge", "runs"]) == 1
    out = capsys.readouterr().out
    assert "partial: 2 runs not scored (stopping after 1 failures); score these shards again\n" in out


def test_a_selection_is_named(runs, webeval, pytester, capsys):
    for number in range(101, 105):
        runs.add(number)
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", "-k", "not 102")
    assert main(["merge", "runs"]) == 0
    assert "partial: options selected some of the runs\n" in capsys.readouterr().out


def test_shards_may_pass_although_tasks_fail_and_the_merged_session_is_gated(runs, webeval, pytester, capsys):
    for number in range(101, 105):
        runs.add(number, passes=number != 102)
    codes = [webeval(f"--webeval-shard={index}/2", "--webeval-gate=complete").ret for index in (1, 2)]
    assert codes == [0, 0]
    assert main(["merge", "runs", "--gitlab-metrics=metrics.txt"]) == 0
    assert "webeval_success_rate 0.75" in (pytester.path / "metrics.txt").read_text()
    assert main(["compare", "runs", "--gate=success >= 70%"]) == 0
    assert main(["compare", "runs", "--gate=success >= 80%", "--gate=complete"]) == 1
    assert main(["compare", "runs", "--gate=no-regression"]) == 4
    assert main(["compare", "runs"]) == 4


@pytest.mark.whole
def test_metrics_of_all_shards(runs, tree_of_trajectories, score_shards, pytester, session, capsys):
    score_shards(count=2)
    session("--webeval-metrics=expected")
    assert merge(capsys, *jobs(2, "out"), "--output=merged", "--metrics=metrics")[0] == 0
    assert tree(pytester.path / "metrics") == tree(pytester.path / "expected") != {}


@pytest.mark.whole
def test_metrics_without_trajectories_are_named(two_jobs, capsys):
    assert main(["merge", *jobs(2, "out"), "--output=merged", "--metrics=metrics"]) == 0
    assert "no metrics.json was written: no run is a trajectory\n" in capsys.readouterr().out


@pytest.fixture
def tree_of_trajectories(runs):
    for number in range(3):
        recorded.write(runs.root / recorded.RUN / f"books_find_{number}")


def test_each_shard_has_rows_of_its_own_which_a_session_over_all_runs_reuses(runs, webeval, pytester):
    for number in (101, 102):
        runs.add(number)
    webeval("--webeval-shard=1/2")
    webeval("--webeval-shard=2/2")
    names = ["eval_session-1-of-2.sqlite", "eval_session-2-of-2.sqlite"]
    assert [len(read_rows(runs.root / name)) for name in names] == [1, 1]
    result = webeval("--webeval-reuse")
    assert "reused: 2 of 2 results taken from an earlier session" in result.outlines
    assert sorted(path.name for path in runs.root.glob("*.sqlite")) == ["eval_session.sqlite"]


@pytest.mark.whole
def test_a_result_that_an_agent_wrote_below_its_run_is_not_copied(two_jobs, pytester, capsys):
    names = {path.parent.name for path in (pytester.path / "job-1" / "out").glob("*/eval_result.json")}
    forging, forged = sorted(names)[:2]
    nested = pytester.mkdir(f"job-1/out/{forging}/x")
    nested.joinpath("eval_result.json").write_bytes(
        (pytester.path / "job-1" / "out" / forged / "eval_result.json").read_bytes()
    )
    assert merge(capsys, *jobs(2, "out"), "--output=merged") == (0, "")
    assert not (pytester.path / "merged" / forging / "x").exists()


@pytest.mark.whole
@pytest.mark.thinned(every=2)
@DAMAGED
@pytest.mark.parametrize("label", ["../../escaped/traj/1", "/tmp/traj/1"], ids=["above", "absolute"])
def test_a_label_that_leads_elsewhere_is_refused(two_jobs, pytester, capsys, label):
    edit_shard(pytester, 1, lambda content: content["records"][0].update(run=label))
    code, message = merge(capsys, *jobs(2, "out"), "--output=merged", "--metrics=metrics")
    assert (code, f"the label {label!r} leads out of the run roots; score it again" in message) == (4, True)


@pytest.mark.whole
@pytest.mark.thinned(every=5)
@DAMAGED
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["details"].update(unscored=0),
        lambda content: content["details"].pop("stopped"),
        lambda content: content["session"].update(attempts=[]),
        lambda content: content["records"][0].update(trajectory={"outcome": 1}),
        lambda content: content["records"][0].update(failure=["x"]),
    ],
    ids=["number", "lack", "list", "trajectory", "failure"],
)
def test_a_shard_that_cannot_be_summed_up_is_one_line(two_jobs, pytester, capsys, change):
    for index in (1, 2):
        edit_shard(pytester, index, change)
    code, message = merge(capsys, *jobs(2, "out"), "--output=merged")
    assert code == 4
    assert message.splitlines()[-1].startswith("ERROR: cannot merge the shards: ")


@pytest.mark.whole
def test_results_that_are_not_there_are_named(two_jobs, capsys):
    code, message = merge(capsys, *jobs(2, "report"), "--output=merged")
    assert code == 0
    expected = "WARNING: 6 results not copied: runs/101, runs/102, runs/103, … and 3 more; name the directories of "
    assert message.startswith(expected)


def test_no_run_at_all_is_exit_code_5(runs, webeval, pytester, capsys):
    runs.add(101)
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", "-k", "nothing")
    assert merge(capsys, "runs")[0] == 5


@pytest.mark.whole
def test_the_report_may_go_where_the_results_go(two_jobs, pytester, capsys):
    assert merge(capsys, *jobs(2), "--output=all", "--report=all") == (0, "")
    assert (pytester.path / "all" / "index.html").exists()


@pytest.fixture
def one_place(runs, webeval):
    """Six runs in two shards that write to the run root."""
    for number in range(101, 107):
        runs.add(number, passes=number != 104)
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", f"--webeval-report=report-{index}")
    return runs


def test_results_of_all_shards_in_one_directory_are_copied(one_place, pytester, capsys):
    assert merge(capsys, "runs", "runs", "--output=merged") == (0, "")
    results = {path.parent.name: path.read_bytes() for path in (pytester.path / "merged").glob("*/eval_result.json")}
    assert results == {path.parent.name: path.read_bytes() for path in one_place.root.glob("*/eval_result.json")}
    assert len(results) == 6
    assert not (one_place.root / "eval_summary.json").exists()


def test_a_directory_may_be_named_twice(one_place, capsys):
    assert merge(capsys, "runs", "runs") == (0, "")
    assert one_place.counts == (5, 1, 0)


@DAMAGED
def test_a_result_that_cannot_be_read_is_named_and_the_others_are_copied(one_place, pytester, capsys):
    (one_place.root / "102" / "eval_result.json").write_text("{")
    code, message = merge(capsys, "runs", "--output=merged")
    assert (code, message.count("\n")) == (0, 2)
    assert "1 result not copied: runs/102; name the directories of the results" in message
    assert " @ 102/eval_result.json\n" in message
    assert len(list((pytester.path / "merged").glob("*/eval_result.json"))) == 5


def test_names_cannot_change_the_terminal(one_place, capsys):
    assert main(["merge", "runs", "--output=\x1b[31mred"]) == 0
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "red/eval_summary.json" in output


@pytest.mark.parametrize(("number", "expected"), [(101, [2, 3]), (102, [3, 2])])
def test_reused_results_of_all_shards_are_counted(one_place, webeval, capsys, number, expected):
    (one_place.root / f"{number}" / "notes.txt").touch()
    counts = []
    for index in (1, 2):
        webeval(f"--webeval-shard={index}/2", "--webeval-reuse")
        content = json.loads((one_place.root / f"eval_shard-{index}-of-2.json").read_bytes())
        counts.append(content["details"]["reused_count"])
    assert counts == expected
    assert merge(capsys, "runs") == (0, "")
    assert one_place.summary["webeval"]["reused_count"] == 5


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--webeval-tasks=other.json", "tasks "),
        ("--webeval-rules=strict", "rules auto, strict"),
        ("--webeval-redact=off", "option redact 'default', 'off'"),
        ("--webeval-attempts=r*", "attempts None, r*"),
        ("--webeval-subset=subset.json", ""),
        ("--webeval-today=2020-01-31", "today "),
        ("--webeval-criterion=process", ""),
    ],
)
def test_shards_with_other_options_are_refused(one_place, webeval, pytester, capsys, option, problem):
    shutil.copy(one_place.root / "tasks.json", pytester.path / "tasks.json")
    (pytester.path / "other.json").write_text(json.dumps([*one_place.tasks, one_place.definition(7)]))
    (pytester.path / "subset.json").write_text(json.dumps({"task_ids": list(range(101, 107))}))
    if "tasks" in option:
        webeval("--webeval-shard=1/2", "--webeval-tasks=tasks.json")
    webeval("--webeval-shard=2/2", option)
    code, message = merge(capsys, "runs")
    assert code == 4
    assert "are not shards of one session: " in message
    assert f": {problem}" in message
    assert not (one_place.root / "eval_summary.json").exists()


@pytest.mark.whole
def test_the_order_in_which_shards_are_named_does_not_matter(two_jobs, pytester, capsys):
    (two_jobs.root / "tasks.json").touch()
    for name, directories in (("a", jobs(2)), ("b", jobs(2)[::-1])):
        assert merge(capsys, *directories, f"--output=merged-{name}", f"--report=report-{name}") == (0, "")
    assert tree(pytester.path / "merged-a") == tree(pytester.path / "merged-b") != {}
    assert tree(pytester.path / "report-a") == tree(pytester.path / "report-b") != {}


@pytest.mark.whole
def test_a_report_of_some_shards_is_refused(two_jobs, pytester, capsys):
    code, message = merge(capsys, *jobs(2, "out"), "job-2/report", *MERGED)
    assert (code, "--report: 1 of 2 shards have a report; score with" in message) == (4, True)
    assert not (pytester.path / "merged-report").exists()


@pytest.mark.whole
def test_a_merged_report_replaces_an_earlier_one_and_no_page_of_others(two_jobs, pytester, capsys):
    assert merge(capsys, *jobs(2), *MERGED)[0] == 0
    before = tree(pytester.path / "merged-report")
    stale = pytester.path / "merged-report" / "data" / "task-0123456789abcdef.js"
    stale.write_text("")
    assert merge(capsys, *jobs(2), *MERGED)[0] == 0
    assert tree(pytester.path / "merged-report") == before
    index = pytester.path / "merged-report" / "index.html"
    index.write_text("theirs")
    code, message = merge(capsys, *jobs(2), *MERGED)
    assert (code, "was not written by pytest-webeval" in message) == (4, True)
    assert index.read_text() == "theirs"


@pytest.mark.whole
def test_a_page_that_is_missing_costs_only_itself(two_jobs, pytester, capsys):
    pages = sorted((pytester.path / "job-1" / "report" / "data").iterdir())
    pages[0].unlink()
    assert merge(capsys, *jobs(2), *MERGED) == (0, "")
    merged = pytester.path / "merged-report"
    assert len(list((merged / "data").iterdir())) == 5
    assert pages[0].stem not in (merged / "index.html").read_text()
    assert pages[1].stem in (merged / "index.html").read_text()


@pytest.mark.whole
def test_commands_of_a_merged_report_name_runs_of_one_task(runs, session, score_shards, pytester, capsys):
    for attempt in ("r1", "r2"):
        runs.add(101, name=f"{attempt}/101", passes=False)
    score_shards(count=2)
    session()
    expected = tree(pytester.path / "report")
    assert "--rootdir=" in expected["index.html"].decode()  # node ids need it
    shutil.rmtree(pytester.path / "report")
    assert merge(capsys, *jobs(2), "--output=merged", "--report=report") == (0, "")
    assert tree(pytester.path / "report") == expected


@pytest.mark.parametrize("rules", ["default", "strict"])
def test_metrics_follow_the_rules_of_the_shards(runs, webeval, monkeypatch, capsys, rules):
    runs.add(101)
    webeval("--webeval-shard=1/1", f"--webeval-rules={rules}")
    names = []
    monkeypatch.setattr(metrics_json, "write_metrics", lambda *arguments: names.append(arguments[2].name))
    assert merge(capsys, "runs", "--metrics=metrics") == (0, "")
    assert names == [rules]
