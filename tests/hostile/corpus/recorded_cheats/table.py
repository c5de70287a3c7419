"""Failures that want to look like successes, or like nobody's fault: a function for each recorder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.hostile.corpus.cases import Case
from tests.hostile.corpus.recorded_cheats import (
    agentlab,
    atif,
    browser_use,
    clawbench,
    online_mind2web,
    stagehand,
    webvoyager,
)
from tests.hostile.corpus.recorded_damage import Recording

CHEATS: Mapping[str, Callable[[Recording], Iterator[Case]]] = {
    "online-mind2web": online_mind2web.list_cheats,
    "stagehand": stagehand.list_cheats,
    "atif": atif.list_cheats,
    "webvoyager": webvoyager.list_cheats,
    "browser-use": browser_use.list_cheats,
    "agentlab": agentlab.list_cheats,
    "clawbench": clawbench.list_cheats,
}
