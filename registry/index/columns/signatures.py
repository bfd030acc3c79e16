"""Signatures: what a site says in 32 bytes, by which near-duplicates are recognised.

A byte comes of the smallest hash of the site's words under one of 32 permutations (MinHash,
Broder 1997), so that the share of equal bytes estimates the Jaccard index of two sites.
Their names and hosts were cut out before. What a site says of itself counts several times:
shops of one platform share the words of their actions.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from registry.index.columns.hashes import hash_bytes, hash_word, words_of
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile

SIGNATURE_BYTES = 32
BANDS = 4
"""Groups of four bytes, from the first on, of which near-duplicates share one."""

Signatures = npt.NDArray[np.uint8]

_PERMUTATIONS = [
    np.uint64(hash_bytes(b"permutation %d" % n) | 1) for n in range(SIGNATURE_BYTES)
]
_MIXED = np.uint64(hash_bytes(b"mixed") | 1)
_TOP_BYTE = np.uint64(56)


def signatures_of(profiles: Sequence[Profile], policy: Policy) -> Signatures:
    """Return shape (n, SIGNATURE_BYTES); zeros for a site that says nothing."""
    features = [_features(profile, policy) for profile in profiles]
    signatures = np.zeros((len(profiles), SIGNATURE_BYTES), np.uint8)
    filled = np.flatnonzero([len(own) > 0 for own in features])
    if not len(filled):
        return signatures
    hashes = np.concatenate([features[number] for number in filled.tolist()])
    lengths = [len(features[number]) for number in filled.tolist()]
    starts = np.cumsum([0, *lengths[:-1]])
    for column, permutation in enumerate(_PERMUTATIONS):
        least = np.minimum.reduceat(hashes * permutation, starts)
        signatures[filled, column] = (least * _MIXED) >> _TOP_BYTE
    return signatures


def bands_of(signatures: Signatures) -> npt.NDArray[np.uint32]:
    """Return shape (BANDS, n)."""
    leading = np.ascontiguousarray(signatures[:, : 4 * BANDS])
    return np.ascontiguousarray(leading.view("<u4").T)


def are_alike(
    signatures: Signatures, others: Signatures, policy: Policy
) -> npt.NDArray[np.bool_]:
    """Compare two arrays side by side, or one signature with each of an array."""
    equal = (signatures == others).sum(axis=-1)
    alike: npt.NDArray[np.bool_] = equal >= policy.duplicate_signature_bytes
    return alike


def _features(profile: Profile, policy: Policy) -> npt.NDArray[np.uint64]:
    features = [*map(hash_word, words_of(profile))]
    for term in profile.site_terms:
        features += _repeated(term, policy.signature_site_weight)
    return np.array(features, np.uint64)


@lru_cache(maxsize=16_384)
def _repeated(term: str, times: int) -> list[int]:
    return [hash_word(f"{number} {term}") for number in range(1, times)]
