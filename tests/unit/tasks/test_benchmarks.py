"""Task files of all benchmarks: `fara_webeval.md` §1.4."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.tasks.dataset import load_tasks, parse_tasks
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import TrajectoryTask, parse_rephrased_id, undefined_task

COLUMNS = ("benchmark", "id", "task_summary", "precomputed_rubric", "task_rephrasings")
RUBRIC = {"items": [{"criterion": "Find it", "max_points": 2.5}]}
MIND2WEB = {"task_id": "5f2", "confirmed_task": "Find a mug", "website": "https://shop.test/", "level": "easy"}
VOYAGER = {"id": "BBC News--3", "ques": "Who won?", "web": "https://news.test/", "web_name": "BBC News"}
OTHER = VOYAGER | {"id": "other"}
TAIL = {"id": "hotels_7", "task_summary": "Book a room", "init_url": "", "benchmark": "hotels"}
STAGEHAND = {"id": "hotels_7", "category": "hotels", "ques": "Book a room\r", "web": "", "precomputed_rubric": RUBRIC}
HARD = STAGEHAND | {"source_suite": "onlineMind2Web", "failure_mode": "looping"}
WANTED = (
    "expected task_id with confirmed_task (Online-Mind2Web); "
    "id with ques and precomputed_rubric and source_suite (HardBench); "
    "id with ques and category and precomputed_rubric (WebTailBench of Stagehand); id with ques (WebVoyager); "
    "id or subdir with task_summary (WebTailBench); "
    "test_case or metadata.task_id with instruction and eval_schema (ClawBench); task_id with eval (WebArena-Verified)"
)


def table(*rows, columns=COLUMNS) -> bytes:
    """A file of tab-separated values as spreadsheets write it."""
    written = io.StringIO()
    csv.writer(written, "excel-tab").writerows([columns, *rows])
    return written.getvalue().encode()


def rows(*found) -> bytes:
    """A JSON list."""
    return json.dumps(found).encode()


def told(content, *asked, source="t.tsv") -> str:
    """The error of reading a file and asking for tasks, which is one line."""
    with pytest.raises(TaskDefinitionError) as caught:
        _ = [parse_tasks(content, source).get(task_id) for task_id in asked]
    assert str(caught.value).isprintable()
    return str(caught.value)


def tail_bench(source="WebTailBench.tsv", **fields) -> TrajectoryTask:
    """The task of a row of WebTailBench with these fields."""
    return parse_tasks(rows({**TAIL, **fields}), source).get("hotels_7")


@pytest.mark.parametrize(
    ("row", "task_id", "says"),
    [
        (MIND2WEB, "5f2", ("om2w", "Find a mug", ["https://shop.test/"], "easy", None)),
        (MIND2WEB | {"reference_length": 7}, "5f2", ("om2w", "Find a mug", ["https://shop.test/"], "easy", 7)),
        (MIND2WEB | {"task_id": 52}, "52", ("om2w", "Find a mug", ["https://shop.test/"], "easy", None)),
        (VOYAGER, "BBC News--3", ("webvoyager", "Who won?", ["https://news.test/"], "BBC News", None)),
        ({"id": "a", "ques": None, "web": None}, "a", ("webvoyager", "", [], None, None)),
        (TAIL, "hotels_7", ("webtailbench", "Book a room", [], "hotels", None)),
        (TAIL | {"id": " ", "subdir": "h", "init_url": " "}, "h", ("webtailbench", "Book a room", [], "hotels", None)),
        (TAIL | {"benchmark": " ", "init_url": "u"}, "hotels_7", ("webtailbench", "Book a room", ["u"], None, None)),
    ],
)
@pytest.mark.parametrize("layout", ["list", "lines", "table", "table with BOM"])
def test_each_benchmark_names_its_fields_and_any_layout_holds_it(row, task_id, says, layout):
    layouts = {"list": rows(row), "lines": b"\n" + json.dumps(row).encode() + b"\r\n\r\n" + json.dumps(OTHER).encode()}
    content = layouts.get(layout) or table(row.values(), columns=tuple(row))
    found = parse_tasks((b"\xef\xbb\xbf" if "BOM" in layout else b"") + content, "tasks.tsv")
    task = found.get(task_id)
    ids = (task_id, "other") if layout == "lines" else (task_id,)
    assert (found.task_ids, task.task_id, found.warnings, task.warnings) == (ids, task_id, (), ())
    assert (task.benchmark, task.intent, task.start_urls, task.group, task.reference_length) == says


@pytest.mark.parametrize(
    ("row", "source", "name", "group"),
    [
        (STAGEHAND, "WebTailBench_data.jsonl", "webtailbench", "hotels"),
        (STAGEHAND | {"category": None}, "x.jsonl", "webtailbench", None),
        (HARD, "HardBenchmark_data.jsonl", "hardbench", "hotels"),
        (VOYAGER | {"category": "news"}, "x.jsonl", "webvoyager", "BBC News"),
        (VOYAGER | {"precomputed_rubric": RUBRIC}, "x.jsonl", "webvoyager", "BBC News"),
        (MIND2WEB | {"precomputed_rubric": RUBRIC}, "onlineMind2Web.jsonl", "om2w", "easy"),
        (MIND2WEB | {"precomputed_rubric": RUBRIC}, "/a/OdysseysBench_data.jsonl", "odysseysbench", "easy"),
        (MIND2WEB, "/odysseysbench/x.jsonl", "om2w", "easy"),
    ],
)
def test_rows_of_stagehand_are_of_the_benchmark_that_their_fields_or_their_file_names(row, source, name, group):
    tasks = parse_tasks(
        json.dumps(row).encode() + b"\n" + json.dumps(row | {"id": "b", "task_id": "b"}).encode(), source
    )
    task = tasks.get(tasks.task_ids[0])
    assert (task.benchmark, task.group, task.rubric) == (name, group, row.get("precomputed_rubric"))
    assert (len(tasks.task_ids), tasks.warnings, task.warnings) == (2, (), ())


def test_a_trajectory_is_judged_by_its_rubric_and_names_neither_site_nor_template():
    task = undefined_task("a\udce9")  # as the name of a directory that is no UTF-8
    assert [one.evaluator for one in task.expectations] == [RUBRIC_EVALUATOR]
    assert (task.sites, task.intent_template_id, task.intent_template, task.revision) == ([], -1, "", -1)
    assert (task.task_id, task.intent, task.start_urls, task.instantiation_dict, task.task_type) == (
        "a\udce9",
        "",
        [],
        {},
        None,
    )
    assert (task.benchmark, task.group, task.rubric) == ("", None, None)
    assert undefined_task("a", "do", "http://a/").start_urls == ["http://a/"]


@pytest.mark.parametrize(
    ("row", "asked", "message"),
    [
        ({"name": "a", "ques ": 1}, "a", f"unknown benchmark in x: fields ['name', 'ques '] @ [1]; {WANTED}"),
        ("a", "a", f"unknown benchmark in x: 'a' @ [1]; {WANTED}"),
        ("a\n" * 99, "a", "unknown benchmark in x: 'a\\na\\na"),
        (None, "a", "unknown benchmark in x: None @ [1]; expected "),
        (VOYAGER | {"id": True}, "a", "invalid id in x: True @ [1].id; write the id as a string"),
        (TAIL | {"id": "", "subdir": [1]}, "a", "invalid id in x: [1] @ [1].subdir; write the id as a string"),
        (VOYAGER | {"id": 3.0}, "a", "invalid id in x: 3.0 @ [1].id; write the id as a string"),
        ({"eval": []}, "a", "x has no task_id @ [1]; give each task an integer, or the name of its run's task"),
        ({"task_id": 3.5}, "a", "x has no task_id @ [1]; give each task an integer, or the name of its run's task"),
        ({"task_id": " "}, "a", "x has no task_id @ [1]; give each task an integer, or the name of its run's task"),
        ({"task_id": True}, "a", "x has no task_id @ [1]; give each task an integer, or the name of its run's task"),
        ({"task_id": "12x"}, "12x", "invalid task in x: task 12x lacks "),
        (VOYAGER | {"ques": 5}, "BBC News--3", "invalid task in x: 5 is not a string @ [1].ques; fix the definition"),
        (
            VOYAGER | {"web": ["u"]},
            "BBC News--3",
            "invalid task in x: ['u'] is not a string @ [1].web; fix the definition",
        ),
        (VOYAGER, "a", "task 'a' is not defined in x; add it or use --webeval-tasks"),
        (VOYAGER, "a" * 99, f"task '{'a' * 37}...{'a' * 38}' is not defined in x; "),
        (VOYAGER, "a_rephrased_1", "task 'a_rephrased_1' is not defined in x; "),
        (VOYAGER, 3, "task 3 is not defined in x; add it or use --webeval-tasks"),
        (TAIL, "hotels_7", "task 'hotels_7' is defined twice in x @ [0] and [1]; keep one definition"),
        (TAIL, "hotels_7_rephrased_1", "task 'hotels_7' is defined twice in x @ [0] and [1]; keep one definition"),
    ],
)
def test_a_row_that_is_wrong_is_told_with_its_place(row, asked, message):
    assert told(rows(TAIL, row), asked, source="x").startswith(message)


def test_a_wrong_row_costs_no_other():
    broken = (MIND2WEB | {"task_id": "x", "website": 5}, VOYAGER, VOYAGER, VOYAGER)
    found = parse_tasks(rows(MIND2WEB, *broken, TAIL), "x")
    assert (found.get("5f2").intent, found.get("hotels_7").intent) == ("Find a mug", "Book a room")
    with pytest.raises(TaskDefinitionError, match=r"is defined twice in x @ \[2\] and \[3\]; keep one"):
        found.get("BBC News--3")


@pytest.mark.parametrize(
    ("content", "source", "message"),
    [
        (b"", "x", f"x is empty; expected tasks with {WANTED[9:]}"),
        (b"\xef\xbb\xbf \n\t\r\n", "x", "x is empty; expected tasks"),
        (b"id\tques\xff", "x", "x is not UTF-8: invalid start byte @ byte 7; save it as UTF-8"),
        ("id\tques".encode("utf-16"), "x", "x is not UTF-8: invalid start byte @ byte 0; save it as UTF-8"),
        (b"\nname\tques \t\n", "x", "unknown benchmark in x: fields ['name', 'ques', ''] @ line 2; "),
        (
            b"name\ttask_summary\na\tb",
            "x",
            f"unknown benchmark in x: fields ['name', 'task_summary'] @ line 1; {WANTED}",
        ),
        (b"\n\nid\tname\n", "x", "unknown benchmark in x: fields ['id', 'name'] @ line 3; "),
        (b"id,ques\na,b\n", "x.TSV", "unknown benchmark in x.TSV: fields ['id,ques'] @ line 1; "),
        (
            b"id,ques\na,b\n",
            "x",
            "x is neither JSON nor JSON lines: Expecting value: line 1 column 1 (char 0) @ line 1",
        ),
        (b"id\tques\tid\n", "x", "duplicate column 'id' in x @ line 1; keep one of them"),
        (b'""\t\n', "x", "unknown benchmark in x: fields [] @ line 1; "),
        (b'"\t\n', "x", "x has an unclosed quote @ line 1; close it, and double the quotes inside"),
        (b'id\tques\n"a\n"\tb\n"c\td\n\ne\tf\n', "x", "x has an unclosed quote @ line 4; close it"),
        (b' [{"id":\t"a"}', "x.tsv", "cannot parse x.tsv as JSON: "),
        (b'{"id":\t"a"', "x.tsv", "x.tsv is neither JSON nor JSON lines: "),
    ],
)
def test_a_file_that_holds_no_tasks_is_refused_in_one_line(content, source, message):
    assert told(content, "a", source=source).startswith(message)


def test_rows_without_an_id_are_left_out_with_a_warning():
    found = parse_tasks(table(("a", "", "x", "", ""), ("", " "), ("a", "one", "x", "", ""), ("a",)), "/somewhere/t.tsv")
    assert found.task_ids == ("one",)
    assert found.warnings == (
        "t.tsv line 5: missing 4 of 5 cells; the row is read without them",
        "t.tsv: no id or subdir @ line 2; the row is skipped",
        "t.tsv: no id or subdir @ line 5; the row is skipped",
    )
    assert len(parse_tasks(rows(*[VOYAGER | {"id": None}] * 100), "x").warnings) == 21


@pytest.mark.parametrize(
    ("content", "intent", "warning"),
    [
        (table(("b", "one")), "", "line 2: missing 3 of 5 cells; the row is read without them"),
        (table(("b", "one", "x", "")), "x", "line 2: missing 1 of 5 cells; the row is read without them"),
        (
            b'\nid\ttask_summary\tbenchmark\n\n\none\t"x\n"',
            "x\n",
            "line 5: missing 1 of 3 cells; the row is read without them",
        ),
        (table(("b", "one", "x", "", "", "more")), "x", "line 2: 6 cells in 5 columns; the extra cells are ignored"),
        (table(("b", "one", "x", "", "", " ", "")), "x", None),
        (b"id\ttask_summary\t\t\none\tx", "x", None),
    ],
)
def test_a_row_that_is_too_short_or_too_long_is_kept_with_a_warning(content, intent, warning):
    found = parse_tasks(content, "t.tsv")
    assert (found.task_ids, found.get("one").intent) == (("one",), intent)
    assert found.warnings == ((f"t.tsv {warning}",) if warning else ())


def test_however_many_rows_are_short_those_that_are_lost_are_told():
    found = parse_tasks(table(*[("b", f"{number}") for number in range(30)], ("b",)), "t.tsv")
    assert found.warnings[20:] == (
        "t.tsv: 11 more warnings",
        "t.tsv: no id or subdir @ line 32; the row is skipped",
    )


def test_a_cell_may_have_lines_tabs_and_quotes_and_be_longer_than_the_limit_of_others():
    before = csv.field_size_limit()
    text = 'Say\t"hi"\r\n' + "x" * before
    found = parse_tasks(table(("b", "one", text), ("b", "two", "y", "{")), "t.tsv")
    assert (found.get("one").intent, csv.field_size_limit()) == (text, before)
    assert found.get("two").warnings[0].startswith("t.tsv line 4: precomputed_rubric is not valid JSON: ")
    with pytest.raises(TaskDefinitionError):
        parse_tasks(b'id\tques\n"' + b"x" * before * 2, "t.tsv")
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("source", "group"),
    [("WebTailBench.tsv", "hotels"), ("/refusals/a.tsv", "hotels"), ("/a/WebTailBench-Refusals.tsv", "refusals")],
)
def test_tasks_of_the_refusals_file_are_a_split_of_their_own(source, group):
    assert tail_bench(source).group == group


@pytest.mark.parametrize(
    ("raw", "rubric", "warning"),
    [
        (json.dumps(RUBRIC), RUBRIC, None),
        (json.dumps([RUBRIC, {"items": []}]), RUBRIC, None),
        (RUBRIC, RUBRIC, None),
        (None, None, None),
        (" ", None, None),
        ("null", None, None),
        (
            "{",
            None,
            "precomputed_rubric is not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2",
        ),
        ("[" * 100_000, None, "precomputed_rubric is not valid JSON: "),
        ("1" * 5000, None, "precomputed_rubric is not valid JSON: "),
        ("[]", None, "precomputed_rubric is not a JSON object; ignored"),
        ("[[{}]]", None, "precomputed_rubric is not a JSON object; ignored"),
        (0, None, "precomputed_rubric is not a JSON object; ignored"),
    ],
)
def test_a_rubric_is_json_in_a_cell_and_left_out_where_it_is_none(raw, rubric, warning):
    task = tail_bench(precomputed_rubric=raw)
    assert (task.rubric, len(task.warnings)) == (rubric, int(warning is not None))
    assert "".join(task.warnings).startswith(f"WebTailBench.tsv [0]: {warning}" if warning else "")


@pytest.mark.parametrize(
    ("raw", "texts", "warnings"),
    [
        ('\n["Get a room", "A room"]', ("Get a room", "A room"), ()),
        (["Get a room"], ("Get a room",), ()),
        ("Get a room\n \n  A room ", ("Get a room", "A room"), ()),
        (None, (), ()),
        ("[]", (), ()),
        ('["a", " ", null, "d"]', ("a", "", "", "d"), ("[1] is not a string", "[2] is not a string")),
        ("['a', 'b']", (), (" is not valid JSON: Expecting value: line 1 column 2 (char 1)",)),
        ('{"a": "b"}', (), (" is not a list of strings",)),
        (7, (), (" is not a list of strings",)),
    ],
)
def test_a_task_in_other_words_goes_by_its_number_and_leads_back(raw, texts, warnings):
    found = parse_tasks(rows(TAIL | {"task_rephrasings": raw}), "x")
    original = found.get("hotels_7")
    assert (original.rephrasings, found.task_ids) == (texts, ("hotels_7",))
    assert original.warnings == tuple(f"x [0]: task_rephrasings{text}; ignored" for text in warnings)
    for number in range(6):
        task_id, text = f"hotels_7_rephrased_{number}", (("", *texts) + ("",) * 6)[number]
        assert (task_id in found) is bool(text)
        if text:
            task = found.get(task_id)
            assert (task.task_id, task.intent, task.group) == (task_id, text, "hotels")
            assert task.rephrasings == ()
        else:
            with pytest.raises(TaskDefinitionError, match=f"task '{task_id}' is not defined in x"):
                found.get(task_id)


@pytest.mark.parametrize(
    ("task_id", "original"),
    [
        ("a_rephrased_12", ("a", 12)),
        ("a_rephrased_1_rephrased_0", ("a_rephrased_1", 0)),
        ("_rephrased_1", None),
        ("a_rephrased_", None),
        ("a_rephrased_²", None),
        ("a_rephrased_٣", None),
        ("a_rephrased_x", None),
        (f"a_rephrased_{'1' * 9}", ("a", 111_111_111)),
        (f"a_rephrased_{'1' * 10}", None),
    ],
)
def test_the_id_alone_tells_what_a_task_is_other_words_for(task_id, original):
    assert parse_rephrased_id(task_id) == original


def test_a_row_of_its_own_beats_the_other_words_of_another():
    same = TAIL | {"id": "hotels_7_rephrased_1", "task_summary": "Mine"}
    found = parse_tasks(rows(TAIL | {"task_rephrasings": ["Theirs"]}, same), "x")
    assert found.get("hotels_7_rephrased_1").intent == "Mine"


@pytest.mark.parametrize(
    ("fields", "kept", "warning"),
    [
        ({"reference_length": "12"}, (12, "hotels"), None),
        ({"reference_length": ""}, (None, "hotels"), None),
        ({"reference_length": 0}, (0, "hotels"), None),
        ({"reference_length": -1}, (None, "hotels"), "reference_length is not an integer; ignored"),
        ({"reference_length": True}, (None, "hotels"), "reference_length is not an integer; ignored"),
        ({"reference_length": "9" * 9}, (999_999_999, "hotels"), None),
        ({"reference_length": "9" * 10}, (None, "hotels"), "reference_length is not an integer; ignored"),
        ({"reference_length": "²"}, (None, "hotels"), "reference_length is not an integer; ignored"),
        ({"benchmark": 5}, (None, None), "benchmark is not a string; ignored"),
    ],
)
def test_what_no_verdict_needs_is_left_out_with_a_warning(fields, kept, warning):
    task = tail_bench(**fields)
    assert (task.reference_length, task.group) == kept
    assert task.warnings == ((f"WebTailBench.tsv [0]: {warning}",) if warning else ())


def test_a_number_and_its_text_are_one_id(bench):
    numbered = [bench.task(bench.expecting(), task_id=number) for number in (30, 4)]
    named = [VOYAGER | {"id": task_id} for task_id in ("b", "12", "07")]
    found = parse_tasks(rows(*named, *numbered), "x")
    assert found.task_ids == (4, 30, "07", "12", "b")
    assert [found.get(task_id).task_id for task_id in (4, "4", 12, "12", "b")] == [4, 4, "12", "12", "b"]
    assert [task_id in found for task_id in (4, "4", 12, "12", 7, "04", "c")] == [True] * 4 + [False] * 3
    both = parse_tasks(rows(VOYAGER | {"id": "4"}, *numbered), "x")
    for task_id in (4, "4"):
        with pytest.raises(TaskDefinitionError, match=r"task '?4'? is defined twice in x"):
            both.get(task_id)
    assert both.get(30).task_id == 30


def test_numbered_tasks_keep_their_rules(bench):
    tasks = rows(bench.task(bench.expecting()), bench.task(task_id=8), bench.task(bench.expecting(), task_id="\uff19"))
    assert told(tasks, "x", source="x") == "task id 'x' is not a number; name the directory after its task id"
    assert told(tasks, "7_rephrased_1", source="x").startswith("task id '7_rephrased_1' is not a number; ")
    assert told(tasks, 8, source="x").startswith("invalid task in x: eval is empty: ")
    assert told(tasks, 9, source="x").endswith(" unable to parse string as an integer @ task_id; fix the definition")
    assert told(rows({"task_id": 7}, {"task_id": 7}), 7) == "task 7 is defined twice in t.tsv; keep one definition"
    assert parse_tasks(rows({"task_id": 9.0}, {"task_id": "8"}), "x").task_ids == (8, 9)
    assert told(b"[]", 7, source="x") == "task 7 is not defined in x; add it or use --webeval-tasks"


def test_an_invalid_task_has_a_definition_all_the_same():
    found = parse_tasks(rows(TAIL | {"init_url": 5, "task_rephrasings": ["a"]}), "x")
    assert [task_id in found for task_id in ("hotels_7", "hotels_7_rephrased_1")] == [True, True]
    assert parse_tasks(rows(TAIL), "x").get("hotels_7") is not None


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes files of tasks, each by its name, into the directory where the test is then run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far").mkdir()

    def write(**contents) -> list[str]:
        names = {name: name.replace("__", "/") for name in contents}
        for name, content in contents.items():
            (tmp_path / names[name]).write_bytes(content)
        return list(names.values())

    return write


def test_several_files_are_one_set_of_tasks(files):
    short = table(("b", "one"))
    contents = {"a": short, "far__b,1": rows(VOYAGER, {"task_id": 12}), "refusals": rows(TAIL, OTHER | {"id": ""})}
    found = load_tasks(*files(**contents))
    checksums = [parse_tasks(content, "x").checksum for content in contents.values()]
    assert (found.source, found.origin) == ("a,far/b,1,refusals", "a,b,1,refusals")
    assert found.checksum == ",".join(checksums)
    assert found.task_ids == (12, "BBC News--3", "hotels_7", "one")
    assert [found.get(task_id).group for task_id in ("BBC News--3", "one", "hotels_7")] == ["BBC News", "b", "refusals"]
    assert found.warnings == (
        "a line 2: missing 3 of 5 cells; the row is read without them",
        "refusals: no id @ [1]; the row is skipped",
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("hotels_7", "task 'hotels_7' is defined twice in a @ [0] and b @ [1]; keep one definition"),
        ("hotels_7_rephrased_1", "task 'hotels_7' is defined twice in a @ [0] and b @ [1]; keep one definition"),
        ("other", "task 'other' is defined twice in a @ [1] and far/c @ [1]; keep one definition"),
        ("twice", "task 'twice' is defined twice in b @ [2] and [3]; keep one definition"),
        (12, "task 12 is defined twice in b and far/c; keep one definition"),
        ("broken", "invalid task in far/c: 5 is not a string @ [0].ques; fix the definition"),
        (8, "invalid task in a: eval is empty: "),
        ("none", "task 'none' is not defined in a,b,far/c; add it or use --webeval-tasks"),
    ],
)
def test_what_is_wrong_with_a_task_is_told_with_its_file(files, bench, asked, message):
    twice, numbered = OTHER | {"id": "twice"}, {"task_id": 12}
    first = rows(TAIL, OTHER, OTHER, bench.task(task_id=8))
    second = rows(numbered, TAIL, twice, twice)
    found = load_tasks(
        *files(a=first, b=second, far__c=rows(OTHER | {"id": "broken", "ques": 5}, OTHER, TAIL, numbered))
    )
    with pytest.raises(TaskDefinitionError) as caught:
        found.get(asked)
    assert str(caught.value).startswith(message)


def test_of_several_files_each_must_be_good_and_named_once(files):
    a, bad = files(a=rows(TAIL), bad=b"{")
    for named, message in [
        ((a, bad), "bad is neither JSON nor JSON lines: "),
        ((a, "far"), "cannot read the task file far: Is a directory; check --webeval-tasks"),
        ((a, "./a"), "duplicate task file a; pass it once with --webeval-tasks"),
    ]:
        with pytest.raises(TaskDefinitionError) as caught:
            load_tasks(*named)
        assert str(caught.value).startswith(message)


def test_a_file_is_known_by_its_name_and_its_bytes(tmp_path):
    (tmp_path / "WebTailBench.tsv").write_bytes(table(("b", "one", "x")))
    found = load_tasks(str(tmp_path / "WebTailBench.tsv"))
    assert (found.origin, len(found.checksum), found.get("one").intent) == ("WebTailBench.tsv", 64, "x")
    assert found.get("one") is found.get("one")
    assert parse_tasks(b"\xef\xbb\xbf" + table(("b", "one", "x")), "x").checksum != found.checksum


json_values = st.sampled_from(
    [None, True, 0, -7, 7.0, 7.5, float("nan"), "", "7", "a", "[", "\ud800", [], ["a"], [None], {}]
)
names = st.sampled_from([*MIND2WEB, *VOYAGER, *TAIL, "subdir", "reference_length", *COLUMNS, "eval"])


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.dictionaries(names, json_values, max_size=8), max_size=4))
def test_any_json_is_tasks_or_refused_by_name(found):
    with suppress(TaskDefinitionError):  # anything else fails the test
        tasks = parse_tasks(json.dumps(found).encode(), "x")
        for task_id in tasks.task_ids:
            with suppress(TaskDefinitionError):
                assert tasks.get(task_id).task_id == task_id


@settings(deadline=None)  # the machine may be busy
@given(st.text(st.sampled_from('ab"\t\n\r\0\u2028é'), max_size=30))
def test_any_table_is_tasks_or_refused_by_name(text):
    with suppress(TaskDefinitionError):
        tasks = parse_tasks(b"id\ttask_summary\ttask_rephrasings\n" + text.encode(), "x")
        for task_id in tasks.task_ids:
            with suppress(TaskDefinitionError):
                assert tasks.get(task_id).task_id == task_id


cells = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
ids = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=5).filter(str.strip)


@settings(deadline=None)  # the machine may be busy
@given(st.dictionaries(ids, cells, max_size=4))
def test_a_table_that_was_written_is_read_back(tasks):
    content = table(*[("b", task_id, text) for task_id, text in tasks.items()])
    found = parse_tasks(content, "x")
    assert {task_id: found.get(task_id).intent for task_id in found.task_ids} == tasks


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("1" * 5_000, "Exceeds the limit"),
        ("[" * 200 + "]" * 200, "nests deeper than 100 levels"),
        ("[" * 965 + "]" * 965, "nest"),
    ],
    ids=["digits", "levels", "more levels"],
)
def test_what_only_some_readers_can_read_is_an_error_of_the_file(value, problem):
    rows = f'[{{"task_id": "7", "confirmed_task": "x", "n": {value}}}]'.encode()
    with pytest.raises(TaskDefinitionError, match=problem):
        parse_tasks(rows, "tasks.json")
