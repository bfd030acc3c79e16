"""Known words, words run together, and corrections."""

import gzip
import hashlib
import json
import re
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from tests.second_implementation.words import compared, stem

FULL = 10_000


def is_plain(word):
    return word.isascii() and word.isalpha()


def with_plain_vowels(word):
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


class Lexicon:
    """pieces: of both vocabularies that start a word, without the start's sign."""

    def __init__(self, policy, pieces):
        self.policy = policy
        self.listed = [
            *policy.act_words,
            *policy.generic_words,
            *policy.everyday_words,
            *policy.spelled_words,
        ]
        self.stop = set(policy.stop_words)
        folded = (compared(piece.casefold()) for piece in pieces)
        self.known = {word for word in folded if is_plain(word) and len(word) > 1}
        self.known.update(self.listed, policy.closed_words, policy.stop_words)
        self.known.update(
            p.replace("+", "").replace("-", "") for p in policy.split_words
        )
        nouns = {w for w in (*self.listed, *policy.compound_parts) if len(w) > 3}
        nouns.update(policy.name_parts)
        linked = {word + link for word in nouns if len(word) > 3 for link in "sn"}
        self.parts_of_words = nouns | linked
        self.longest_part = max(map(len, self.parts_of_words))
        self.dictionary = dictionary(policy)
        self._parts, self._corrections = {}, {}

    @cached_property
    def known_stems(self):
        return set(map(stem, self.known))

    def knows(self, word):
        return word in self.known or stem(word) in self.known_stems

    def parts(self, word):
        if word not in self._parts:
            self._parts[word] = self._take_apart(word)
        return self._parts[word]

    def _take_apart(self, word):
        too_long = len(word) > self.policy.word_letters_max
        if not is_plain(word) or too_long or self.knows(word):
            return [word]
        parts = self._fewest(word)
        if parts and max(map(len, parts)) > 3:
            return parts
        plain = with_plain_vowels(word)
        return [plain] if len(plain) > 3 and plain in self.known else [word]

    def _fewest(self, word):
        linking = self.policy.linking_parts
        best = {0: []}
        for end in range(1, len(word) + 1):
            for start in range(
                max(0, end - self.longest_part), end
            ):  # longest last part
                part = word[start:end]
                inner = start > 0 and end < len(word) and part in linking
                if start not in best or not (part in self.parts_of_words or inner):
                    continue
                if end not in best or len(best[start]) + 1 < len(best[end]):
                    best[end] = [*best[start], part]
        return best.get(len(word), [])

    def is_content(self, word):
        return (
            len(word) <= self.policy.word_letters_max
            and word not in self.stop
            and not word.isdecimal()
        )

    def content(self, words, limit):
        parts = (part for word in words for part in self.parts(word))
        return list(dict.fromkeys(filter(self.is_content, parts)))[:limit]

    def corrections(self, words, written):
        """words: of a request, in order. written: as they were typed, but for case."""
        unknown = [word for word in dict.fromkeys(words) if self.is_unknown(word)]
        others = [word for word in words if word.isalpha() and word not in unknown]
        english = sum(map(self.is_english, others))
        least = self.policy.correction_english_bp
        if not "".join(written).isascii() or english * FULL < least * len(others):
            return {}
        alone = self.policy.correction_alone_letters_min
        if not others and min(map(len, words), default=0) < alone:
            return {}
        first = unknown[: self.policy.corrections_max]
        return {word: meant for word in first if (meant := self.correction(word))}

    def is_english(self, word):
        return word in self.dictionary or (
            word[-1:] == "s" and word[:-1] in self.dictionary
        )

    def is_unknown(self, word):
        known = word in self.parts_of_words or self.is_english(word) or self.knows(word)
        long = len(word) >= self.policy.correction_letters_min
        return long and is_plain(word) and self.is_content(word) and not known

    def correction(self, word):
        if word not in self._corrections:
            self._corrections[word] = self._correct(word)
        return self._corrections[word]

    def _correct(self, word):
        options = [
            (-times * self._weight(word, target), target)
            for target, times in self.dictionary.items()
            if times >= self.policy.correction_occurrences_min
            and abs(len(target) - len(word)) < 2
            and (word[0] == target[0] or word[:2] == target[:2][::-1])
            and target not in self.stop
            and not word.startswith(target.removesuffix("s"))
            and len(set(word) ^ set(target)) < 3
            and distance(word, target) == 1
        ]
        return min(options)[1] if options else None

    def _weight(self, word, target):
        if sorted(word) == sorted(target):
            return self.policy.slip_swapped_weight
        if once(word) == once(target):
            return self.policy.slip_doubled_weight
        if len(word) == len(target):
            return self.policy.slip_replaced_weight
        return self.policy.slip_letter_weight


def once(word):
    return re.sub(r"(.)\1+", r"\1", word)


def dictionary(policy):
    """The English word list of a package of Python; there is no other source of it."""
    folder = Path(find_spec(policy.dictionary.split("-")[0].removeprefix("py")).origin)
    text = gzip.decompress((folder.parent / "resources/en.json.gz").read_bytes())
    assert policy.dictionary_digest == f"sha256:{hashlib.sha256(text).hexdigest()}"
    return json.loads(text)


def distance(first, second):
    """Optimal string alignment."""
    costs = {}
    for i in range(len(first) + 1):
        for j in range(len(second) + 1):
            if not i or not j:
                costs[i, j] = i + j
                continue
            costs[i, j] = min(
                costs[i - 1, j] + 1,
                costs[i, j - 1] + 1,
                costs[i - 1, j - 1] + (first[i - 1] != second[j - 1]),
            )
            if i > 1 and j > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
                costs[i, j] = min(costs[i, j], costs[i - 2, j - 2] + 1)
    return costs[len(first), len(second)]
