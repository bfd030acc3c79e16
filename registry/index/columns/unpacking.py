"""Embeddings as numbers that matrices are multiplied by: to order rows and to bound by."""

import numpy as np
import numpy.typing as npt

from registry.ranking.encoders.vectors import unpack_sites

AT_ONCE = 2_048
"""Rows to be unpacked at once, some whole blocks: so they stay in the cache."""

Floats = npt.NDArray[np.float32]
"""Arrays of whole numbers. Sums of products below 2^24 are exact, in whatever order."""


def unpacked(packed: npt.NDArray[np.uint8]) -> Floats:
    """Return shape (n, DIMENSIONS). packed: shape (n, SITE_BYTES)."""
    return unpack_sites(packed).astype(np.float32)
