"""Rows are added up to the same bits by the compiled loop and by NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.compiled.library import find_library
from registry.ranking.pooling import (
    CompiledPooling,
    PlainPooling,
    Pooling,
    pack_piece,
    pooling_of,
)
from registry.ranking.vectors import DIMENSIONS

ROWS = 50
TABLE = np.random.default_rng(70).integers(
    -(2**15), 2**15, (ROWS, DIMENSIONS), np.int16
)
PIECE = st.builds(pack_piece, st.integers(0, ROWS - 1), st.integers(0, 100))
PIECES = st.lists(PIECE, max_size=60).map(b"".join)
PLAIN = PlainPooling(TABLE)


@pytest.fixture(params=["compiled", "plain"])
def pooling(request: pytest.FixtureRequest) -> Pooling:
    return compiled() if request.param == "compiled" else PLAIN


def compiled() -> CompiledPooling:
    library = find_library()
    if library is None:
        pytest.skip("nothing was compiled here")
    return CompiledPooling(TABLE, library)


@given(PIECES)
def test_a_request_has_one_vector_compiled_or_not(pieces: bytes) -> None:
    assert compiled().request(pieces) == PLAIN.request(pieces)


@given(st.lists(st.tuples(PIECES, st.integers(0, 100)), min_size=1, max_size=4))
def test_fields_have_one_sum_compiled_or_not(fields: list[tuple[bytes, int]]) -> None:
    assert compiled().sums(fields).tolist() == PLAIN.sums(fields).tolist()


def test_rows_are_added_by_their_weights(pooling: Pooling) -> None:
    pieces = pack_piece(3, 4) + pack_piece(7, 1)
    wanted = 4 * TABLE[3].astype(int) + TABLE[7]
    assert pooling.sums([(pieces, 1)]).tolist() == wanted.tolist()
    assert pooling.sums([(pieces, 5), (pieces, 2)]).tolist() == (7 * wanted).tolist()


def test_nothing_means_nothing(pooling: Pooling) -> None:
    assert pooling.request(b"") == bytes(DIMENSIONS)
    assert pooling.sums([(b"", 3)]).tolist() == [0] * DIMENSIONS


def test_sums_too_large_to_be_exact_are_refused(pooling: Pooling) -> None:
    pieces = pack_piece(0, 2**31 - 1) * 2**4
    with pytest.raises(ValueError, match="too large"):
        pooling.request(pieces)


def test_the_compiled_loop_is_taken_where_there_is_one() -> None:
    wanted = PlainPooling if find_library() is None else CompiledPooling
    assert isinstance(pooling_of(TABLE), wanted)
