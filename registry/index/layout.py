"""The order of a segment's rows: near together, alike in meaning, best first.

It decides how much a search can leave out, never what it finds. Rows are divided by
place into regions, each region by meaning into topics, and a topic's rows are sorted by
merit; so each window lies in one region, means about one thing, and has few merits.
"""

import numpy as np
import numpy.typing as npt

from registry.index.rows import LOCAL, Rows
from registry.index.segment import divide
from registry.ranking.vectors import unpack_sites

REGION_ROWS = 16_384
TOPIC_ROWS = 4_096
_SAMPLE = 8_192
_ROUNDS = 4

Order = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def order_rows(
    rows: Rows,
    merits: npt.NDArray[np.int64],
    *,
    region_rows: int = REGION_ROWS,
    topic_rows: int = TOPIC_ROWS,
) -> Order:
    """The rows' numbers, in an order for `build_segment`."""
    local = (rows.flags & LOCAL) != 0
    regions = [
        *divide(np.flatnonzero(local), rows.vectors, region_rows),
        *_pieces(np.flatnonzero(~local), 4 * region_rows),
    ]
    ordered = [
        topic[np.argsort(-merits[topic], kind="stable")]
        for region in regions
        for topic in _topics(region, rows.embeddings, topic_rows)
    ]
    return np.concatenate([np.empty(0, np.int64), *ordered])


def _pieces(numbers: Order, most: int) -> list[Order]:
    return [numbers[start : start + most] for start in range(0, len(numbers), most)]


def _topics(
    region: Order, embeddings: npt.NDArray[np.uint8], topic_rows: int
) -> list[Order]:
    """Groups of like meaning, by k-means (Lloyd 1982) over a sample."""
    count = len(region) // topic_rows
    if count < 2:
        return [region]
    directions = _directions(embeddings[region])
    centres = _centres(directions[_spaced(len(region), _SAMPLE)], count)
    topic = np.argmax(directions @ centres.T, axis=1)
    by_topic = np.argsort(topic, kind="stable")
    ends = np.cumsum(np.bincount(topic, minlength=count))[:-1]
    return [region[group] for group in np.split(by_topic, ends) if len(group)]


def _directions(embeddings: npt.NDArray[np.uint8]) -> Floats:
    vectors = unpack_sites(embeddings).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Floats = vectors / np.maximum(lengths, 1)
    return directions


def _centres(sample: Floats, count: int) -> Floats:
    centres = sample[_spaced(len(sample), count)]
    for _ in range(_ROUNDS):
        nearest = np.argmax(sample @ centres.T, axis=1)
        # A product of matrices is many times as fast as adding at places.
        own = (nearest == np.arange(len(centres))[:, None]).astype(np.float32)
        sums = own @ sample
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-6), centres)
    return centres


def _spaced(length: int, count: int) -> Order:
    """At most so many positions, evenly apart."""
    return np.linspace(0, length - 1, min(length, count)).astype(np.int64)
