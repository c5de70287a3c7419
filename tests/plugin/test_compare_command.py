"""`webeval compare`: sessions that differ in known ways, gates, formats and bad input."""

from __future__ import annotations

import fnmatch
import html
import json
import re
import shutil
import subprocess
import sys

import pytest

from pytest_webeval.__main__ import main
from tests.plugin.test_gates import answer_as
from tests.support import recorded
from tests.support.recorded import payload, score_file

EVALUATOR = """
import pytest
import pytest_webeval as webeval

class Mood(webeval.Evaluator):
    name = "MoodEvaluator"
    def evaluate(self, expectation, case):
        return self.result([webeval.Assertion.of("mood", {holds}, "good", "bad")])

@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, Mood()]
"""
DIALECT = {"action": "retrieve", "status": "SUCCESS", "results": ["lamp"], "error_details": None}
DATE = {
    "evaluator": "AgentResponseEvaluator",
    "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": ["2022-03-15"]},
    "results_schema": {"type": "array", "items": {"type": "string", "format": "date"}},
}
# Task, kind, causes: all that differs between the two sessions of the fixture `sessions`.
CHANGES = [
    (101, "regressed", ["recording"]),
    (102, "regressed", ["task definition"]),
    (103, "regressed", ["rules"]),
    (104, "regressed", ["evaluator code"]),
    (105, "regressed", ["parser library"]),
    ("judged", "regressed", ["judge"]),
    (107, "regressed", ["day"]),
    (108, "regressed", ["recording", "rules"]),
    (109, "fixed", ["recording"]),
    (110, "newly_erring", ["recording"]),
    (111, "missing", []),
    (112, "extra", []),
]


def edit(path, change):
    """Change the JSON in a file."""
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def record_first(runs, tree):
    """The runs of the first session."""
    for task_id in (101, 102, 103, 105, 108, 110, 111, 113):
        runs.add(task_id)
    runs.add(104, expects=({"evaluator": "MoodEvaluator"},))
    runs.add(109, passes=False)
    dated = runs.definition(107)
    dated["eval"] = [DATE]
    runs.add(107, defined=False)
    runs.define(dated)
    edit(runs.root / "107" / "agent_response.json", lambda raw: raw.update(retrieved_data=["March 2022"]))
    for task_id in (103, 108):
        (runs.root / str(task_id) / "agent_response.json").write_text(json.dumps(DIALECT))
    tree("judged")


def record_second(runs, tree):
    """What is other in the second session."""
    answer_as(runs, 101, 109)
    runs.tasks[1]["eval"][0]["expected"]["retrieved_data"] = ["candle"]
    (runs.root / "108" / "agent_response.json").write_text(json.dumps(DIALECT | {"error_details": ""}))
    (runs.root / "110" / "network.har").write_text("{")
    shutil.rmtree(runs.root / "111")
    runs.add(112)
    shutil.rmtree(runs.root / recorded.RUN / "judged")
    tree("judged", scores=score_file(payload(outcome=False)))


@pytest.fixture
def sessions(runs, tree, pytester, webeval):
    """Two directories of results."""

    def score(output, day, rules, *, holds):
        common = (f"--webeval-output={output}", f"--webeval-today={day}")
        webeval(*common, "-k", "not ([103] or [104] or [108])")
        webeval(*common, "-k", "[103] or [108]", f"--webeval-rules={rules}")
        pytester.makeconftest(EVALUATOR.format(holds=holds))
        webeval(*common, "-k", "[104]")
        (pytester.path / "conftest.py").unlink()
        (pytester.path / output / "eval_summary.partial.json").unlink()

    record_first(runs, tree)
    score("before", "2026-01-15", "default", holds=True)
    record_second(runs, tree)
    score("after", "2026-01-16", "reference", holds=False)
    result = pytester.path / "after" / "105" / "eval_result.json"  # no other version of a parser can be installed here
    edit(result, lambda raw: raw.update(status="failure", score=0.0) or raw["webeval"]["libraries"].update(geopy="9.9"))
    return pytester.path


def compare(capsys, *arguments):
    """Exit code and output of the command."""
    capsys.readouterr()
    code = main(["compare", *map(str, arguments)])
    return code, capsys.readouterr()


