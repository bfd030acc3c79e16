"""A generation of the index: what it commits to, before anybody asks.

A ranking's record names it, so that the log holds, with each ranking, which profiles it
was made of and how many sites each word stands in: two tables, see `keyed_tree`. `sites`
has the SHA-256 of each stored profile by the site's id, `words` the number of sites, 4
bytes, big-endian, by the hash of a word.
"""

from dataclasses import dataclass
from hashlib import sha256

from registry.records.canonical import canonical_json, digest_of
from registry.tlog.keyed_tree import KeyedTree

DIGEST_BYTES, COUNT_BYTES = 32, 4
NO_SITES, NO_WORDS = KeyedTree(DIGEST_BYTES), KeyedTree(COUNT_BYTES)


def digest_profile(body: bytes) -> bytes:
    return sha256(body).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRoots:
    """policy: its digest. sites, words: roots of the tables."""

    policy: str
    sites: bytes
    words: bytes

    @property
    def name(self) -> str:
        """Return `sha256:…` of the canonical JSON of policy and roots."""
        roots = {"sites": self.sites.hex(), "words": self.words.hex()}
        return digest_of(canonical_json({"policy": self.policy, **roots}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    policy: str
    sites: KeyedTree = NO_SITES
    words: KeyedTree = NO_WORDS

    @property
    def roots(self) -> GenerationRoots:
        return GenerationRoots(
            policy=self.policy, sites=self.sites.root, words=self.words.root
        )
