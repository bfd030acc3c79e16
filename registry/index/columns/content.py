"""Profiles that an index holds, as one number: a sum, so it follows them change by change.

Each profile counts as a number of BITS bits, little-endian: the four digests, by BLAKE2b
of 64 bytes, of its own digest and one byte, 0 to 3. Sums of numbers this long can't be
made to meet (Bellare & Micciancio 1997).
"""

from hashlib import blake2b

import numpy as np

from registry.index.columns.rows import Bodies

BITS = 2048
_PIECES = [bytes([piece]) for piece in range(4)]


def content_of(bodies: Bodies) -> int:
    """Return the sum over all of them, below 2^BITS."""
    runs = bodies.runs
    views = [np.ascontiguousarray(array).data for array in runs.arrays]
    pieces = zip(
        *(runs.source.tolist(), runs.starts.tolist(), runs.lengths.tolist()),
        strict=True,
    )
    numbers = (
        _number(views[view][start : start + size]) for view, start, size in pieces
    )
    return sum(numbers) % (1 << BITS)


def _number(body: memoryview) -> int:
    digest = blake2b(body).digest()
    pieces = [blake2b(digest + piece).digest() for piece in _PIECES]
    return int.from_bytes(b"".join(pieces), "little")
