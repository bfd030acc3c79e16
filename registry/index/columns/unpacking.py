"""Embeddings as numbers that matrices are multiplied by: to order rows and to bound by."""

from ctypes import c_int64

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.ranking.vectors import DIMENSIONS, unpack_sites

AT_ONCE = 2_048
"""Rows to be unpacked at once, some whole windows: so they stay in the cache."""

Floats = npt.NDArray[np.float32]
"""Whole numbers. Sums of products below 2^24 are exact, in whatever order."""


def unpacked(packed: npt.NDArray[np.uint8]) -> Floats:
    """packed: shape (n, SITE_BYTES). Returns shape (n, DIMENSIONS)."""
    library = find_library()
    if library is None:
        return unpacked_plainly(packed)
    packed = np.ascontiguousarray(packed)
    made = np.empty((len(packed), DIMENSIONS), np.float32)
    library.unpack_embeddings(
        pointer_to(packed), c_int64(packed.size), pointer_to(made)
    )
    return made


def unpacked_plainly(packed: npt.NDArray[np.uint8]) -> Floats:
    return unpack_sites(packed).astype(np.float32)
