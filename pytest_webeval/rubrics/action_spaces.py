"""What an agent could do: its actions, each with the names of its arguments (`fara_webeval.md` §2.1)."""

from __future__ import annotations

from collections.abc import Mapping

ActionSpace = Mapping[str, frozenset[str]]

_POINT = frozenset({"coordinate"})
_TYPING = frozenset({"text", "coordinate", "press_enter", "delete_existing_text"})

FARA: ActionSpace = {
    "key": frozenset({"keys"}),
    "type": _TYPING,
    "mouse_move": _POINT,
    "left_click": _POINT,
    "scroll": frozenset({"coordinate", "pixels"}),
    "visit_url": frozenset({"url"}),
    "web_search": frozenset({"query"}),
    "history_back": frozenset(),
    "pause_and_memorize_fact": frozenset({"fact"}),
    "wait": frozenset({"time"}),
    "terminate": frozenset({"status"}),
    # Other names under which the agent executes the same.
    "keypress": frozenset({"keys"}),
    "hover": _POINT,
    "sleep": frozenset({"time", "duration"}),
    "click": _POINT,
    "input_text": _TYPING | {"text_value"},
    "stop": frozenset({"status"}),
}

# By dialect of the log. An agent whose actions are not known cannot have invented one (Q36).
ACTION_SPACES: Mapping[str, ActionSpace] = {"fara": FARA, "text": FARA}
