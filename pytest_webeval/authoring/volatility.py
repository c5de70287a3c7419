"""Fields that differ from run to run and mean nothing: tokens, time stamps, cache busters. Fields that are secret."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import pairwise

from pytest_webeval.recordings.network.entries import parse_timestamp
from pytest_webeval.redaction import names
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting

# Names in small letters, of letters and digits only.
_TOKENS = frozenset(
    (
        *("authenticitytoken", "captcha", "clientmutationid", "correlationid", "csrf", "csrfmiddlewaretoken"),
        *("eventvalidation", "formbuildid", "formkey", "formtoken", "jsessionid", "nonce", "phpsessid", "requestid"),
        *("requestverificationtoken", "session", "sessionid", "sid", "token", "traceid", "viewstate"),
        *("viewstategenerator", "wpnonce"),
    )
)
_TOKEN_PARTS = ("csrf", "xsrf", "nonce", "sessionid", "captcharesponse", "sessiontoken", "securitytoken")
_NOISE = frozenset(("", "cachebust", "cachebuster", "cb", "fbclid", "gclid", "isajax", "rand", "random", "rnd", "ts"))
_PATH_TOKENS = frozenset(("key", "secret", "hash"))
_NOISE_NAMES = ("timestamp", "uenc", "utf8")
_SECRET_PARTS = ("password", "passwd", "passphrase", "cvv", "cardnumber", "apikey", "secret")
_SECRETS = frozenset(("pwd", "pass", "otp", "cvc", "pin"))

_REDACTING = Redacting(RedactionPolicy(), is_leaving=True)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{16,}")
_ENCODED = re.compile(r"[A-Za-z0-9_+/=.,~%-]{20,}")
_NUMBER = re.compile(r"[0-9]{1,19}")
_SECONDS, _MILLISECONDS = 10, 13  # digits of the present time since 1970
_EARLIEST, _LATEST = 1_200_000_000, 4_000_000_000  # what such a number may be where nobody knows the time
_SHARE_OF_CHANGES = 0.4  # of neighbours that are of another kind; of words in camel case it is less
_NEAR = timedelta(days=1).total_seconds()


def explain_volatile(name: str, value: object, moment: float | None) -> str | None:
    """Why a field is not stable; None for a field that may mean something. `moment` is when it was sent."""
    plain = _simplify(name)
    if plain in _TOKENS or any(part in plain for part in _TOKEN_PARTS):
        return "the name of a token"
    if plain in _NOISE or plain in _NOISE_NAMES or name.lower().startswith("utm_"):
        return "a name that sites use for noise"
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if is_random(text):
        return "a random value"
    return "the time of the request" if _is_time(text, moment) else None


def is_secret(name: str) -> bool:
    """Whether a field holds a password or the like, which must not be in a definition."""
    plain = _simplify(name)
    return plain in _SECRETS or any(part in plain for part in _SECRET_PARTS)


def hide_secrets(text: str) -> str:
    """The text without tokens, keys and passwords in it, as redaction finds them."""
    return _REDACTING.text(text)


def holds_secret(name: str, value: object) -> bool:
    """Whether a field is one whose value redaction replaces, whatever the site means by it."""
    return names.is_secret(name) or (isinstance(value, str) and hide_secrets(value) != value)


def is_random(text: str) -> bool:
    """Whether a text is a UUID, a long hexadecimal number, or as mixed as an encoded random number.

    In such a number small letters, capitals and digits alternate as they do in no word.
    """
    if _UUID.fullmatch(text) or _HEX.fullmatch(text):
        return True
    if not _ENCODED.fullmatch(text):
        return False
    kinds = [(each.isdigit(), each.isupper()) for each in text if each.isalnum()]
    changes = sum(before != after for before, after in pairwise(kinds))
    return len(set(kinds)) == 3 and changes >= _SHARE_OF_CHANGES * len(kinds)


def split_path(path: str) -> tuple[str | None, ...]:
    """The segments of a path; a token, which is another one in the next session, and a secret are any segment."""
    segments = path.rstrip("/").split("/")
    safe = hide_secrets(path.rstrip("/")).split("/")
    if len(safe) != len(segments):  # a secret with a slash in it
        safe = list(map(hide_secrets, segments))
    stable: list[str | None] = []
    for (name, segment), redacted in zip(pairwise(segments), safe[1:], strict=True):
        plain = _simplify(name)  # what is before a token or an encoded address is its name
        is_token = plain in _NOISE_NAMES or (is_random(segment) and (plain in _TOKENS or plain in _PATH_TOKENS))
        stable.append(None if is_token or redacted != segment else segment)
    return tuple(stable)


def is_id(segment: str) -> bool:
    """Whether a segment of a path is the id of an object: a number, or a random text."""
    return bool(_NUMBER.fullmatch(segment)) or is_random(segment)


def _simplify(name: str) -> str:
    """The last part of a name such as `issue[form_key]` or `$.issue.formKey`, in small letters and digits."""
    parts = [part for part in re.split(r"[.\[\]]+", name) if part]
    return re.sub("[^a-z0-9]", "", parts[-1].lower()) if parts else ""


def _is_time(text: str, moment: float | None) -> bool:
    """Whether a text is the time at which it was sent. A number of ten digits may also be a telephone number."""
    if _NUMBER.fullmatch(text):
        seconds = int(text) / 1000 if len(text) == _MILLISECONDS else float(text)
        if moment is None:
            return len(text) == _MILLISECONDS and _EARLIEST <= seconds <= _LATEST
        return len(text) in (_SECONDS, _MILLISECONDS) and abs(seconds - moment) < _NEAR
    stamp = parse_timestamp(text) if ":" in text else None
    return stamp is not None and moment is not None and abs(stamp - moment) < _NEAR
