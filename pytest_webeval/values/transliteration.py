"""The characters that the reference writes in ASCII otherwise than text_unidecode does."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase
from unicodedata import name

_CIRCLED_A, _SQUARED_A = 0x1F150, 0x1F170
_CHESS_PIECES = range(0x2654, 0x2660)

# What stands for a character and for those that follow it in Unicode. Case is of no account: it is folded afterwards.
_RUNS = {
    # Cyrillic and Armenian
    0x0404: "ie",
    0x042A: "'",
    0x044A: "'",
    0x0589: ":",
    # Hebrew; below, in `_SILENT`, are the points without a sound
    0x05BA: "o",
    0x05BE: "-",
    0x05C3: ".",
    0x05C6: "n o",
    0x05D0: "a",
    0x05D7: "h",
    0x05DA: "kh kh",
    0x05E7: "k",
    0x05EF: "yyy",
    0x05F2: "ey",
    # Latin: phonetic letters, small capitals, letters with a middle tilde, a palatal hook, a stroke or a tail
    0x1D00: "a ae ae b c d d e e i j k l m n o",
    0x1D11: "o",
    0x1D13: "o oe ou",
    0x1D18: "p r r t u u u m v w z",
    0x1D2F: "b",
    0x1D3B: "n",
    0x1D4E: "i",
    0x1D6C: "b d f m n p r r s t z g",
    0x1D7D: "p",
    0x1D80: "b d f g k l m n p r s",
    0x1D8C: "v x z",
    0x2132: "f",
    0x214E: "f",
    0x2C60: "l l l p r a t h h k k z z",
    0x2C6E: "m a",
    # Punctuation
    0x204A: "&",
    0x204E: "*",
    0x2052: "% ~",
    0x2758: "|",
    0x275C: '\' " " , ,,',
    0x2762: "!",
    0x2E00: "r r.",
    0x2E06: "t t.",
    0x2E09: "s",
    0x2E0B: r"[] \ /",
    0x2E0F: "__",
    0x2E12: "> %",
    0x2E16: "> =",
    0x2E19: r"/ - ~ \ / ~ ~ |- -|",
    0x2E26: "<= => (( ))",
    0x2E2C: "::",
    0x2E2E: "? ' o . , . , ;",
    0x2E3A: "---- ------ x |",
    0x2E40: '= , " `--',
    0x1F670: 'et et et et & & " " ,, !? !? !?',
    # Currencies and other signs: penny, peso, ... bitcoin; without the minus, a debt would be a credit
    0x20B0: "pf p g a uah c| l sm t rs l m m r l btc",
    0x2117: "(p)",
    0x211F: "r/",
    0x2123: "v/",
    0x212E: "e",
    0x214D: "a/s",
    # Mathematics
    0x2212: "-",
    0x2215: r"/ \ *",
    0x2223: "|",
    0x2236: ":",
    0x223C: "~",
    0x2264: "<= >= <= >=",
    0x2303: "^",
    0x2731: "*",
    0x27E6: "[",
    0x27E8: "<",
    0x2983: "{",
    # Numbers in circles
    0x24EB: "11 12 13 14 15 16 17 18 19 20 1 2 3 4 5 6 7 8 9 10 0",
    # Suits of cards, and music
    0x2660: "spades hearts diamonds clubs spades hearts diamonds clubs",
    0x266F: "#",
    # Japanese, in Hepburn's spelling
    0x3057: "shi",
    0x3061: "chi",
    0x3063: "tsu tsu",
    0x30A0: "=",
    0x30B7: "shi",
    0x30C1: "chi",
    0x30C3: "tsu tsu",
    0x30FB: "* -",
    # Words in squares
    0x1F191: "[cl] [cool] [free] [id] [new] [ng] [ok] [sos] [up!] [vs] [3d] [2nd-scr] [2k] [4k] [8k] [5.1] [7.1]",
    0x1F1A2: "[22.2] [60p] [120p] [d] [hc] [hdr] [hi-res] [lossless] [shv] [uhd] [vod] (m)",
}
_WITH_BLANKS = {0x27E9: "> ", 0x2984: "} "}
_SILENT = (0x05B0, 0x05BC, 0x1E9C, 0x1E9D, 0x1E9F)


def _number_forms(first: int, forms: Iterable[str]) -> dict[int, str]:
    return dict(enumerate(forms, first))


ASCII_FORMS: dict[int, str] = {
    **{point: form for first, forms in _RUNS.items() for point, form in _number_forms(first, forms.split()).items()},
    **_number_forms(_CIRCLED_A, (f"({letter})" for letter in ascii_lowercase)),
    **_number_forms(_SQUARED_A, (f"[{letter}]" for letter in ascii_lowercase)),
    **{piece: name(chr(piece)).lower().replace(" chess", "") for piece in _CHESS_PIECES},
    **dict.fromkeys(_SILENT, ""),
    **_WITH_BLANKS,
}
