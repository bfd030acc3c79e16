"""Vectors of sites and requests: both halves put together."""

import math

from tests.second_implementation.constants import FULL
from tests.second_implementation.sentence_half import START, SentenceHalf, to_length
from tests.second_implementation.static_half import StaticHalf


def to_bytes(v, most):
    """In Python's numbers: the products do not fit 64 bits by themselves."""
    numbers = [int(x) for x in v]
    largest = max(1, *map(abs, numbers))
    return [min(most, (x * (2 * most + 1) + largest) // (2 * largest)) for x in numbers]


def put_together(static, sentence):
    numbers = [*((n / 84, 0, x) for n, x in enumerate(static))]
    numbers += [(n / 192, 1, x) for n, x in enumerate(sentence)]
    return [x for *_, x in sorted(numbers, key=lambda number: number[:2])]


NOTHING = [0] * 42 + [1 if i % 2 else -1 for i in range(42, 84)]


class Meaning:
    def __init__(self, policy):
        self.policy = policy
        self.static = StaticHalf(policy)
        self.sentences = SentenceHalf(policy)
        self.vocabularies = [
            set(self.static.whole),
            {t[1:] for t in self.sentences.pieces.texts if t.startswith(START)},
        ]

    def site(self, fields, sentences, names):
        """fields: see `static_half`. sentences, names: in order."""
        policy = self.policy
        static = self.static.site_sum(*fields)[:84]
        texts = dict.fromkeys(sentences[: policy.sentence_texts_max])
        names = dict.fromkeys(names[: policy.sentence_texts_max - 1])
        total = self.sentences.vector(texts) * FULL
        total = total + self.sentences.vector(names) * policy.sentence_names_bp
        if not static.any() and not total.any():
            return [0] * 276
        half = static if static.any() else NOTHING
        return to_bytes(put_together(to_length(half), to_length(total)), 7)

    def request(self, text, content, sentence):
        """Return vector and confidence. text: in its plain form."""
        policy = self.policy
        static = self.static.request_sum(content, sentence)[:84]
        sentence_half = self.sentences.vector([text])
        if not content or not sentence_half.any():
            return [0] * 276, 0
        whole = sum(word in self.static.whole for word in content)
        share = FULL * whole // max(1, len(content))
        grown = policy.static_weight_bp * max(0, share - policy.static_share_min_bp)
        grown //= policy.static_share_full_bp - policy.static_share_min_bp
        w = min(policy.static_weight_bp, grown) if static.any() else 0
        halves = put_together(to_length(static) * w, sentence_half * FULL)
        confidence = FULL * math.sqrt(2 * (w**2 + FULL**2)) / (w + FULL)
        return to_bytes(halves, 127), int(confidence)
