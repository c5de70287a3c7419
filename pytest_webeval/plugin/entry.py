"""What pytest loads: options, hook specifications, and one registered object when runs are asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

import pytest

if TYPE_CHECKING:
    from pytest_webeval.results import Summary
    from pytest_webeval.results import TaskResult
    from pytest_webeval.runs import Run
    from pytest_webeval.runs import RunFormat

OPTIONS = {
    "webeval_runs": "directory with recorded runs, each of which becomes a test (repeatable)",
    "webeval_tasks": "task definitions: JSON, JSON lines or TSV, or 'webarena-verified' if installed (repeatable)",
    "webeval_subset": "tasks that count: a file with their ids, or 'hard' or 'non-hard' of the installed data set",
    "webeval_config": "configuration file with the addresses of the sites",
    "webeval_output": "directory to write results to, in the same tree; the runs stay untouched",
    "webeval_redact": "secrets in what leaves the run directories: default, strict (more is one) or off",
    "webeval_rules": "rule set: default, reference (as WebArena-Verified 1.2.3) or strict",
    "webeval_criterion": "what counts of a stored verdict: outcome, process, both, safe_outcome; usually as stored",
    "webeval_rubric_threshold": "share of a rubric's points that a success of the process needs, such as 0.8",
    "webeval_score_file": "name of the file in scores/ that counts, for trajectories that have several",
    "webeval_over_budget": "trajectories without an answer: stored (a stored score counts, otherwise 0) or zero",
    "webeval_aborted": "tests of trajectories that the environment aborted: skip, xfail or fail; none is in a mean",
    "webeval_report": "directory for a report to open in a browser: index.html and what it needs",
    "webeval_report_embed": "let the report have small copies of screenshots in itself, this much at most, as 25MB",
    "webeval_metrics": "directory for a metrics.json of each run of trajectories, in webeval's own shape",
    "webeval_baseline": "eval_summary.json of an earlier session: tell which runs succeed no longer, and which do now",
    "webeval_durations": "show where the time went, by phase, and the N slowest runs (0 for all)",
    "webeval_gitlab_metrics": "file for the numbers of the session, as GitLab's artifacts:reports:metrics reads them",
    "webeval_timeout": "seconds that scoring one run may take, 60 by default; 0 for no limit",
    "webeval_today": "the day that completes dates such as 'March 2022', as YYYY-MM-DD; by default the present one",
}
METAVARS = {
    "webeval_runs": "DIR",
    "webeval_subset": "SUBSET",
    "webeval_output": "DIR",
    "webeval_redact": "MODE",
    "webeval_rules": "RULES",
    "webeval_timeout": "SECONDS",
    "webeval_today": "DAY",
    "webeval_criterion": "NAME",
    "webeval_rubric_threshold": "SHARE",
    "webeval_score_file": "NAME",
    "webeval_over_budget": "POLICY",
    "webeval_aborted": "OUTCOME",
    "webeval_metrics": "DIR",
    "webeval_report": "DIR",
    "webeval_report_embed": "SIZE",
    "webeval_durations": "N",
}
# Files in which pytest looks for its configuration.
INI_NAMES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# Options that may be given several times, with the type of their ini keys.
REPEATABLE = {"webeval_runs": "paths", "webeval_tasks": "linelist"}
LIMITS = "how much is read, a line for each limit such as 'file_size = 64 MiB'; see the README"
# Options that are on or off.
SWITCHES = {
    "webeval_expect": "show each task of the subset or the definitions that has no recording as an error",
    "webeval_resume": "go on where a session was interrupted: take what it scored, score the rest",
    "webeval_own_tasks": "use task.json of a run directory where there is no other definition; an agent can write it",
    "webeval_fsync": "make sure that each file that is written is on the disk before going on",
}
AUDIT = "list which secrets the runs contain, and where; nothing is scored"
ALLOW = "names that stay readable in an evaluator's results, as 'NetworkEventEvaluator: form_key, x-csrf-token'"
NO_RUNS = "checks recorded runs; name them with --webeval-runs=DIR"
# Fixtures that are about one run, so that a test with one of them has nothing to do without runs.
OF_A_RUN = frozenset(
    {
        "record_evaluation",
        "webeval_evaluators",
        "webeval_network_event",
        "webeval_response",
        "webeval_rubric",
        "webeval_run",
        "webeval_task",
    }
)


class HookSpecs:
    """Hooks that a conftest.py or a plugin may implement."""

    @pytest.hookspec(firstresult=True)
    def pytest_webeval_recognize(self, path: Path, config: pytest.Config) -> RunFormat | None:
        """Return the format of a run directory of your own, or None; asked for each directory before our formats."""

    @pytest.hookspec
    def pytest_webeval_scored(self, item: pytest.Item, run: Run, result: TaskResult) -> None:
        """Called in the process that scored a run, once its eval_result.json is written.

        The result is the original, in which secrets are readable whatever `--webeval-redact` says.
        """

    @pytest.hookspec
    def pytest_webeval_summary(self, summary: Summary, config: pytest.Config) -> None:
        """Called once a session, in the controller, with what eval_summary.json holds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and an ini key for each."""
    group = parser.getgroup("webeval", "recorded web-agent tasks")
    for name, text in OPTIONS.items():
        repeatable: dict[str, Any] = {"action": "append"} if name in REPEATABLE else {}
        metavar = METAVARS.get(name, "FILE")
        group.addoption(_flag(name), dest=name, default=None, metavar=metavar, help=text, **repeatable)
        kind: Any = REPEATABLE.get(name, "string")
        parser.addini(name, text, type=kind, default=None)
    parser.addini("webeval_limits", LIMITS, type="linelist", default=[])
    for name, text in SWITCHES.items():
        group.addoption(_flag(name), dest=name, action="store_true", default=False, help=text)
        parser.addini(name, text, type="bool", default=False)
    parser.addini("webeval_redact_allow", ALLOW, type="linelist", default=[])
    group.addoption("--webeval-audit-secrets", dest="webeval_audit", action="store_true", default=False, help=AUDIT)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our hooks, so that a conftest.py may implement them in any session."""
    pluginmanager.add_hookspecs(HookSpecs)


