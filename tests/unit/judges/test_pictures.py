from __future__ import annotations

import io
from base64 import b64decode

import pytest
from PIL import Image as Pillow

from pytest_webeval.errors import RecordingError
from pytest_webeval.judges import chat_completions as pictures
from pytest_webeval.judges.chat_completions import encode_picture
from pytest_webeval.judges.questions import Image
from pytest_webeval.safety.files import sha256


def draw(width, height, kind="PNG", mode="RGB"):
    written = io.BytesIO()
    Pillow.new(mode, (width, height)).save(written, kind)
    return written.getvalue()


def image(content):
    return Image("screenshot1.png", sha256(content), lambda: content)


def decode(url):
    head, _, text = url.partition(",")
    assert head == "data:image/jpeg;base64"
    with Pillow.open(io.BytesIO(b64decode(text))) as picture:
        return picture.format, picture.mode, picture.size


@pytest.mark.parametrize(
    ("content", "longest", "size"),
    [
        (draw(2000, 1000), 1024, (1024, 512)),
        (draw(1000, 2000, "JPEG"), 512, (256, 512)),
        (draw(64, 40, "WEBP"), 1024, (64, 40)),
        (draw(64, 40, mode="RGBA"), 1024, (64, 40)),
        (draw(64, 40, mode="P"), 1024, (64, 40)),
        (draw(1, 20_000), 1024, (1, 1024)),
    ],
)
def test_a_screenshot_is_a_jpeg_that_fits(content, longest, size):
    url = encode_picture(image(content), longest)
    assert decode(url) == ("JPEG", "RGB", size)
    assert encode_picture(image(content), longest) == url


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot read image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "cannot read image"),
        (draw(8, 8, "GIF"), "cannot read image"),
        (draw(600, 600)[:200], "cannot read image"),
        (draw(8_000, 8_000, mode="1"), "image too large: 8000 x 8000 pixels; the limit is 50,000,000 pixels"),
        (draw(20_000, 20_000, mode="1"), "decompression bomb"),
    ],
)
def test_an_image_that_cannot_be_sent_is_an_error_of_the_recording(content, message):
    with pytest.raises(RecordingError, match=rf"screenshot1\.png: .*{message}"):
        encode_picture(image(content))


def test_a_screenshot_that_has_changed_is_not_sent():
    content = draw(8, 8)
    with pytest.raises(RecordingError, match="has changed since it was read; score the run again"):
        encode_picture(Image("screenshot1.png", sha256(b"another"), lambda: content))


def test_a_picture_of_too_many_bytes_is_not_sent(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_BYTES", 100)
    with pytest.raises(RecordingError, match="bytes as a JPEG; lower image_size"):
        encode_picture(image(draw(64, 64)))
