"""Width and height of an image from its first bytes. Nothing is decoded.

PNG (W3C, 3rd edition, 11.2.1), JPEG (ITU-T T.81, B.2.2) and WebP (RFC 9649) say them where a decoder reads them first.
"""

from __future__ import annotations

import struct

HEADER_BYTES = 32  # which hold the size of a PNG and of a WebP
MOST_HEADER_BYTES = 64 * 1024  # in which a JPEG may have comments, profiles and a thumbnail before its size
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
# Start of frame, baseline to lossless; among them are three markers of tables, which are none.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})


def is_jpeg(content: bytes) -> bool:
    """Whether bytes are the beginning of a JPEG, of which the size may be far from there."""
    return content.startswith(_JPEG)


def read_size(content: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; None of another file, or where the bytes end before them."""
    try:
        size = _read_png(content) or _read_webp(content) or _read_jpeg(content)
    except (struct.error, IndexError):
        return None
    return size if size and all(size) else None


def _read_png(content: bytes) -> tuple[int, int] | None:
    if not content.startswith(_PNG) or content[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _read_webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return None
    kind = content[12:16]
    if kind == b"VP8X":  # of an image with more than pixels: the size of its canvas
        return _decode_less_one(content[24:27]), _decode_less_one(content[27:30])
    if kind == b"VP8L" and content[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _decode_less_one(content: bytes) -> int:
    if len(content) < 3:
        raise IndexError
    return int.from_bytes(content, "little") + 1


def _read_jpeg(content: bytes) -> tuple[int, int] | None:
    """The size in the first frame, which stands after any number of segments with lengths."""
    if not is_jpeg(content):
        return None
    place = 2
    while content[place] == 0xFF:
        marker = content[place + 1]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return width, height
        if marker == 0xFF:  # a byte that fills
            place += 1
        elif marker in _WITHOUT_LENGTH:
            place += 2
        else:
            (length,) = struct.unpack_from(">H", content, place + 2)
            place += 2 + length
    return None
