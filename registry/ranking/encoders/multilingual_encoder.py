"""The default encoder: a text's meaning by its words and by its sentences.

A part of a vector are the static vectors of its words, the other what the sentence
encoder makes of it; both have the same length, so the cosine of two vectors is the mean of
two cosines. Static vectors tell English words apart best, sentences know sixteen languages.
In a request the static part counts as far as its vocabulary has the words.

All of it is whole numbers, or steps of IEEE 754 in a fixed order on numbers that are
exact: the same bits on every machine.
"""

import hashlib
from collections.abc import Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from registry.ranking.encoders.meaning import Meaning, SiteWords, Words
from registry.ranking.encoders.sentence_encoder import (
    AXES,
    SentenceEncoder,
    load_sentence_encoder,
)
from registry.ranking.encoders.sentence_pieces import START
from registry.ranking.encoders.static_encoder import StaticEncoder, load_static_encoder
from registry.ranking.encoders.vectors import (
    DIMENSIONS,
    quantise_request,
    quantise_sites,
    scale_to_length,
)
from registry.ranking.policy import FULL, Policy
from registry.ranking.terms import plain_text, runs_of

Floats = npt.NDArray[np.float64]
STATIC_AXES = DIMENSIONS - AXES
_ORDER = np.argsort(
    [*(n / STATIC_AXES for n in range(STATIC_AXES)), *(n / AXES for n in range(AXES))],
    kind="stable",
)
"""Order of both parts' axes: the leading dimensions hold the most of both."""
_NOTHING = np.where(np.arange(STATIC_AXES) < STATIC_AXES // 2, 0, 1) * np.where(
    np.arange(STATIC_AXES) % 2, 1.0, -1.0
)
"""Static part of a site without words that mean something: its sentences must not count
for more because of that. No request means it."""


class MultilingualEncoder:
    """Shared and read-only after its load."""

    def __init__(
        self, static: StaticEncoder, sentences: SentenceEncoder, policy: Policy
    ) -> None:
        both = f"{static.digest} {sentences.digest}"
        self.digest = f"sha256:{hashlib.sha256(both.encode()).hexdigest()}"
        self._static = static
        self._sentences = sentences
        self._policy = policy

    def is_whole_piece(self, word: str) -> bool:
        return (
            self._static.is_whole_piece(word)
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
        total = self._static.request_sum(sentence, content)[0][:STATIC_AXES]
        most, plain = self._policy.sentence_pieces_max, plain_text(runs_of(text))
        outputs = self._sentences.encode_uncached(plain, most)
        (sentences,) = self._sentences.project([outputs])
        weight_bp = self._static_weight_bp(content) if total.any() else 0
        if not content or not sentences.any():
            return Meaning(vector=bytes(DIMENSIONS), confidence_bp=0)
        static = scale_to_length(total) * weight_bp
        return Meaning(
            vector=quantise_request(join(static, sentences * FULL)),
            confidence_bp=_confidence_bp(weight_bp),
        )

    def _static_weight_bp(self, content: Words) -> int:
        """Return the weight of the static half, by the share of words it knows whole.

        Its vocabulary is English: of requests in other languages it has few.
        """
        policy = self._policy
        whole = sum(map(self._static.is_whole_piece, content))
        share_bp = FULL * whole // max(1, len(content)) - policy.static_share_min_bp
        reach_bp = policy.static_share_full_bp - policy.static_share_min_bp
        grown = policy.static_weight_bp * max(0, share_bp) // reach_bp
        return min(policy.static_weight_bp, grown)

    def encode_sites(self, sites: Sequence[SiteWords]) -> list[bytes]:
        most = self._policy.sentence_texts_max
        texts = [dict.fromkeys(islice(site.texts, most)) for site in sites]
        names = [dict.fromkeys(map(" ".join, site.names[: most - 1])) for site in sites]
        groups = [*texts, *names]
        outputs = self._encode([text for group in groups for text in group])
        ends = np.cumsum(list(map(len, groups)))[:-1]
        both = self._sentences.project(np.split(outputs, ends)).reshape(2, -1, AXES)
        sentences = both[0] * FULL + both[1] * self._policy.sentence_names_bp
        static = np.array([self._static.site_sum(site)[:STATIC_AXES] for site in sites])
        is_said = static.any(axis=1, keepdims=True)
        halves = np.where(is_said, static, _NOTHING), sentences
        joined = join(*map(scale_to_length, halves))
        says_something = is_said | sentences.any(axis=1, keepdims=True)
        quantised = quantise_sites(np.where(says_something, joined, 0))
        return [packed.tobytes() for packed in quantised]

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._sentences.encode(texts, self._policy.sentence_pieces_max)


def _confidence_bp(weight_bp: int) -> int:
    """Return what turns the cosine into the mean of both halves' cosines, weighted.

    Both halves of a site have the same length, those of a request as their weights.
    """
    length = np.sqrt(float(2 * (weight_bp**2 + FULL**2)))
    return int(FULL * length / (weight_bp + FULL))


def join(static: Floats, sentences: Floats) -> Floats:
    """Join both parts along the last axis, STATIC_AXES and AXES long."""
    return np.concatenate([static, sentences], axis=-1)[..., _ORDER]


def load_multilingual_encoder(policy: Policy) -> MultilingualEncoder:
    """Raises: RuntimeError if a wheel is not installed."""
    return MultilingualEncoder(
        load_static_encoder(policy), load_sentence_encoder(), policy
    )