def test_twelve_known_differences_have_their_kinds_and_causes(sessions, capsys):
    code, told = compare(capsys, "before", "after", "--format", "json", "--json", "out.json", "--report", "page")
    assert code == 0
    comparison = json.loads(told.out)["comparisons"][0]
    found = {str(change["task_id"]): (change["kind"], change["causes"]) for change in comparison["changes"]}
    assert found == {str(task_id): (kind, causes) for task_id, kind, causes in CHANGES}
    assert comparison["kinds"]["unchanged"] == 1
    assert json.loads((sessions / "out.json").read_bytes()) == json.loads(told.out)
    text = compare(capsys, "before", "after")[1].out
    markdown = compare(capsys, "before", "after", "--format", "markdown")[1].out
    page = (sessions / "page" / "comparison.html").read_text()
    assert read_text(text) == found
    assert read_markdown(markdown) == found
    assert read_page(page) == found
    assert "parser library (geopy 2.4" in text


def split_causes(text):
    words = re.sub(r" \(.*\)", "", text.removeprefix("other "))
    return words.split(" and ") if words else []


def read_text(text):
    """Kinds and causes as the terminal shows them."""
    found, kind = {}, ""
    for line in text.splitlines():
        if re.fullmatch(r"(regressed|fixed|newly erring|missing|extra):", line):
            kind = line.rstrip(":").replace(" ", "_")
        elif kind and kind in ("missing", "extra") and line.startswith("  "):
            found |= {task_id: (kind, []) for task_id in line.split(",")}
        elif kind and (match := re.fullmatch(r"  (\w+): (other .*?); \w+ -> \w+.*", line)):
            found[match[1]] = (kind, split_causes(match[2]))
    return {task_id.strip(): change for task_id, change in found.items()}


def read_markdown(text):
    """Kinds and causes in the tables."""
    found, kind = {}, ""
    for line in html.unescape(text).splitlines():
        if heading := re.fullmatch(r"### (Regressed|Fixed|Newly erring|Missing|Extra): \d+", line):
            kind = heading[1].lower().replace(" ", "_")
        elif kind and (match := re.match(r"\| <code>(\w+)</code> \| (?:<code>(.*?)</code>)? ?\|", line)):
            found[match[1]] = (kind, split_causes(match[2] or ""))
    return found


def read_page(text):
    """Kinds and causes on the page."""
    found = {}
    for section in re.findall(r'<section aria-labelledby="(\w+)-1">(.*?)</section>', text, re.DOTALL):
        kind, content = section
        for item in re.findall(r"<li>(.*?)</li>", content, re.DOTALL):
            task_id = re.search(r"<b><bdi>(.*?)</bdi></b>", item)[1]
            cause = re.search(r'class="cause"><bdi>(.*?)</bdi>', item)
            found[task_id] = (kind, split_causes(html.unescape(cause[1]) if cause else ""))
    return found


@pytest.fixture
def two(runs, webeval, pytester):
    """Summaries `a.json` and `b.json`: 107 is fixed, 108 regressed, 109 stays a success, with a tag."""
    runs.add(107, passes=False)
    runs.add(108)
    runs.add(109, site="gitlab")
    pytester.makeini("[pytest]\nmarkers = smoke")
    pytester.makeconftest("def pytest_collection_modifyitems(items):\n    items[-1].add_marker('smoke')")
    for name in ("a", "b"):
        webeval(f"--webeval-output={name}")
        shutil.copy(pytester.path / name / "eval_summary.json", pytester.path / f"{name}.json")
        answer_as(runs, 107, 108)
    return pytester.path


@pytest.mark.parametrize(
    ("gate", "passed", "code"), [("success >= 60%", True, 0), ("complete", True, 0), ("no-regression", False, 1)]
)
def test_the_same_gates_and_exit_codes_outside_pytest(two, capsys, gate, passed, code):
    found, told = compare(capsys, "a.json", "b.json", "--gate", gate)
    assert found == code
    assert f"  {'pass' if passed else 'FAIL'}  {gate}: wanted " in told.out


