"""The size of an image from its first bytes, as Pillow writes them and as nobody should."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from pytest_webeval.reports.html.screenshots import HEADER_BYTES, MOST_HEADER_BYTES, read_size


def image(kind, size=(123, 45), mode="RGB", **options):
    written = io.BytesIO()
    Image.new(mode, size, 7).save(written, kind, **options)
    return written.getvalue()


IMAGES = {
    "PNG": image("PNG"),
    "wide PNG": image("PNG", (70_000, 1), "L"),
    "JPEG": image("JPEG"),
    "progressive JPEG": image("JPEG", progressive=True),
    "JPEG with a profile": image("JPEG", icc_profile=b"x" * 40_000, exif=b"Exif\0\0" + b"y" * 20_000),
    "WebP": image("WEBP"),
    "lossless WebP": image("WEBP", lossless=True),
    "WebP with a profile": image("WEBP", exif=b"Exif\0\0" + b"y" * 20),
}


@pytest.mark.parametrize("content", IMAGES.values(), ids=IMAGES)
def test_the_size_is_that_which_pillow_reads(content):
    with Image.open(io.BytesIO(content)) as opened:
        assert read_size(content[:MOST_HEADER_BYTES]) == opened.size
        assert opened.format == "JPEG" or read_size(content[:HEADER_BYTES]) == opened.size


FILLED = b"\xff\xd8\xff\xff\xff\xc0\x00\x11\x08" + struct.pack(">HH", 45, 123)


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (FILLED, (123, 45)),
        (image("GIF", mode="L"), None),
        (image("BMP"), None),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", None),
        (b"<!doctype html><title>x</title>", None),
        (IMAGES["PNG"][:20], None),
        (IMAGES["JPEG"][:30], None),
        (IMAGES["WebP"][:28], None),
        (IMAGES["WebP with a profile"][:26], None),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 0, 7), None),
        (b"\xff\xd8\xff\xe0\x00\x00" * 1000, None),
        (b"\xff\xd8" + b"\xff" * MOST_HEADER_BYTES, None),
        (b"\xff\xd8\xff\xd9", None),
        (b"", None),
    ],
)
def test_what_is_no_image_or_is_cut_has_no_size(content, size):
    assert read_size(content) == size


@given(st.sampled_from(list(IMAGES.values())), st.binary(max_size=40), st.integers(0, 40))
@example(IMAGES["WebP"], b"VP8X", 12)
def test_any_bytes_have_a_size_or_none(content, other, place):
    size = read_size((content[:place] + other + content[place:])[:MOST_HEADER_BYTES])
    assert size is None or (size[0] > 0 and size[1] > 0)
