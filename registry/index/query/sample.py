"""A uniform sample of the eligible sites, fixed by the seed of the request.

Reports compare who was shown with who could have been; the sample stands for the
latter. The sites with the smallest SplitMix64 (Steele, Lea & Flood 2014) of seed and id
are in it, so that anyone with the seed can check a site's membership.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

KEYS = 2**64
"""Bound of the keys by which a sample is drawn."""


def splitmix64(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def hash_sites(site_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    return splitmix64(site_ids.astype(np.uint64))


def sample_sites(
    site_ids: npt.NDArray[np.int64], seed: bytes, size: int
) -> tuple[int, ...]:
    """Draw at most `size` of the ids, ascending; all of them if there are no more.

    seed: its first 8 bytes count, big-endian.
    """
    if len(site_ids) > size:
        keys = draw_keys(site_ids, seed)
        # The mixing is one to one: no two ids have the same key.
        site_ids = site_ids[np.argpartition(keys, size - 1)[:size]]
    return tuple(sorted(site_ids.tolist()))


def draw_keys(site_ids: npt.NDArray[np.int64], seed: bytes) -> npt.NDArray[np.uint64]:
    """Return the keys, 0..2^64-1, of which the least are drawn."""
    start = np.uint64(int.from_bytes(seed[:8], "big"))
    return splitmix64(site_ids.astype(np.uint64) ^ start)


def left_out(
    eligible: Iterable[int],
    sample: Sequence[int],
    seed: bytes,
    size: int,
    *,
    is_part: bool,
) -> list[int]:
    """Return which of some eligible sites belong into the sample and are not in it.

    is_part: it was drawn from some of the sites, those of least hash (`EligibleEstimate`).
    """
    others = np.array(sorted({*eligible} - {*sample}), np.int64)
    own = np.array(sample, np.int64)
    belong = np.ones(len(others), np.bool_)
    if len(own) >= size:
        belong &= draw_keys(others, seed) < draw_keys(own, seed).max()
    if is_part:
        belong &= hash_sites(others) <= hash_sites(own).max(initial=0)
    ids: list[int] = others[belong].tolist()
    return ids
