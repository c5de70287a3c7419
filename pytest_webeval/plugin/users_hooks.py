"""Calling the hooks that users implement."""

from __future__ import annotations

from typing import Any

import pluggy
import pytest

from pytest_webeval.reports.failure_text import harmless


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
