"""Which differences between two results are reported."""

from __future__ import annotations

import pytest

from tests.equivalence import differences
from tests.equivalence.differences import compare, reword


@pytest.fixture
def rewordings(monkeypatch, tmp_path):
    def write(*lines):
        path = tmp_path / "reworded.txt"
        path.write_text("\n".join(lines), "utf-8")
        monkeypatch.setattr(differences, "REWORDED", path)

    caches = differences.reword, differences._rewordings
    for cached in caches:
        cached.cache_clear()
    yield write
    for cached in caches:
        cached.cache_clear()


def test_texts_are_compared_in_the_words_of_today(rewordings):
    rewordings("- {path} is no HAR: {reason}", "+ cannot parse {path} as HAR: {reason}")
    assert reword("x/a.har is no HAR: it ends; (1)") == "cannot parse x/a.har as HAR: it ends; (1)"
    assert list(compare({"m": "a.har is no HAR: x"}, {"m": "cannot parse a.har as HAR: x"})) == []
    assert list(compare({"m": "a.har is no HAR: x"}, {"m": "cannot parse b.har as HAR: x"})) == [
        ("$.m", '"a.har is no HAR: x"', '"cannot parse b.har as HAR: x"')
    ]


def test_what_each_evaluator_says_is_reworded_alone(rewordings):
    rewordings("- {text} is no URL: {reason}", "+ invalid URL {text}: {reason}")
    before = "AEvaluator: x is no URL: a; b; BEvaluator: y is no URL: c"
    assert reword(before) == "AEvaluator: invalid URL x: a; b; BEvaluator: invalid URL y: c"


def test_a_placeholder_may_stand_for_one_word_a_number_or_a_quoted_text(rewordings):
    rewordings("- {quoted} is no {path} of {number} pages", "+ not a {path} of {number} pages: {quoted}")
    assert reword("x: 'a b' is no book of 1.5 pages") == "x: not a book of 1.5 pages: 'a b'"
    assert reword("x: 'a b' is no good book of 1 pages") == "x: 'a b' is no good book of 1 pages"


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("1 texts, 1 entries", "1 text, 1 entry", True),
        ("11 texts", "11 text", False),
        ("1 has", "1 ha", False),
        ("1 URLs", "1 URL", True),
        ("1000 events", "1,000 events", True),
        ("1000 events", "1,001 events", False),
        ("aab… (1,000 characters)", "aa… (999 characters) @ x", True),
        ("aab… (1,000 characters)", "aac… (1,000 characters)", False),
        ("aab… (1,000 characters)", "aab", False),
    ],
)
def test_plurals_commas_and_the_length_of_a_cut_text_make_no_difference(rewordings, before, after, is_same):
    rewordings()
    assert (list(compare(before, after)) == []) is is_same


@pytest.mark.parametrize(
    ("change", "is_same"),
    [({"text": "x"}, True), ({"field": "x"}, True), ({"kind": "x"}, False), ({"count": 3}, False)],
)
def test_groups_of_errors_are_compared_by_their_counts(change, is_same):
    group = {"evaluator": "E", "field": "no request", "kind": "error", "text": "error: no request", "count": 2}
    assert (list(compare({"failures": [group]}, {"failures": [group | change]})) == []) is is_same


def test_groups_of_other_failures_are_compared_by_field_too():
    group = {"evaluator": "E", "field": "url", "kind": "value", "text": "url differs", "count": 2}
    assert list(compare({"failures": [group]}, {"failures": [group | {"field": "method"}]}))
    split = [group | {"count": 1, "text": "a"}, group | {"count": 1, "text": "b"}]
    assert not list(compare({"failures": [group]}, {"failures": split}))


def test_the_longest_rewording_comes_first(rewordings):
    rewordings("- lacks", "+ misses", "- lacks a date", "+ has no date")
    assert reword("a lacks a date, b lacks a number") == "a has no date, b misses a number"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"baseline": {"lost": ["a"], "gained": []}}, {"baseline": {"regressed": ["a"], "fixed": []}}, []),
        ({"lost": 1}, {"regressed": 1}, [("$.lost", "1", "null"), ("$.regressed", "null", "1")]),
        ({"timestamp": 1, "a": [{"b": 1}]}, {"timestamp": 2, "a": [{"b": 2}]}, [("$.a[*].b", "1", "2")]),
        ([1], [1, 2], [("$", "[1]", "[1, 2]")]),
        ({"a": 1}, None, [("$", '{"a": 1}', "null")]),
        ("x" * 300, "y", [("$", '"' + "x" * 199 + "…", '"y"')]),
    ],
)
def test_other_differences_are_reported_with_their_place(before, after, found):
    assert list(compare(before, after)) == found


def test_every_rewording_has_the_same_placeholders_in_old_and_new():
    lines = differences.REWORDED.read_text("utf-8").splitlines()
    assert len(lines) > 100
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        assert (old[:2], new[:2]) == ("- ", "+ ")
        assert sorted(differences.PLACEHOLDER.findall(new)) == sorted(differences.PLACEHOLDER.findall(old)), new
