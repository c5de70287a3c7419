"""Secrets in free text, however they are written there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies

from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.text import replacement_for
from tests.support.default_run import first_by_default

SALT = b"of the recording"
S = "CaNaRy77xQ"
R = replacement_for(S, SALT)
MODES = ("default", "strict")


def text(given, mode="default"):
    return Redactor(RedactionPolicy(mode), SALT).text(given)


HIDDEN = [
    (f"http://h.test/?token={S}&q=1#top", f"http://h.test/?token={R}&q=1#top"),
    (f"http://h.test/#access_token={S}&state=1", f"http://h.test/#access_token={R}&state=1"),
    (f"http://:{S}@h.test/", f"http://:{R}@h.test/"),
    (f"https%3A%2F%2F:{S}%40h.test", f"https%3A%2F%2F:{R}%40h.test"),
    (f"the page was http://:{S}…", f"the page was http://:{R}…"),
    (f"http://:{S}@h.test/a http://h.test:7770…", f"http://:{R}@h.test/a http://h.test:7770…"),
    (f'"http://:12{S}…"', f'"http://:{replacement_for(f"12{S}", SALT)}…"'),
    (f"user%5Bpassword%5D={S}&x=2", f"user%5Bpassword%5D={R}&x=2"),
    (f"next=%3Fsid%3D{S}%26q%3D2", f"next=%3Fsid%3D{R}%26q%3D2"),
    (f"next=%253Fsid%253D{S}%2526q%253D2", f"next=%253Fsid%253D{R}%2526q%253D2"),
    (f'{{"password": "{S}", "b": 1}}', f'{{"password": "{R}", "b": 1}}'),
    (f'{{"token": ["{S}", "{S}"], "b": 1}}', f'{{"token": ["{R}", "{R}"], "b": 1}}'),
    (f"{{'token': '{S}', 'b': 2}}", f"{{'token': '{R}', 'b': 2}}"),
    (f'"{{\\"password\\": \\"{S}\\", \\"b\\": 1}}"', f'"{{\\"password\\": \\"{R}\\", \\"b\\": 1}}"'),
    (f"%22password%22%3A%22{S}%22%2C", f"%22password%22%3A%22{R}%22%2C"),
    (f'got {{"token": ["{S}…', f'got {{"token": ["{R}…'),
    (f"Authorization: Bearer {S}\r\nHost: h", f"Authorization: Bearer {R}\r\nHost: h"),
    (f"sent authorization=Bearer%20{S}&x=1", f"sent authorization={replacement_for(f'Bearer%20{S}', SALT)}&x=1"),
    (f"as bearer {S}, it said", f"as bearer {R}, it said"),
    (f'Cookie: sid={S}; b="{S}"\r\nX: 1', f'Cookie: sid={R}; b="{R}"\r\nX: 1'),
    (f"Set-Cookie: sid={S}; Path=/; HttpOnly", f"Set-Cookie: sid={R}; Path=/; HttpOnly"),
    (
        f"Set-Cookie: a=1; Path=/, sid={S}; HttpOnly",
        f"Set-Cookie: a={replacement_for('1', SALT)}; Path=/, sid={R}; HttpOnly",
    ),
    (
        f"Set-Cookie: sid={S}; Expires=Wed, 21 Oct 2026 07:28:00 GMT,id={S}",
        f"Set-Cookie: sid={R}; Expires=Wed, 21 Oct 2026 07:28:00 GMT,id={R}",
    ),
    (f"Cookie: sid={S}; which is why it failed", f"Cookie: sid={R}; which is why it failed"),
    (f"Cookie: {S} was sent", f"Cookie: {R} was sent"),
    (f"Authorization: {S} tail", f"Authorization: {replacement_for(f'{S} tail', SALT)}"),
    (f"Authorization: Negotiate {S}", f"Authorization: Negotiate {R}"),
    (f"pwd = {S} was tried", f"pwd = {R} was tried"),
    (f"'x', password => '{S}'", f"'x', password => '{R}'"),
    (f"login --password {S} --user joe", f"login --password {R} --user joe"),
    (f"<user>joe</user><password>{S}</password>", f"<user>joe</user><password>{R}</password>"),
    *(
        (f"{name}={S}&q=1", f"{name}={R}&q=1")
        for name in ("x-auth", "user_pass", "login_pass", "user_session", "sessid")
    ),
    (f"X-Access-Key: {S}", f"X-Access-Key: {R}"),
    (f"the password: {S}!", f"the password: {R}!"),
    (f'name="x"; form-data; name="pwd"\r\n\r\n{S}\r\n--b', f'name="x"; form-data; name="pwd"\r\n\r\n{R}\r\n--b'),
    (f'form-data; name=\\"pwd\\"\\r\\n\\r\\n{S}\\r\\n--b', f'form-data; name=\\"pwd\\"\\r\\n\\r\\n{R}\\r\\n--b'),
    (f'<input type=hidden name="form_key" value="{S}">', f'<input type=hidden name="form_key" value="{R}">'),
    (f'<input value="{S}" type=hidden name="form_key">', f'<input value="{R}" type=hidden name="form_key">'),
    (f"<meta content='{S}' name='csrf-token'>", f"<meta content='{R}' name='csrf-token'>"),
    (f'[{{"name": "password", "value": "{S}"}}]', f'[{{"name": "password", "value": "{R}"}}]'),
    (f'{{"value":"{S}","name":"password"}}', f'{{"value":"{R}","name":"password"}}'),
    (
        f'{{"value": "a\\"{S}", "name": "pwd"}}',
        f'{{"value": "{replacement_for(f"a{chr(92)}{chr(34)}{S}", SALT)}", "name": "pwd"}}',
    ),
    (f'{{\\"name\\": \\"pwd\\", \\"value\\": \\"{S}\\"}}', f'{{\\"name\\": \\"pwd\\", \\"value\\": \\"{R}\\"}}'),
    (f'{{\\"value\\":\\"{S}\\",\\"name\\":\\"pwd\\"}}', f'{{\\"value\\":\\"{R}\\",\\"name\\":\\"pwd\\"}}'),
    (f"{{'name': 'x-csrf-token', 'value': '{S}'}}", f"{{'name': 'x-csrf-token', 'value': '{R}'}}"),
    (f"{{'value': '{S}', 'name': 'x-csrf-token'}}", f"{{'value': '{R}', 'name': 'x-csrf-token'}}"),
    (f"[('a', 'b'), ('cookie', 'a={S}; b={S}')]", f"[('a', 'b'), ('cookie', 'a={R}; b={R}')]"),
    (f'[["lang", "en"], ["x-token", "{S}"]]', f'[["lang", "en"], ["x-token", "{R}"]]'),
    (f'{{"value": "token={S}", "name": "q"}}', f'{{"value": "token={R}", "name": "q"}}'),
    (f'<meta name="csrf-token" content="{S}">', f'<meta name="csrf-token" content="{R}">'),
]


@pytest.mark.parametrize(("given", "told"), HIDDEN, ids=[given for given, _ in HIDDEN])
def test_the_value_alone_is_replaced(given, told):
    assert text(given) == told


KEYS = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "sk-proj-0123456789abcdefghij",
    *(f"{letter}k_{mode}_0123456789abcdef" for letter in "sprw" for mode in ("live", "test")),
    *(f"gh{letter}_0123456789abcdefghijABCDEFGHIJ012345" for letter in "pousr"),
    "github_pat_0123456789abcdefghijAB_0123456789",
    *(f"gl{kind}-0123456789abcdefghij" for kind in ("pat", "rt", "ptt", "dt")),
    "AKIA0123456789ABCDEF",
    "whsec_0123456789abcdef+/abcd",
    "xapp-1-A0123456789-abcdef",
    "ASIA0123456789ABCDEF",
    "xoxb-0123456789-abcdefghij",
    "AIza0123456789abcdefghijklmnopqrstuvwxyz",
    "ya29.0123456789abcdefghijkl",
    "hf_0123456789abcdefghijklmn",
    "npm_0123456789abcdefghijklmnopqrstuvwxyz",
    "pypi-0123456789abcdefghijklmnopqrstuvwxyz",
    "SG.0123456789abcdefghij.0123456789abcdefghij",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "it is {}.", '"{}"', "\\n{}", "%20{}", "?{}="])
def test_a_key_of_a_known_form_is_a_secret_by_itself(key, around):
    assert text(around.format(key)) == around.format(replacement_for(key, SALT))


# What stands directly before a key: of a list, of a name, and the ends of escapes.
BEFORE = [
    *("[{}]", "type [12] [{}] [1]", "a]{}", "x.{}", "a-{}", "a_{}", "\x1b[31m{}", "\x1b[0;1;31m{}", "\x1b[K{}"),
    *("\\u001b[31m{}", "\\u001b[m{}", "\\x1b{}", "\\033[1m{}", "\\u0020{}", "\\t{}", "%2520{}", "({})", "<b>{}"),
]


@pytest.mark.thinned
@pytest.mark.parametrize("length", [0, 300])  # candidates are derived from long texts only
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_a_secret_whatever_stands_before_it(key, before, length):
    given = ". " * length + before
    assert text(given.format(key)) == given.format(replacement_for(key, SALT))
    assert key not in text(given.format(key), "strict")


@pytest.mark.parametrize("length", [0, 300])
@pytest.mark.parametrize("before", BEFORE)
def test_and_so_are_credentials_behind_their_scheme(before, length):
    given = ". " * length + before.format("Bearer {}")
    assert text(given.format("abcdef123456789")) == given.format(replacement_for("abcdef123456789", SALT))


@pytest.mark.parametrize("before", ["[{}]", "a]{}", "\x1b[31m{}", "\x1b[0;1;31m{}", "\\u001b[31m{}", "\\n{}", "%20{}"])
@pytest.mark.parametrize("secret", ["bob@example.com", "0a1b2c3d4e5f60718293a4b5"])
def test_and_so_is_what_strict_takes_for_a_secret(secret, before):
    assert text(before.format(secret), "strict") == before.format(replacement_for(secret, SALT))


NAMES = [
    "{{'{}': 1}} is not a number",
    '{{"{}": 1, "b": 2}}',
    '\\"{}\\": {{\\"a\\": 1}}',
    "%22{}%22%3A1",
    '{{"name": "{}", "value": 1}}',
    '{{"value": 1, "name": "{}"}}',
    "('{}', 'a')",
    '<input name="{}" value="a">',
    'form-data; name="{}"\r\n\r\na\r\n--x',
    "got {{'a': 1}} and {{'x': {{'{}': 1}}}}",
]


@pytest.mark.thinned
@pytest.mark.parametrize("length", [0, 300])  # candidates are derived from long texts only
@pytest.mark.parametrize("around", NAMES)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_a_secret_as_the_name_of_something_too(key, around, length):
    before = ". " * length
    assert text(before + around.format(key)) == before + around.format(replacement_for(key, SALT))
    assert key not in text(before + around.format(key), "strict")


def test_a_name_and_its_value_may_both_be_secrets():
    given = '{{"token:{}": "{}"}}'
    assert text(given.format(KEYS[1], S)) == given.format(replacement_for(KEYS[1], SALT), S)
    secret_name = f"{KEYS[1]}-token"
    assert text(f'{{"{secret_name}": "{S}"}}') == f'{{"{replacement_for(secret_name, SALT)}": "{R}"}}'


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_keeps_its_frame(kind):
    framed = f"-----BEGIN {kind}-----\n{{}}\n-----END {kind}-----"
    assert text(framed.format("MIIB\nabc")) == framed.format(replacement_for("MIIB\nabc", SALT))


@pytest.mark.parametrize(
    "given",
    [
        "",
        "no token was found, 3 keys expected",
        "a basic understanding of tokens: none",
        'network_event.headers.authorization: expected "x"; got "y"',
        '{"auth": null, "session": false, "password": "", "prompt_tokens": 12}',
        "https://h.test/cart?q=lamp&sort=asc@home",
        "at http://shop.test:7770…",
        "at http://shop.test…",
        "at http://shop.test/a:b…",
        "at http://[::1]:80…",
        "see http://shop.test: it is closed…",
        "password=&next=1",
        "8 of 9 passed; assignee=joe",
        "redacted-0123abcd-8",
        "the password is required; use --password to give one, <password></password> or compass=north",
        '[{"name": "q", "value": "lamp"}, {"value": "lamp", "name": "q"}] ["password", "login"]',
    ],
)
def test_what_is_no_secret_stays(given):
    assert text(given) == given


STRICTLY = [
    ("ask joe.doe@mail.test now", "ask {} now", "joe.doe@mail.test"),
    ("order 0a1b2c3d4e5f60718293a4b5 is sent", "order {} is sent", "0a1b2c3d4e5f60718293a4b5"),
    ("/search?q=lamp", "/search?q={}", "lamp"),
    ('{"note": "blue"}', '{{"note": "{}"}}', "blue"),
]


@pytest.mark.parametrize(("given", "told", "secret"), STRICTLY)
def test_strict_takes_more_for_a_secret(given, told, secret):
    assert text(given) == given
    assert text(given, "strict") == told.format(replacement_for(secret, SALT))


PIECES = strategies.sampled_from(
    [
        *("token", "password", "sid", "Cookie: ", "Bearer ", "=", "&", ":", '"', "'", "\\", "%22", "%3D", "%3A%2F%2F"),
        *(
            "://",
            "@",
            "a1b2c3d4",
            "redacted-",
            "-7",
            ";",
            ",",
            " ",
            "[",
            "]",
            "{",
            "}",
            "…",
            "\n",
            "h.test",
            "expected ",
        ),
    ]
)


@given(strategies.lists(PIECES, max_size=14).map("".join), strategies.sampled_from(MODES))
def test_a_text_that_was_redacted_stays_as_it_is(given, mode):
    once = text(given, mode)
    assert text(once, mode) == once


# What a hostile text may repeat: characters of each kind, and the beginning of everything that patterns look for.
TOKENS = [
    *(
        "a",
        "1",
        "a1",
        "+",
        "a+",
        "1+",
        "-",
        "a1-",
        "_",
        ".",
        "a.",
        "%",
        "%20",
        "%25",
        "[",
        "]",
        "%5B",
        "%5Ba",
        "\\",
        "\\n",
    ),
    *("=", ":", ": ", ";", ",", " ", "\n", "\r\n", "'", '"', '\\"', "='", '="', "<", "</", "@", "a@", "a@a.", "…", "é"),
    *(
        "://",
        "://a:",
        "%3A%2F%2F",
        "%3A%2F%2Fa%40",
        "eyJ",
        "eyJa.",
        "sk-",
        "sk-a+",
        "SG.",
        "Bearer ",
        "Bearer+",
        "Token%20",
    ),
    *("token=", "token ", "token: ", "a=b&", '"token":"', "'token': ['", "password is ", "--password ", "<password>"),
    *(
        "Cookie: ",
        "Cookie: a=",
        "Cookie: a=b; ",
        "Cookie: a=b; x ",
        "Set-Cookie: a=b, ",
        "Set-Cookie: a=b; expires=Mon, ",
        "Authorization: ",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "<input name=",
        '<input value="a" value="',
        '<input name="token" value=',
        'form-data; name="pwd"\r\n\r\n',
    ),
    *(
        '{"name": "',
        '{"name": "token", "value": "',
        '"name": "token", ',
        "('token', '",
        '("token", ',
        '\\"name\\": \\"',
    ),
    *(
        "/token/",
        "/token/a1",
        "%2Ftoken%2F",
        "/a-",
        "token-",
        "-u ",
        "-u a:b ",
        "--user=",
        "card[",
        "pin",
        "code=",
        "code=a1",
    ),
    *("code:", "ticket=", "ticket:a", "invite=", "invite:", "code%3D", 'code="', "-eyJ", ".eyJa", "a-sk-"),
    *(
        "&quot;",
        "&quot;a",
        "&quot;token&quot;:",
        "&quot;token&quot;:&quot;",
        '"-u",',
        '"-u","a:b',
        "curl -ua:",
        "/token/%41",
    ),
    *("code=a1b2c3d4=", "code=:", "code=a:[=", "code%3D%3A"),
    *("[a1", "-a1", "\x1b[1m", "\\u001b", "[Bearer ", "-SG.a"),
    *('[["pin", "', '[\n  ["', ":\\/\\/", ":\\/\\/a:", '"key": "', "ticket=a", "cc_"),
]


@pytest.mark.thinned(every=21)
@pytest.mark.parametrize("mode", first_by_default(MODES, 1))
@pytest.mark.parametrize("piece", TOKENS)
def test_no_text_takes_longer_than_its_length_asks_for(piece, mode):
    def seconds(length):
        started = time.process_time()
        text(f"{piece * (length // len(piece))} token", mode)
        return time.process_time() - started

    seconds(10)
    ratios = (seconds(80_000) / (seconds(20_000) + 0.05) for _ in range(5))  # the machine may be busy
    assert any(ratio < 10 for ratio in ratios)  # what takes the square of it takes sixteen times as long


@pytest.mark.parametrize(("given", "_"), HIDDEN)
def test_what_holds_a_secret_has_a_mark_by_which_it_is_looked_at(given, _):
    assert may_hold_secrets(given)


@pytest.mark.parametrize("key", KEYS)
def test_and_so_have_keys(key):
    assert may_hold_secrets(key)
