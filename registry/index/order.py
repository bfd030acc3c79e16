"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). A tie key costs a hash, so it
is computed only for sites whose position on the page depends on it. Sites that share a
place (see `voices`) stand at the best of them, the others behind it.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from registry.ranking.ties import OrderKey, tie_key
from registry.sites.identifier import ALPHABET, SITE_ID_LENGTH

Integers = npt.NDArray[np.int64]
_ALPHABET = np.frombuffer(ALPHABET.encode(), np.uint8)


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

    def _keyed(self, positions: Integers) -> list[tuple[int, int, int]]:
        """Tie key, site id and position of each, in their order within one standing."""
        site_ids = self._site_ids[positions]
        ties = (tie_key(self._seed, spelled) for spelled in _spelled(site_ids))
        return sorted(zip(ties, site_ids.tolist(), positions.tolist(), strict=True))

    def _order_key(self, position: int, tie: int, site_id: int) -> OrderKey:
        return OrderKey(
            -int(self._scores[position]), int(self._tiers[position]), tie, site_id
        )

    def page(self, k: int, after: OrderKey | None) -> Iterator[tuple[int, OrderKey]]:
        """The positions and keys of the first k places after the key."""
        seen: set[int] = set()
        wanted = k
        for run in self._runs(after):
            for tie, site_id, position in self._keyed(run):
                place = int(self._place[position])
                if place in seen:
                    continue
                seen.add(place)
                key = self._order_key(position, tie, site_id)
                if after is not None and key <= after:
                    continue  # on an earlier page
                if wanted == 0:
                    return
                wanted -= 1
                yield position, key
            if wanted == 0:
                return

    def _runs(self, after: OrderKey | None) -> Iterator[Integers]:
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
            yield heads[begin:end]
            begin = end

    def behind(self, head: int) -> tuple[int, ...]:
        """The ids of the sites that share the head's place, best first."""
        place = self._place[head]
        if self._sharing[place] == 1:
            return ()
        sharing = np.flatnonzero(self._place == place)
        others = sharing[sharing != head]
        keys = sorted(
            self._order_key(position, tie, site_id)
            for tie, site_id, position in self._keyed(others)
        )
        return tuple(key.site_id for key in keys)


def _spelled(site_ids: Integers) -> list[str]:
    """As `spell_site_id`, thousands at a time: a registry of equals is one long tie."""
    shifts = np.arange(5 * (SITE_ID_LENGTH - 1), -1, -5)
    digits = (site_ids[:, None] >> shifts) & 31
    text: str = _ALPHABET[digits].tobytes().decode("ascii")
    starts = range(0, len(text), SITE_ID_LENGTH)
    return [text[start : start + SITE_ID_LENGTH] for start in starts]
