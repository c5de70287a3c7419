"""All families of hostile directories, by name."""

from __future__ import annotations

from hostile import cheating_scores
from hostile import cheats
from hostile import costly_answers
from hostile import markup
from hostile import odd_archives
from hostile import odd_bodies
from hostile import odd_files
from hostile import odd_json
from hostile import odd_names
from hostile import odd_traces
from hostile import patterns
from hostile import permissions
from hostile import planted
from hostile import recorders
from hostile.cases import Case

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
}
