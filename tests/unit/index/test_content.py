"""The sum that tells what profiles an index holds."""

from hashlib import blake2b

import numpy as np
import pytest

from registry.index.columns.content import BITS, content_of
from registry.index.columns.rows import Bodies
from registry.index.columns.runs import join_runs


def number_of(body: bytes) -> int:
    """Return the definition's number, by itself."""
    digest = blake2b(body).digest()
    pieces = b"".join(blake2b(digest + bytes([n])).digest() for n in range(4))
    return int.from_bytes(pieces, "little")


@pytest.mark.parametrize("size", [0, 1, 128, 5_000])
def test_content_is_the_sum_of_the_numbers_of_all_profiles(size: int) -> None:
    rng = np.random.default_rng(size)
    parts = [[rng.bytes(size), b"", rng.bytes(7)] for _ in range(3)]
    joined = Bodies(join_runs([Bodies.of(part).runs for part in parts]))
    wanted = sum(number_of(body) for part in parts for body in part) % (1 << BITS)
    assert content_of(joined) == wanted
    backwards = joined.runs.take(np.arange(len(joined.runs))[::-1])
    assert content_of(Bodies(backwards)) == wanted
    assert content_of(Bodies.of(parts[0])) != wanted
