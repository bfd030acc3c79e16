"""Rows of the token table are added up by their weights."""

import numpy as np
import pytest

from registry.ranking.encoders.static_encoder import Pooling, pack_piece
from registry.ranking.encoders.vectors import DIMENSIONS, quantise_request

TABLE = np.random.default_rng(70).integers(-(2**15), 2**15, (50, DIMENSIONS), np.int16)


@pytest.fixture
def pooling() -> Pooling:
    return Pooling(TABLE)


def test_rows_are_added_by_their_weights(pooling: Pooling) -> None:
    pieces = pack_piece(3, 4) + pack_piece(7, 1)
    wanted = 4 * TABLE[3].astype(int) + TABLE[7]
    assert pooling.sums([(pieces, 1)]).tolist() == wanted.tolist()
    assert pooling.sums([(pieces, 5), (pieces, 2)]).tolist() == (7 * wanted).tolist()


def test_nothing_means_nothing(pooling: Pooling) -> None:
    assert pooling.sums([(b"", 3)]).tolist() == [0] * DIMENSIONS


def test_sums_too_large_to_be_exact_are_refused(pooling: Pooling) -> None:
    pieces = pack_piece(0, 2**31 - 1) * 2**4
    with pytest.raises(ValueError, match="too large"):
        quantise_request(pooling.sums([(pieces, 1)]))
