"""Names whose values are secret: of headers, cookies, fields of forms and JSON, parameters of URLs."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

HEADER, COOKIE, FIELD, PARAMETER, MEMBER = "header", "cookie", "field", "parameter", "member"

COOKIE_HEADERS = frozenset({"cookie", "setcookie"})
# The value of the header begins with a scheme, which is not a secret.
AUTHORIZATION_HEADERS = frozenset({"authorization", "proxyauthorization"})

# Names are compared in small letters and without what is neither letter nor digit: `X-CSRF-Token` is `xcsrftoken`.
_EXACT_NAMES = frozenset(
    {
        *("accesskey", "auth", "authentication", "bearer", "connectsid", "cookie", "credential", "credentials"),
        *("formkey", "jwt", "mfacode", "otp", "otpcode", "pass", "passcode", "phpsessid", "pin", "privatekey"),
        *("pwd", "sess", "session", "sessionkey", "setcookie", "sid", "sig", "signature", "totp"),
        *("xamzcredential", "xamzsignature", "xauthkey", "xgoogsignature"),
    }
)
_SUFFIXES = (
    *("token", "secret", "apikey", "secretkey", "accesskeyid", "secretaccesskey", "jsessionid", "subscriptionkey"),
    *("accesskey", "sessid", "cardnumber", "cardno", "cardnum", "ccnumber", "ccnum", "ccno", "cccid", "cvc", "cvc2"),
    *(
        "cvv",
        "cvv2",
        "pwd",
        "pincode",
        "pinnumber",
        "socialsecurity",
        "socialsecuritynumber",
        "passportnumber",
        "passportno",
    ),
    *("samlresponse", "samlrequest", "wresult", "securitycode", "verificationcode", "onetimecode", "backupcode"),
    *("recoverycode", "devicecode", "usercode", "authcode"),
)
# The last words of names; as mere endings they are those of a compass.
_LAST_WORDS = frozenset({"auth", "pass", "session"})
# The same where a word such as `confirm` or a number follows.
_WORDS = frozenset({"csc", "cvc", "cvn", "cvv", "iban", "jwt", "otp", "passcode", "pin", "pwd", "ssn", "totp"})
# What stands behind a name that a form asks for twice; and where the name is a number or a code itself.
_REPEATED = frozenset({"again", "confirm", "confirmation", "copy", "new", "old", "repeat", "retype", "verify"})
_FOLLOWING = _REPEATED | {"code", "no", "num", "number"}
_BEFORE_NUMBER = frozenset({"last", "v"})  # ssn_last_4, token_v2
# newpass, oldpin, confirmotp: as one word, of which other words have the ending too
_JOINED = re.compile(
    "(?:admin|card|confirm|current|db|login|my|new|old|repeat|retype|root|user|verify|your)"
    "(?:csc|cvn|iban|jwt|otp|pass|passcode|pin|ssn|totp)"
)
_PARTS = ("authorization", "csrf", "passphrase", "passwd", "password", "sessionid", "xsrf")

# Names of secrets where the value looks generated: `code` of OAuth, but no `code=US`.
_GENERATED_NAMES = frozenset({"activation", "code", "invitation", "invite", "ticket", "verification"})
# The signs are those of rates: pass@1, pass^3.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[@^]")

# Headers of browsers that identify no person and grant no access.
SAFE_HEADERS = frozenset(
    {
        *("accept", "acceptencoding", "acceptlanguage", "cachecontrol", "connection", "contentlength"),
        *("contenttype", "host", "origin", "pragma", "secfetchdest", "secfetchmode", "secfetchsite"),
        *("secfetchuser", "upgradeinsecurerequests", "useragent", "xrequestedwith"),
    }
)


@lru_cache(maxsize=2048)
def compact(name: str) -> str:
    """A name as it is compared with others."""
    return "".join(filter(str.isalnum, _decode_brackets(name))).lower()


def _decode_brackets(name: str, bracket: str = "") -> str:
    return name.replace("%5B", bracket).replace("%5D", bracket)


def is_generated_name(name: str) -> bool:
    """Whether a value of that name is a secret if it looks generated, such as an authorization code."""
    return compact(name) in _GENERATED_NAMES or drop_number(name) in _GENERATED_NAMES


@lru_cache(maxsize=2048)
def is_secret(name: str) -> bool:
    """Whether a value of that name is a secret, wherever it stands."""
    plain = compact(name)
    if _is_secret_name(plain) or any(part in plain for part in _PARTS):
        return True
    words = _list_words(name)
    once = _drop_last_words(words, _REPEATED)
    if _is_secret_name("".join(once)) or (once and once[-1] in _LAST_WORDS):
        return True
    single = _drop_last_words(words, _FOLLOWING)[-1:]
    return any(word in _WORDS or _JOINED.fullmatch(word) for word in single)


@lru_cache(maxsize=2048)
def drop_number(name: str) -> str:
    """A name as it is compared with others, without numbers and such words as `confirm` behind it."""
    return "".join(_drop_last_words(_list_words(name), _REPEATED))


def _list_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_decode_brackets(name, " "))]


def _is_secret_name(plain: str) -> bool:
    return plain in _EXACT_NAMES or plain.endswith(_SUFFIXES)


def _drop_last_words(words: list[str], following: Collection[str]) -> list[str]:
    end = len(words)
    while end > 1:
        is_number = words[end - 1].isdecimal()
        if not is_number and words[end - 1] not in following:
            break
        end -= 2 if is_number and end > 2 and words[end - 2] in _BEFORE_NUMBER else 1
    return words[:end]
