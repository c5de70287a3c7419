"""Where the record of a model belongs in the public data store: data/BENCHMARK/DEVELOPER/MODEL."""

from __future__ import annotations

import re

from pytest_webeval.errors import SettingsError
from pytest_webeval.exports.settings import EvaluationFacts

_PART = re.compile(r"\w[\w.+@: -]*(?<![. ])", re.ASCII)
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?|data|unknown", re.IGNORECASE)


def build_directory(facts: EvaluationFacts) -> str:
    """The directory. A model without a slash in its name requires `developer`. Raises `SettingsError`."""
    developer, slash, model = (facts.model or "").partition("/")
    if not slash:
        if not facts.developer:
            raise SettingsError(f"--model {facts.model!r:.80} names no developer; use DEVELOPER/MODEL, or --developer")
        developer, model = facts.developer, developer
    parts = {"--benchmark": facts.benchmark or "", "--developer" if not slash else "--model": developer}
    names = [_check_part(option, part) for option, part in parts.items()]
    return "/".join(["data", *names, "_".join(_check_part("--model", part) for part in model.split("/"))])


def _check_part(option: str, part: str) -> str:
    """The name of a directory on all systems."""
    if not _PART.fullmatch(part) or _RESERVED.fullmatch(part):
        raise SettingsError(f"invalid {option} part {part!r:.80}; use letters, digits, spaces and . _ + @ : - only")
    return part.replace(":", "_")
