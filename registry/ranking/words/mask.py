"""Masking of a site's own name in its ranking text.

A brand must not reach the score. The name and the domain are cut wherever the text has
them whole, in words or written together. Of their single words those are cut that could
be a mark: "Nike Store" may mention that it is a store, but not that its shoes are Nike's.

A word is no mark if it is an everyday word. That is decided offline and for each site
alone, so that no site's text depends on other sites: the policy lists the word (a noun of
a trade, an act, grammar), or the encoder's vocabulary has it in one piece. That vocabulary
was made by merging the most frequent pairs of a very large corpus, so a whole word in it
is in common use. Of scripts other than Latin it has few words; there the policy's list of
trades judges. What words do not show is cut from the text before: names in scripts without
spaces, and names written in another script than the site's (`transcribed_names`). The name
of the site's place, by the gazetteer, is no mark either.

Everyday words stay, because cutting them would make a plainly named trader invisible
for its own trade, and would let the choice of a name change the score.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

import idna

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.letters import script_of, with_plain_vowels
from registry.ranking.memo import Memo
from registry.ranking.policy import Policy
from registry.ranking.terms import (
    plain_text,
    runs_of,
    split_words,
    stem,
    stem_set,
    stems,
    word_set,
)
from registry.ranking.words.transcribed_names import TranscribedNames, unspaced_marks

_UMLAUTS = str.maketrans(
    {
        "\u00e4": "ae",
        "\u00f6": "oe",
        "\u00fc": "ue",
        "\u00c4": "Ae",
        "\u00d6": "Oe",
        "\u00dc": "Ue",
    }
)
_JUDGED_SCRIPTS = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI"}
)
"""Scripts with spaces whose everyday words are listed; of others names are cut whole."""
_NAME_PARTS = re.compile(r"[|:,()\u00b7\u2022\u2013\u2014]|\s-\s")


@dataclass(frozen=True, slots=True)
class EverydayWords:
    """Test for words that are no marks. place_terms: stems of the site's place."""

    encoder: Encoder
    policy: Policy
    place_terms: frozenset[str]
    _memo: Memo[bool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        memo = _everyday_memo(self.encoder, self.policy)
        object.__setattr__(self, "_memo", memo)

    def has(self, word: str) -> bool:
        return self._memo[word] or stem(word) in self.place_terms


@lru_cache(maxsize=2)
def _everyday_memo(encoder: Encoder, policy: Policy) -> Memo[bool]:
    """Return the memo of everyday words that all sites share."""
    find = partial(_is_everyday, encoder=encoder, policy=policy)
    return Memo(find, longest=policy.word_letters_max, most=16_384)


def _is_everyday(word: str, *, encoder: Encoder, policy: Policy) -> bool:
    term = stem(word)
    return (
        word.isdecimal()
        or script_of(word) not in _JUDGED_SCRIPTS
        or word in word_set(policy.stop_words)
        or term in stem_set(policy.generic_words)
        or term in stem_set(policy.everyday_words)
        or term in stem_set(policy.act_words)
        or term in stem_set(policy.trade_words)
        or encoder.is_whole_piece(word)
        or encoder.is_whole_piece(term)
    )


@dataclass(frozen=True, slots=True)
class Mask:
    """A site's mask. phrases: sequences of stems, longest first. joined: written together.

    marks: stems of single words, which are cut unless the word is an everyday one.
    first: texts without any of these stems are left as they are.
    transcribed: of the same names, what a text's words do not show.
    """

    phrases: tuple[tuple[str, ...], ...]
    joined: frozenset[str]
    marks: frozenset[str]
    everyday: EverydayWords
    transcribed: TranscribedNames
    first: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        heads = frozenset(phrase[0] for phrase in self.phrases)
        object.__setattr__(self, "first", heads | self.joined | self.marks)

    def words(self, text: str) -> list[str]:
        """Return the words of a text without any name."""
        return self.cut(split_words(self.transcribed.cut(text)))

    def cut(self, words: Sequence[str]) -> list[str]:
        """Return the words without any phrase or mark."""
        terms = stems(words)
        if self.first.isdisjoint(terms):
            return list(words)
        return self._cut(words, terms)

    def cut_text(self, text: str) -> str:
        """Return the text without any phrase or mark, as `plain_text`."""
        runs = runs_of(self.transcribed.cut(text))
        words = [word for run in runs for word in run.words]
        terms = stems(words)
        if not self.first.isdisjoint(terms):
            run_of = [n for n, run in enumerate(runs) for _ in run.words]
            rest = set(self._rest(words, terms))
            cut = {run_of[at] for at in range(len(words)) if at not in rest}
            runs = [run for number, run in enumerate(runs) if number not in cut]
        return plain_text(runs)

    def _cut(self, words: Sequence[str], terms: Sequence[str]) -> list[str]:
        return [words[position] for position in self._rest(words, terms)]

    def _rest(self, words: Sequence[str], terms: Sequence[str]) -> list[int]:
        """Return the positions of the words that are not cut."""
        rest: list[int] = []
        position = 0
        while position < len(words):
            length = self._length_at(terms, position)
            if length == 0 and not self._is_mark(words[position]):
                rest.append(position)
            position += length or 1
        return rest

    def _length_at(self, terms: Sequence[str], position: int) -> int:
        for phrase in self.phrases:
            if phrase[0] != terms[position]:
                continue
            if tuple(terms[position : position + len(phrase)]) == phrase:
                return len(phrase)
        return 1 if terms[position] in self.joined else 0

    def _is_mark(self, word: str) -> bool:
        return stem(word) in self.marks and not self.everyday.has(word)


def make_mask(
    name: str, host: str, registrable_domain: str, everyday: EverydayWords
) -> Mask:
    """Make a site's mask. host, registrable_domain: lower-case A-labels.

    The name may be empty. A name or domain label that is one plain noun is no mark.
    """
    label, _, suffix = registrable_domain.partition(".")
    hosts = {host, registrable_domain, label}
    parts = {name, *_NAME_PARTS.split(name), *hosts, *map(_in_letters, hosts)}
    spellings = parts.union(map(_with_plain_umlauts, parts))
    policy = everyday.policy
    names = {part for part in spellings if not _is_plain_noun(part, policy)}
    phrases = {tuple(split_words(part)) for part in names} - {()}
    single = list(_single_words(name, host.removesuffix(f".{suffix}")))
    marks = [word for word in single if not everyday.has(word)]
    unspaced = unspaced_marks(name, policy.trade_words)
    return Mask(
        phrases=tuple(
            sorted(
                {tuple(map(stem, words)) for words in phrases},
                key=lambda phrase: (-len(phrase), phrase),
            )
        ),
        joined=frozenset(stem("".join(words)) for words in phrases),
        marks=frozenset(map(stem, marks)),
        everyday=everyday,
        transcribed=TranscribedNames(
            frozenset({*names, *marks, *unspaced}), everyday.has
        ),
    )


def _is_plain_noun(part: str, policy: Policy) -> bool:
    words = split_words(part)
    return part.strip() in word_set(policy.trade_words) or (
        len(words) == 1 and stem(words[0]) in stem_set(policy.generic_words)
    )


def _single_words(name: str, labels: str) -> Iterator[str]:
    """Yield words of the name and of the host's labels without the public suffix."""
    for part in {name, labels, _in_letters(labels)}:
        words = split_words(part)
        yield from words
        yield from map(with_plain_vowels, words)
        if not part.isascii():
            yield from split_words(_with_plain_umlauts(part))


def _with_plain_umlauts(part: str) -> str:
    """Turn `M\u00fcller` into `Mueller`, which its owner may write as well."""
    if part.isascii():
        return part
    return unicodedata.normalize("NFC", part).translate(_UMLAUTS)


def _in_letters(host: str) -> str:
    """Turn A-labels into U-labels."""
    if "xn--" not in host:
        return host
    return ".".join(map(_label_in_letters, host.split(".")))


def _label_in_letters(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return idna.ulabel(label)
    except idna.IDNAError:
        return label
