"""The lexicon: words that were run together, written in another way, or mistyped.

Its words come from the policy's lists and the encoder's vocabulary, never from sites: so
no site can change the meaning of a request.

An unknown word is taken apart where it consists of listed words (`addtocart`), and
takes the plain vowel where that makes it known (`zuerich`); both in sites and requests.
In requests an unknown word that is a slip of the keyboard away from a listed one is
searched in both forms, and the answer tells so. Only listed words are corrections: the
encoder knows too many pieces and languages to tell a slip from a name. What is a word of
another language (`real_words`) is no slip.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from operator import eq

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.letters import fold, with_plain_vowels
from registry.ranking.memo import Memo
from registry.ranking.policy import FULL, Policy
from registry.ranking.terms import compared, stem, typed_words, word_set

_LINKS = "sn"
"""Letters that a noun may take at its end inside a compound or in the plural."""


@dataclass(slots=True, kw_only=True, eq=False)
class QueryWord:
    """A word of a request, independent of its neighbours and shared by all requests.

    shown: as typed but for its case, or as one of words run together. is_content: it can
    match. is_in_sentence: that, or it connects content words. correction: see
    `Lexicon.correction_of`; None for other words. is_plain: compared as shown, without a
    correction.
    """

    shown: str
    word: str
    term: str
    is_content: bool
    is_in_sentence: bool
    correction: str | None
    is_plain: bool


class Lexicon:
    """Shared and read-only."""

    def __init__(self, pieces: Iterable[str], policy: Policy) -> None:
        """Index the words. pieces: of the encoder that start a word, in any case."""
        listed = _listed_words(policy)
        joined = map(_joined, policy.split_words)
        closed = {*policy.closed_words, *policy.real_words, *joined}
        self._policy = policy
        self._longest_word = policy.word_letters_max
        self._stop = word_set(policy.stop_words)
        self._linking = word_set(policy.linking_parts)
        self._parts = _parts(listed, policy)
        self._shortest_part = min(map(len, self._parts))
        self._longest_part = max(map(len, self._parts))
        self._known = closed.union(listed, policy.stop_words, _plain_pieces(pieces))
        self._known_stems = frozenset(map(stem, self._known))
        targets = tuple(dict.fromkeys((*listed, *_plurals(listed))))
        self._near = _by_deletion(targets)
        self._alike = _by_letters(targets)
        longest = self._longest_word
        self._content_parts_of = Memo(self._content_parts, longest=longest, most=16_384)
        self._words = Memo(self._read_word, longest=longest, most=16_384)

    def parts(self, word: str) -> tuple[str, ...]:
        """Return the known words that it consists of, or else the word itself."""
        return self._take_apart(word) if self._is_short(word) else (word,)

    def content_words(self, words: Iterable[str], *, limit: int) -> list[str]:
        """Return the first distinct parts that are content words."""
        parts = chain.from_iterable(map(self._content_parts_of.__getitem__, words))
        return list(dict.fromkeys(parts))[:limit]

    def _content_parts(self, word: str) -> tuple[str, ...]:
        parts = self.parts(word)
        return tuple(dict.fromkeys(filter(self._is_content, parts)))

    def correction_of(self, word: str) -> str | None:
        """Return the listed word that was probably meant, None if there is none."""
        return self._correct(word) if self._is_short(word) else None

    def read(self, text: str) -> list[QueryWord]:
        """Return the words of a request, in order."""
        shown = [shown for shown, _ in typed_words(text)]
        return list(chain.from_iterable(map(self._words.__getitem__, shown)))

    def _read_word(self, shown: str) -> tuple[QueryWord, ...]:
        parts = self.parts(compared(shown))
        if len(parts) == 1:
            return (self._read_part(shown, parts[0]),)
        return tuple([self._read_part(part, part) for part in parts])

    def _read_part(self, shown: str, word: str) -> QueryWord:
        is_content = self._is_content(word)
        correction = self._correct(word) if is_content else None
        return QueryWord(
            shown=shown,
            word=word,
            term=stem(word),
            is_content=is_content,
            is_in_sentence=is_content or word in self._stop,
            correction=correction,
            is_plain=shown == word and not correction,
        )

    def _is_content(self, word: str) -> bool:
        """Refuse numbers as well: counts and prices are boasts, never capabilities."""
        return self._is_short(word) and word not in self._stop and not word.isdecimal()

    def _is_short(self, word: str) -> bool:
        return len(word) <= self._longest_word

    def knows(self, word: str) -> bool:
        return word in self._known or stem(word) in self._known_stems

    def _take_apart(self, word: str) -> tuple[str, ...]:
        if not _is_plain(word) or self.knows(word):
            return (word,)
        parts = self._fewest_parts(word) if self._may_be_parts(word) else ()
        if parts and max(map(len, parts)) > 3:
            return parts
        return (self._with_plain_vowels(word),)

    def _may_be_parts(self, word: str) -> bool:
        """Return whether it begins and ends with a part, as few words do."""
        lengths = range(self._shortest_part, min(len(word), self._longest_part) + 1)
        begins = [word[:length] for length in lengths]
        if self._parts.isdisjoint(begins):
            return False
        return not self._parts.isdisjoint([word[-length:] for length in lengths])

    def _fewest_parts(self, word: str) -> tuple[str, ...]:
        """Return the split into fewest parts, the longest first part in a tie, or ()."""
        splits: dict[int, tuple[str, ...]] = {0: ()}
        for start in range(len(word)):
            if start not in splits:
                continue
            for end in range(min(len(word), start + self._longest_part), start, -1):
                if self._is_part(word, start, end) and (
                    end not in splits or len(splits[end]) > len(splits[start]) + 1
                ):
                    splits[end] = (*splits[start], word[start:end])
        return splits.get(len(word), ())

    def _is_part(self, word: str, start: int, end: int) -> bool:
        part = word[start:end]
        return part in self._parts or (
            start > 0 and end < len(word) and part in self._linking
        )

    def _with_plain_vowels(self, word: str) -> str:
        """Turn `muenchen` into `munchen` if that is a known word."""
        plain = with_plain_vowels(word)
        return plain if len(plain) > 3 and plain in self._known else word

    def _correct(self, word: str) -> str | None:
        least = self._policy.correction_letters_min
        if not _is_plain(word) or len(word) < least or self.knows(word):
            return None
        forms = [word, *_deletions(word)]
        known = () if self._near.keys().isdisjoint(forms) else forms
        near = set(chain.from_iterable([self._near.get(form, ()) for form in known]))
        if len(word) >= self._policy.correction_twice_letters_min:
            near.update(self._alike.get(frozenset(word), ()))
        ranked = [
            (slips, sorted(target) != sorted(word), target)
            for target in near
            if (slips := self._slips(word, target))
        ]
        return min(ranked)[2] if ranked else None

    def _slips(self, word: str, target: str) -> int:
        """Return 1 or 2 slips; 0 if they are too far apart for a word of this length."""
        if word.startswith(target.removesuffix("s")):  # another word of its family
            return 0
        if word[0] != target[0] and word[:2] != target[1::-1]:
            return 0
        if is_single_slip(word, target):
            return int(len(word) >= self._letters_min(word, target))
        enough = len(word) >= self._policy.correction_twice_letters_min
        if not enough or set(word) != set(target):
            return 0
        return 2 if distance(word, target) == 2 else 0

    def _letters_min(self, word: str, target: str) -> int:
        """Return the letters that a word with this kind of slip must have."""
        policy = self._policy
        if sorted(word) == sorted(target):
            return policy.correction_letters_min
        if len(word) == len(target):
            return policy.correction_replaced_letters_min
        return policy.correction_letters_min + 1


@lru_cache(maxsize=2)
def lexicon_of(encoder: Encoder, policy: Policy) -> Lexicon:
    """Return the process's lexicon; the first call takes about a tenth of a second."""
    return Lexicon(encoder.word_pieces(), policy)


