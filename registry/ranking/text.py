"""Text into words, and words into the terms that are compared.

A word is a casefolded run of letters, marks and digits; identifiers are split where
their case changes. Scripts written without spaces become overlapping pairs of
characters. A term is the Snowball stem of a word, by the stemmer of its script; query
and document go through the same door, so a wrong stem is wrong on both sides.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import Stemmer

from registry.ranking.policy import Policy

_MARKS = "".join(
    chr(code)
    for code in range(0x300, 0x3100)
    if unicodedata.category(chr(code))[0] == "M"
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
_CASE_CHANGE = re.compile(
    r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])"
    r"|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_ENGLISH_ENDING = re.compile(
    r"(?<=[^\W_])['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE
)
_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # kana, Han, Hangul
    "\U00020000-\U0003ffff"
    "]+"
)
_STEMMERS = {
    script: Stemmer.Stemmer(language, 0)
    for script, language in (
        ("LATIN", "english"),
        ("CYRILLIC", "russian"),
        ("ARABIC", "arabic"),
        ("GREEK", "greek"),
        ("ARMENIAN", "armenian"),
        ("DEVANAGARI", "hindi"),
        ("TAMIL", "tamil"),
    )
}


def _script_of(word: str) -> str:
    return unicodedata.name(word[0], "").partition(" ")[0]


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _without_accents(word: str) -> str:
    """Latin letters only: elsewhere a mark makes another letter."""
    if word.isascii() or _script_of(word) != "LATIN":
        return word
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", word)
        if not unicodedata.combining(character)
    )


def _split_unspaced(word: str) -> Iterator[str]:
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        yield from _pairs(run.group())
        position = run.end()
    if position < len(word):
        yield word[position:]


def typed_words(text: str) -> Iterator[tuple[str, str]]:
    """Every word in order, as it was typed but for its case, and as it is compared.

    `Café's` gives café and cafe.
    """
    whole = _ENGLISH_ENDING.sub("", unicodedata.normalize("NFKC", text))
    for match in _WORD.finditer(_CASE_CHANGE.sub(" ", whole)):
        word = match.group().casefold()
        if word.isascii():
            yield word, word
        else:
            for part in _split_unspaced(word):
                yield part, _without_accents(part)


def split_words(text: str) -> list[str]:
    """Every word in order, repetitions and stop words included.

    `bookTable_v2` gives book, table, v, 2; `café's` gives cafe.
    """
    return [word for _, word in typed_words(text)]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    stemmer = _STEMMERS.get("LATIN" if word.isascii() else _script_of(word))
    return word if stemmer is None else str(stemmer.stemWord(word))


@lru_cache(maxsize=8)
def word_set(words: tuple[str, ...]) -> frozenset[str]:
    """A list of the policy, to look words up in."""
    return frozenset(words)


@lru_cache(maxsize=8)
def stem_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, words))


def content_words(words: Iterable[str], policy: Policy, *, limit: int) -> list[str]:
    """The distinct words that say something, first come first kept.

    Numbers say nothing: counts and prices are boasts, never capabilities.
    """
    stop = word_set(policy.stop_words)
    kept: dict[str, None] = {}
    for word in words:
        if len(kept) == limit:
            break
        if (
            word not in stop
            and not word.isdecimal()
            and len(word) <= policy.word_letters_max
        ):
            kept[word] = None
    return list(kept)


def is_latin(word: str) -> bool:
    return word.isascii() or _script_of(word) == "LATIN"


def meaning_weight(word: str, policy: Policy) -> int:
    """How much of the meaning of a text the word carries."""
    if word in word_set(policy.act_words):
        return policy.embedding_act_weight
    return policy.embedding_word_weight


def distinct_terms(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(stem, words)))
