"""What profiles an index holds, as one number: a sum, so it follows them change by change.

Each profile counts as a number of BITS bits, little-endian: the four digests, by BLAKE2b
of 64 bytes, of its own digest and one byte, 0 to 3. Sums of numbers this long can't be
made to meet (Bellare & Micciancio 1997).
"""

import ctypes
from ctypes import c_int64, c_void_p
from hashlib import blake2b

import numpy as np

from registry.compiled.library import find_library, pointer_to
from registry.index.columns.rows import Bodies

BITS = 2048
_PIECES = 4


def content_of(bodies: Bodies) -> int:
    """The sum over all of them, below 2^BITS."""
    library = find_library()
    return content_plainly(bodies) if library is None else _compiled(bodies, library)


def content_plainly(bodies: Bodies) -> int:
    return sum(map(_number, map(bodies.__getitem__, range(len(bodies.runs))))) % (
        1 << BITS
    )


def _number(body: bytes) -> int:
    seed = blake2b(body).digest()
    pieces = (blake2b(seed + bytes([n])).digest() for n in range(_PIECES))
    return int.from_bytes(b"".join(pieces), "little")


def _compiled(bodies: Bodies, library: ctypes.CDLL) -> int:
    """See `csrc/contents.c`."""
    runs = bodies.runs
    whole = [np.ascontiguousarray(array) for array in runs.arrays]
    told = [
        np.ascontiguousarray(one) for one in (runs.source, runs.starts, runs.lengths)
    ]
    total = np.zeros(BITS // 64, np.uint64)
    library.sum_contents(
        (c_void_p * len(whole))(*(array.ctypes.data for array in whole)),
        *map(pointer_to, told),
        c_int64(len(runs)),
        pointer_to(total),
    )
    return int.from_bytes(total.astype("<u8").tobytes(), "little")
