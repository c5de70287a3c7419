"""Layouts of run directories, in one table, and which of them a directory has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.extensions import check_name, load_extensions
from pytest_webeval.recordings.discovery import DirectoryListing, list_directory
from pytest_webeval.recordings.recording_state import STATE
from pytest_webeval.recordings.signatures import MOST_CANDIDATES, Fara, FileSign, RecordedFormat
from pytest_webeval.recordings.webarena_verified import WebArenaVerified
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.text import list_first, preview, shorten_repr

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run, RunFormat
    from pytest_webeval.rules import Rules


# What webeval writes next to the trajectories of a run (`fara_webeval.md` §7.1).
REPORTS = ("metrics.json", "aggregate_metrics.json", "task_answers.csv", "verify_report.jsonl")
MOST_NAMES = 5  # in a message
TASK_FILES = ("tasks.json", "task.json")  # with definitions, which are read before a run is scored
ONLINE_MIND2WEB = (
    (FileSign("result.json", ("task_id", "final_result_response|action_history")),),
    (FileSign("result.json", ("schema_version", "online-mind2web-v2")),),
)
# The images of its two versions: `0_full_screenshot.png`, and `0000.png`.
ONLINE_MIND2WEB_NAMES = (
    ("result.json", "trajectory"),
    "trajectory/[0-9]*_full_screenshot.png",
    "trajectory/[0-9][0-9][0-9][0-9].png",
)
# All are in each run of Stagehand. The trajectory.json of ATIF has other keys; Fara has the other two without it.
STAGEHAND = (
    (
        FileSign("trajectory.json", ("task", "instruction", "steps")),
        FileSign("task_data.json", ("task", "status")),
        FileSign("core.log"),
    ),
)
STAGEHAND_NAMES = (("trajectory.json", "task_data.json"), ("trajectory.json", "scores"))
STAGEHAND_RUN = FileSign("metadata.json", ("task", "runId", "runDir"))  # since July 2026
ATIF = (
    (FileSign("trial.log"), FileSign("result.json", ("trial_name", "task_checksum"))),  # also of an agent without one
    (FileSign("agent/trajectory.json", ("schema_version", "steps")),),
)
# No run lies below a trial: the steps of one without a result would pass by files that the agent can write.
TRIAL = tuple(("trial.log", name) for name in ("agent", "steps", "verifier", "result.json", "exception.txt"))
WEBVOYAGER = ((FileSign("interact_messages.json", ("role", "content")),),)
WEBVOYAGER_NAMES = ("interact_messages.json", ("agent.log", "screenshot1.png"), "eval_res.json")
WEBVOYAGER_DIRECTORY = r"task[A-Z][^/]*--\d+"
HISTORY = ("history", "model_output", "result", "state")
MISNAMED_HISTORY = FileSign("*.json", HISTORY[:2])  # with which it begins, so that a truncated one has them
BROWSER_USE = (
    (FileSign("AgentHistory.json", ("history",)),),  # also of an agent that did not start
    (FileSign("*[Hh]istory*.json", HISTORY),),
)
BROWSER_USE_NAMES = ("AgentHistory.json", "screenshots/step_[0-9]*.png")
PLAYWRIGHT_TRACES = ("BrowserSession_*.zip", "????????-????-4???-????-????????????.zip")  # until 0.4
AGENTLAB = ((FileSign("summary_info.json", ("n_steps", "cum_reward")),),)
AGENTLAB_FILES = (
    *("exp_args.pkl", "screenshot_step_0.png", "screenshot_step_0.jpg"),  # of an unfinished experiment
    *("summary_info.json", "package_versions.txt"),
)
AGENTLAB_DIRECTORY = r"(?a)\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_.+_on_.+_\d+(?:_\d{1,3}|_[0-9a-f]{6})?"
# `<date>_<agent>_on_<task>_<seed>`, with what makes it unique; or an own name of the experiment.
AGENTLAB_NAME = r"(?a)_?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(?:.+?_on_(.+?_\d+)(?:_\d{1,3}|_[0-9a-f]{6})?|(.+))|(.+)"
CLAWBENCH = ((FileSign("run-meta.json", ("test_case", "intercepted")),),)
CLAWBENCH_NAMES = ("run-meta.json", ("data/actions.jsonl", "data/requests.jsonl"))
CLAWBENCH_CERTAIN = ("data/interception.json",)  # what the agent left next to it is no run
CLAWBENCH_HARNESSES = (
    "openclaw|opencode|claude-code-chrome-extension|claude-code|codex|browser-use|hermes|claw-code|pi|webbrain|random-click"
    "|null|human"
)
CLAWBENCH_DIRECTORY = rf"(?:{CLAWBENCH_HARNESSES})-[^/]+-\d{{8}}-\d{{6}}"
# `<model>/<harness>-<test case>-<model>-<time>`; version 0.1.0 has no harness.
CLAWBENCH_NAME = rf"([^/]+)/(?:(?:{CLAWBENCH_HARNESSES})-)?(.+)-\1-\d{{8}}-\d{{6}}|(?:[^/]*/)?(.+)"
# Files of two formats make no run: the agent may have put one there, and nobody knows which the recorder wrote.
FORMATS: tuple[RunFormat, ...] = (
    Fara("fara", "fara_trajectory", (), traces=()),
    WebArenaVerified(),
    RecordedFormat("online-mind2web", "online_mind2web", ONLINE_MIND2WEB, ONLINE_MIND2WEB_NAMES),
    RecordedFormat("stagehand", "stagehand", STAGEHAND, STAGEHAND_NAMES, run_sign=STAGEHAND_RUN),
    RecordedFormat("atif", "atif", ATIF, certain=TRIAL, task_id="(.+)__[A-Za-z0-9]{7}|(.+)"),
    RecordedFormat(
        "webvoyager",
        "webvoyager",
        WEBVOYAGER,
        WEBVOYAGER_NAMES,
        task_id="task(.+)|(.+)",
        named=WEBVOYAGER_DIRECTORY,
    ),
    RecordedFormat(
        "browser-use",
        "browser_use",
        BROWSER_USE,
        BROWSER_USE_NAMES,
        traces=("*.har", "*.har.zip", *PLAYWRIGHT_TRACES),
        misnamed=MISNAMED_HISTORY,
    ),
    RecordedFormat(
        "agentlab",
        "agentlab",
        AGENTLAB,
        AGENTLAB_FILES,
        task_id=AGENTLAB_NAME,
        superseded="_",
        named=AGENTLAB_DIRECTORY,
    ),
    RecordedFormat(
        "clawbench",
        "clawbench",
        CLAWBENCH,
        CLAWBENCH_NAMES,
        CLAWBENCH_CERTAIN,
        traces=("data/requests.jsonl", "*.har"),
        task_id=CLAWBENCH_NAME,
        named=CLAWBENCH_DIRECTORY,
    ),
)


_NAMES = tuple(layout.name for layout in FORMATS)
_SIGNS = frozenset(
    sign.name
    for each in FORMATS
    if isinstance(each, RecordedFormat)
    for sign in (*chain(*each.layouts), *filter(None, [each.run_sign]))
    if sign.keys
)


def format_of(path: Path, listing: DirectoryListing | None = None) -> RunFormat | None:
    """The format of a run directory, or None for any other. Opens no recording, and does not list it twice.

    Raises `RecordingError` for a directory with the files of several formats, and for a trace next to files of a
    format whose main file is missing or damaged.
    """
    listing = listing or list_directory(path)
    if listing.problem is not None:  # files with the right names may be there all the same
        return next((candidate for candidate in FORMATS if candidate.recognizes(path)), None)
    certain = [candidate for candidate in FORMATS if candidate.recognizes_listing(listing)]
    if len(certain) > 1:
        expected = "; ".join(f"{candidate.name} ({candidate.expected_files})" for candidate in certain)
        problem = f"{path} has the files of several formats: {expected}"
        raise RecordingError(f"{problem}; move away those that the recorder did not write")
    if certain:
        return certain[0]
    accepted = next((candidate for candidate in FORMATS if candidate.accepts_listing(listing)), None)
    if accepted is not None and not accepted.has_typical_file(listing):
        recorded = (each for each in FORMATS if isinstance(each, RecordedFormat) and each.layouts)
        if any(candidate.has_typical_file(listing) or candidate.is_certain(listing) for candidate in recorded):
            raise RecordingError(unknown_layout(path, listing))  # a broken run: another format has more of its files
    return accepted


def load_run(path: Path, rules: Rules, label: str = "", own: Sequence[RunFormat] = ()) -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout, or several built-in ones do."""
    listing = list_directory(path)
    run_format = recognize(path, listing, own)
    if run_format is None:
        raise RecordingError(listing.problem or unknown_layout(path, listing))
    return load_by(run_format, path, label or path.name, rules)


