"""How a text is written in ASCII: spec §5.1, step 7."""

from __future__ import annotations

from unicodedata import category
from unicodedata import normalize

import pytest
from text_unidecode import unidecode

from pytest_webeval.values.base import Reading
from pytest_webeval.values.text import prepared
from pytest_webeval.values.transliteration import ASCII_FORMS


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("ЄЖ", "iezh"),
        ("Ъъ", "''"),
        ("խ\u0589", "kh:"),
        ("אבג\u05be\u05bc", "abg-"),
        ("ᴀᴁʙᴛʜ", "aaebth"),
        ("ᵬᶀⱠȾ", "bblt"),
        ("\u1e9e\u1e9f", "ss"),
        ("₹5 ₱6 ₴7 ₿8", "rs5 p6 uah7 btc8"),
        ("\u22125\u2215\u22172\u2236\u22643", "-5/*2:<=3"),
        ("5\u2212x", "5 x"),
        ("⟦a⟨b⟩c⦄", "[a<b> c}"),
        ("⓫⓿⓵", "1101"),
        ("♔♟♥♯", "white kingblack pawnhearts#"),
        ("🅐🅩🅰🆉", "(a)(z)[a][z]"),
        ("🆓🆙🆜", "[free][up!][2nd-scr]"),
        ("❛❝❢ 🙶🙼", '"! "'),
        ("⸺⸻\u2e40", "----------="),
        ("しちつシチツ・ー", "shichitsushichitsu*-"),
    ],
)
def test_each_family_of_characters_has_its_ascii_form(text, form):
    assert prepared(text, Reading()) == form


def test_each_form_is_another_than_the_library_has():
    assert not [hex(point) for point, form in ASCII_FORMS.items() if of_the_library(chr(point)) == form]


def of_the_library(character: str) -> str:
    known = str(unidecode(character))
    return "" if known.strip() == "[?]" or not known.isascii() else known.casefold()


def test_each_character_of_the_table_reaches_it():
    lost = [
        point for point in ASCII_FORMS if normalize("NFKC", chr(point)) != chr(point) or category(chr(point))[0] == "C"
    ]
    assert not [hex(point) for point in lost]


def test_each_form_is_made_of_ascii():
    assert all(form.isascii() for form in ASCII_FORMS.values())