def _asked_for(config: pytest.Config, known: Any = None) -> bool:
    return bool((known or config.option).webeval_runs or config.getini("webeval_runs"))


def _may_be_foreign(ini: Path) -> bool:
    """Whether there is another configuration file above one that pytest found."""
    return any(os.path.exists(f"{above}/{name}") for above in ini.parent.parents for name in INI_NAMES)  # noqa: PTH110


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep pytest from importing conftest.py files that came with a recording, and from obeying its ini files."""
    if early_config.inipath is not None and _may_be_foreign(early_config.inipath):
        from pytest_webeval.plugin.foreign_ini import refuse_foreign_ini  # idle sessions load nothing

        refuse_foreign_ini(early_config)
    if _asked_for(early_config, early_config.known_args_namespace):
        from pytest_webeval.plugin.own_imports import import_own_modules_plainly  # idle sessions load nothing

        import_own_modules_plainly(early_config)
        from pytest_webeval.plugin.garbage import unsearched  # by now in the plain way

        with unsearched():
            from pytest_webeval.plugin.strangers import shield_arguments
        shield_arguments(early_config)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the session object if there are runs to score."""
    for text in ("webeval_site(name): site of a task", "webeval_template(id): intent template of a task"):
        config.addinivalue_line("markers", text)
    config.addinivalue_line("markers", "webeval_type(name): retrieve, mutate or navigate")
    if _asked_for(config):
        from pytest_webeval.plugin.garbage import unsearched  # idle sessions load nothing

        with unsearched():
            from pytest_webeval.plugin.registering import register
        register(config)
    elif not config.option.help:
        _refuse_options_without_runs(config)


def _refuse_options_without_runs(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` where somebody asks for something about runs and names none.

    What stands in the ini key `addopts` is configuration as ini keys are, and asks for nothing by itself.
    """
    given = [name for name in (*OPTIONS, *SWITCHES) if getattr(config.option, name) not in (None, False)]
    configured = {option.partition("=")[0] for option in config.getini("addopts")} if given else set()
    options = [option for name in given if (option := _flag(name)) not in configured]
    if options and not hasattr(config, "workerinput"):  # a worker of xdist has what its controller has
        verb = "needs" if len(options) == 1 else "need"
        raise pytest.UsageError(f"{', '.join(options)} {verb} recorded runs; name them with --webeval-runs=DIR")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """List the secrets in the runs instead of scoring them, where that was asked for. Raises `pytest.UsageError`."""
    if not config.option.webeval_audit:
        return None
    from pytest_webeval.plugin.audit import audit  # for who asks

    return audit(config)


@pytest.fixture
def webeval_run() -> None:
    """The recorded run, in sessions with --webeval-runs=DIR. In others it skips a test that asks for it as it runs."""
    pytest.skip(NO_RUNS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip a Python test over runs when no runs were given."""
    if not OF_A_RUN.isdisjoint(getattr(item, "fixturenames", ())) and not _asked_for(item.config):
        item.add_marker(pytest.mark.skip(reason=NO_RUNS))
