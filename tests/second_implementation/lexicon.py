"""Known words, words run together, and corrections."""

from functools import cached_property

from tests.second_implementation.words import compared, stem


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
        self.known.update(policy.real_words)
        self.known.update(
            p.replace("+", "").replace("-", "") for p in policy.split_words
        )
        nouns = {w for w in (*self.listed, *policy.compound_parts) if len(w) > 3}
        nouns.update(policy.name_parts)
        linked = {word + link for word in nouns if len(word) > 3 for link in "sn"}
        self.parts_of_words = nouns | linked
        self.longest_part = max(map(len, self.parts_of_words))
        self.targets = dict.fromkeys(
            [
                *self.listed,
                *(w + "s" for w in self.listed if len(w) > 3 and w[-1] != "s"),
            ]
        )
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

    def correction(self, word):
        if word not in self._corrections:
            self._corrections[word] = self._correct(word)
        return self._corrections[word]

    def _correct(self, word):
        least = self.policy.correction_letters_min
        if not is_plain(word) or len(word) < least or self.knows(word):
            return None
        options = [
            (slips, sorted(word) != sorted(target), target)
            for target in self.targets
            if abs(len(target) - len(word)) <= 2
            and (slips := self._slips(word, target))
        ]
        return min(options)[2] if options else None

    def _slips(self, word, target):
        if word.startswith(target.removesuffix("s")):
            return 0
        if word[0] != target[0] and word[:2] != target[:2][::-1]:
            return 0
        apart = distance(word, target)
        if apart == 1:
            return int(len(word) >= self._letters_needed(word, target))
        enough = len(word) >= self.policy.correction_twice_letters_min
        return 2 if apart == 2 and enough and set(word) == set(target) else 0

    def _letters_needed(self, word, target):
        if sorted(word) == sorted(target):
            return self.policy.correction_letters_min
        if len(word) == len(target):
            return self.policy.correction_replaced_letters_min
        return self.policy.correction_letters_min + 1


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
