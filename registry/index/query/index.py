"""The index: all that a search needs of every listed site, immutable.

Its arrays may lie in files that all processes of a machine share; see `index_files`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from registry.index.columns.hashes import find_hash, hash_word
from registry.index.columns.rows import Bodies
from registry.index.query.eligible_estimate import EligibleEstimate
from registry.index.query.index_searcher import IndexSearcher, searcher_of
from registry.index.segments.part import IndexPart
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.relevance import idf_milli


@dataclass(frozen=True, kw_only=True)
class Index:
    """parts: no site lives in two. bodies: of the rows of each part.

    generation: a digest of the policy and every profile; equal for equal content.
    size: sites. dead_terms, dead_counts: hashes of what dead rows say, ascending, and
    how many of them say it.
    """

    policy: Policy
    generation: str
    parts: tuple[IndexPart, ...]
    bodies: tuple[Bodies, ...]
    dead_terms: npt.NDArray[np.uint64]
    dead_counts: npt.NDArray[np.int64]
    panel: EligibleEstimate

    def __len__(self) -> int:
        return self.panel.size

    @cached_property
    def bound(self) -> IndexSearcher:
        return searcher_of(self.parts)

    def term_weights(self, terms: Iterable[str]) -> dict[str, int]:
        """The idf of each term here, in thousandths."""
        distinct = tuple(dict.fromkeys(terms))
        hashes = [hash_word(term) for term in distinct]
        containing = self.bound.containing(hashes)
        return {
            term: idf_milli(len(self), count - self._dead(hash_))
            for term, hash_, count in zip(distinct, hashes, containing, strict=True)
        }

    def profile_at(self, part: int, row: int) -> Profile:
        return _parse(self.bodies[part][row])

    def profiles(self) -> dict[int, Profile]:
        """Return the profile of every site, by its id."""
        return {
            int(part.segment.site_ids[row]): self.profile_at(number, row)
            for number, part in enumerate(self.parts)
            for row in np.flatnonzero(part.alive[: len(part.segment)]).tolist()
        }

    def containing(self, hash_: int) -> int:
        """Return how many sites have a term or keyword."""
        return self.bound.containing([hash_])[0] - self._dead(hash_)

    def _dead(self, hash_: int) -> int:
        at = find_hash(self.dead_terms, hash_) if len(self.dead_terms) else None
        return 0 if at is None else int(self.dead_counts[at])


_parse = lru_cache(maxsize=8_192)(parse_profile)