def test_no_gate_judges_a_partial_session(two, capsys):
    edit(two / "b.json", lambda raw: raw["webeval"].update(partial=True))
    code, told = compare(capsys, "a.json", "b.json", "--gate", "success >= 0%")
    assert (code, "ERROR: b.json is partial; use a complete session" in told.err) == (4, True)
    assert compare(capsys, "a.json", "b.json")[0] == 0


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["a.json", "b.json", "--gate", "sucess >= 6%"],
            "ERROR: invalid gate 'sucess >= 6%': unknown gate 'sucess'; did you mean 'success'?",
        ),
        (["b.json", "--gate=success"], "ERROR: invalid gate 'success': incomplete; quote it: --gate='success >= 60%'"),
        (["b.json", "--gate=no-regression"], "ERROR: gate 'no-regression' requires a baseline; name it before the"),
        (["a.json", "b.json", "--gate=certificate"], "ERROR: gate 'certificate' is about the judge of a session that"),
        (
            ["a.json"],
            "ERROR: compare requires two sessions, or one and a gate; name two summaries or directories",
        ),
        (["a.json", "none.json"], "ERROR: session not found: none.json; name a summary or a directory of results"),
        (["a.json", "runs/tasks.json"], "ERROR: invalid eval_summary.json runs/tasks.json: Expected `object`"),
        (["a.json", "empty"], "ERROR: empty holds neither eval_summary.json nor eval_result.json; name a summary or"),
        (["a.json", "b.json", "--subset", "none.json"], "ERROR: cannot read the subset none.json: No such file"),
        (["a.json", "b.json", "--report", "mine"], "was not written by pytest-webeval; choose another directory"),
    ],
)
def test_usage_errors_are_one_line(two, capsys, arguments, message):
    (two / "empty").mkdir()
    (two / "mine").mkdir()
    (two / "mine" / "comparison.html").write_text("mine")
    code, told = compare(capsys, *arguments)
    assert code == 4
    assert message in told.err
    assert told.err.count("\n") == 1


def test_directories_reports_and_summaries_are_the_same_session(two, webeval, capsys):
    webeval("--webeval-output=c", "--webeval-report=page")
    (two / "results").mkdir()
    shutil.copytree(two / "c", two / "results", dirs_exist_ok=True)
    (two / "results" / "eval_summary.json").unlink()
    for session in ("c", "page", "results"):
        code, told = compare(capsys, "c/eval_summary.json", session)
        assert (code, told.out.splitlines()[1]) == (0, "no task of 3 changed sides")


def test_the_first_session_is_compared_with_each_of_the_others(two, capsys):
    told = compare(capsys, "a.json", "b.json", "a.json")[1].out
    assert "a.json -> b.json\n" in told
    assert "a.json -> a.json\nno task of 3 changed sides" in told


def test_a_subset_is_compared_alone(two, capsys):
    (two / "s.json").write_text(json.dumps({"task_ids": [108, 109]}))
    told = compare(capsys, "a.json", "b.json", "--subset", "s.json", "--format", "json")[1].out
    assert json.loads(told)["comparisons"][0]["kinds"] == {
        "regressed": 1, "fixed": 0, "newly_erring": 0, "missing": 0, "extra": 0, "excluded": 0, "unchanged": 1,
    }  # fmt: skip


def change_row(**fields):
    return lambda raw: raw["task_results"][1].update(fields)


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda raw: raw["webeval"].update(partial=True), "b.json is a partial session: only some of its runs were *"),
        (lambda raw: raw["webeval"].update(subset={"name": "hard"}), "the subsets differ: none and hard"),
        (lambda raw: raw["webeval"].update(rules="default"), "the rules differ: strict and default"),
        (change_row(run=3), "1 row of b.json cannot be used: Expected `str`, got `int` @ run @ task_results[[]1]"),
        (
            change_row(run="runs/107"),
            "1 row of b.json cannot be used: run 'runs/107' is listed twice @ task_results[[]1]",
        ),
        (
            change_row(status="won"),
            "1 row of b.json cannot be used: Invalid enum value 'won' @ status @ task_results[[]1]",
        ),
        (
            lambda raw: raw.update(task_results=raw["task_results"][:1]),
            "no test: both sessions judged 1 task; *needs 2",
        ),
        (lambda raw: raw.update(task_results=[]), "no task is in both sessions"),
        (lambda raw: raw.pop("webeval"), "the rules differ: strict and unknown"),
    ],
)
def test_summaries_that_do_not_fit_are_compared_as_far_as_they_go(two, capsys, change, line):
    edit(two / "b.json", change)
    code, told = compare(capsys, "a.json", "b.json")
    assert code == 0
    assert any(fnmatch.fnmatch(found, f"note: {line}") for found in told.out.splitlines()), told.out


