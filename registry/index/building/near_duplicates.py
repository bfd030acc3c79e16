"""Near-duplicates of any publishers: one offer below many domains has one slot.

Sites are taken by their id; each joins the first that leads a slot and says nearly the
same, or leads one itself. Two that are both like a third, but not like each other, are
joined only where the third leads: nobody can bind his rivals together by a row of texts
that go from one to the other.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from registry.index.columns.signatures import (
    BANDS,
    SIGNATURE_BYTES,
    Signatures,
    are_alike,
    bands_of,
)
from registry.ranking.policy import Policy

Numbers = npt.NDArray[np.int64]


def leaders_of(signatures: Signatures, policy: Policy) -> Numbers:
    """Return for each site the position of its representative.

    signatures: in the order of the sites' ids.
    """
    leaders = np.arange(len(signatures))
    slots = _Slots(signatures, policy)
    first: dict[bytes, int] = {}  # copies are found without comparing
    if policy.duplicate_signature_bytes > SIGNATURE_BYTES:
        return leaders
    for position in _sharing_a_band(signatures).tolist():
        own = signatures[position].tobytes()
        if own not in first:
            first[own] = slots.find(position)
        leaders[position] = first[own]
    return leaders


def _sharing_a_band(signatures: Signatures) -> Numbers:
    """Return the sites that have a band of another site; no others are near anybody."""
    is_shared = np.zeros(len(signatures), np.bool_)
    for band in bands_of(signatures):
        _, which, counts = np.unique(band, return_inverse=True, return_counts=True)
        is_shared |= counts[which] > 1
    return np.flatnonzero(is_shared & signatures.any(axis=1))


class _Slots:
    """Slots by the bands of who leads them."""

    def __init__(self, signatures: Signatures, policy: Policy) -> None:
        self._signatures = signatures
        self._policy = policy
        self._bands = bands_of(signatures).T.tolist()
        self._by_band: list[dict[int, list[int]]] = [
            defaultdict(list) for _ in range(BANDS)
        ]

    def find(self, position: int) -> int:
        """Return who leads the site's slot: itself in a new one if it is like none."""
        own = self._bands[position]
        near = sorted(
            {
                leader
                for band, leaders in zip(own, self._by_band, strict=True)
                for leader in leaders.get(band, ())
            }
        )
        signatures = self._signatures[near].reshape(-1, SIGNATURE_BYTES)
        alike = are_alike(signatures, self._signatures[position], self._policy)
        if alike.any():
            return near[int(np.argmax(alike))]
        for band, leaders in zip(own, self._by_band, strict=True):
            leaders[band].append(position)
        return position
