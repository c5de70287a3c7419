"""The table of options. A row is all that an option needs.

It is the command line option, the ini key, the setting, its place in commands that score runs again, whether results
depend on it, and its line in the documentation.
"""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import pytest

# Files in which pytest looks for its configuration.
INI_NAMES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


class Option(NamedTuple):
    """A row: `name` is `rules` for the option `--webeval-rules`, the ini key `webeval_rules` and `settings.rules`.

    `parse` names an entry of `settings.PARSERS`. `choices` are the valid
    words, the default first; an option that also takes a file has those words that name no file. The ini types `paths`
    and `linelist` make an option repeatable.
    """

    name: str
    help: str
    metavar: str = ""
    parse: str = "switch"
    choices: tuple[str, ...] = ()
    ini_type: str = "string"
    is_flag: bool = True
    is_ini_key: bool = True
    in_rerun: bool = False  # whether commands that score runs again repeat it
    affects_results: bool = True  # whether a session with another value may not reuse results of this one

    @property
    def key(self) -> str:
        """The ini key, and the name by which pytest stores the option."""
        return f"webeval_{self.name}"

    @property
    def flag(self) -> str:
        """The option as it is written on the command line, without its value."""
        return f"--{self.key.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether the option is on or off."""
        return self.parse == "switch"

    @property
    def is_repeatable(self) -> bool:
        """Whether the option may be given several times."""
        return self.ini_type != "string"


# `affects_results=False`: says which runs are scored or how they are reported, or names files whose content counts.
OPTIONS: tuple[Option, ...] = (
    Option(
        "runs",
        "directory with recorded runs, each of which becomes a test (repeatable)",
        "DIR",
        "roots",
        ini_type="paths",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "tasks",
        "task definitions: JSON, JSON lines or TSV, or 'webarena-verified' if installed (repeatable)",
        "FILE",
        "task_files",
        choices=("webarena-verified",),
        ini_type="linelist",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "subset",
        "tasks that count: a file with their ids, or 'hard' or 'non-hard' of the installed data set",
        "SUBSET",
        "word_or_file",
        choices=("hard", "non-hard"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "config",
        "configuration file with the addresses of the sites",
        "FILE",
        "file",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "output",
        "directory to write results to, in the same tree; the runs stay untouched",
        "DIR",
        "path",
        in_rerun=True,
    ),
    Option(
        "redact",
        "secrets in what leaves the run directories: default, strict (more is one) or off",
        "MODE",
        "word",
        choices=("default", "off", "strict"),
        in_rerun=True,
    ),
    Option(
        "rules",
        "rule set: default, reference (as WebArena-Verified 1.2.3) or strict",
        "RULES",
        "rules",
        choices=("default", "reference", "strict"),
        in_rerun=True,
    ),
    Option(
        "criterion",
        "what counts of a stored verdict: outcome, process, both, safe_outcome; usually as stored",
        "NAME",
        "optional_word",
        choices=("outcome", "process", "both", "safe_outcome"),
        in_rerun=True,
    ),
    Option(
        "rubric_threshold",
        "share of a rubric's points that a success of the process needs, such as 0.8",
        "SHARE",
        "fraction",
        in_rerun=True,
    ),
    Option(
        "score_file",
        "name of the file in scores/ that counts, for trajectories that have several",
        "NAME",
        "text",
        in_rerun=True,
    ),
    Option(
        "over_budget",
        "trajectories without an answer: stored (a stored score counts, otherwise 0) or zero",
        "POLICY",
        "word",
        choices=("stored", "zero"),
        in_rerun=True,
    ),
    Option(
        "aborted",
        "tests of trajectories that the environment aborted: skip, xfail or fail; none is in a mean",
        "OUTCOME",
        "word",
        choices=("skip", "xfail", "fail"),
        in_rerun=True,
    ),
    Option(
        "report",
        "directory for a report to open in a browser: index.html and what it needs",
        "DIR",
        "directory",
        affects_results=False,
    ),
    Option(
        "report_embed",
        "let the report have small copies of screenshots in itself, this much at most, as 25MB",
        "SIZE",
        "size",
        affects_results=False,
    ),
    Option(
        "metrics",
        "directory for a metrics.json of each run of trajectories, in webeval's own shape",
        "DIR",
        "directory",
        affects_results=False,
    ),
    Option(
        "baseline",
        "eval_summary.json of an earlier session: tell which runs succeed no longer, and which do now",
        "FILE",
        "file",
        affects_results=False,
    ),
    Option(
        "durations",
        "show where the time went, by phase, and the N slowest runs (0 for all)",
        "N",
        "count",
        affects_results=False,
    ),
    Option(
        "gitlab_metrics",
        "file for the numbers of the session, as GitLab's artifacts:reports:metrics reads them",
        "FILE",
        "path",
        affects_results=False,
    ),
    Option(
        "timeout",
        "seconds that scoring one run may take, 60 by default; 0 for no limit",
        "SECONDS",
        "seconds",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "today",
        "the day that completes dates such as 'March 2022', as YYYY-MM-DD; by default the present one",
        "DAY",
        "day",
        in_rerun=True,
    ),
    Option(
        "limits",
        "how much is read, a line for each limit such as 'file_size = 64 MiB'; see docs/reference/limits",
        parse="limits",
        ini_type="linelist",
        is_flag=False,
    ),
    Option(
        "require_all",
        "fail tasks of the subset or of the definitions that have no recording",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "resume",
        "go on where a session was interrupted: take what it scored, score the rest",
        affects_results=False,
    ),
    Option(
        "own_tasks",
        "use task.json of a run directory where there is no other definition; an agent can write it",
        in_rerun=True,
    ),
    Option(
        "fsync",
        "make sure that each file that is written is on the disk before going on",
        affects_results=False,
    ),
    Option(
        "redact_allow",
        "names that stay readable in an evaluator's results, as 'NetworkEventEvaluator: form_key, x-csrf-token'",
        parse="allowed_names",
        ini_type="linelist",
        is_flag=False,
    ),
    Option(
        "audit_secrets",
        "list which secrets the runs contain, and where; nothing is scored",
        is_ini_key=False,
        affects_results=False,
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and their ini keys."""
    group = parser.getgroup("webeval", "recorded web-agent tasks")
    for option in OPTIONS:
        if option.is_flag:
            group.addoption(option.flag, dest=option.key, help=option.help, **_action(option))
        if option.is_ini_key:
            _add_ini_key(parser, option)


def _action(option: Option) -> dict[str, Any]:
    if option.is_switch:
        return {"action": "store_true", "default": False}
    return {"action": "append" if option.is_repeatable else "store", "default": None, "metavar": option.metavar}


def _add_ini_key(parser: pytest.Parser, option: Option) -> None:
    if option.is_switch:
        parser.addini(option.key, option.help, type="bool", default=False)
    else:
        ini_type: Any = option.ini_type
        parser.addini(option.key, option.help, type=ini_type, default=None if option.is_flag else [])
