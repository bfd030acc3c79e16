import random

import numpy as np
import pytest

from registry.compiled.library import find_library
from registry.index.columns.unpacking import unpacked, unpacked_plainly
from registry.ranking import vectors


@pytest.mark.skipif(find_library() is None, reason="not compiled here")
@pytest.mark.parametrize("count", [0, 1, 700])
def test_both_come_to_the_same_numbers(count: int) -> None:
    drawn = random.Random(count).randbytes(count * vectors.SITE_BYTES)
    packed = np.frombuffer(drawn, np.uint8).reshape(count, vectors.SITE_BYTES)
    compiled, plain = unpacked(packed), unpacked_plainly(packed)
    assert compiled.tobytes() == plain.tobytes()
