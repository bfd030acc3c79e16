"""What turns words into vectors of meaning, and which one a policy wants.

All that an encoder knows comes from files of installed packages and of this one, read
once: the one input a pure package takes for itself, constant for a given release and
named by its digest in the policy.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Protocol

from registry.ranking.meaning import Meaning, SiteWords, Words
from registry.ranking.policy import DEFAULT_POLICY, TRANSFORMER_POLICY, Policy
from registry.ranking.static_encoder import load_static_encoder
from registry.ranking.transformer_encoder import has_weights, load_transformer_encoder


class Encoder(Protocol):
    """Shared by threads, and read-only after its load.

    digest: of all that decides what its vectors are, as "sha256:…". is_quick: a request
    takes less than a millisecond, so that an event loop may wait for it.
    """

    digest: str
    is_quick: bool

    def __hash__(self) -> int:
        """Caches of what is derived from an encoder ask for it."""

    def encode_request(self, sentence: Words, content: Words) -> Meaning:
        """sentence: every word of the request. content: those that say something."""

    def encode_site(self, words: SiteWords) -> bytes:
        """`vectors.SITE_BYTES` bytes; all zero where nothing is meant."""

    def is_one_piece(self, word: str) -> bool:
        """Whether a vocabulary made of what is written often has the whole word."""

    def word_pieces(self) -> Sequence[str]:
        """The pieces of that vocabulary that start a word."""


_LOADERS: Mapping[str, Callable[[Policy], Encoder]] = {
    DEFAULT_POLICY.encoder: load_static_encoder,
    TRANSFORMER_POLICY.encoder: load_transformer_encoder,
}


def is_installed(policy: Policy) -> bool:
    """Whether the files are there that the policy's encoder is made of."""
    return policy.encoder != TRANSFORMER_POLICY.encoder or has_weights()


@cache
def load_encoder(policy: Policy = DEFAULT_POLICY) -> Encoder:
    """One a process; the first call takes a quarter of a second.

    Raises: RuntimeError if what is installed is not what the policy names.
    """
    load = _LOADERS.get(policy.encoder, load_static_encoder)
    encoder: Encoder = load(policy)
    if encoder.digest != policy.encoder_digest:
        raise RuntimeError(f"the policy wants another encoder than {encoder.digest}")
    return encoder
