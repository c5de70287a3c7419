"""Certificates: bound to one judge, the same bytes for the same inputs, and nothing is believed unchecked."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.certificates import (
    Certificate,
    CertifiedCounts,
    CertifiedNumbers,
    Estimate,
    LabelSource,
    read_certificate,
    write_certificate,
)
from pytest_webeval.judges.identity import JudgeIdentity

JUDGE = JudgeIdentity(model="gpt-4o", method="webjudge", version="2", votes=3, threshold="0.8")
SHARE = Estimate(0.9, (0.8, 0.95))
CERTIFICATE = Certificate(
    judge=JUDGE,
    counts=CertifiedCounts(judged=75, true_positive=20, false_positive=5, false_negative=3, true_negative=32),
    numbers=CertifiedNumbers(
        accuracy=SHARE,
        precision=SHARE,
        recall=SHARE,
        specificity=SHARE,
        kappa=Estimate(-0.2, (-0.5, 0.1)),
        base_rate=SHARE,
    ),
    labels=(LabelSource(name="labels.csv", checksum="ab" * 32, coding="1=success"),),
    package_version="0.1.0",
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "certificate.json"


def test_a_certificate_is_read_as_it_was_written(path):
    write_certificate(path, CERTIFICATE)
    first = path.read_bytes()
    assert read_certificate(path) == CERTIFICATE
    write_certificate(path, read_certificate(path))
    assert path.read_bytes() == first
    assert CERTIFICATE.counts.labelled == 60
    raw = json.loads(first)
    assert (raw["schema_version"], raw["judge_checksum"]) == (1, JUDGE.checksum)
    assert raw["judge"] == {
        "model": "gpt-4o",
        "text_model": None,
        "criterion": None,
        "method": "webjudge",
        "version": "2",
        "votes": 3,
        "threshold": "0.8",
    }


@pytest.mark.parametrize(
    ("changes", "explanation"),
    [
        ({"model": "gpt-5"}, "model was gpt-4o and is gpt-5"),
        ({"text_model": "small"}, "text_model was none and is small"),
        ({"method": "mmrubric"}, "method was webjudge and is mmrubric"),
        ({"version": "3"}, "version was 2 and is 3"),
        ({"votes": 1}, "votes was 3 and is 1"),
        ({"threshold": "0.7"}, "threshold was 0.8 and is 0.7"),
        ({"model": "a\x1b[0m", "version": "3"}, "model was gpt-4o and is a\\u001b[0m; version was 2 and is 3"),
    ],
)
def test_a_certificate_goes_stale_with_each_member_of_its_judge(changes, explanation):
    other = structs.replace(JUDGE, **changes)
    assert CERTIFICATE.is_stale(other)
    assert CERTIFICATE.explain_staleness(other) == explanation
    assert other.checksum != JUDGE.checksum


def test_a_certificate_is_valid_for_its_judge():
    same = JudgeIdentity.read({"agreement": 0.67, "vote_values": [True]} | JUDGE.to_json())
    assert not CERTIFICATE.is_stale(same)
    assert CERTIFICATE.explain_staleness(same) is None
    assert same.checksum == JUDGE.checksum


def test_a_judge_is_named_by_what_decides():
    assert str(JUDGE) == "gpt-4o, webjudge 2, 3 votes"
    assert str(structs.replace(JUDGE, votes=1, text_model="mini")) == "gpt-4o and mini, webjudge 2"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"model": 7}, "Expected `str`, got `int` @ judge.model"),
        ({"model": ""}, "Expected `str` of length >= 1 @ judge.model"),
        ({"votes": 0}, "Expected `int` >= 1 @ judge.votes"),
        ({"votes": 1_000}, "Expected `int` <= 999 @ judge.votes"),
        ({"threshold": 0.8}, "Expected `str`, got `float` @ judge.threshold"),
    ],
)
def test_an_invalid_judge_is_refused(changes, problem):
    with pytest.raises(ValueError) as caught:
        JudgeIdentity.read(JUDGE.to_json() | changes)
    assert str(caught.value) == problem


def change(*names, value):
    """The content of a certificate with another value; `...` removes it."""
    content = deepcopy(CERTIFICATE.to_json())
    parent = content
    for name in names[:-1]:
        parent = parent[name]
    parent[names[-1]] = value
    if value is ...:
        del parent[names[-1]]
    return content


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (change("schema_version", value=2), "schema_version 2, expected 1"),
        (change("schema_version", value=True), "schema_version true, expected 1"),
        (change("schema_version", value=...), "schema_version null, expected 1"),
        (change("judge", "model", value="gpt-5"), "judge_checksum is not that of its judge"),
        (change("judge_checksum", value=...), "judge_checksum is not that of its judge"),
        (change("judge", value=...), "Object missing required field `judge`"),
        (change("numbers", "accuracy", value=...), "Object missing required field `accuracy` @ numbers"),
        (
            change("numbers", "accuracy", "value", value="NaN"),
            "Expected `float | null`, got `str` @ numbers.accuracy.value",
        ),
        (change("numbers", "accuracy", "value", value=1.5), "impossible value @ numbers.accuracy"),
        (change("numbers", "recall", "value", value=-0.1), "impossible value @ numbers.recall"),
        (change("numbers", "kappa", "value", value=-1.1), "impossible value @ numbers.kappa"),
        (change("numbers", "recall", "interval_95", value=[0.5, 0.4]), "impossible value @ numbers.recall"),
        (change("counts", "judged", value=59), "counts has more labels than verdicts"),
        (change("counts", "judged", value=-1), "Expected `int` >= 0 @ counts.judged"),
        (
            change("labels", value=[{"name": "a", "checksum": "x", "coding": ""}]),
            "Expected `str` matching regex '^[0-9a-f]{64}$' @ labels[0].checksum",
        ),
    ],
)
def test_an_invalid_certificate_is_refused(path, content, problem):
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(SettingsError) as caught:
        read_certificate(path)
    assert str(caught.value) == f"invalid certificate {path}: {problem}; calibrate the judge again"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1); repair"),
        ("[]", "holds [], expected a JSON object"),
        ('{"judge": 1, "judge": 2}', 'has the key "judge" twice in one object; keep one of them'),
        ("[" * 100_000, "is not valid JSON: it nests deeper than 100 levels; repair the file"),
        (" " * (2**20 + 1), "has 1,048,577 bytes; the limit is 1,048,576; see file_size in webeval_limits"),
    ],
)
def test_a_damaged_file_is_refused(path, text, problem):
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as caught:
        read_certificate(path)
    assert f"{path} {problem}" in str(caught.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"cannot read certificate: .*none\.json"):
        read_certificate(tmp_path / "none.json")
    with pytest.raises(SettingsError, match=r"cannot read certificate: .* is not a regular file"):
        read_certificate(tmp_path)
