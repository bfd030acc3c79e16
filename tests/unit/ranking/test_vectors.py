import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from registry.ranking.encoders.vectors import (
    DIMENSIONS,
    SITE_BYTES,
    length_in_bits,
    pack_sites,
    quantise_request,
    quantise_sites,
    reciprocals,
    scale_to_length,
    unpack_sites,
)

TOTALS = arrays(np.int64, DIMENSIONS, elements=st.integers(-(2**40), 2**40))
NIBBLES = arrays(np.int8, DIMENSIONS, elements=st.integers(-8, 7))


def unpacked(packed: bytes) -> np.ndarray:
    return unpack_sites(np.frombuffer(packed, np.uint8).reshape(1, -1))[0].astype(int)


@given(NIBBLES)
def test_what_is_packed_is_what_is_unpacked(vector: np.ndarray) -> None:
    (packed,) = pack_sites(vector[np.newaxis])
    assert len(packed) == SITE_BYTES
    assert unpacked(packed.tobytes()).tolist() == vector.tolist()


def test_the_even_dimension_is_in_the_low_half() -> None:
    vector = np.zeros(DIMENSIONS, np.int8)
    vector[:3] = [-1, 7, 2]
    assert pack_sites(vector[np.newaxis])[0, :2].tolist() == [0x7F, 0x02]


@given(TOTALS)
def test_a_quantised_vector_points_where_the_sum_did(total: np.ndarray) -> None:
    if not total.any():
        return
    site = unpacked(quantise_sites(total[np.newaxis]).tobytes())
    request = np.frombuffer(quantise_request(total), np.int8).astype(int)
    assert np.abs(site).max() == 7
    assert np.abs(request).max() == 127
    step = np.abs(total).max() / 7.5
    assert np.abs(site * step - total).max() <= step * 0.5001


@given(TOTALS)
def test_scaling_in_fractions_rounds_as_whole_numbers_do(total: np.ndarray) -> None:
    largest = max(1, int(np.abs(total).max()))
    exact = [(255 * int(item) + largest) // (2 * largest) for item in total]
    assert list(quantise_request(total)) == [min(item, 127) % 256 for item in exact]
    assert quantise_request(total.astype(np.float64)) == quantise_request(total)


@given(TOTALS, TOTALS)
def test_each_row_is_scaled_as_if_it_were_alone(
    first: np.ndarray, other: np.ndarray
) -> None:
    several = np.array([first, np.zeros(DIMENSIONS), other])
    alone = [scale_to_length(row).tobytes() for row in several]
    assert [row.tobytes() for row in scale_to_length(several)] == alone
    assert not scale_to_length(several)[1].any()
    packed = [quantise_sites(row[np.newaxis])[0].tolist() for row in several]
    assert quantise_sites(several).tolist() == packed


def test_nothing_has_no_direction() -> None:
    nothing = np.zeros(DIMENSIONS, np.int64)
    assert quantise_sites(nothing[np.newaxis]).tobytes() == bytes(SITE_BYTES)
    assert quantise_request(nothing) == bytes(DIMENSIONS)
    assert length_in_bits(bytes(DIMENSIONS), 16) == 0
    assert reciprocals(np.zeros((2, DIMENSIONS), np.int8)).tolist() == [0, 0]


def test_sums_that_cannot_be_scaled_exactly_are_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        quantise_request(np.full(DIMENSIONS, 2**60))


@given(NIBBLES)
def test_reciprocals_are_those_of_the_length(vector: np.ndarray) -> None:
    square = int((vector.astype(int) ** 2).sum())
    (result,) = reciprocals(vector.reshape(1, -1)).tolist()
    expected = min(2**16 / math.sqrt(square), 2**16 - 1) if square else 0
    assert abs(result - expected) <= 0.501


@given(arrays(np.int8, DIMENSIONS, elements=st.integers(-127, 127)))
def test_length_is_rounded_down(vector: np.ndarray) -> None:
    square = int((vector.astype(int) ** 2).sum())
    result = length_in_bits(vector.tobytes(), 16)
    assert result**2 <= square << 32 < (result + 1) ** 2
