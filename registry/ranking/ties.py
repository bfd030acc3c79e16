"""Tie-breaking: equal rank scores are shuffled, and nobody picks the shuffle.

A key depends on the request's seed and on the site alone, so adding a site never
reorders the others, and over many requests equals get equal exposure. The seed
depends on the day's secret, which is committed to before the day and revealed after it
(`registry.records.seed`), on the asker's nonce and on the request: the registry chooses
none of them once it knows the request. One request has one seed an hour; an asker who
wants another shuffle sends another nonce.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from typing import NamedTuple

_DOMAIN = b"wab-tie-v1\0"
_SEED_DOMAIN = b"fair-tie-seed-v2\0"
_BLOCK = 64  # bytes, of SHA-256
_INNER = int.from_bytes(b"\x36" * _BLOCK, "big")
_OUTER = int.from_bytes(b"\x5c" * _BLOCK, "big")


class OrderKey(NamedTuple):
    """Sort key of a site in the total order; smaller is earlier.

    negative_rank_score: see `RankScale`. tie_key: 64 bits.
    """

    negative_rank_score: int
    tie_key: int
    site_id: int


def make_seed(day_secret: bytes, request_digest: bytes, client_nonce: str) -> bytes:
    """Return 32 bytes. request_digest: of `registry.records.seed.digest_request`."""
    return digest(
        day_secret, _SEED_DOMAIN + request_digest + client_nonce.encode(), sha256
    )


def make_seed_by_id(day_secret: bytes, request_id: str, client_nonce: str) -> bytes:
    """Return the 32 bytes of policies without `tie_seed_form`.

    The registry picked the request's id, and could pick the seed by it.
    """
    message = request_id.encode() + b"\0" + client_nonce.encode()
    return digest(day_secret, message, sha256)


def tie_key(seed: bytes, site_id: str) -> int:
    """Return 0..2^64-1. seed: at most 64 bytes. site_id: in its public form."""
    return tie_keys(seed, (site_id,))[0]


def tie_keys(seed: bytes, site_ids: Iterable[str]) -> list[int]:
    """Return the `tie_key` of each site."""
    # HMAC by RFC 2104: twice as fast as `digest`, and computed for every site.
    inner, outer = _padded(seed)
    hashes = [sha256(inner + site_id.encode()).digest() for site_id in site_ids]
    return [int.from_bytes(sha256(outer + h).digest()[:8], "big") for h in hashes]


@lru_cache(maxsize=64)
def _padded(seed: bytes) -> tuple[bytes, bytes]:
    """Return the prefixes of the inner and of the outer hash."""
    key = int.from_bytes(seed.ljust(_BLOCK, b"\0"), "big")
    inner, outer = key ^ _INNER, key ^ _OUTER
    return inner.to_bytes(_BLOCK, "big") + _DOMAIN, outer.to_bytes(_BLOCK, "big")