def test_texts_of_a_summary_are_shown_and_not_obeyed(two, capsys):
    edit(two / "b.json", change_row(reason="\x1b[31m::error::red\n::error::x", run="\u202e<script>", sites=["<i>"]))
    code, told = compare(capsys, "a.json", "b.json", "--report", "page")
    assert code == 0
    assert "\\u001b[31m::error::red" in told.out
    assert not re.search(r"[\x1b\u202e]|(?m:^\s*::)", told.out)
    page = (two / "page" / "comparison.html").read_text()
    assert "&lt;i&gt;" in page
    assert not re.search(r"<script|<i>|[\x1b\u202e]", page)


def test_verdicts_of_older_summaries_change_for_unknown_reasons(two, capsys):
    for name in ("a.json", "b.json"):
        edit(two / name, lambda raw: [row.pop("checksums") for row in raw["task_results"]])
    told = compare(capsys, "a.json", "b.json")[1].out
    assert "  108: cause unknown; success -> failure: " in told
    assert "note: b.json has no checksums of its runs, so causes of changes are unknown; score again" in told


@pytest.mark.unchecked_files("broken results are what it is about")
def test_a_result_that_cannot_be_read_is_named(two, capsys):
    (two / "b" / "eval_summary.json").unlink()
    (two / "b" / "107" / "eval_result.json").write_text("{")
    (two / "b" / "108" / "eval_result.json").write_text("[]")
    told = compare(capsys, "a.json", "b")[1].out
    assert "note: 2 rows of b cannot be used: Expecting property name" in told
    assert "@ 107/eval_result.json; Expected `object`, got `array` @ 108/eval_result.json" in told


@pytest.mark.parametrize("text", ['{"timestamp": "t", "task_results": ["\\\\ud800"]}', '{"timestamp": "\\\\uD800"'])
def test_half_of_a_surrogate_pair_is_shown_and_breaks_nothing(two, capsys, webeval, text):
    (two / "half.json").write_text(text + "}" * (text.count("{") - text.count("}")))
    code, told = compare(capsys, "a.json", "half.json")
    assert code in (0, 4)
    assert "half.json" in told.out + told.err
    assert webeval("--webeval-baseline=half.json", "--webeval-output=d").ret != pytest.ExitCode.INTERNAL_ERROR


def test_links_that_lead_to_each_other_are_a_usage_error(two, capsys):
    (two / "loop").symlink_to("loop")
    code, told = compare(capsys, "a.json", "loop")
    assert (code, told.err.count("\n")) == (4, 1)


def test_a_wrong_option_ends_like_one_of_pytest(two, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["compare", "a.json", "b.json", "--fail-on", "regression"])
    assert ended.value.code == 4
    assert "ERROR: --fail-on was removed; use the gate 'no-regression beyond noise'" in capsys.readouterr().err


def test_a_fixed_task_shows_why_it_failed(two, capsys):
    told = compare(capsys, "a.json", "b.json")[1].out
    assert "  107: other recording; failure -> success: it was agent_response.status: expected" in told


def test_the_module_is_a_command(two):
    command = [sys.executable, "-m", "pytest_webeval", "compare", "a.json", "b.json", "--gate=no-regression"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=two)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(
        "a.json -> b.json\nas many solved of 3 that both judged, and 1 against 1 changed sides"
    )


def test_a_session_with_a_baseline_has_the_page_in_its_report(two, webeval):
    webeval("--webeval-report=page", "--webeval-baseline=b.json", "--webeval-output=c")
    assert (
        '<a class="static" href="comparison.html">comparison with the baseline</a>'
        in (two / "page" / "index.html").read_text()
    )
    assert read_page((two / "page" / "comparison.html").read_text()) == {
        "107": ("regressed", ["recording"]),
        "108": ("fixed", ["recording"]),
    }
    webeval("--webeval-report=page", "--webeval-output=c")
    assert not (two / "page" / "comparison.html").exists()


def test_the_gate_on_attempts_counts_each_agent(runs, webeval, pytester, capsys):
    for word in ("a/try-1+", "a/try-2+", "b/try-1-", "b/try-2-"):
        runs.add(107, name=f"{word[:-1]}/107", passes=word[-1] == "+", defined=word == "a/try-1+")
    webeval("--webeval-output=out")
    gate = ("--gate", "attempts 2 of 2 >= 50%")
    assert compare(capsys, "out", "out", *gate)[0] == 1
    assert (
        "a: 100.0% (1 of 1 task); runs/b: 0.0% (0 of 1 task)"
        in compare(capsys, "out", "out", *gate, "--attempts", "try-*")[1].out
    )
