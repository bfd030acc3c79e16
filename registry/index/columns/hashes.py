"""Hashes of words: the first eight bytes of their BLAKE2b, of what a site says even."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

import numpy as np
import numpy.typing as npt

from registry.ranking.profile import Profile


@lru_cache(maxsize=65_536)
def hash_word(term: str) -> int:
    """Return an even hash."""
    return hash_bytes(term.encode()) & ~1


def hash_bytes(content: bytes) -> int:
    """Return the first eight bytes of a BLAKE2b of that length, big-endian."""
    return int.from_bytes(blake2b(content, digest_size=8).digest())


def find_hash(hashes: npt.NDArray[np.uint64], hash_: int) -> int | None:
    """Return its position among ascending hashes, or None."""
    at = int(np.searchsorted(hashes, np.uint64(hash_)))
    return at if at < len(hashes) and hashes[at] == hash_ else None


def words_of(profile: Profile) -> Iterable[str]:
    """Return the distinct terms of what a site says, in order, field by field."""
    fields = [
        (a.name_terms, a.description_terms, a.parameter_terms) for a in profile.actions
    ]
    return dict.fromkeys(chain(profile.site_terms, *chain.from_iterable(fields)))
