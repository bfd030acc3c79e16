"""The index: every listed site's profile as columns of numbers, immutable.

A change makes a new index and leaves the old one to the searches that run on it. What
a site contributes is computed once, in its `Entry`; an index is those put together, so
that following the change feed costs little more than copying arrays.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.index.voices import Voice, leaders_of, voices_of
from registry.ranking.encoder import DIMENSIONS
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, encode_profile
from registry.ranking.proximity import vector_of
from registry.ranking.relevance import idf_milli, impacts

Integers = npt.NDArray[np.int64]
_NOWHERE = (0, 0, 0)
_NO_ROWS = np.empty(0, np.int32)
_NO_IMPACTS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one site contributes. term_ids: sorted. term_impacts: parallel to them."""

    profile: Profile
    digest: bytes
    terms: frozenset[str]
    term_ids: npt.NDArray[np.int32]
    term_impacts: npt.NDArray[np.uint16]
    embedding: npt.NDArray[np.float32]
    vector: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """Rows and impacts of term t: the slice starts[t]:starts[t + 1]."""

    starts: Integers
    rows: npt.NDArray[np.int32]
    impacts: Integers

    def of(self, term_id: int) -> tuple[npt.NDArray[np.int32], Integers]:
        part = slice(self.starts[term_id], self.starts[term_id + 1])
        return self.rows[part], self.impacts[part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """A column of words, as numbers."""

    values: npt.NDArray[np.int32]
    code_of: Mapping[str, int]

    def matches(self, word: str) -> npt.NDArray[np.bool_]:
        """Which rows hold the word."""
        held: npt.NDArray[np.bool_] = self.values == self.code_of.get(word, -1)
        return held


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One row a site, in the order of site ids.

    generation: a digest of the policy and every profile; equal for equal content.
    embeddings: shape (n, 256), whole numbers of at most 127. They are held as float32
    because that multiplies fast, and exactly: sums of their products stay below 2^24.
    leaders: the row whose place in an answer the row shares. voices: by publisher, what
    they follow from.
    """

    policy: Policy
    generation: str
    entries: tuple[Entry, ...]
    vocabulary: Mapping[str, int]
    postings: Postings
    embeddings: npt.NDArray[np.float32]
    vectors: Integers
    site_ids: Integers
    leaders: Integers
    voices: Mapping[int, Voice]
    local: npt.NDArray[np.bool_]
    capability_depth: Integers
    quality: Integers
    changed_s: Integers
    commission_tier: Integers
    categories: Codes
    countries: Codes
    formats: Mapping[str, npt.NDArray[np.bool_]]

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def build(cls, profiles: Iterable[Profile], policy: Policy) -> "Index":
        vocabulary: dict[str, int] = {}
        entries = {
            profile.site_id: _make_entry(profile, vocabulary, policy)
            for profile in profiles
        }
        return _assemble(entries, vocabulary, {}, policy)

    def with_changes(
        self, upserts: Iterable[Profile], removals: Iterable[int]
    ) -> "Index":
        """Removals are of site ids; unknown ones are ignored, and upserts win."""
        vocabulary = dict(self.vocabulary)
        entries = {entry.profile.site_id: entry for entry in self.entries}
        for site_id in removals:
            entries.pop(site_id, None)
        for profile in upserts:
            entries[profile.site_id] = _make_entry(profile, vocabulary, self.policy)
        return _assemble(entries, vocabulary, self.voices, self.policy)

    def postings_of(self, term: str) -> tuple[npt.NDArray[np.int32], Integers]:
        """The rows that say the term, and how much it counts in each."""
        term_id = self.vocabulary.get(term)
        if term_id is None:
            return _NO_ROWS, _NO_IMPACTS
        return self.postings.of(term_id)

    def term_weights(self, terms: Iterable[str]) -> dict[str, int]:
        """The idf of each term here, in thousandths."""
        return {
            term: idf_milli(len(self), len(self.postings_of(term)[0])) for term in terms
        }


def _make_entry(profile: Profile, vocabulary: dict[str, int], policy: Policy) -> Entry:
    """Adds the site's new terms to the vocabulary."""
    by_term = impacts(profile, policy)
    ids = [vocabulary.setdefault(term, len(vocabulary)) for term in by_term]
    by_id = np.argsort(ids)
    return Entry(
        profile=profile,
        digest=hashlib.sha256(encode_profile(profile)).digest(),
        terms=frozenset(by_term),
        term_ids=np.array(ids, np.int32)[by_id],
        term_impacts=np.array(list(by_term.values()), np.uint16)[by_id],
        embedding=np.frombuffer(profile.embedding, np.int8).astype(np.float32),
        vector=vector_of(profile.point) if profile.point else _NOWHERE,
    )


def _assemble(
    by_id: Mapping[int, Entry],
    vocabulary: Mapping[str, int],
    known: Mapping[int, Voice],
    policy: Policy,
) -> Index:
    entries = tuple(by_id[site_id] for site_id in sorted(by_id))
    profiles = [entry.profile for entry in entries]
    publishers = [profile.publisher for profile in profiles]
    said = [entry.term_ids.tobytes() for entry in entries]
    voices = voices_of(publishers, said, known, policy)
    return Index(
        policy=policy,
        generation=_generation(entries, policy),
        entries=entries,
        vocabulary=vocabulary,
        postings=_postings(entries, len(vocabulary)),
        embeddings=np.array([e.embedding for e in entries], np.float32).reshape(
            len(entries), DIMENSIONS
        ),
        vectors=np.array([e.vector for e in entries], np.int64).reshape(
            len(entries), 3
        ),
        site_ids=_column(p.site_id for p in profiles),
        leaders=_column(leaders_of(publishers, voices)),
        voices=voices,
        local=np.array([p.local and p.point is not None for p in profiles], np.bool_),
        capability_depth=_column(p.capability_depth for p in profiles),
        quality=_column(p.quality for p in profiles),
        changed_s=_column(seconds_of(p.changed_at) for p in profiles),
        commission_tier=_column(p.commission_tier for p in profiles),
        categories=_codes([p.category for p in profiles]),
        countries=_codes([p.country for p in profiles]),
        formats=_memberships([p.formats for p in profiles]),
    )


def _column(values: Iterable[int]) -> Integers:
    return np.fromiter(values, np.int64)


def _codes(words: Sequence[str]) -> Codes:
    code_of = {word: code for code, word in enumerate(dict.fromkeys(words))}
    return Codes(
        values=np.array([code_of[word] for word in words], np.int32), code_of=code_of
    )


def _memberships(
    sets: Sequence[tuple[str, ...]],
) -> dict[str, npt.NDArray[np.bool_]]:
    """For each member the rows whose set has it."""
    columns: dict[str, npt.NDArray[np.bool_]] = {}
    for row, members in enumerate(sets):
        for member in members:
            if member not in columns:
                columns[member] = np.zeros(len(sets), np.bool_)
            columns[member][row] = True
    return columns


def _postings(entries: Sequence[Entry], terms: int) -> Postings:
    lengths = [len(entry.term_ids) for entry in entries]
    ids = np.concatenate([np.empty(0, np.int32), *(e.term_ids for e in entries)])
    values = np.concatenate(
        [np.empty(0, np.uint16), *(e.term_impacts for e in entries)]
    )
    by_term = np.argsort(ids, kind="stable")
    counts = np.bincount(ids, minlength=terms)
    return Postings(
        starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        rows=np.repeat(np.arange(len(entries), dtype=np.int32), lengths)[by_term],
        impacts=values[by_term].astype(np.int64),
    )


def _generation(entries: Iterable[Entry], policy: Policy) -> str:
    digest = hashlib.sha256(policy.digest.encode())
    for entry in entries:
        digest.update(entry.digest)
    return f"sha256:{digest.hexdigest()}"
