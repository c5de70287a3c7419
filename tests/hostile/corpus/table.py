"""All families of hostile directories, by name."""

from __future__ import annotations

from tests.hostile.corpus import cheating_scores
from tests.hostile.corpus import cheats
from tests.hostile.corpus import costly_answers
from tests.hostile.corpus import markup
from tests.hostile.corpus import odd_archives
from tests.hostile.corpus import odd_bodies
from tests.hostile.corpus import odd_files
from tests.hostile.corpus import odd_json
from tests.hostile.corpus import odd_names
from tests.hostile.corpus import odd_traces
from tests.hostile.corpus import patterns
from tests.hostile.corpus import permissions
from tests.hostile.corpus import planted
from tests.hostile.corpus import recorded_formats
from tests.hostile.corpus import recorders
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
