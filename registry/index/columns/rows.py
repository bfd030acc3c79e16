"""Rows: what sites contribute to ranking, side by side in columns of numbers.

The one input of a segment; nothing else of a site is known here. Terms are given as the
first eight bytes of their BLAKE2b: words of what a site says, and keywords that filters
ask for and facets count, distinguished by the last bit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.index.columns.filters import hash_keyword, keywords_of
from registry.index.columns.hashes import hash_word, words_of
from registry.index.columns.runs import (
    Integers,
    Number,
    Runs,
    join_runs,
    no_source,
    starts_of,
)
from registry.index.columns.signatures import signatures_of
from registry.ranking.encoders.vectors import SITE_BYTES, reciprocals, unpack_sites
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, encode_profile
from registry.ranking.proximity import NOWHERE, vector_of
from registry.ranking.relevance import impacts

LOCAL, HIGHER_TIER, GROUPED, CROWDED = 1, 2, 4, 8
"""Flags: its place counts; no commission of 0% is declared; it shares its place; its
publisher has more places than an answer gives one."""

KEYWORD_IMPACT = 1
_LAST_SECOND = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Bodies:
    """Encoded profiles, in memory or in a file that is mapped."""

    runs: Runs[np.uint8]

    def __getitem__(self, number: int) -> bytes:
        return self.runs[number].tobytes()

    @classmethod
    def of(cls, bodies: Iterable[bytes]) -> "Bodies":
        listed = list(bodies)
        lengths = np.fromiter(map(len, listed), np.int64, len(listed))
        content = np.frombuffer(b"".join(listed), np.uint8)
        return cls(Runs.of(starts_of(lengths), content))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """n sites; parallel arrays, in any order.

    publishers: see `Profile`. representatives: the id of the site that leads its place where
    several share one, else 0; so no site has the id 0. changed_s: of the last semantic
    change, seconds since 1970. vectors: shape (n, 3), of `proximity.vector_of`.
    embeddings: shape (n, 64), two signed four-bit numbers a
    byte, the even dimension in the low half. reciprocals: 2^16 / length of each.
    signatures: shape (n, 32). bodies: what explanations tell of. starts: the terms of row i are
    starts[k]:starts[k + 1] of hashes and impacts, which are 1..255; k is runs[i], or i
    where there are no runs. So rows are put in order without what they say.
    """

    site_ids: npt.NDArray[np.int64]
    publishers: npt.NDArray[np.int64]
    representatives: npt.NDArray[np.int64]
    depth: npt.NDArray[np.uint16]
    quality: npt.NDArray[np.uint16]
    changed_s: npt.NDArray[np.uint32]
    flags: npt.NDArray[np.uint8]
    vectors: npt.NDArray[np.int32]
    embeddings: npt.NDArray[np.uint8]
    reciprocals: npt.NDArray[np.uint16]
    signatures: npt.NDArray[np.uint8]
    bodies: Bodies
    starts: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    impacts: npt.NDArray[np.uint8]
    runs: Integers | None = None

    def __len__(self) -> int:
        return len(self.site_ids)

    def take(self, order: npt.NDArray[np.int64]) -> "Rows":
        """The rows of these numbers, in this order."""
        return select([self], order)

    def in_order(self, order: npt.NDArray[np.int64]) -> "Rows":
        """All rows; what they say stays where it is."""
        return Rows(
            **{name: getattr(self, name)[order] for name in _COLUMNS},
            bodies=Bodies(self.bodies.runs.take(order)),
            starts=self.starts,
            hashes=self.hashes,
            impacts=self.impacts,
            runs=order if self.runs is None else self.runs[order],
        )

    def without_bodies(self) -> "Rows":
        return replace(self, bodies=Bodies.of([b""] * len(self)))

    def without_words(self) -> "Rows":
        """Return the rows without words and bodies."""
        return replace(self, **_without_terms(len(self)))

    def runs_of(self, items: npt.NDArray[Number], numbers: Integers) -> Runs[Number]:
        """Return the runs of the rows of these numbers. items: hashes or impacts."""
        runs = numbers if self.runs is None else self.runs[numbers]
        starts = self.starts[runs]
        return Runs(
            arrays=(items,),
            source=no_source(len(numbers)),
            starts=starts,
            lengths=self.starts[runs + 1] - starts,
        )


def join(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, one after the other; at least one part."""
    hashes, impacts = _terms_of_rows([(part, np.arange(len(part))) for part in parts])
    return Rows(
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in _COLUMNS
        },
        bodies=Bodies(join_runs([part.bodies.runs for part in parts])),
        starts=starts_of(hashes.lengths),
        hashes=hashes.packed(),
        impacts=impacts.packed(),
    )


