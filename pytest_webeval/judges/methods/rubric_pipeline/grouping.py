"""Step 3: which screenshots are examined for which criterion, by their relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MAX_IMAGES = 5  # for each criterion
_RELEVANT = 6
_IRRELEVANT = 5
_LARGEST_GAP = 2

Groups = Mapping[int, Sequence[int]]  # images by criterion, the most relevant first


def group_images(relevance: Sequence[Sequence[int]], most: int = MAX_IMAGES) -> dict[int, list[int]]:
    """The most relevant images of each criterion, the later ones first among equals.

    `relevance` has a row for each image with a score for each criterion.
    """
    criteria = range(len(relevance[0]) if relevance else 0)
    order = sorted(range(len(relevance)), reverse=True)
    return {
        criterion: sorted(order, key=lambda image: relevance[image][criterion], reverse=True)[:most]
        for criterion in criteria
    }


def drop_irrelevant(groups: Groups, relevance: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The groups without images that are much less relevant than the relevant ones; all where none is relevant."""
    return {
        criterion: _filter(images, {image: relevance[image][criterion] for image in images})
        for criterion, images in groups.items()
    }


def _filter(images: Sequence[int], scores: Mapping[int, int]) -> list[int]:
    lowest = min((score for score in scores.values() if score >= _RELEVANT), default=None)
    if lowest is None:
        return list(images)
    return [image for image in images if scores[image] >= _IRRELEVANT or lowest - scores[image] <= _LARGEST_GAP]


def list_images(groups: Groups) -> dict[int, list[int]]:
    """The criteria of each image that is in a group, both in ascending order."""
    images = sorted({image for group in groups.values() for image in group})
    return {image: sorted(index for index, group in groups.items() if image in group) for image in images}
