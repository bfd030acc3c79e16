"""The own name of a site, taken out of its ranking text.

A brand must not reach the score, so the name and the domain are cut wherever the text
says them, in words or written together. They are cut whole, not word by word: "Amman
Taxi" loses each "Amman Taxi" but may say that it is a taxi. Cutting single words would
make a plainly named trader invisible for its own trade, and would let the choice of a
name change the score, which is what the rule is there to prevent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from registry.ranking.policy import Policy
from registry.ranking.text import split_words, stem

_NAME_PARTS = re.compile(r"[|:,()\u00b7\u2022\u2013\u2014]|\s-\s")


@dataclass(frozen=True, slots=True)
class Mask:
    """phrases: sequences of stems, longest first. joined: the same in one word."""

    phrases: tuple[tuple[str, ...], ...]
    joined: frozenset[str]

    def cut(self, words: Sequence[str]) -> list[str]:
        """The words without any phrase of the mask."""
        stems = [stem(word) for word in words]
        kept: list[str] = []
        position = 0
        while position < len(words):
            length = self._length_at(stems, position)
            if length == 0:
                kept.append(words[position])
            position += length or 1
        return kept

    def _length_at(self, stems: Sequence[str], position: int) -> int:
        for phrase in self.phrases:
            if tuple(stems[position : position + len(phrase)]) == phrase:
                return len(phrase)
        return 1 if stems[position] in self.joined else 0


def make_mask(name: str, host: str, registrable_domain: str, policy: Policy) -> Mask:
    """host, registrable_domain: lower-case A-labels; a name may be empty.

    A name or domain label that is one plain noun is nobody's mark and stays.
    """
    label = registrable_domain.partition(".")[0]
    parts = [name, *_NAME_PARTS.split(name), host, registrable_domain, label]
    own = {tuple(split_words(part)) for part in parts} - {()}
    generic = {stem(word) for word in policy.generic_words}
    marks = [words for words in own if len(words) > 1 or stem(words[0]) not in generic]
    phrases = {tuple(map(stem, words)) for words in marks}
    return Mask(
        phrases=tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase))),
        joined=frozenset(stem("".join(words)) for words in marks),
    )