def recognize(path: Path, listing: DirectoryListing | None = None, own: Sequence[RunFormat] = ()) -> RunFormat | None:
    """The format of a run directory as `format_of` has it, or the first one of a user that recognizes it.

    Those of other packages come after `own`.
    """
    others = (*own, *load_installed().values())
    return next((candidate for candidate in others if candidate.recognizes(path)), None) or format_of(path, listing)


def load_installed() -> Mapping[str, RunFormat]:
    """Formats of other packages by their names. Raises `SettingsError` for one that cannot be used."""
    return load_extensions("formats", _NAMES, _check_format)


def _check_format(name: str, found: Any) -> Any:
    layout = check_name(name, found, object, "name")
    if not (callable(getattr(layout, "recognizes", None)) and callable(getattr(layout, "load", None))):
        raise SettingsError(f"{shorten_repr(found)} has no methods recognizes(path) and load(path, label, rules)")
    return layout


def load_by(run_format: RunFormat, path: Path, label: str, rules: Rules) -> Run:
    """The run in a directory that a format recognized. Raises `RecordingError` for whatever the format raises."""
    try:
        return run_format.load(path, label, rules)
    except RecordingError:
        raise
    except Exception as error:  # the format of a user, or a new one, may raise anything
        name, message = getattr(run_format, "name", type(run_format).__name__), " ".join(str(error).split())
        is_ours = any(run_format is layout for layout in FORMATS)
        advice = "report it as a bug of pytest-webeval" if is_ours else "fix its load() and rerun"
        problem = f"the format {name} cannot load {path}: {type(error).__name__}: {message}"
        raise RecordingError(f"{problem}; {advice}") from error


