"""The vectors of sites at length 1, to order rows and to bound by, never to score."""

from ctypes import c_int64

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.ranking import vectors


def directions(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """As `vectors.directions`, to the bit."""
    library = find_library()
    if library is None:
        return vectors.directions(packed)
    packed = np.ascontiguousarray(packed)
    made = np.empty((len(packed), vectors.DIMENSIONS), np.float32)
    library.write_directions(pointer_to(packed), c_int64(len(packed)), pointer_to(made))
    return made
