"""Small copies of untrusted pictures, decoded only where their files say that they are not too large."""

from __future__ import annotations

import io
from types import ModuleType

from pytest_webeval.errors import RecordingError, SettingsError

MOST_PIXELS = 50_000_000  # of a picture that is shown or made smaller: its file says how many, before it is decoded
_FORMATS = ("PNG", "JPEG", "WEBP")


def shrink_picture(content: bytes, most: tuple[int, int], quality: int, image_module: ModuleType) -> bytes:
    """A JPEG of a picture, at most so wide and so high. Raises `RecordingError` if it cannot be read or is too large.

    The same picture gives the same bytes, as long as Pillow is the same. `image_module` is that of `load_pillow`.
    """
    try:
        with image_module.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                size = f"{image.width} x {image.height} pixels"
                raise RecordingError(f"image too large: {size}; the limit is {MOST_PIXELS:,} pixels")
            image.draft("RGB", most)  # a JPEG need not be decoded at full size
            small = image.convert("RGB")
            small.thumbnail(most)
            written = io.BytesIO()
            small.save(written, "JPEG", quality=quality, optimize=True)
            return written.getvalue()
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, image_module.DecompressionBombError) as error:
        raise RecordingError(f"cannot read image: {error}; copy the run again") from error


def load_pillow(feature: str, extra: str) -> ModuleType:
    """The library that reads pictures. Raises `SettingsError` that names the extra to install."""
    try:
        from PIL import Image  # only for the options that need it
    except ImportError as error:
        problem = f"{feature} requires Pillow"
        raise SettingsError(f"{problem}; install it with pip install 'pytest-webeval[{extra}]'") from error
    return Image
