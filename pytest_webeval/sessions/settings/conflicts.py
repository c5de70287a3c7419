"""The rules between options: which need another one, and which contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.settings.options import OPTIONS
from pytest_webeval.sessions.settings.settings import Settings

ROWS = {row.name: row for row in OPTIONS}
# Options that have no effect on a session that audits tasks, with what is done instead.
_AUDIT, _ALLOW = "webeval audit", "use --webeval-audit-most"
_SCORES, _JUDGES = "leave it out: no run is scored", "leave it out: no judge is asked"
WITHOUT_EFFECT = {
    "output": f"use `{_AUDIT} --json`",
    **dict.fromkeys(("report", "report_embed", "history"), f"use `{_AUDIT} --report`"),
    **dict.fromkeys(("metrics", "gitlab_metrics"), f"use `{_AUDIT} --json`"),
    **dict.fromkeys(("baseline", "baseline_update", "known_failures", "gate"), _ALLOW),
    "evaluators": "leave it out: all evaluators are audited",
    **dict.fromkeys((row.name for row in OPTIONS if row.is_about_judges), _JUDGES),
    "durations": "use --durations",
    **dict.fromkeys(("write_subset", "reuse", "fsync", "criterion", "rubric_threshold", "score_file"), _SCORES),
    **dict.fromkeys(("verdicts", "labels", "label_coding", "over_budget", "aborted"), _SCORES),
}
# Options that are about all runs, with what is done about them after `merge`.
_OF_ALL_RUNS = {
    "baseline": "compare BASELINE MERGED",
    "baseline_update": "compare BASELINE MERGED",
    "gate": "compare --gate",
    "gitlab_metrics": "merge --gitlab-metrics",
    "history": "history",
    "metrics": "merge --metrics",
    "write_subset": "compare",
}


class Conflict(NamedTuple):
    """What a session refuses. `find` names what does not go with others: the {} of `message`."""

    find: Callable[[Settings], str | None]
    message: str
    in_scoring: bool = False  # whether only sessions that score refuse it


def _needing(needed: str, *names: str) -> Callable[[Settings], str | None]:
    """Find the first of some options that is set without the one that it needs."""

    def find(settings: Settings) -> str | None:
        has_other = _is_set(settings, needed)
        return None if has_other else next((ROWS[name].flag for name in names if _is_set(settings, name)), None)

    return find


def _is_set(settings: Settings, name: str) -> bool:
    value = getattr(settings, name)
    return not (value is None or value is False or value == ())


def _find_gate_without_baseline(settings: Settings) -> str | None:
    gates = (gate for gate in settings.gate if gate.needs_baseline)
    return next((f"gate {gate.text!r}" for gate in gates if settings.baseline is None), None)


def _find_certificate_gate(settings: Settings) -> str | None:
    if settings.judge_certificate is not None or not settings.gate:
        return None
    from pytest_webeval.summary.comparison.gates import CERTIFICATE  # few sessions have gates

    return f"gate {CERTIFICATE!r}" if any(gate.text == CERTIFICATE for gate in settings.gate) else None


def _in_shard(name: str) -> Callable[[Settings], str | None]:
    """Find an option that would judge a part of the runs as if they were all; each shard may be complete."""

    def find(settings: Settings) -> str | None:
        if settings.shard is None or not _is_set(settings, name):
            return None
        from pytest_webeval.summary.comparison.gates import COMPLETE  # few sessions are a shard

        is_harmless = name == "gate" and all(gate.text == COMPLETE for gate in settings.gate)
        return None if is_harmless else ROWS[name].flag

    return find


_EACH_OTHER = (
    "--webeval-labels and --webeval-label-coding need each other: the same numbers mean other things in other files; "
    "use osu or abp"
)
_WITHOUT_BASELINE = "{} requires a baseline; pass --webeval-baseline=SESSION"
CONFLICTS = (
    Conflict(_needing("label_coding", "labels"), _EACH_OTHER),
    Conflict(_needing("labels", "label_coding"), _EACH_OTHER),
    Conflict(_needing("report", "report_embed", "history"), "{} requires a report; pass --webeval-report=DIR"),
    Conflict(_needing("shard", "shard_times"), "{} requires a shard; pass --webeval-shard=I/N"),
    *(
        Conflict(
            _in_shard(name),
            "{} is about all runs, --webeval-shard scores a part; "
            f"leave it out and use `webeval {command}` after `merge`",
        )
        for name, command in _OF_ALL_RUNS.items()
    ),
    Conflict(_find_gate_without_baseline, _WITHOUT_BASELINE, in_scoring=True),
    Conflict(_needing("baseline", "baseline_update", "known_failures"), _WITHOUT_BASELINE, in_scoring=True),
    Conflict(
        _find_certificate_gate,
        "{} requires webeval_judge_certificate; pass --webeval-judge-certificate=FILE",
        in_scoring=True,
    ),
)


def check_conflicts(settings: Settings, typed: Container[str] = (), *, is_scoring: bool = True) -> None:
    """Raise `SettingsError` for options that contradict each other, or lack another one.

    `typed` are the options that somebody wrote on the command line: of those, a session refuses also what would do
    nothing. Ini keys are for all sessions.
    """
    for row in OPTIONS if settings.audit_tasks else ():
        if row.name in WITHOUT_EFFECT and row.flag in typed:
            advice = WITHOUT_EFFECT[row.name]
            raise SettingsError(f"{row.flag} has no effect with --webeval-audit-tasks; {advice}")
    for conflict in CONFLICTS:
        found = conflict.find(settings) if is_scoring or not conflict.in_scoring else None
        if found is not None:
            raise SettingsError(conflict.message.format(found))
