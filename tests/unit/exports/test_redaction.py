"""What is read from results has no secrets in it, unless the caller asks for the original by its name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval import SettingsError, find_result, load_results
from pytest_webeval.exports import EXPORTS
from pytest_webeval.exports.settings import EvaluationFacts, ExportSettings
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import OWN_KEYS, Redactor
from pytest_webeval.results import TaskResult
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.judges.judged_runs import read_judged_runs
from pytest_webeval.summary.results.redacted_results import redact_stored, redact_text
from tests.support.leaks import PASSWORD, TEXTS, list_leaks, record_login, secret_result
from tests.support.stored_results import assertion, evaluated, result, row, write_results, write_shards, write_summary

pytestmark = pytest.mark.unchecked_files("results have only what the exports read")
FACTS = EvaluationFacts(benchmark="shop", model="lab/model", organization="lab", relationship="first_party")


def export(target, rows="tasks"):
    """A reader that exports what `load_results` reads."""

    def read(root, redact):
        export = EXPORTS[target]
        if export.is_streamed:
            return [content for _, content in export.load_stream()(root, [], RedactionPolicy(redact))]
        return list(export.load_writer()(load_results(root, redact), ExportSettings(rows, FACTS)).values())

    return read


def load(root, redact):
    loaded = load_results(root, redact)
    return [repr(list(loaded)), repr(loaded.assertions), *loaded.problems]


READERS = {
    "load_results": load,
    "find_result": lambda root, redact: [json.dumps(find_result(root, "runs/1", redact).to_json())],
    "read_session": lambda root, redact: [repr(read_session(root, RedactionPolicy(redact)))],
    **{name: export(name) for name in EXPORTS if name != "parquet"},
    "rows of assertions": export("jsonl", "assertions"),
}
WRITERS = {"files": write_results, "shards": write_shards}


@pytest.mark.thinned
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_no_secret_of_a_result_is_read(tmp_path, reader, text, write):
    root = write(tmp_path, secret_result(text))
    assert list_leaks(*reader(root, "default")) == set()
    assert list_leaks(*reader(root, "strict")) == set()
    assert list_leaks(*reader(root, "off")) != set()


@pytest.mark.libraries
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_secret_of_a_table_is_in_a_parquet_file(tmp_path, text):
    pytest.importorskip("pyarrow")
    root = write_results(tmp_path, secret_result(text))
    for rows in ("tasks", "assertions"):
        (content,) = export("parquet", rows)(root, "default")
        assert list_leaks(content.decode("latin-1")) == set()


@pytest.mark.parametrize("mark", ["default", "strict", "off", True, ["default"]], ids=str)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_mark_in_a_file_does_not_make_its_result_a_redacted_one(tmp_path, reader, mark):
    root = write_results(tmp_path, secret_result(TEXTS["bearer"], redacted=mark))
    assert list_leaks(*reader(root, "default"), *reader(root, "strict")) == set()


FORGED = {
    "names": lambda text: {"sites": [text], "webarena_verified_version": text},
    "versions": lambda text: {"webeval": {"version": text, "rules": text, "libraries": {text: text}}},
    "checks": lambda text: {
        "evaluators_results": [evaluated(assertion(f"{text}_match"), evaluator_name="AgentResponseEvaluator")]
    },
    "evaluators": lambda text: {"evaluators_results": [evaluated(assertion("x"), evaluator_name=text)]},
}


def hide_in(*path):
    """What puts a text under an unknown key of the object at a path."""

    def hide(content, text):
        place = content
        for key in path:
            place = place[key]
        place["zz"] = text
        return json.dumps(content)

    return hide


HIDDEN = {
    "result": hide_in(),
    "evaluation": hide_in("evaluators_results", 0),
    "assertion": lambda content, text: hide_in("evaluators_results", 0, "assertions", 0)(
        content | {"evaluators_results": [evaluated(assertion("url_match"))]}, text
    ),
    "labels": lambda content, text: json.dumps(content | {"warning_labels": [[text, True]]}),
    "repeated key": lambda content, text: f'{{"error_msg": {json.dumps(text)}, {json.dumps(content)[1:]}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_no_secret_of_a_forged_result_is_read_where_others_have_names(tmp_path, forged, text):
    root = write_results(tmp_path, result(text, "runs/1", **forged(text)))
    assert list_leaks(*(each for read in READERS.values() for each in read(root, "default"))) == set()


ODD_VALUES = {
    "text": lambda text: text,
    "object": lambda _: {"password": PASSWORD},
    "nested": lambda _: {"a": {"password": PASSWORD}},
    "pairs": lambda _: [["password", PASSWORD]],
    "entries": lambda _: [{"name": "password", "value": PASSWORD}],
    "list": lambda text: [text],
    "name": lambda text: {text: 1},
}
OTHER_KEYS = ("excluded", "password", "capture", "trajectory", "Bearer 123456abcdef")


@pytest.mark.thinned
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
@pytest.mark.parametrize("key", sorted({*OWN_KEYS, *OTHER_KEYS}))
def test_no_key_of_a_forged_result_holds_a_secret(tmp_path, key, value, mode):
    raw = TaskResult.read(result(1, "runs/1") | {"webeval": {key: value(TEXTS["bearer"])}})
    redacted = redact_stored(raw, tmp_path, RedactionPolicy(mode))
    assert list_leaks(json.dumps(redacted.to_json())) == set()


def test_a_member_whose_name_is_one_of_a_secret_is_redacted(tmp_path):
    raw = TaskResult.read(result(1, "runs/1", webeval={"password": PASSWORD, TEXTS["github"]: 1}))
    assert list_leaks(json.dumps(redact_stored(raw, tmp_path).to_json())) == set()


def test_our_keys_of_a_result_of_ours_stay(tmp_path):
    inputs = {"network.har": "a3f1" * 16, "auth.json": "77b0" * 16}
    libraries = {"pytest-webeval": "0.1.0", "python-dateutil": "2.9.0.post0", "us": "3.2.0+local-1"}
    webeval = {
        "excluded_as": None,
        "format": "trajectory",
        "inputs": inputs,
        "libraries": libraries,
        "rules": "strict",
        "run": "runs/a%20b",
        "schema_version": 1,
        "skipped": False,
        "task_checksum": "ab" * 32,
        "version": "0.1.0",
        "tasks_from": "tasks.json",
        "wall_time": 0.003502,
    }
    for mode in ("default", "strict"):
        redacted = redact_stored(TaskResult.read(result(1, "runs/1", webeval=webeval)), tmp_path, RedactionPolicy(mode))
        assert redacted.webeval == webeval | {"redacted": mode}


DIFFERENCE = {"path": "url", "kind": "different", "expected": 1, "actual": 2}
FORGED_DIFFERENCES = {
    "path": lambda text: {"path": text},
    "path of what is missing": lambda text: {"path": f"headers.{text}", "kind": "missing"},
    "path behind a dot": lambda text: {"path": f"{text}.x", "kind": "unreadable"},
    "kind": lambda text: {"kind": text},
    "kind that is no text": lambda text: {"kind": [text]},
    "member": lambda text: {"note": text},
    "secret member": lambda _: {"password": PASSWORD},
    "name": lambda text: {text: 1},
}


@pytest.mark.thinned
@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("forged", FORGED_DIFFERENCES.values(), ids=FORGED_DIFFERENCES)
def test_no_secret_of_a_forged_difference_is_read(tmp_path, forged, text, mode):
    explanation = {"differences": [DIFFERENCE | forged(text)], "nearest": None, "candidates": []}
    raw = TaskResult.read(result(1, "runs/1", webeval={"explanations": [explanation]}))
    assert list_leaks(json.dumps(redact_stored(raw, tmp_path, RedactionPolicy(mode)).to_json())) == set()


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_an_answer_that_repeats_a_password_of_the_recording_is_redacted(tmp_path, reader):
    data = {"retrieved_data": [PASSWORD], "status": "SUCCESS", "task_type": "RETRIEVE"}
    content = result(1, "runs/1", evaluators_results=[evaluated(actual=data)], webeval={"inputs": {"network.har": "0"}})
    root = write_results(tmp_path, content)
    record_login(root / "runs" / "1")
    assert list_leaks(*reader(root, "default")) == set()


@pytest.mark.parametrize("first", ["default", "strict"])
@pytest.mark.parametrize("second", ["default", "strict"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_redacting_a_redacted_result_leaves_its_replacements(tmp_path, first, second, text):
    raw = TaskResult.read(secret_result(text))
    once = redact_stored(raw, tmp_path, RedactionPolicy(first)).to_json()
    twice = redact_stored(TaskResult.read(once), tmp_path, RedactionPolicy(second)).to_json()
    if (first, second) != ("default", "strict"):  # which replaces more
        assert twice["evaluators_results"] == once["evaluators_results"]
    assert list_leaks(json.dumps(twice)) == set()


def test_a_result_of_ours_without_secrets_is_exported_byte_by_byte(tmp_path):
    content = TaskResult.read(result(1, "runs/1", webeval={"note": "caf\u00e9 \ud800", "numbers": [1e300, 0.1]}))
    path = write_results(tmp_path, result(1, "runs/1")) / "runs" / "1" / "eval_result.json"
    path.write_bytes(to_json_bytes(content.to_json()))
    assert export("files")(tmp_path, "default") == [path.read_bytes()]


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_what_reading_drops_is_not_exported(tmp_path, hide):
    path = write_results(tmp_path, result(1, "runs/1")) / "runs" / "1" / "eval_result.json"
    path.write_text(hide(result(1, "runs/1"), TEXTS["bearer"]))
    assert list_leaks(path.read_bytes()) != set()
    assert list_leaks(*export("files")(tmp_path, "default"), *export("files")(tmp_path, "strict")) == set()
    assert export("files")(tmp_path, "off") == [path.read_bytes()]


def test_no_secret_of_a_summary_is_read(tmp_path):
    path = write_summary(tmp_path, *(row(n, f"runs/{n}", reason=text) for n, text in enumerate(TEXTS.values())))
    assert list_leaks(repr(list(load_results(path))), repr(read_session(path))) == set()
    assert list_leaks(repr(list(load_results(path, redact="off")))) != set()


def test_no_secret_of_a_judgement_is_read(tmp_path):
    text = TEXTS["github"]
    verdict = evaluated(evaluator_name="RubricEvaluator", actual={"reason": text})
    write_results(tmp_path, result("a", "runs/a", evaluators_results=[verdict]))
    (judged,) = read_judged_runs([tmp_path]).runs
    assert "redacted-" in judged.reasoning
    assert list_leaks(judged.reasoning) == set()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_secret_is_in_a_message_about_a_file(tmp_path, text):
    write_results(tmp_path, result(1, "runs/1"), secret_result(text, "runs/2") | {"status": text})
    loaded = load_results(tmp_path)
    assert len(loaded.problems) == 1
    assert list_leaks(*loaded.problems) == set()
    with pytest.raises(SettingsError, match="cannot read the result") as error:
        find_result(tmp_path, "runs/2")
    assert list_leaks(str(error.value)) == set()


@pytest.mark.parametrize("padding", [0, 1, 150, 190])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("place", ["schema_version", "status"])
def test_no_part_of_a_secret_is_in_a_message_about_a_file(tmp_path, place, text, padding):
    forged = f"{'a ' * (padding // 2)}{text}"
    content = result(1, "runs/1")
    (content["webeval"] if place == "schema_version" else content)[place] = forged
    write_results(tmp_path, content)
    with pytest.raises(SettingsError, match="cannot read the result") as error:
        find_result(tmp_path, "runs/1")
    texts = [*load_results(tmp_path).problems, str(error.value)]
    assert not [part for each in texts for part in (PASSWORD[:4], "9qWz") if part in each]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_result_that_takes_too_long_is_a_problem(tmp_path, monkeypatch, write):
    write(tmp_path, result(1, "runs/1"), result(2, "runs/2"))
    redact = Redactor.result

    def wait(self, found):
        while found.task_id == 1:
            pass
        return redact(self, found)

    monkeypatch.setattr(Redactor, "result", wait)
    monkeypatch.setattr("pytest_webeval.summary.results.redacted_results.SECONDS", 0.1)
    loaded = load_results(tmp_path)
    assert [row.run for row in loaded] == ["runs/2"]
    (problem,) = loaded.problems
    assert "its redaction takes longer than 0.1 s; inspect the run" in problem
    with pytest.raises(SettingsError, match="its redaction takes longer than"):
        find_result(tmp_path, "runs/1")


@pytest.mark.parametrize("read", [load_results, lambda path, redact: find_result(path, "runs/1", redact)])
def test_an_unknown_mode_is_refused(tmp_path, read):
    with pytest.raises(SettingsError, match="invalid redact 'none'; use default, off or strict"):
        read(write_results(tmp_path, result(1, "runs/1")), redact="none")


@pytest.mark.parametrize(
    "text", ["a and b are not shards of one session: they differ", "no recording can pass: two posts"]
)
def test_our_own_words_are_no_names_of_secrets(text):
    assert redact_text(text) == text
    assert list_leaks(redact_text(f"{text}: {TEXTS['password']} {TEXTS['github']}")) == set()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
NAMES = ("explanations", "inputs", "redacted", "run", "trajectory", "warnings")


@given(st.dictionaries(st.sampled_from(NAMES), ANYTHING), st.sampled_from(["default", "strict"]))
def test_a_file_can_hold_anything(tmp_path_factory, webeval, mode):
    raw = TaskResult.read(secret_result(TEXTS["bearer"], **webeval))
    redacted = redact_stored(raw, tmp_path_factory.getbasetemp(), RedactionPolicy(mode))
    assert list_leaks(json.dumps(redacted.to_json())) == set()
