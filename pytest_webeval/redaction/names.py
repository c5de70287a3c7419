"""Names whose values are secret: of headers, cookies, fields of forms and JSON, parameters of URLs."""

from __future__ import annotations

import re
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
    *("cvv", "cvv2", "pincode", "pinnumber", "socialsecurity", "socialsecuritynumber", "passportnumber", "passportno"),
    *("samlresponse", "samlrequest", "wresult", "securitycode", "verificationcode", "onetimecode", "backupcode"),
    *("recoverycode", "devicecode", "usercode", "authcode"),
)
# The last words of names; as mere endings they are those of a compass.
_LAST_WORDS = frozenset({"auth", "pass", "session"})
# The same where a word such as `confirm` or a number follows.
_WORDS = frozenset({"csc", "cvc", "cvn", "cvv", "iban", "jwt", "otp", "passcode", "pin", "pwd", "ssn", "totp"})
_FOLLOWING = frozenset({"again", "code", "confirm", "confirmation", "no", "num", "number", "repeat", "retype"})
_PARTS = ("authorization", "csrf", "passphrase", "passwd", "password", "sessionid", "xsrf")

# Names of secrets where the value looks generated: `code` of OAuth, but no `code=US`.
_GENERATED_NAMES = frozenset({"activation", "code", "invitation", "invite", "ticket", "verification"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

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
    return compact(name) in _GENERATED_NAMES


@lru_cache(maxsize=2048)
def is_secret(name: str) -> bool:
    """Whether a value of that name is a secret, wherever it stands."""
    plain = compact(name)
    if plain in _EXACT_NAMES or plain.endswith(_SUFFIXES) or any(part in plain for part in _PARTS):
        return True
    words = [word.lower() for word in _WORD.findall(_decode_brackets(name, " "))]
    if words and words[-1] in _LAST_WORDS:
        return True
    while len(words) > 1 and (words[-1] in _FOLLOWING or words[-1].isdecimal()):
        words.pop()
    return bool(words) and words[-1] in _WORDS
