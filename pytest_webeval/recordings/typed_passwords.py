"""Whether an action of a Playwright trace typed a password, and its log without that.

Playwright logs what it types as `fill("...")` and the element as `locator resolved to <input type="password"/>`
(`packages/playwright-core/src/server/dom.ts` of github:microsoft/playwright, 1.65). The redaction knows secrets by
their names, and replaces short ones only where their name stands: in a log, the action alone says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

PASSWORD = "password"  # noqa: S105  (a name that the redaction knows)
HIDDEN = "redacted"
_FIELDS = frozenset({"key", "text", "value"})  # parameters that go into a field
# Short names are words of their own: `#pin` and `userPin`, not `shipping`.
_SHORT = "cvc|cvv|mfa|otp|pass|pin|totp"
_NAME = re.compile(
    rf"(?i:passw|pwd|passcode|passphrase|secret|token)|(?i:(?<![a-z])(?:{_SHORT})(?![a-z]))"
    rf"|(?<=[a-z])(?:{_SHORT.title()}|{_SHORT.upper()})(?![a-z])"
)
_CALL = re.compile(r"([ \t-]{0,20}[\w.]{1,80}\(\").*", re.ASCII | re.DOTALL)


def names_password(text: str) -> bool:
    """Whether a selector, or a line about an element, has a name of secrets in it."""
    return _NAME.search(text) is not None


def rename_typed(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of an action on a field for a password: what was typed is called so, and redacted like one."""
    return {PASSWORD if _is_typed(name, value) else name: value for name, value in params.items()}


def hide_typed(lines: Iterable[str], params: Mapping[str, object]) -> Iterator[str]:
    """The lines of its log without what was typed, also where they are cut in it."""
    typed = {str(value) for name, value in params.items() if _is_typed(name, value) and value}
    pattern = "|".join(map(re.escape, sorted(typed, key=len, reverse=True)))
    values = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)") if typed else None
    for line in lines:
        yield _CALL.sub(rf'\1{HIDDEN}")', values.sub(HIDDEN, line), count=1) if values is not None else line


def _is_typed(name: str, value: object) -> bool:
    """A key with a name, such as `Delete` and `Control+A`, writes nothing."""
    return name in _FIELDS and not (name == "key" and isinstance(value, str) and len(value) > 1)
