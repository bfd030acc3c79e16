"""The default encoder: a text's meaning by its words and by its sentences.

Half of a vector are the static vectors of its words, half what the sentence encoder makes
of it; both have the same length, so the cosine of two vectors is the mean of two cosines.
Static vectors tell English words apart best, sentences know sixteen languages. In a
request the static half counts as far as its vocabulary has the words.

All of it is whole numbers, or steps of IEEE 754 in a fixed order on numbers that are
exact: the same bits on every machine.
"""

import hashlib
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from registry.ranking.encoders.meaning import Meaning, SiteWords, Words
from registry.ranking.encoders.sentence_encoder import (
    SentenceEncoder,
    load_sentence_encoder,
)
from registry.ranking.encoders.sentence_pieces import START
from registry.ranking.encoders.static_encoder import (
    AXES,
    StaticEncoder,
    load_static_encoder,
)
from registry.ranking.encoders.vectors import (
    DIMENSIONS,
    quantise_request,
    quantise_site,
)
from registry.ranking.policy import FULL, Policy
from registry.ranking.terms import plain_text, runs_of

Floats = npt.NDArray[np.float64]
_LENGTH = 1 << 20  # of a half
_FINE = 1 << 15
_NOTHING = np.where(np.arange(AXES) < AXES // 2, 0, 1) * np.where(
    np.arange(AXES) % 2, 1.0, -1.0
)
"""Static half of a site without words that mean something: its sentences must not count
for more because of that. No request means it."""


class MultilingualEncoder:
    """Shared and read-only after its load."""

    is_quick = False

    def __init__(
        self, static: StaticEncoder, sentences: SentenceEncoder, policy: Policy
    ) -> None:
        both = f"{static.digest} {sentences.digest}"
        self.digest = f"sha256:{hashlib.sha256(both.encode()).hexdigest()}"
        self._static = static
        self._sentences = sentences
        self._policy = policy

    def is_one_piece(self, word: str) -> bool:
        return (
            self._static.is_one_piece(word)
            or f"{START}{word}" in self._sentences.pieces
        )

    def word_pieces(self) -> list[str]:
        whole = [
            piece.removeprefix(START)
            for piece in self._sentences.pieces
            if piece.startswith(START)
        ]
        return [*self._static.word_pieces(), *whole]

    def encode_request(self, text: str, sentence: Words, content: Words) -> Meaning:
        total, _ = self._static.request_sum(sentence, content)
        sentences = self._vector_of(plain_text(runs_of(text)))
        weight_bp = self._static_weight_bp(content) if total.any() else 0
        if not content or not sentences.any():
            return Meaning(vector=bytes(DIMENSIONS), confidence_bp=0)
        static = _of_length(total) * weight_bp
        return Meaning(
            vector=quantise_request(_interleave(static, sentences * FULL)),
            confidence_bp=_confidence_bp(weight_bp),
        )

    def _static_weight_bp(self, content: Words) -> int:
        """Return the weight of the static half, by the share of words it knows whole.

        Its vocabulary is English: of requests in other languages it has few.
        """
        policy = self._policy
        whole = sum(map(self._static.is_one_piece, content))
        share_bp = FULL * whole // max(1, len(content)) - policy.static_share_min_bp
        reach_bp = policy.static_share_full_bp - policy.static_share_min_bp
        grown = policy.static_weight_bp * max(0, share_bp) // reach_bp
        return min(policy.static_weight_bp, grown)

    def encode_sites(self, sites: Sequence[SiteWords]) -> list[bytes]:
        most = self._policy.sentence_texts_max
        texts = [list(dict.fromkeys(site.texts[:most])) for site in sites]
        flat = [text for own in texts for text in own]
        vectors = self._sentences.encode(flat, self._policy.sentence_pieces_max)
        bounds = pairwise(accumulate(map(len, texts), initial=0))
        return [
            self._encode_site(site, vectors[start:end])
            for site, (start, end) in zip(sites, bounds, strict=True)
        ]

    def _encode_site(self, site: SiteWords, vectors: Floats) -> bytes:
        static = self._static.site_sum(site)
        total = sum(map(_of_length, vectors), np.zeros(AXES))
        if not static.any() and not total.any():
            return quantise_site(np.zeros(DIMENSIONS))
        half = static if static.any() else _NOTHING
        return quantise_site(_interleave(_of_length(half), _of_length(total)))

    def _vector_of(self, text: str) -> Floats:
        (vector,) = self._sentences.encode([text], self._policy.sentence_pieces_max)
        return _of_length(vector)


def _confidence_bp(weight_bp: int) -> int:
    """Return what turns the cosine into the mean of both halves' cosines, weighted.

    Both halves of a site have the same length, those of a request as their weights.
    """
    length = np.sqrt(float(2 * (weight_bp**2 + FULL**2)))
    return int(FULL * length / (weight_bp + FULL))


def _of_length(total: Floats) -> Floats:
    """Scale whole numbers to a length of _LENGTH, in whole numbers; zero stays zero."""
    largest = np.abs(total).max()
    if not largest:
        return total
    whole = np.rint(total * (_FINE / largest))
    scaled: Floats = np.rint(whole * (_LENGTH / np.sqrt(np.square(whole).sum())))
    return scaled


def _interleave(static: Floats, sentences: Floats) -> Floats:
    """Join two halves so that the leading dimensions hold the most of both."""
    return np.stack([static, sentences], axis=1).reshape(-1)


def load_multilingual_encoder(policy: Policy) -> MultilingualEncoder:
    """Raises: RuntimeError if a wheel is not installed."""
    return MultilingualEncoder(
        load_static_encoder(policy), load_sentence_encoder(), policy
    )