def select(parts: Sequence[Rows], numbers: Integers, *, bare: bool = False) -> Rows:
    """The rows of these numbers, counted through all parts, of which there is one.

    bare: without what they say and their bodies.
    """
    firsts = starts_of(np.array([len(part) for part in parts], np.int64))
    of = np.searchsorted(firsts[1:], numbers, side="right")
    where = [np.flatnonzero(of == number) for number in range(len(parts))]
    chosen = [
        (part, numbers[own] - first)
        for part, own, first in zip(parts, where, firsts.tolist(), strict=False)
    ]
    back = np.empty(len(numbers), np.int64)
    back[np.concatenate(where)] = np.arange(len(numbers))
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name)[own] for part, own in chosen])[back]
        for name in _COLUMNS
    }
    if bare:
        return Rows(**columns, **_without_terms(len(numbers)))
    hashes, impacts = _terms_of_rows(chosen)
    bodies = join_runs([part.bodies.runs.take(own) for part, own in chosen])
    return Rows(
        **columns,
        bodies=Bodies(bodies.take(back)),
        starts=starts_of(hashes.lengths[back]),
        hashes=hashes.take(back).packed(),
        impacts=impacts.take(back).packed(),
    )


def _terms_of_rows(
    chosen: Sequence[tuple[Rows, Integers]],
) -> tuple[Runs[np.uint64], Runs[np.uint8]]:
    """Hashes and impacts of these rows of each part."""
    return (
        join_runs([part.runs_of(part.hashes, own) for part, own in chosen]),
        join_runs([part.runs_of(part.impacts, own) for part, own in chosen]),
    )


_COLUMNS = tuple(
    column.name
    for column in fields(Rows)
    if column.name not in {"bodies", "starts", "hashes", "impacts", "runs"}
)


def _without_terms(count: int) -> dict[str, Any]:
    starts = np.zeros(count + 1, np.int64)
    return {
        "bodies": Bodies(Runs.of(starts, np.empty(0, np.uint8))),
        "starts": starts,
        "hashes": np.empty(0, np.uint64),
        "impacts": np.empty(0, np.uint8),
        "runs": None,
    }


def rows_of(profiles: Sequence[Profile], policy: Policy) -> Rows:
    """Make rows of profiles, in their order; none is grouped yet."""
    terms_of_sites = [_terms(profile, policy) for profile in profiles]
    packed = np.frombuffer(b"".join(p.embedding for p in profiles), np.uint8)
    embeddings = packed.reshape(len(profiles), SITE_BYTES)
    vectors = [vector_of(p.point) if p.point else NOWHERE for p in profiles]
    changed = np.array([seconds_of(p.changed_at) for p in profiles], np.int64)
    lengths = np.array([len(terms) for terms in terms_of_sites], np.int64)
    return Rows(
        site_ids=np.array([p.site_id for p in profiles], np.int64),
        publishers=np.array([p.publisher for p in profiles], np.int64),
        representatives=np.zeros(len(profiles), np.int64),
        depth=np.array([p.capability_depth for p in profiles], np.uint16),
        quality=np.array([p.quality for p in profiles], np.uint16),
        changed_s=changed.clip(0, _LAST_SECOND).astype(np.uint32),
        flags=np.array(
            [LOCAL * p.local + HIGHER_TIER * (p.commission_tier > 0) for p in profiles],
            np.uint8,
        ),
        vectors=np.array(vectors, np.int32).reshape(len(profiles), 3),
        embeddings=embeddings,
        reciprocals=reciprocals(unpack_sites(embeddings)),
        signatures=signatures_of(profiles, policy),
        bodies=Bodies.of(map(encode_profile, profiles)),
        starts=starts_of(lengths),
        hashes=np.array(
            [hash_ for terms in terms_of_sites for hash_ in terms], np.uint64
        ),
        impacts=np.array(
            [i for terms in terms_of_sites for i in terms.values()], np.uint8
        ),
    )


def _terms(profile: Profile, policy: Policy) -> dict[int, int]:
    """The impact of each term, by its hash: words as they are said first, then keywords."""
    impact_of = impacts(profile, policy)
    words = {hash_word(term): impact_of[term] for term in words_of(profile)}
    hashes = (hash_keyword(*keyword) for keyword in keywords_of(profile))
    keywords = dict.fromkeys(hashes, KEYWORD_IMPACT)
    return words | keywords
