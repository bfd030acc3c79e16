import random

import numpy as np
import pytest

from registry.compiled.library import find_library
from registry.index.columns.directions import directions
from registry.ranking import vectors


@pytest.mark.skipif(find_library() is None, reason="not compiled here")
@pytest.mark.parametrize("count", [0, 1, 700])
def test_both_come_to_the_same_floats(count: int) -> None:
    drawn = random.Random(count).randbytes(count * vectors.SITE_BYTES)
    packed = np.frombuffer(drawn, np.uint8).reshape(count, vectors.SITE_BYTES).copy()
    packed[::5] = 0
    packed[1::7, 3:] = 0
    compiled, plain = directions(packed), vectors.directions(packed)
    assert compiled.tobytes() == plain.tobytes()
