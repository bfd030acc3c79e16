"""Words that were run together, written in another way, or mistyped.

Owns the lexicon: words that are known without looking at any site, from the policy's
lists and the encoder's vocabulary. What becomes of a word depends on the word and the
lexicon only, never on what is registered, so that no site can move what a request
means.

An unknown word is taken apart where it consists of listed words (`addtocart`), and
takes the plain vowel where that makes it known (`zuerich`); both in sites and requests.
In requests an unknown word that is a slip of the keyboard away from a listed one is
looked for in both forms, and the answer says so. Only listed words are corrected to:
the encoder knows too many pieces and languages to tell a slip from a name.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from registry.ranking.encoder import Encoder
from registry.ranking.letters import fold, with_plain_vowels
from registry.ranking.policy import FULL, Policy
from registry.ranking.remembered import Remembered
from registry.ranking.text import LONGEST, may_be_joined, stem, typed_words, word_set

_LINKS = "sn"
"""What a noun may take at its end inside a compound or in the plural."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWord:
    """What a word is in a request, whatever stands beside it.

    part: the word, if it is one of several that were run together. says: it says
    something. holds_together: it is a word that only does that. meant: see `Lexicon.meant_by`; None where it says nothing.
    """

    word: str
    part: str | None
    term: str
    says: bool
    holds_together: bool
    meant: str | None


class Lexicon:
    """Shared and read-only."""

    def __init__(self, pieces: Iterable[str], policy: Policy) -> None:
        """pieces: of the encoder's vocabulary that start a word, in any case."""
        listed = _listed_words(policy)
        closed = {*policy.closed_words, *map(_joined, policy.split_words)}
        self._policy = policy
        self._longest_word = policy.word_letters_max
        self._stop = word_set(policy.stop_words)
        self._linking = word_set(policy.linking_parts)
        self._parts = word_set(policy.name_parts) | {
            word for word in (*listed, *policy.compound_parts) if len(word) > 3
        }
        self._longest_part = max(map(len, self._parts)) + 1
        self._known = closed.union(listed, policy.stop_words, _plain_pieces(pieces))
        self._known_stems = frozenset(map(stem, self._known))
        targets = tuple(dict.fromkeys((*listed, *_plurals(listed))))
        self._near = _by_deletion(targets)
        self._alike = _by_letters(targets)
        longest = self._longest_word
        self._parts_of = lru_cache(maxsize=16_384)(self._take_apart)
        self._saying_parts_of = Remembered(
            self._saying_parts, longest=longest, most=16_384
        )
        self._meant_by = lru_cache(maxsize=4096)(self._correct)
        self._readings = Remembered(self._read_word, longest=longest, most=16_384)
        self._runs = Remembered(self._read_run, longest=LONGEST, most=16_384)

    def parts(self, word: str) -> tuple[str, ...]:
        """The known words that it consists of, or else the word itself."""
        return self._parts_of(word) if len(word) <= self._longest_word else (word,)

    def saying(self, words: Iterable[str], *, limit: int) -> list[str]:
        """The distinct parts that say something, first come first kept."""
        parts = chain.from_iterable(map(self._saying_parts_of.__getitem__, words))
        return list(dict.fromkeys(parts))[:limit]

    def _saying_parts(self, word: str) -> tuple[str, ...]:
        parts = self.parts(word)
        return tuple(dict.fromkeys(filter(self._says, parts)))

    def meant_by(self, word: str) -> str | None:
        """The listed word that was probably meant; None for a known or other word."""
        return self._meant_by(word) if self._is_short(word) else None

    def read(self, text: str) -> Iterable[tuple[str, ReadWord]]:
        """The words of a request, each as it was typed but for its case.

        A part of words that were run together is as it stands among them.
        """
        if text.isascii():
            runs = list(map(self._runs.__getitem__, text.split()))
            if all(runs):
                return chain.from_iterable(runs)
        return self._read_typed(typed_words(text))

    def _read_run(self, run: str) -> tuple[tuple[str, ReadWord], ...]:
        """() where it has no words, or its last one may belong to what follows."""
        typed = typed_words(run)
        if typed and may_be_joined(typed[-1][1]):
            return ()
        return tuple(self._read_typed(typed))

    def _read_typed(
        self, typed: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, ReadWord]]:
        for shown, word in typed:
            for read in self._readings[word]:
                yield read.part or shown, read

    def _read_word(self, word: str) -> tuple[ReadWord, ...]:
        parts = self.parts(word)
        return tuple(
            [self._read_part(part, is_alone=len(parts) == 1) for part in parts]
        )

    def _read_part(self, word: str, *, is_alone: bool) -> ReadWord:
        says = self._says(word)
        return ReadWord(
            word=word,
            part=None if is_alone else word,
            term=stem(word),
            says=says,
            holds_together=word in self._stop,
            meant=self.meant_by(word) if says else None,
        )

    def _says(self, word: str) -> bool:
        """Numbers say nothing: counts and prices are boasts, never capabilities."""
        return self._is_short(word) and word not in self._stop and not word.isdecimal()

    def _is_short(self, word: str) -> bool:
        return len(word) <= self._longest_word

    def knows(self, word: str) -> bool:
        return word in self._known or stem(word) in self._known_stems

    def _take_apart(self, word: str) -> tuple[str, ...]:
        if not _is_plain(word) or self.knows(word):
            return (word,)
        parts = self._fewest_parts(word)
        if parts and max(map(len, parts)) > 3:
            return parts
        return (self._with_plain_vowels(word),)

    def _fewest_parts(self, word: str) -> tuple[str, ...]:
        """Of equally few the one with the longest first part; () if there is none."""
        found: dict[int, tuple[str, ...]] = {0: ()}
        for start in range(len(word)):
            if start not in found:
                continue
            for end in range(min(len(word), start + self._longest_part), start, -1):
                if self._is_part(word, start, end) and (
                    end not in found or len(found[end]) > len(found[start]) + 1
                ):
                    found[end] = (*found[start], word[start:end])
        return found.get(len(word), ())

    def _is_part(self, word: str, start: int, end: int) -> bool:
        part = word[start:end]
        return (
            part in self._parts
            or (end - start > 4 and part[-1] in _LINKS and part[:-1] in self._parts)
            or (start > 0 and end < len(word) and part in self._linking)
        )

    def _with_plain_vowels(self, word: str) -> str:
        """`muenchen` as `munchen`, where an umlaut's other spelling hides a known word."""
        plain = with_plain_vowels(word)
        return plain if len(plain) > 3 and plain in self._known else word

    def _correct(self, word: str) -> str | None:
        least = self._policy.correction_letters_min
        if not _is_plain(word) or len(word) < least or self.knows(word):
            return None
        near = {
            target
            for form in (word, *_deletions(word))
            for target in self._near.get(form, ())
        }
        near.update(self._alike.get(frozenset(word), ()))
        ranked = [
            (distance, sorted(target) != sorted(word), target)
            for target in near
            if (distance := self._slips(word, target))
        ]
        return min(ranked)[2] if ranked else None

    def _slips(self, word: str, target: str) -> int:
        """1 or 2; 0 if they lie too far apart for a word of this length."""
        if word.startswith(target.removesuffix("s")):  # another word of its family
            return 0
        if word[0] != target[0] and word[:2] != target[1::-1]:
            return 0
        slips = _distance(word, target)
        if slips == 1:
            return int(len(word) >= self._letters_for_one(word, target))
        enough = len(word) >= self._policy.correction_twice_letters_min
        return 2 if slips == 2 and enough and set(word) == set(target) else 0

    def _letters_for_one(self, word: str, target: str) -> int:
        """What a word must have, by what happened to it."""
        policy = self._policy
        if sorted(word) == sorted(target):
            return policy.correction_letters_min
        if len(word) == len(target):
            return policy.correction_replaced_letters_min
        return policy.correction_letters_min + 1


