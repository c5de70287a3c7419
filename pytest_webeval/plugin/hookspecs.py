"""Calling the hooks that users implement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

import pluggy
import pytest

from pytest_webeval.safety.text import harmless

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.recordings.run import RunFormat
    from pytest_webeval.results import Summary
    from pytest_webeval.results import TaskResult


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


def complaint_of(hook: pluggy.HookCaller, **given: Any) -> str | None:
    """Call a hook. What it raised, in one line that names it; None if all is well.

    pytest would end the session without a summary. Nothing that somebody does with one result is worth all the others,
    and there is no telling what they raise: so this is the one broad except of the plugin. `pytest.exit` still exits.
    """
    try:
        hook(**given)
    except pytest.exit.Exception:
        raise
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001  (see above)
        told = " ".join(str(error).split())
        return harmless(f"{hook.name} raised {type(error).__name__}: {told}; mend the hook, then score again")
    return None
