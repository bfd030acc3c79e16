"""Encoders of words into vectors of meaning, and the choice of one by the policy.

An encoder reads files of installed packages and of this one, once. They are the only
input that this pure package reads itself: constant for a release, and named in the policy
by their digest.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Protocol

from registry.ranking.encoders.meaning import Meaning, SiteWords, Words
from registry.ranking.encoders.multilingual_encoder import load_multilingual_encoder
from registry.ranking.encoders.static_encoder import load_static_encoder
from registry.ranking.policy import DEFAULT_POLICY, STATIC_POLICY, Policy


class Encoder(Protocol):
    """Shared by threads, and read-only after its load.

    digest: of all that determines its vectors, as "sha256:…".
    """

    digest: str

    def __hash__(self) -> int:
        """Hash for caches of values derived from an encoder."""

    def encode_request(self, text: str, sentence: Words, content: Words) -> Meaning:
        """Encode a request. sentence: all its words. content: its content words."""

    def encode_sites(self, sites: Sequence[SiteWords]) -> list[bytes]:
        """Return SITE_BYTES a site, of at least one; zero without meaningful words."""

    def is_whole_piece(self, word: str) -> bool:
        """Return whether the vocabulary of frequent pieces has the whole word."""

    def word_pieces(self) -> Sequence[str]:
        """Return the pieces of that vocabulary that start a word."""


_LOADERS: Mapping[str, Callable[[Policy], Encoder]] = {
    DEFAULT_POLICY.encoder: load_multilingual_encoder,
    STATIC_POLICY.encoder: load_static_encoder,
}


@cache
def load_encoder(policy: Policy = DEFAULT_POLICY) -> Encoder:
    """Load the policy's encoder once per process; takes a second.

    Raises: RuntimeError if the installed one is not the one that the policy names.
    """
    encoder = _LOADERS.get(policy.encoder, load_multilingual_encoder)(policy)
    if encoder.digest != policy.encoder_digest:
        raise RuntimeError(f"the policy wants another encoder than {encoder.digest}")
    return encoder
