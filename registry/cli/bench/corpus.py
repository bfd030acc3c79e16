"""A few thousand documents, each of which is scored for every request.

What the kernel does for an index, without its bounds, filters and other factors; compiled
as it is, and else in NumPy, to the same bits.
"""

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import c_int64, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to, pointers_to
from registry.ranking.policy import FULL, Policy
from registry.ranking.profile import Profile
from registry.ranking.relevance import (
    Matches,
    Request,
    idf_milli,
    impacts,
    lexical_multiplier,
    lexical_share_bp,
    match_sites,
    meaning_multiplier,
    relevance_floor,
)
from registry.ranking.vectors import SITE_BYTES, reciprocals, unpack_sites

Integers = npt.NDArray[np.int64]


class _Struct(ctypes.Structure):
    _fields_ = [
        ("rows", c_int64),
        *((name, c_void_p) for name in ("vectors", "reciprocals")),
        *((name, c_void_p) for name in ("starts", "said_by", "impacts")),
    ]


class Said(NamedTuple):
    """Where a term's rows lie, and its idf in thousandths."""

    number: int
    idf: int


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Term t is said by said_by[starts[t]:starts[t + 1]]. nobody: of all others."""

    terms: Mapping[str, Said]
    nobody: Said
    starts: Integers
    said_by: npt.NDArray[np.uint32]
    impacts: npt.NDArray[np.uint8]
    vectors: npt.NDArray[np.int16]
    reciprocals: npt.NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.vectors)

    def match(self, request: Request, policy: Policy) -> Matches:
        library = find_library()
        if library is None:
            return self.match_plainly(request, policy)
        return self.match_compiled(request, policy, library)

    def match_plainly(self, request: Request, policy: Policy) -> Matches:
        numbers, weights = self._weights(request)
        matched = np.zeros(len(self), np.int64)
        for number, weight in zip(numbers, weights, strict=True):
            own = slice(self.starts[number], self.starts[number + 1])
            matched[self.said_by[own]] += weight * self.impacts[own].astype(int)
        vector = np.frombuffer(request.vector, np.int8)
        return match_sites(
            matched,
            self.vectors.astype(np.int64) @ vector.astype(np.int64),
            self.reciprocals.astype(np.int64),
            request,
            weights,
            policy=policy,
        )

    def match_compiled(
        self, request: Request, policy: Policy, library: ctypes.CDLL
    ) -> Matches:
        numbers, weights = self._weights(request)
        terms = len(request.terms)
        asked = (
            lexical_multiplier(weights, policy),
            meaning_multiplier(request),
            lexical_share_bp(terms, policy),
            policy.full_relevance_bp,
            relevance_floor(terms, policy),
            policy.meaning_only_min_bp,
            len(weights),
            *numbers,
            *weights,
        )
        scored = np.zeros((4, len(self)), np.int64)
        library.match_rows(
            self._struct,
            (c_int64 * len(asked))(*asked),
            request.vector,
            pointer_to(scored),
        )
        lexical, cosine, relevance, eligible = scored
        return Matches(lexical, cosine, relevance, eligible.astype(np.bool_))

    def _weights(self, request: Request) -> tuple[list[int], list[int]]:
        """Of each term that is looked for, its number and its weight."""
        nobody, sought = self.nobody, request.weights_bp
        found = [self.terms.get(term, nobody) for term in sought]
        shares = zip(found, sought.values(), strict=True)
        return (
            [said.number for said in found],
            [said.idf * share // FULL for said, share in shares],
        )

    @cached_property
    def _struct(self) -> "ctypes._Pointer[_Struct]":
        arrays = (self.vectors, self.reciprocals, self.starts, self.said_by)
        struct = _Struct(len(self), *pointers_to(*arrays), pointer_to(self.impacts))
        return ctypes.pointer(struct)


def corpus_of(profiles: Sequence[Profile], policy: Policy) -> Corpus:
    said: dict[str, list[tuple[int, int]]] = {}
    for row, profile in enumerate(profiles):
        for term, impact in impacts(profile, policy).items():
            said.setdefault(term, []).append((row, impact))
    packed = np.frombuffer(b"".join(each.embedding for each in profiles), np.uint8)
    vectors = unpack_sites(packed.reshape(-1, SITE_BYTES))
    pairs = np.array([pair for own in said.values() for pair in own], np.int64)
    rows, own_impacts = pairs.reshape(-1, 2).T
    sites = len(profiles)
    return Corpus(
        terms={
            term: Said(number, idf_milli(sites, len(own)))
            for number, (term, own) in enumerate(said.items())
        },
        nobody=Said(len(said), idf_milli(sites, 0)),
        starts=_starts([*map(len, said.values()), 0]),
        said_by=rows.astype(np.uint32),
        impacts=own_impacts.astype(np.uint8),
        vectors=vectors.astype(np.int16),
        reciprocals=reciprocals(vectors),
    )


def _starts(lengths: Sequence[int]) -> Integers:
    return np.cumsum([0, *lengths], dtype=np.int64)
