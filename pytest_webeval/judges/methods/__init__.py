"""The table of methods of judging. A method is a file here and a row.

Some follow the steps of a benchmark's judge. Their prompts are this package's own, and so are their numbers.
"""

from __future__ import annotations

from importlib import import_module

from pytest_webeval.judges.verdicts import JudgingMethod

# The name of a method, and where its class is. A module is imported for the session that uses it.
METHODS: dict[str, tuple[str, str]] = {
    "rubric": ("fused_rubric", "FusedRubricMethod"),
    "rubric-pipeline": ("rubric_pipeline.method", "RubricPipeline"),
    "webjudge": ("webjudge", "WebJudgeMethod"),
    "webvoyager": ("webvoyager", "WebVoyagerMethod"),
}


def load_method(name: str) -> JudgingMethod:
    """The method of that name, which is one of `METHODS`."""
    module, definition = METHODS[name]
    method: JudgingMethod = getattr(import_module(f"{__name__}.{module}"), definition)()
    return method
