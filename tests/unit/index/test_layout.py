"""The order of rows: blocks of one topic each, the best of it first."""

from dataclasses import replace

import numpy as np
import pytest

from registry.index.columns.rows import LOCAL, Bodies, Rows
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.index.segments.layout import order_rows
from registry.index.segments.segment import BLOCK_ROWS
from registry.ranking.encoders.vectors import SITE_BYTES, reciprocals, unpack_sites


def meaning_rows(sizes: dict[int, int], rng: np.random.Generator) -> Rows:
    """So many rows that mean one dimension each; all local."""
    n = sum(sizes.values())
    meant = np.repeat(list(sizes), list(sizes.values()))
    embeddings = np.zeros((n, SITE_BYTES), np.uint8)
    embeddings[np.arange(n), meant // 2] = 7
    shuffled = rng.permutation(n)
    zeros = np.zeros(n, np.int64)
    return Rows(
        site_ids=np.arange(1, n + 1),
        publishers=np.arange(1, n + 1),
        representatives=zeros,
        depth=zeros.astype(np.uint16),
        quality=zeros.astype(np.uint16),
        changed_s=zeros.astype(np.uint32),
        flags=np.full(n, LOCAL, np.uint8),
        vectors=np.zeros((n, 3), np.int32),
        embeddings=embeddings[shuffled],
        reciprocals=reciprocals(unpack_sites(embeddings)),
        signatures=np.zeros((n, SIGNATURE_BYTES), np.uint8),
        bodies=Bodies.of([b""] * n),
        starts=np.zeros(n + 1, np.int64),
        hashes=np.empty(0, np.uint64),
        impacts=np.empty(0, np.uint8),
    )


def test_no_window_begins_with_one_topic_and_ends_with_another() -> None:
    rng = np.random.default_rng(1)
    rows = meaning_rows({0: 700, 40: 900, 80: 600}, rng)
    merits = rng.integers(0, 60_000_000, len(rows))

    order = order_rows(rows, merits, topic_rows=733)
    meant = rows.embeddings.argmax(axis=1)[order]
    whole = 700 // BLOCK_ROWS + 900 // BLOCK_ROWS + 600 // BLOCK_ROWS

    assert sorted(order.tolist()) == list(range(len(rows)))
    for block in range(whole):
        own = slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)
        assert len(set(meant[own].tolist())) == 1
        assert (np.diff(merits[order[own]]) <= 0).all()


def test_what_is_left_of_a_topic_is_the_least_of_it() -> None:
    rng = np.random.default_rng(2)
    rows = meaning_rows({0: 700, 80: 900}, rng)
    merits = rng.integers(0, 60_000_000, len(rows))

    order = order_rows(rows, merits, topic_rows=800)
    whole = (700 // BLOCK_ROWS + 900 // BLOCK_ROWS) * BLOCK_ROWS
    meant = rows.embeddings.argmax(axis=1)

    for topic in (0, 40):
        first = [item for item in order[:whole] if meant[item] == topic]
        left = [item for item in order[whole:] if meant[item] == topic]
        assert min(merits[first]) >= max(merits[left])


@pytest.mark.parametrize("n", [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1])
def test_few_rows_are_one_topic(n: int) -> None:
    rng = np.random.default_rng(3)
    rows = meaning_rows({0: n}, rng)
    merits = rng.integers(0, 60_000_000, n)

    order = order_rows(rows, merits)

    assert order.tolist() == np.argsort(-merits, kind="stable").tolist()


def test_rows_that_count_where_they_are_lie_before_the_others() -> None:
    rng = np.random.default_rng(4)
    rows = meaning_rows({0: 2 * BLOCK_ROWS}, rng)
    flags = (rng.permutation(2 * BLOCK_ROWS) < BLOCK_ROWS).astype(np.uint8) * np.uint8(
        LOCAL
    )

    order = order_rows(replace(rows, flags=flags), np.zeros(len(rows), np.int64))

    assert (np.diff(flags[order].astype(int)) <= 0).all()
