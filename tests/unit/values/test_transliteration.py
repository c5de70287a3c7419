"""How a text is written in ASCII: spec §5.1, step 7."""

from __future__ import annotations

from unicodedata import category, lookup, normalize

import pytest
from text_unidecode import unidecode

from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.text import normalize_text
from pytest_webeval.values.transliteration import ASCII_FORMS

# The first and the last character of each run, by what Unicode calls it.
BY_NAME = [
    ("CYRILLIC CAPITAL LETTER UKRAINIAN IE", "ie"),
    ("CYRILLIC CAPITAL LETTER HARD SIGN", "'"),
    ("CYRILLIC SMALL LETTER HARD SIGN", "'"),
    ("ARMENIAN FULL STOP", ":"),
    ("HEBREW POINT SHEVA", ""),
    ("HEBREW POINT HOLAM HASER FOR VAV", "o"),
    ("HEBREW POINT DAGESH OR MAPIQ", ""),
    ("HEBREW PUNCTUATION MAQAF", "-"),
    ("HEBREW PUNCTUATION SOF PASUQ", "."),
    ("HEBREW PUNCTUATION NUN HAFUKHA", "n"),
    ("HEBREW POINT QAMATS QATAN", "o"),
    ("HEBREW LETTER ALEF", "a"),
    ("HEBREW LETTER HET", "h"),
    ("HEBREW LETTER FINAL KAF", "kh"),
    ("HEBREW LETTER KAF", "kh"),
    ("HEBREW LETTER QOF", "k"),
    ("HEBREW YOD TRIANGLE", "yyy"),
    ("HEBREW LIGATURE YIDDISH DOUBLE YOD", "ey"),
    ("LATIN LETTER SMALL CAPITAL A", "a"),
    ("LATIN LETTER SMALL CAPITAL O", "o"),
    ("LATIN SMALL LETTER SIDEWAYS O", "o"),
    ("LATIN SMALL LETTER SIDEWAYS O WITH STROKE", "o"),
    ("LATIN LETTER SMALL CAPITAL OU", "ou"),
    ("LATIN LETTER SMALL CAPITAL P", "p"),
    ("LATIN LETTER SMALL CAPITAL Z", "z"),
    ("MODIFIER LETTER CAPITAL BARRED B", "b"),
    ("MODIFIER LETTER CAPITAL REVERSED N", "n"),
    ("MODIFIER LETTER SMALL TURNED I", "i"),
    ("LATIN SMALL LETTER B WITH MIDDLE TILDE", "b"),
    ("LATIN SMALL LETTER TURNED G", "g"),
    ("LATIN SMALL LETTER P WITH STROKE", "p"),
    ("LATIN SMALL LETTER B WITH PALATAL HOOK", "b"),
    ("LATIN SMALL LETTER S WITH PALATAL HOOK", "s"),
    ("LATIN SMALL LETTER V WITH PALATAL HOOK", "v"),
    ("LATIN SMALL LETTER Z WITH PALATAL HOOK", "z"),
    ("LATIN SMALL LETTER LONG S WITH DIAGONAL STROKE", ""),
    ("LATIN SMALL LETTER LONG S WITH HIGH STROKE", ""),
    ("LATIN SMALL LETTER DELTA", ""),
    ("TIRONIAN SIGN ET", "&"),
    ("LOW ASTERISK", "*"),
    ("COMMERCIAL MINUS SIGN", "%"),
    ("SWUNG DASH", "~"),
    ("GERMAN PENNY SIGN", "pf"),
    ("BITCOIN SIGN", "btc"),
    ("SOUND RECORDING COPYRIGHT", "(p)"),
    ("RESPONSE", "r/"),
    ("VERSICLE", "v/"),
    ("ESTIMATED SYMBOL", "e"),
    ("TURNED CAPITAL F", "f"),
    ("AKTIESELSKAB", "a/s"),
    ("TURNED SMALL F", "f"),
    ("MINUS SIGN", "-"),
    ("DIVISION SLASH", "/"),
    ("ASTERISK OPERATOR", "*"),
    ("DIVIDES", "|"),
    ("RATIO", ":"),
    ("TILDE OPERATOR", "~"),
    ("LESS-THAN OR EQUAL TO", "<="),
    ("GREATER-THAN OVER EQUAL TO", ">="),
    ("UP ARROWHEAD", "^"),
    ("NEGATIVE CIRCLED NUMBER ELEVEN", "11"),
    ("NEGATIVE CIRCLED DIGIT ZERO", "0"),
    ("WHITE CHESS KING", "white king"),
    ("BLACK CHESS PAWN", "black pawn"),
    ("BLACK SPADE SUIT", "spades"),
    ("WHITE CLUB SUIT", "clubs"),
    ("MUSIC SHARP SIGN", "#"),
    ("HEAVY ASTERISK", "*"),
    ("LIGHT VERTICAL BAR", "|"),
    ("HEAVY SINGLE COMMA QUOTATION MARK ORNAMENT", "'"),
    ("HEAVY LOW DOUBLE COMMA QUOTATION MARK ORNAMENT", ",,"),
    ("HEAVY EXCLAMATION MARK ORNAMENT", "!"),
    ("MATHEMATICAL LEFT WHITE SQUARE BRACKET", "["),
    ("MATHEMATICAL LEFT ANGLE BRACKET", "<"),
    ("MATHEMATICAL RIGHT ANGLE BRACKET", "> "),
    ("LEFT WHITE CURLY BRACKET", "{"),
    ("RIGHT WHITE CURLY BRACKET", "} "),
    ("LATIN CAPITAL LETTER L WITH DOUBLE BAR", "l"),
    ("LATIN SMALL LETTER Z WITH DESCENDER", "z"),
    ("LATIN CAPITAL LETTER M WITH HOOK", "m"),
    ("LATIN CAPITAL LETTER TURNED A", "a"),
    ("RIGHT ANGLE SUBSTITUTION MARKER", "r"),
    ("RIGHT ANGLE DOTTED SUBSTITUTION MARKER", "r."),
    ("RAISED INTERPOLATION MARKER", "t"),
    ("RAISED DOTTED INTERPOLATION MARKER", "t."),
    ("LEFT TRANSPOSITION BRACKET", "s"),
    ("RAISED SQUARE", "[]"),
    ("RIGHT RAISED OMISSION BRACKET", "/"),
    ("PARAGRAPHOS", "__"),
    ("HYPODIASTOLE", ">"),
    ("DOTTED OBELOS", "%"),
    ("DOTTED RIGHT-POINTING ANGLE", ">"),
    ("DOUBLE OBLIQUE HYPHEN", "="),
    ("PALM BRANCH", "/"),
    ("RIGHT VERTICAL BAR WITH QUILL", "-|"),
    ("LEFT SIDEWAYS U BRACKET", "<="),
    ("RIGHT DOUBLE PARENTHESIS", "))"),
    ("SQUARED FOUR DOT PUNCTUATION", "::"),
    ("REVERSED QUESTION MARK", "?"),
    ("TURNED SEMICOLON", ";"),
    ("TWO-EM DASH", "----"),
    ("VERTICAL SIX DOTS", "|"),
    ("DOUBLE HYPHEN", "="),
    ("DASH WITH LEFT UPTURN", "`--"),
    ("HIRAGANA LETTER SI", "shi"),
    ("HIRAGANA LETTER TI", "chi"),
    ("HIRAGANA LETTER SMALL TU", "tsu"),
    ("HIRAGANA LETTER TU", "tsu"),
    ("KATAKANA-HIRAGANA DOUBLE HYPHEN", "="),
    ("KATAKANA LETTER SI", "shi"),
    ("KATAKANA LETTER TI", "chi"),
    ("KATAKANA LETTER SMALL TU", "tsu"),
    ("KATAKANA LETTER TU", "tsu"),
    ("KATAKANA MIDDLE DOT", "*"),
    ("KATAKANA-HIRAGANA PROLONGED SOUND MARK", "-"),
    ("SQUARED CL", "[cl]"),
    ("SQUARED SEVEN POINT ONE", "[7.1]"),
    ("SQUARED TWENTY-TWO POINT TWO", "[22.2]"),
    ("MASK WORK SYMBOL", "(m)"),
    ("SCRIPT LIGATURE ET ORNAMENT", "et"),
    ("HEAVY SANS-SERIF INTERROBANG ORNAMENT", "!?"),
]


@pytest.mark.parametrize(("character", "form"), BY_NAME, ids=[character for character, _ in BY_NAME])
def test_a_character_is_written_as_its_name_suggests(character, form):
    assert ASCII_FORMS[ord(lookup(character))] == form


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
        ("♓♔♟♥♯", "white kingblack pawnhearts#"),
        ("🅐🅩🅰🆉", "(a)(z)[a][z]"),
        ("🆓🆙🆜", "[free][up!][2nd-scr]"),
        ("❛❝❢ 🙶🙼", '"! "'),
        ("⸺⸻\u2e40", "----------="),
        ("しちつシチツ・ー", "shichitsushichitsu*-"),
    ],
)
def test_each_family_of_characters_has_its_ascii_form(text, form):
    assert normalize_text(text, ParseContext()) == form


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
