"""Corrections of mistyped English words, by how often words occur.

Owns the reading of the English word list that the package pyspellchecker carries (MIT;
counted in subtitles); its code is never imported. A word one slip away from listed ones
stands for the likeliest: the one that occurs most, times a weight of the kind of slip.
"""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from string import ascii_lowercase

import msgspec

from registry.ranking.installed import folder_of
from registry.ranking.policy import Policy
from registry.ranking.terms import word_set

_WORD_LIST = "resources/en.json.gz"


class Spelling:
    """Shared and read-only: what it computed of a word, the time of the next would tell."""

    def __init__(self, occurrences: Mapping[str, int], policy: Policy) -> None:
        """occurrences: of each English word, in one corpus."""
        self._occurrences = occurrences
        self._policy = policy
        self._stop = word_set(policy.stop_words)

    def has(self, word: str) -> bool:
        """Return whether the word or its singular is listed."""
        return word in self._occurrences or (
            word.endswith("s") and word[:-1] in self._occurrences
        )

    def correct(self, word: str) -> str | None:
        """Return the word that was probably meant; of equally likely ones the first.

        None: there is none.
        """
        meant = {
            target: self._occurrences[target] * self._slip_weight(word, target)
            for target in _one_slip_away(word)
            if self._may_be_meant(word, target)
        }
        return min(meant, key=lambda target: (-meant[target], target), default=None)

    def _may_be_meant(self, word: str, target: str) -> bool:
        """Refuse connecting words, another form of the word, and another beginning."""
        enough = self._policy.correction_occurrences_min
        return (
            self._occurrences.get(target, 0) >= enough
            and target not in self._stop
            and not word.startswith(target.removesuffix("s"))
            and (word[0] == target[0] or word[:2] == target[1::-1])
        )

    def _slip_weight(self, word: str, target: str) -> int:
        policy = self._policy
        if sorted(word) == sorted(target):
            return policy.slip_swapped_weight
        if _undoubled(word) == _undoubled(target):
            return policy.slip_doubled_weight
        is_replaced = len(word) == len(target)
        return policy.slip_replaced_weight if is_replaced else policy.slip_letter_weight


def _one_slip_away(word: str) -> Iterator[str]:
    """Yield the spellings with one letter less, more, replaced, or two swapped."""
    for index in range(len(word) + 1):
        before, behind = word[:index], word[index:]
        yield before + behind[1:]
        yield before + behind[1::-1] + behind[2:]
        for letter in ascii_lowercase:
            yield before + letter + behind
            yield before + letter + behind[1:]


def _undoubled(word: str) -> str:
    return "".join([letter for letter, _ in groupby(word)])


@cache
def load_occurrences(digest: str) -> Mapping[str, int]:
    """Return the occurrences of English words; none for a policy without a dictionary.

    digest: SHA-256 of the unpacked list. Raises: RuntimeError if it is another, or none
    is installed.
    """
    if not digest:
        return {}
    path = folder_of("spellchecker", "pyspellchecker") / _WORD_LIST
    unpacked = gzip.decompress(path.read_bytes())
    if (installed := f"sha256:{hashlib.sha256(unpacked).hexdigest()}") != digest:
        raise RuntimeError(f"the policy wants another word list than {installed}")
    return msgspec.json.decode(unpacked, type=dict[str, int])
