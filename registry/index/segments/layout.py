"""The order of a segment's rows: alike in meaning, best first.

It decides how much a search can leave out, never what it finds. Rows with a place that
counts and rows without are each divided by meaning into topics, and a topic's rows are
sorted by merit; so the embeddings of a block point about one way, and few merits are in
it. No block begins with one topic and ends with another: what a topic has beyond whole
blocks, its least, lies behind all topics. Where a row is, its cell tells: see `segment`.
"""

import math

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import LOCAL, Rows
from registry.index.segments.segment import AT_ONCE, BLOCK_ROWS, Floats, unpacked

TOPIC_ROWS = 768
_SAMPLE = 4_096
_ROUNDS = 10
_UNIT = 1 << 16
"""The length of a centre: products with embeddings stay exact."""

Order = npt.NDArray[np.int64]


def order_rows(
    rows: Rows, merits: npt.NDArray[np.int64], *, topic_rows: int = TOPIC_ROWS
) -> Order:
    """The rows' numbers, in an order for `build_segment`."""
    local = (rows.flags & LOCAL) != 0
    topics = [
        topic[np.argsort(-merits[topic], kind="stable")]
        for own in (np.flatnonzero(local), np.flatnonzero(~local))
        for topic in _topics(own, rows, topic_rows)
    ]
    ends = [len(topic) // BLOCK_ROWS * BLOCK_ROWS for topic in topics]
    both = list(zip(topics, ends, strict=True))
    whole, left = (
        [order[:end] for order, end in both],
        [topic[end:] for topic, end in both],
    )
    return np.concatenate([np.empty(0, np.int64), *whole, *left])


def _topics(own: Order, rows: Rows, topic_rows: int) -> list[Order]:
    """Groups of like meaning of about so many rows, in two steps, each of k-means."""
    subjects = round(math.sqrt(len(own) / topic_rows))
    return [
        topic
        for subject in _divide(own, rows, subjects)
        for topic in _divide(subject, rows, round(len(subject) / topic_rows))
    ]


def _divide(own: Order, rows: Rows, count: int) -> list[Order]:
    """Groups of like meaning, by k-means (Lloyd 1982) over a sample."""
    if count < 2:
        return [own]
    sample = own[_spaced(len(own), _SAMPLE)]
    centres = _centres(
        unpacked(rows.embeddings[sample]), rows.reciprocals[sample], count
    )
    chunks = (own[start : start + AT_ONCE] for start in range(0, len(own), AT_ONCE))
    group = np.concatenate(
        [_nearest(unpacked(rows.embeddings[chunk]), centres) for chunk in chunks]
    )
    by_group = np.argsort(group.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=count))[:-1]
    return [own[part] for part in np.split(by_group, ends) if len(part)]


def _centres(sample: Floats, reciprocals: npt.NDArray[np.uint16], count: int) -> Floats:
    """Directions; reciprocals: of the lengths, so that each of the sample counts alike."""
    weights = (reciprocals >> 4).astype(np.float32)  # their sums stay exact
    centres = _scaled(sample[_spaced(len(sample), count)])
    for _ in range(_ROUNDS):
        nearest = _nearest(sample, centres)
        # A product of matrices is many times as fast as adding at places.
        sums = ((nearest == np.arange(len(centres))[:, None]) * weights) @ sample
        centres = np.where(sums.any(axis=1, keepdims=True), _scaled(sums), centres)
    return centres


def _nearest(vectors: Floats, centres: Floats) -> Order:
    nearest: Order = np.argmax(vectors @ centres.T, axis=1)
    return nearest


def _scaled(sums: Floats) -> Floats:
    lengths = np.linalg.norm(sums.astype(np.float64), axis=1, keepdims=True)
    scaled: Floats = np.rint(sums * (_UNIT / np.maximum(lengths, 1))).astype(np.float32)
    return scaled


def _spaced(length: int, count: int) -> Order:
    """Return at most `count` positions, evenly apart."""
    return np.linspace(0, length - 1, min(length, count)).astype(np.int64)
