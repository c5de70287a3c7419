"""What the stored form of a verdict is derived to, as a session reads it."""

from __future__ import annotations

import json

from pytest_webeval.judges.verdicts import JudgedVerdict
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.score_files import read_score_file
from pytest_webeval.rubrics.stored_verdict import RunFacts
from pytest_webeval.rubrics.verdict import Verdict


def derive_verdict(verdict: JudgedVerdict, **policy: object) -> Verdict:
    """The verdict of its score file, by the same threshold unless the policy has another."""
    content = json.dumps(verdict.to_score_file(), ensure_ascii=False).encode()
    stored = read_score_file(f"scores/{verdict.file_name}", content)
    return derive(stored, VerdictPolicy(**policy), RunFacts())
