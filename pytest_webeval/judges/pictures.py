"""A recorded screenshot as a judge gets it: a JPEG of bounded size, in a `data:` URL."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from types import ModuleType

from pytest_webeval.errors import RecordingError
from pytest_webeval.judges.questions import Image
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.pictures import load_pillow, shrink_picture

LONGEST_SIDE = 1024  # pixels, where the parameters of a question have no `image_size`
MOST_BYTES = 8 * 2**20  # of a picture as it is sent
_QUALITY = 85


def encode_picture(image: Image, longest: int = LONGEST_SIDE) -> str:
    """A `data:` URL with the screenshot as a JPEG, no side of which has more than `longest` pixels.

    The same screenshot gives the same URL. It is always encoded anew, so that nothing but its pixels is sent: no
    metadata, and nothing behind its end.

    Raises `RecordingError`, since it is the recording that is damaged: the file is not a picture, has too many pixels
    or bytes, or has changed since the question was made. Such a run is an error. As a `JudgeFailed` it would be
    excluded, and an agent could choose that for runs that it failed.
    """
    content = image.load()
    if sha256(content) != image.sha256:
        raise RecordingError(f"{image.name} has changed since it was read; score the run again")
    try:
        small = shrink_picture(content, (longest, longest), _QUALITY, load_judge_pillow())
    except RecordingError as error:
        raise RecordingError(f"{image.name}: {error}") from error
    if len(small) > MOST_BYTES:
        raise RecordingError(f"{image.name} has {len(small):,} bytes as a JPEG; lower image_size")
    return f"data:image/jpeg;base64,{b64encode(small).decode()}"


load_judge_pillow = partial[ModuleType](load_pillow, "a judge that sees screenshots", "judge")
