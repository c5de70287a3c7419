"""Which kind of warning a text is, so that a report can show those of one kind."""

from __future__ import annotations

import re

OTHER = "other"
# How our own warnings begin or what is in them, by the kind that they are of.
_TOLD = {
    "no address is configured": "guessed_sites",
    "the task definition comes from the run directory": "own_definition",
    "is not defined in": "undefined_task",
    "is no field of": "unknown_field",
    "counts, not": "several_verdicts",
    "which does not count": "overruled_verdict",
}
_NUMBERED = re.compile(r"(?:^|: )([QR]\d{1,3})(?: \(|: )")  # a quirk of the rules, or a check of a stored verdict


def warning_kind(text: str) -> str:
    """The number of the rule that it is about, such as `Q14`; one of our few other kinds; or `other`."""
    found = _NUMBERED.search(text[:300])
    if found:
        return found[1]
    return next((kind for told, kind in _TOLD.items() if told in text), OTHER)
