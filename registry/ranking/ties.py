"""The order of equals: shuffled for every request, beyond anyone's influence.

A key depends on the request's seed and on the site alone, so adding a site never
reorders the others, and over many requests equal scores get equal exposure. The day's
secret is committed to before the day and revealed after it (`registry.audit.seed`).
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from typing import NamedTuple

_DOMAIN = b"wab-tie-v1\0"
_BLOCK = 64  # bytes, of SHA-256
_INNER = int.from_bytes(b"\x36" * _BLOCK, "big")
_OUTER = int.from_bytes(b"\x5c" * _BLOCK, "big")


class OrderKey(NamedTuple):
    """A site's position in the total order; smaller is earlier.

    negative_score: -10^8..0. commission_tier: 0 for a declared 0%, else 1 (WAB
    §9.5.3). tie_key: 64 bits.
    """

    negative_score: int
    commission_tier: int
    tie_key: int
    site_id: int

    @property
    def score(self) -> int:
        return -self.negative_score


def make_seed(day_secret: bytes, request_id: str, client_nonce: str) -> bytes:
    """32 bytes. A client's nonce keeps the registry from choosing the request id."""
    message = request_id.encode() + b"\0" + client_nonce.encode()
    return digest(day_secret, message, sha256)


def tie_key(seed: bytes, site_id: str) -> int:
    """0..2^64-1. seed: at most 64 bytes. site_id: in its public spelling."""
    return tie_keys(seed, (site_id,))[0]


def tie_keys(seed: bytes, site_ids: Iterable[str]) -> list[int]:
    """See `tie_key`."""
    # HMAC as RFC 2104 spells it: twice as fast as `digest`, and asked for every site.
    inner, outer = _padded(seed)
    inside = [sha256(inner + site_id.encode()).digest() for site_id in site_ids]
    return [int.from_bytes(sha256(outer + one).digest()[:8], "big") for one in inside]


@lru_cache(maxsize=64)
def _padded(seed: bytes) -> tuple[bytes, bytes]:
    """What stands before the site in the inner hash, and before that in the outer."""
    key = int.from_bytes(seed.ljust(_BLOCK, b"\0"), "big")
    inner, outer = key ^ _INNER, key ^ _OUTER
    return inner.to_bytes(_BLOCK, "big") + _DOMAIN, outer.to_bytes(_BLOCK, "big")
