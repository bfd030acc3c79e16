"""Vectors of sites and requests: both halves put together."""

import math

import numpy as np

from tests.second_implementation.constants import FULL
from tests.second_implementation.sentence_half import START, SentenceHalf
from tests.second_implementation.static_half import StaticHalf


def to_length(v):
    v = np.asarray(v, np.float64)
    if not v.any():
        return v
    w = np.rint(v * (32768 / np.abs(v).max()))
    return np.rint(w * (1048576 / np.sqrt((w * w).sum())))


def to_bytes(v, most):
    """In Python's numbers: the products do not fit 64 bits by themselves."""
    numbers = [int(x) for x in v]
    largest = max(1, *map(abs, numbers))
    return [min(most, (x * (2 * most + 1) + largest) // (2 * largest)) for x in numbers]


def put_together(static, sentence):
    return [x for pair in zip(static, sentence, strict=True) for x in pair]


NOTHING = [0] * 64 + [1 if i % 2 else -1 for i in range(64, 128)]


class Meaning:
    def __init__(self, policy):
        self.policy = policy
        self.static = StaticHalf(policy)
        self.sentences = SentenceHalf(policy)
        self.vocabularies = [
            set(self.static.whole),
            {t[1:] for t in self.sentences.pieces.texts if t.startswith(START)},
        ]

    def site(self, fields, sentences):
        """fields: see `static_half`. sentences: in order."""
        static = self.static.site_sum(*fields)
        texts = dict.fromkeys(sentences[: self.policy.sentence_texts_max])
        vectors = [to_length(self.sentences.vector(text)) for text in texts]
        total = sum(vectors, np.zeros(128))
        if not static.any() and not total.any():
            return [0] * 256
        half = static if static.any() else NOTHING
        return to_bytes(put_together(to_length(half), to_length(total)), 7)

    def request(self, text, content, sentence):
        """Return vector and confidence. text: in its plain form."""
        policy = self.policy
        static = self.static.request_sum(content, sentence)
        sentence_half = to_length(self.sentences.vector(text))
        if not content or not sentence_half.any():
            return [0] * 256, 0
        whole = sum(word in self.static.whole for word in content)
        share = FULL * whole // max(1, len(content))
        grown = policy.static_weight_bp * max(0, share - policy.static_share_min_bp)
        grown //= policy.static_share_full_bp - policy.static_share_min_bp
        w = min(policy.static_weight_bp, grown) if static.any() else 0
        halves = put_together(to_length(static) * w, sentence_half * FULL)
        confidence = FULL * math.sqrt(2 * (w**2 + FULL**2)) / (w + FULL)
        return to_bytes(halves, 127), int(confidence)