def check_main_file(run: Run) -> None:
    """Raise `RecordingError` for a trace without a response, which may be that of any recorder but ours."""
    if run.format == WebArenaVerified.name and not any(
        exists_no_follow(run.path / name) for name in (run.response_file, STATE)
    ):
        raise RecordingError(unknown_layout(run.path))


def list_signs(paths: Iterable[str]) -> Iterator[str]:
    """Those of some sorted paths of files that are read to recognize runs, or to collect them."""
    counts: Counter[str] = Counter()
    for path in paths:
        directory, _, name = path.rpartition("/")
        counts[directory] += name.endswith(".json")
        is_candidate = name.endswith(".json") and counts[directory] <= MOST_CANDIDATES  # of a sign under another name
        is_candidate |= name == f"{directory.rpartition('/')[2]}.json"
        if is_candidate or name in TASK_FILES or _is_sign(name) or _is_sign("/".join(path.rsplit("/", 2)[-2:])):
            yield path


def _is_sign(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _SIGNS)


def unknown_layout(path: Path, listing: DirectoryListing | None = None) -> str:
    """The message about a directory that no format recognizes: what is there, and what the nearest format lacks."""
    listing = listing or list_directory(path)
    nearest = _nearest_format(listing)
    if nearest is not None:
        return f"unknown layout of {path}: {_describe_lack(listing, *nearest)} or move the directory away"
    formats = ", ".join(candidate.name for candidate in FORMATS)
    names = list_first(sorted(listing.names), MOST_NAMES, lambda name: preview(name, 40)) or "no files"
    problem = f"expected the files of one of the formats {formats}, but it has {names}"
    return f"unknown layout of {path}: {problem}; add the missing files or move the directory away"


def _describe_lack(listing: DirectoryListing, nearest: RunFormat, present: list[str], missing: list[str]) -> str:
    damage = nearest.list_damage(listing)
    lacking = [name for name in missing if name not in damage]
    problems = [f"lacks {' and '.join(lacking)}"] if lacking else []
    problems += [damage[name] for name in missing if name in damage]
    advice = "restore the damaged files" if damage else "add the missing files"
    return f"it has {' and '.join(present)} of the format {nearest.name}, but {' and '.join(problems)}; {advice}"


def _nearest_format(listing: DirectoryListing) -> tuple[RunFormat, list[str], list[str]] | None:
    """The format of which most files are there and fewest are missing: itself, those, and these.

    A trace is the last that counts: it may be of any recorder.
    """
    nearest = [
        (len(present), -len(missing), candidate.name != WebArenaVerified.name, candidate, present, missing)
        for candidate in FORMATS
        for present, missing in candidate.list_signs(listing)
        if present
    ]
    if not nearest:
        return None
    *_, candidate, present, missing = max(nearest, key=lambda entry: entry[:3])
    return candidate, present, missing


def holds_reports(listing: DirectoryListing) -> bool:
    """Whether a directory holds only reports over runs, so that it is not a run and needs no message."""
    names = {name for name in listing.names if not name.startswith(".")}
    return bool(names) and names <= set(REPORTS)
