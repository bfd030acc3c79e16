"""Digests of the profiles that an index holds."""

from hashlib import sha256

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import Bodies
from registry.records.generation import DIGEST_BYTES


def digests_of(bodies: Bodies) -> npt.NDArray[np.uint8]:
    """Return the SHA-256 of each profile, a row each."""
    runs = bodies.runs
    views = [np.ascontiguousarray(array).data for array in runs.arrays]
    pieces = zip(
        *(runs.source.tolist(), runs.starts.tolist(), runs.lengths.tolist()),
        strict=True,
    )
    digests = b"".join(
        sha256(views[view][start : start + size]).digest()
        for view, start, size in pieces
    )
    return np.frombuffer(digests, np.uint8).reshape(len(runs), DIGEST_BYTES)
