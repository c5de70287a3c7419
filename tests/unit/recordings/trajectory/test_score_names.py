"""What the names of score files say: `fara_webeval.md` §2.7, §5.1."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.recordings.trajectory.layout import ScoreFileName, parse_name

EXACT = Decimal("0.8")
MMRUBRIC, WEBJUDGE = "mmrubric_0.8-5-3.json", "WebJudge_Online_Mind2Web_eval-3.json"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (MMRUBRIC, ScoreFileName("mmrubric", EXACT, 5, 3)),
        ("mmrubric_0.80-5-3.json", ScoreFileName("mmrubric", EXACT, 5, 3)),
        ("mmrubric_1-5.0-3.0.json", ScoreFileName("mmrubric", Decimal(1), 5, 3)),
        ("mmrubric_0-10-3.json", ScoreFileName("mmrubric", Decimal(0), 10, 3)),
        ("0.8-5-3.json", ScoreFileName("heldout", EXACT, 5, 3)),
        ("gpt_eval.json", ScoreFileName("gpt_eval")),
        (WEBJUDGE, ScoreFileName("webjudge", Decimal(3), method="WebJudge_Online_Mind2Web_eval")),
        ("AgentTrek_eval-2.5.json", ScoreFileName("webjudge", Decimal("2.5"), method="AgentTrek_eval")),
        ("exact_match.json", ScoreFileName("other")),
        ("mmrubric_0.8-5.json", ScoreFileName("other")),
        ("mmrubric_0.8-5.5-3.json", ScoreFileName("other")),
        ("mmrubric_1e999999999-5-3.json", ScoreFileName("other")),
        ("mmrubric_-1-5-3.json", ScoreFileName("other")),
        ("mmrubric_nan-5-3.json", ScoreFileName("other")),
        ("mmrubric_٣-5-3.json", ScoreFileName("other")),
        ("old_mmrubric_0.8-5-3.json", ScoreFileName("other")),
        ("mmrubric_0.8-5-3.json\n", ScoreFileName("other")),
        ("_eval-3.json", ScoreFileName("other")),
        ("backup-3.json", ScoreFileName("other")),
        ("gpt_eval", ScoreFileName("other")),
        ("", ScoreFileName("other")),
    ],
)
def test_a_name_says_its_configuration(name, meant):
    assert parse_name(name) == meant


def test_names_of_equal_numbers_are_the_same_configuration_to_the_letter():
    one, other = parse_name("mmrubric_1-5-3.json"), parse_name("mmrubric_1.0-5-3.json")
    assert one == other
    assert str(one) == str(other)
    assert str(parse_name("mmrubric_10-5-3.json").threshold) == "10"
