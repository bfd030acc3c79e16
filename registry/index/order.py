"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). A tie key costs a hash, so it
is computed only for sites whose position on the page depends on it. Sites that share a
place (see `voices`) stand at the best of them, the others behind it.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from registry.ranking.ties import OrderKey, tie_key
from registry.sites.identifier import spell_site_id

Integers = npt.NDArray[np.int64]


class Order:
    """Of the eligible sites; a position is an index into the arrays given.

    site_ids, scores, tiers, leaders: parallel; equal leaders share a place.
    """

    def __init__(
        self,
        site_ids: Integers,
        scores: Integers,
        tiers: Integers,
        leaders: Integers,
        seed: bytes,
    ) -> None:
        self._site_ids, self._scores, self._tiers = site_ids, scores, tiers
        self._seed = seed
        # One number orders by score and then by tier: smaller is earlier.
        self._standing = -2 * scores + tiers
        _, self._place, self._sharing = np.unique(
            leaders, return_inverse=True, return_counts=True
        )

    @property
    def places(self) -> int:
        return len(self._sharing)

    def key(self, position: int) -> OrderKey:
        site_id = int(self._site_ids[position])
        return OrderKey(
            -int(self._scores[position]),
            int(self._tiers[position]),
            tie_key(self._seed, spell_site_id(site_id)),
            site_id,
        )

    def page(self, k: int, after: OrderKey | None) -> Iterator[tuple[int, OrderKey]]:
        """The positions and keys of the first k places after the key."""
        seen: set[int] = set()
        wanted = k
        for run in self._runs(after):
            for key, position in sorted((self.key(one), one) for one in run):
                place = int(self._place[position])
                if place in seen:
                    continue
                seen.add(place)
                if after is not None and key <= after:
                    continue  # on an earlier page
                if wanted == 0:
                    return
                wanted -= 1
                yield position, key
            if wanted == 0:
                return

    def _runs(self, after: OrderKey | None) -> Iterator[list[int]]:
        """The candidates for the head of a place, in runs of equal standing.

        A run that ends before the key is left out.
        """
        best = np.full(self.places, np.iinfo(np.int64).max)
        np.minimum.at(best, self._place, self._standing)
        heads = np.flatnonzero(self._standing == best[self._place])
        if after is not None:
            start = 2 * after.negative_score + after.commission_tier
            heads = heads[self._standing[heads] >= start]
        heads = heads[np.argsort(self._standing[heads], kind="stable")]
        ends = np.flatnonzero(np.diff(self._standing[heads])) + 1
        begin = 0
        for end in (*ends.tolist(), len(heads)):
            yield heads[begin:end].tolist()
            begin = end

    def behind(self, head: int) -> tuple[int, ...]:
        """The ids of the sites that share the head's place, best first."""
        place = self._place[head]
        if self._sharing[place] == 1:
            return ()
        sharing = np.flatnonzero(self._place == place).tolist()
        keys = sorted(self.key(position) for position in sharing if position != head)
        return tuple(key.site_id for key in keys)