@lru_cache(maxsize=2)
def lexicon_of(encoder: Encoder, policy: Policy) -> Lexicon:
    """One a process; the first call takes about a tenth of a second."""
    return Lexicon(encoder.word_pieces(), policy)


def term_weights_bp(
    term_of: Mapping[str, str], corrected: Mapping[str, str], policy: Policy
) -> dict[str, int]:
    """The weight of each term in basis points: FULL, or shared with what was meant.

    Shared, because a site that says both forms must not get more than the word.
    """
    if not corrected:
        return dict.fromkeys(term_of.values(), FULL)
    weights: dict[str, int] = {}
    for word, term in term_of.items():
        meant = corrected.get(word)
        shares = (
            {term: FULL}
            if meant is None
            else {
                term: FULL - policy.correction_share_bp,
                stem(meant): policy.correction_share_bp,
            }
        )
        for sought, share in shares.items():
            weights[sought] = max(share, weights.get(sought, 0))
    return weights


def _listed_words(policy: Policy) -> tuple[str, ...]:
    return (
        *policy.act_words,
        *policy.generic_words,
        *policy.everyday_words,
        *policy.spelled_words,
    )


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


def _deletions(word: str) -> Iterator[str]:
    for index in range(len(word)):
        yield word[:index] + word[index + 1 :]


def _by_deletion(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Each word under itself and under all that is left of it without one letter.

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


def _distance(one: str, other: str) -> int:
    """Damerau-Levenshtein, in its form of optimal string alignment."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
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
                and one[row - 2] == facing
            ):
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, above = above, current
    return above[-1]
