"""Vectors of meaning in whole numbers: their storage and comparison.

A site's vector has DIMENSIONS four-bit numbers, a request's as many signed bytes. The
cosine of two is their product, times the site's `reciprocal`, times a constant of the
request; no step needs a fraction, so all machines get the same bits. Leading dimensions
hold the most of what tells texts apart, so a bound can stop early.
"""

import math

import numpy as np
import numpy.typing as npt

DIMENSIONS = 276
SITE_BYTES = DIMENSIONS // 2
SITE_MOST = 7
REQUEST_MOST = 127
RECIPROCAL_BITS = 16
SUM_LIMIT = 2.0**44
LENGTH = 1 << 20
_FINE = 1 << 15

Floats = npt.NDArray[np.float64]

Whole = npt.NDArray[np.int64] | npt.NDArray[np.floating]
"""Arrays of whole numbers."""


def scale_to_length(total: Floats, length: int = LENGTH) -> Floats:
    """Scale whole numbers along the last axis to a length, in whole numbers.

    Zero stays zero.
    """
    largest = np.abs(total).max(axis=-1, keepdims=True)
    whole = np.rint(total * (_FINE / np.maximum(largest, 1)))
    squares = np.maximum(np.square(whole).sum(axis=-1, keepdims=True), 1)
    scaled: Floats = np.rint(whole * (length / np.sqrt(squares)))
    return scaled


def quantise_request(total: Whole) -> bytes:
    """Return signed bytes, the largest of them REQUEST_MOST; all zero if total is."""
    return _scaled(total, REQUEST_MOST).tobytes()


def quantise_sites(totals: Whole) -> npt.NDArray[np.uint8]:
    """Return of each row SITE_BYTES bytes of two numbers up to SITE_MOST, the even low.

    The largest number is scaled to half a step beyond SITE_MOST and cut there, which
    leaves the direction nearer to the true one than scaling it to SITE_MOST.
    """
    return pack_sites(_scaled(totals, SITE_MOST))


def _scaled(total: Whole, most: int) -> npt.NDArray[np.int8]:
    """Scale along the last axis and round half up, exactly: all are whole numbers.

    A quotient of two whole numbers, of which the first is below 2^53, is never rounded
    up to the next whole number.
    """
    largest = np.maximum(np.abs(total).max(axis=-1, keepdims=True), 1.0)
    if (largest >= SUM_LIMIT).any():
        raise ValueError("the sums are too large to be scaled exactly")
    scaled = np.floor((total * (2.0 * most + 1.0) + largest) / (2.0 * largest))
    quantised: npt.NDArray[np.int8] = np.minimum(scaled, most).astype(np.int8)
    return quantised  # none is below -most


def pack_sites(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Pack shape (n, DIMENSIONS), -8..7, into two's complement nibbles."""
    nibbles = vectors.view(np.uint8) & np.uint8(0xF)
    packed: npt.NDArray[np.uint8] = nibbles[:, 0::2] | (nibbles[:, 1::2] << np.uint8(4))
    return packed


def unpack_sites(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
    """Unpack shape (n, SITE_BYTES) into shape (n, DIMENSIONS)."""
    vectors = np.empty((len(packed), DIMENSIONS), np.int8)
    vectors[:, 0::2] = (packed << 4).view(np.int8) >> 4
    vectors[:, 1::2] = packed.view(np.int8) >> 4
    return vectors


def reciprocals(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.uint16]:
    """Return 2^16 over each vector's length, rounded; 0 for a zero vector."""
    squares = np.square(vectors, dtype=np.int64).sum(axis=1)
    distinct, inverse = np.unique(squares, return_inverse=True)
    return np.array([_reciprocal(int(n)) for n in distinct], np.uint16)[inverse]


def _reciprocal(square: int) -> int:
    if square == 0:
        return 0
    doubled = math.isqrt((1 << 2 * RECIPROCAL_BITS + 2) // square)
    return min((doubled + 1) // 2, (1 << RECIPROCAL_BITS) - 1)


def length_in_bits(vector: bytes, bits: int) -> int:
    """Return 2^bits times the length of a request's vector, rounded down."""
    signed = np.frombuffer(vector, np.int8).astype(np.float32)
    return math.isqrt(int(signed.dot(signed)) << 2 * bits)  # the sum is below 2^24
