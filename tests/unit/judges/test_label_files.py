"""Files of labels: four shapes with the same labels, codings, and what is refused."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges import label_files
from pytest_webeval.judges.label_files import IN_WORDS, Label, LabelColumns, load_label_file, parse_coding
from pytest_webeval.safety.files import sha256

ROWS = [
    {"task_id": "7", "annotator": "ann", "label": "success"},
    {"task_id": "7", "annotator": "bob", "label": "failure"},
    {"task_id": "shop", "annotator": "ann", "label": "excluded"},
]
LABELS = (Label("7", "ann", "success"), Label("7", "bob", "failure"), Label("shop", "ann", "excluded"))

USUAL = LabelColumns()
ADVICE = "use success, failure, excluded, or name their meaning with --coding"


def load(tmp_path, name, text, columns=USUAL, coding=IN_WORDS):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_label_file(path, columns, coding)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps([{**row, "task_id": 7 if row["task_id"] == "7" else "shop"} for row in ROWS])),
        ("a.json", json.dumps({"7": {"ann": "success", "bob": "failure"}, "shop": {"ann": "excluded"}})),
        ("a.jsonl", "\n\n".join(map(json.dumps, ROWS))),
        ("A.CSV", "\ufefftask_id,annotator,label\r\n7,ann,success\r\n\r\n7,bob, failure \r\nshop,ann,excluded\r\n"),
        ("a.csv", 'note,label,annotator,task_id\n"x,\ny",success,ann,7\n,failure,bob,7\n,excluded,ann,shop\n'),
    ],
)
def test_the_same_labels_are_read_from_each_shape(tmp_path, name, text):
    labelled = load(tmp_path, name, text)
    assert labelled.labels == LABELS
    assert (labelled.name, labelled.coding) == (name, "words")
    assert labelled.checksum == sha256(text.encode())


def test_columns_and_coding_are_those_that_the_user_names(tmp_path):
    text = "run,who,verdict,task_id\nr/7,ann,1,x\nr/8,bob,0,x\nr/9,bob,,x\nr/10,bob,2,x\n"
    columns, coding = LabelColumns("run", "verdict", "who"), parse_coding("1=success, 0=failure,2=excluded")
    assert load(tmp_path, "a.csv", text, columns, coding).labels == (
        Label("r/7", "ann", "success"),
        Label("r/8", "bob", "failure"),
        Label("r/10", "bob", "excluded"),
    )


def test_labels_without_annotators_are_those_of_the_file(tmp_path):
    assert load(tmp_path, "ann.csv", "task_id,label\n7,success\n").labels == (Label("7", "ann.csv", "success"),)
    assert load(tmp_path, "ann.json", '{"7": "success"}').labels == (Label("7", "ann.json", "success"),)


def test_adjudications_are_labels_in_words_and_open_ones_are_not(tmp_path):
    rows = [{"run": "r/7", "task_id": "7", "label": "1", "adjudicated": word} for word in ("success", None)]
    labelled = load(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)), coding=parse_coding("osu"))
    assert labelled.labels == (Label("r/7", "adjudicated", "success", is_adjudication=True),)
    assert load(tmp_path, "b.jsonl", json.dumps(rows[1])).labels == ()


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        (None, {"success": "success", "failure": "failure", "excluded": "excluded"}),
        ("osu", {"0": "failure", "1": "success", "2": "excluded"}),
        ("abp", {"0": "excluded", "1": "success", "2": "failure"}),
        ("true=success,false=failure", {"true": "success", "false": "failure"}),
    ],
)
def test_a_coding_says_what_labels_mean(text, meanings):
    coding = parse_coding(text)
    assert coding.meanings == meanings
    assert coding.name == (text or "words")


def test_booleans_are_read_as_json_spells_them(tmp_path):
    coding = parse_coding("true=success,false=failure")
    labels = load(tmp_path, "a.json", '{"7": true, "8": false, "9": null}', coding=coding).labels
    assert [label.meaning for label in labels] == ["success", "failure"]


@pytest.mark.parametrize("text", ["", "1", "1=good", "=success", "1=success,1=failure", "OSU"])
def test_an_invalid_coding_is_refused(text):
    with pytest.raises(SettingsError) as caught:
        parse_coding(text)
    advice = "use osu, abp or e.g. 1=success,0=failure,2=excluded"
    assert str(caught.value) == f'invalid --coding "{text}"; {advice}'


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.txt", "", "invalid label file {}; use a file that ends in .csv, .json, .jsonl"),
        ("a.csv", "", "no labels in {}; expected columns 'task_id' and 'label'"),
        ("a.json", "[]", "no labels in {}; expected columns 'task_id' and 'label'"),
        ("a.json", '{"7": null}', "no labels in {}; expected columns 'task_id' and 'label'"),
        ("a.json", "7", "{} holds 7; expected a list or an object"),
        ("a.json", "[7]", "{}, row 1 holds 7; expected an object with columns"),
        ("a.jsonl", "\n[]", "{}, line 2 holds []; expected an object with columns"),
        ("a.json", '{"7": "success", "7": "failure"}', '{} has the key "7" twice in one object; keep one of them'),
        ("a.json", '{"7": [1]}', f'invalid label [1] in {{}}, "7"; {ADVICE}'),
        ("a.csv", "task_id,label\n7,1\n", f'invalid label "1" in {{}}, line 2; {ADVICE}'),
        ("a.csv", "task,label\n7,success\n",
         "no column 'task_id' in {}, line 2 (columns: task, label); name the column with --id-column"),
        ("a.csv", "task_id,verdict\n7,success\n",
         "no column 'label' in {}, line 2 (columns: task_id, verdict); name the column with --label-column"),
        ("a.csv", "task_id,label\n ,success\n", 'invalid task_id " " in {}, line 2; expected a text or an integer'),
        ("a.json", '[{"task_id": true, "label": "success"}]',
         "invalid task_id true in {}, row 1; expected a text or an integer"),
        ("a.json", '{"": "success"}', 'invalid key "" in {}, ""; expected a text or an integer'),
        ("a.csv", "label,label\n", "{} has two columns of the same name; rename one of them"),
        ("a.csv", "task_id,label\n7\n", "{}, line 2 has 1 columns; expected 2 as in the first line"),
        ("a.csv", 'task_id,label\n"7', "{} is not valid CSV: unexpected end of data; repair the file"),
        ("a.csv", b"\xff", "{} is not UTF-8: invalid start byte at byte 0; save it as UTF-8"),
        ("a.jsonl", '{"adjudicated": "yes", "run": "r"}', f'invalid label "yes" in {{}}, line 1; {ADVICE}'),
        ("a.jsonl", '{"adjudicated": "success"}', "no column 'run' in {}, line 1 (columns: adjudicated)"),
    ],
)  # fmt: skip
def test_what_is_no_label_is_refused(tmp_path, name, text, problem):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, name, text)
    assert str(caught.value) == problem.format(tmp_path / name)


def test_a_label_outside_of_the_coding_is_refused_with_the_coding(tmp_path):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "a.csv", "task_id,label\n7,3\n", coding=parse_coding("osu"))
    path = tmp_path / "a.csv"
    expected = f'invalid label "3" in {path}, line 2; the coding is 0=failure, 1=success, 2=excluded'
    assert str(caught.value) == expected


def test_a_column_of_annotators_that_the_user_names_must_be_there(tmp_path):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "a.csv", "task_id,label\n7,success\n", LabelColumns(annotator="who"))
    place = f"no column 'who' in {tmp_path / 'a.csv'}, line 2 (columns: task_id, label)"
    assert str(caught.value) == f"{place}; name the column with --annotator-column"


def test_sizes_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(label_files, "MAX_ROWS", 2)
    monkeypatch.setattr(label_files, "MAX_LABEL_BYTES", 80)
    path = tmp_path / "a.csv"
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "a.csv", "task_id,label\n7,success\n8,success\n9,success\n")
    assert str(caught.value) == f"{path} has more than 2 rows; split it into several files"
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, "a.csv", "x" * 81)
    limit = f"{path} has 81 bytes; the limit is 80; see file_size in webeval_limits"
    assert str(caught.value) == f"cannot read labels: {limit}"


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"^cannot read labels: .*none\.csv"):
        load_label_file(tmp_path / "none.csv", LabelColumns(), IN_WORDS)
