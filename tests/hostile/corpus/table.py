"""All families of hostile directories, by name."""

from __future__ import annotations

from tests.hostile.corpus import (
    cheating_scores,
    cheats,
    costly_answers,
    markup,
    odd_archives,
    odd_bodies,
    odd_files,
    odd_json,
    odd_names,
    odd_traces,
    patterns,
    permissions,
    planted,
    recorded_formats,
    recorders,
)
from tests.hostile.corpus.cases import Case

FAMILIES: dict[str, tuple[Case, ...]] = {
    "files": odd_files.CASES,
    "names": odd_names.CASES,
    "json": odd_json.CASES,
    "archives": odd_archives.CASES,
    "traces": odd_traces.CASES,
    "patterns": patterns.CASES,
    "cheats": cheats.CASES,
    "scores": cheating_scores.CASES,
    "markup": markup.CASES,
    "planted": planted.CASES,
    "bodies": odd_bodies.CASES,
    "costly": costly_answers.CASES,
    "permissions": permissions.CASES,
    "recorders": recorders.CASES,
    **recorded_formats.FAMILIES,
}