def term_weights_bp(
    term_of: Mapping[str, str], corrected: Mapping[str, str], policy: Policy
) -> dict[str, int]:
    """Return each term's weight in basis points: FULL, or shared with its correction.

    Shared, because a site with both forms must not get more than the word.
    """
    if not corrected:
        return dict.fromkeys(term_of.values(), FULL)
    weights: dict[str, int] = {}
    for word, term in term_of.items():
        correction = corrected.get(word)
        shares = (
            {term: FULL}
            if correction is None
            else {
                term: FULL - policy.correction_share_bp,
                stem(correction): policy.correction_share_bp,
            }
        )
        for searched, share in shares.items():
            weights[searched] = max(share, weights.get(searched, 0))
    return weights


def _listed_words(policy: Policy) -> tuple[str, ...]:
    return (
        *policy.act_words,
        *policy.generic_words,
        *policy.everyday_words,
        *policy.spelled_words,
    )


def _parts(listed: Iterable[str], policy: Policy) -> frozenset[str]:
    """Return the parts that a separable word may begin and end with."""
    nouns = [word for word in (*listed, *policy.compound_parts) if len(word) > 3]
    plain = {*nouns, *policy.name_parts}
    linked = [f"{part}{link}" for part in plain if len(part) > 3 for link in _LINKS]
    return frozenset(plain.union(linked))


def _plurals(words: Iterable[str]) -> Iterator[str]:
    return (f"{word}s" for word in words if len(word) > 3 and word[-1] != "s")


def _joined(pair: str) -> str:
    return pair.replace("+", "").replace("-", "")


def _plain_pieces(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        word = piece.casefold()
        folded = word if word.isascii() else fold(word)
        if len(folded) > 1 and _is_plain(folded):
            yield folded


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha()


def _deletions(word: str) -> list[str]:
    return [word[:index] + word[index + 1 :] for index in range(len(word))]


def _by_deletion(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Index each word by itself and by its forms with one letter deleted.

    Two words one slip apart meet there (Garbe 2012, symmetric delete).
    """
    index: dict[str, tuple[str, ...]] = {}
    for word in words:
        for form in dict.fromkeys((word, *_deletions(word))):
            index[form] = (*index.get(form, ()), word)
    return index


def _by_letters(words: Iterable[str]) -> dict[frozenset[str], tuple[str, ...]]:
    index: dict[frozenset[str], tuple[str, ...]] = {}
    for word in words:
        letters = frozenset(word)
        index[letters] = (*index.get(letters, ()), word)
    return index


def is_single_slip(word: str, other: str) -> bool:
    """Return whether two different words are at a distance of 1."""
    same = sum([1 for _ in takewhile(bool, map(eq, word, other))])
    rest, facing = word[same:], other[same:]
    return (
        rest[1:] == facing
        or rest == facing[1:]
        or rest[1:] == facing[1:]
        or (rest[:2] == facing[1::-1] and rest[2:] == facing[2:])
    )


def distance(word: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance by optimal string alignment."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(word, 1):
        current = [row]
        for column, facing in enumerate(other, 1):
            cost = min(
                above[column] + 1,
                current[-1] + 1,
                above[column - 1] + (letter != facing),
            )
            if (
                row > 1
                and column > 1
                and letter == other[column - 2]
                and word[row - 2] == facing
            ):
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, above = above, current
    return above[-1]
