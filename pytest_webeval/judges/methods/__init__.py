"""The table of methods of judging. A method is a file here and a row.

Some follow the steps of a benchmark's judge. Their prompts are this package's own, and so are their numbers.
"""

from __future__ import annotations

from importlib import import_module

from pytest_webeval.judges.verdicts import JudgingMethod

# The name of a method, and its module here, which is imported for the session that uses it.
METHODS = {
    "rubric": "fused_rubric",
    "rubric-pipeline": "rubric_pipeline.method",
    "webjudge": "webjudge",
    "webvoyager": "webvoyager",
}


def load_method(name: str) -> JudgingMethod:
    """The method of that name, which is one of `METHODS`."""
    method: JudgingMethod = import_module(f"{__name__}.{METHODS[name]}").METHOD
    return method
