"""A content-security policy for pytest-html's page: it runs and fetches only the content of pytest-html.

The page shows texts of agents and web sites, and pytest-html inserts some of them as HTML.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Generator
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path

import pytest

_HANDLER = re.compile(r'<div class="summary__reload__button[^"]*" onclick="([^"]*)">')
_HEAD = "<head>"


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Put the policy into the page once pytest-html has written it."""
    result = yield
    path = Path(os.path.expandvars(session.config.getoption("htmlpath"))).expanduser()
    if path.is_file():
        script = (resources.files("pytest_html") / "resources" / "app.js").read_text("utf-8").strip()
        path.write_text(with_policy(path.read_text("utf-8"), script), "utf-8")
    return result


def with_policy(page: str, script: str) -> str:
    """The page with a policy that allows only this script.

    A page without this script or without a head has an unknown layout, and its policy allows no script.
    """
    head, head_tag, rest = page.partition(_HEAD)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(page, script), quote=False)}"/>'
    return f"{head}{head_tag}\n    {policy}{rest}" if head_tag else f"{policy}{page}"


def _policy(page: str, script: str) -> str:
    texts = filter(None, (_as_embedded(page, script), *_HANDLER.findall(page)[:1]))
    allowed = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'unsafe-hashes' {' '.join(allowed)}" if allowed else "script-src 'none'",
            "style-src 'unsafe-inline' 'self'",  # styles of pytest-html, inside the page or in a file next to it
            "img-src data: 'self'",
            "media-src data: 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _as_embedded(page: str, script: str) -> str | None:
    """The script with the blanks around it in the page, which count for its hash."""
    position = page.rfind(script)
    start, end = page.rfind("<script>", 0, position) + len("<script>"), page.find("</script>", position)
    if position < 0 or page[start:position].strip() or page[position + len(script) : end].strip():
        return None
    return page[start:end]
