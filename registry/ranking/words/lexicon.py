"""The lexicon: words that were run together, written in another way, or mistyped.

Its words come from the policy's lists and the encoder's vocabulary, never from sites: so
no site can change the meaning of a request.

An unknown word is taken apart where it consists of listed words (`addtocart`), and
takes the plain vowel where that makes it known (`zuerich`); both in sites and requests.
In requests in English an unknown word that is a slip of the keyboard away from one of an
English dictionary is searched in both forms, and the answer tells so; see `slips`. What
the encoder knows as a word, of any language, is no slip.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.letters import fold, script_of, with_plain_vowels
from registry.ranking.memo import Memo
from registry.ranking.policy import FULL, Policy
from registry.ranking.terms import LONGEST, compared, stem, typed_words, word_set
from registry.ranking.words.slips import Spelling, load_occurrences

_LINKS = "sn"
"""Letters that a noun may take at its end inside a compound or in the plural."""


@dataclass(slots=True, kw_only=True, eq=False)
class QueryWord:
    """A word of a request, independent of its neighbours and shared by all requests.

    shown: as typed but for its case, or as one of words run together. is_content: it can
    match. is_in_sentence: that, or it connects content words. is_unknown: it may be
    mistyped. correction: what was probably meant, or None. is_plain: compared as shown,
    without a correction.
    """

    shown: str
    word: str
    term: str
    is_content: bool
    is_in_sentence: bool
    is_unknown: bool
    is_plain: bool
    correction: str | None = None


_IS_UNKNOWN = attrgetter("is_unknown")


class Lexicon:
    """Shared and read-only."""

    def __init__(self, pieces: Iterable[str], policy: Policy) -> None:
        """Index the words. pieces: of the encoder that start a word, in any case."""
        listed = _listed_words(policy)
        joined = map(_joined, policy.split_words)
        closed = {*policy.closed_words, *joined}
        self._policy = policy
        self._longest_word = policy.word_letters_max
        self._stop = word_set(policy.stop_words)
        self._linking = word_set(policy.linking_parts)
        self._parts = _parts(listed, policy)
        self._shortest_part = min(map(len, self._parts))
        self._longest_part = max(map(len, self._parts))
        self._known = closed.union(listed, policy.stop_words, _plain_pieces(pieces))
        self._known_stems = frozenset(map(stem, self._known))
        longest = self._longest_word
        self._content_parts_of = Memo(self._content_parts, longest=longest, most=16_384)
        self._words = Memo(self._read_word, longest=longest, most=16_384)

    @cached_property
    def _spelling(self) -> Spelling:
        """Spelling, which only requests need. Raises: RuntimeError, see `load_occurrences`."""
        return Spelling(load_occurrences(self._policy.dictionary_digest), self._policy)

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

    def read(self, text: str) -> list[QueryWord]:
        """Return the words of a request, in order, with their corrections."""
        shown = [shown for shown, _ in typed_words(text)]
        words = list(chain.from_iterable(map(self._words.__getitem__, shown)))
        if not any(map(_IS_UNKNOWN, words)) or not self._are_english(words):
            return words
        corrections = self._corrections(words)
        return [
            replace(word, correction=meant, is_plain=False)
            if (meant := corrections.get(word.word))
            else word
            for word in words
        ]

    def _corrections(self, words: Iterable[QueryWord]) -> dict[str, str]:
        """Correct the first unknown words; more of them are another language."""
        unknown = dict.fromkeys([word.word for word in words if word.is_unknown])
        first = list(unknown)[: self._policy.corrections_max]
        meant = {word: self._spelling.correct(word) for word in first}
        return {word: target for word, target in meant.items() if target}

    def _are_english(self, words: Sequence[QueryWord]) -> bool:
        """Return whether enough of the words that may not be mistyped are English."""
        if not "".join([word.shown for word in words]).isascii():
            return False
        others = [word.word for word in words if not word.is_unknown]
        others = [word for word in others if word.isalpha()]
        if not others:
            least = self._policy.correction_alone_letters_min
            return all(len(word.word) >= least for word in words)
        english = sum(map(self._spelling.has, others))
        return english * FULL >= self._policy.correction_english_bp * len(others)

    def _read_word(self, shown: str) -> tuple[QueryWord, ...]:
        parts = self.parts(compared(shown))
        if len(parts) == 1:
            return (self._read_part(shown, parts[0]),)
        return tuple([self._read_part(part, part) for part in parts])

    def _read_part(self, shown: str, word: str) -> QueryWord:
        is_content = self._is_content(word)
        return QueryWord(
            shown=shown,
            word=word,
            term=stem(word),
            is_content=is_content,
            is_in_sentence=is_content or word in self._stop,
            is_unknown=is_content and self._may_be_mistyped(word),
            is_plain=shown == word,
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

    def _may_be_mistyped(self, word: str) -> bool:
        if not _is_plain(word) or len(word) < self._policy.correction_letters_min:
            return False
        is_known = word in self._parts or self._spelling.has(word) or self.knows(word)
        return not is_known


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


def _joined(pair: str) -> str:
    return pair.replace("+", "").replace("-", "")


def _plain_pieces(pieces: Iterable[str]) -> set[str]:
    words = {piece.casefold() for piece in pieces} - {""}
    plain = {*filter(_is_plain, words)}
    latin = [word for word in words - plain if script_of(word) == "LATIN"]
    plain.update(filter(_is_plain, map(fold, latin)))
    return {word for word in plain if 1 < len(word) <= LONGEST}


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha()
