# ruff: noqa: RUF001  letters of other scripts are what this is about
"""Splitting of text into words, and stemming of words into terms.

A word is a casefolded run of letters, marks and digits; identifiers are split where
their case changes, digits stay with up to three letters (MP3, B2B, 4K), and a few words
that are also written in two are put together (e-mail, check in). Scripts written without
spaces are cut where the script changes, as from kanji to kana, and become overlapping
runs of characters: no dictionary did better (docs/lab/0155). A term is the Snowball stem of a word, by the stemmer of its script; queries
and documents are stemmed alike, word by word and without a guess at the language, so a
wrong stem is wrong on both sides.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import Stemmer

from registry.ranking.letters import fold, readable, script_of
from registry.ranking.memo import Memo
from registry.ranking.policy import Policy
from registry.ranking.word_lists.vocabulary import SPLIT_WORDS

LONGEST = 64
"""Letters of a word; longer runs are passed through as they are, to keep caches small."""
MARKS = "".join(
    chr(code)
    for code in range(0x300, 0x3100)
    if unicodedata.category(chr(code))[0] == "M"
)
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_CASED = list(map(chr, range(0x530)))
_LOWER = "".join(letter for letter in _CASED if letter.islower() and letter.isalpha())
_UPPER = "".join(letter for letter in _CASED if letter.isupper())
_CASE_CHANGE = re.compile(
    rf"(?<=[{_LOWER}])(?=[{_UPPER}])|(?<=[A-Z])(?=[A-Z][a-z])"
    rf"|(?<=[^\W\d_][{_LOWER}]{{3}})(?=\d)|(?<=[{_UPPER}]{{4}})(?=\d)"
    rf"|(?<=\d)(?=[^\W\d_][{_LOWER}]{{3}})"
)
_ENGLISH_ENDING = re.compile(
    r"(?<=[^\W_])['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE
)
_UNSPACED = re.compile(
    "(?P<letters>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"  # Thai, Lao, Myanmar, Khmer
    "|[\u3040-\u309f][\u3040-\u309f\u30fc]*|[\u30a0-\u30ff]+"  # hiragana, katakana
    "|[\uac00-\ud7af]+"  # Hangul
    "|[\u3005\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+"  # Han
)
_STEMMERS = {
    script: Stemmer.Stemmer(language, 0)
    for script, language in (
        ("LATIN", "english"),
        ("CYRILLIC", "russian"),
        ("GREEK", "greek"),
        ("ARMENIAN", "armenian"),
        ("DEVANAGARI", "hindi"),
        ("TAMIL", "tamil"),
    )
}
_ENDINGS = {
    "ungen": "ung",
    "heiten": "heit",
    "keiten": "keit",
    "schaften": "schaft",
    "ciones": "cion",
    "siones": "sion",
    "idades": "idad",
    "idade": "idad",
    "coes": "cao",
    "soes": "sao",
    "zioni": "zione",
    "sioni": "sione",
    "eaux": "eau",
    "heden": "heid",
    "leri": "ler",
    "lari": "lar",
}
"""Plurals of other languages, by endings that English words don't have."""
_ENDING = re.compile(rf"(?<=...)(?:{'|'.join(_ENDINGS)})$")
_SOME_ENDING = tuple(_ENDINGS)
_ARTICLE = re.compile("^(?:[بكف]?ال|لل)(?=..)")
_ARABIC_ENDINGS = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
_JOINED = {pair: re.sub("[+-]", "", pair) for pair in SPLIT_WORDS}
_FIRST_PARTS = frozenset(re.split("[+-]", pair)[0] for pair in _JOINED)


def _overlapping(run: str, length: int) -> Iterator[str]:
    for start in range(max(1, len(run) - length + 1)):
        yield run[start : start + length]


def _split_unspaced(word: str) -> Iterator[str]:
    """Yield pairs of syllables or ideographs, and triples of letters."""
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        yield from _overlapping(run.group(), 3 if run["letters"] else 2)
        position = run.end()
    if position < len(word):
        yield word[position:]


def _words_of(text: str) -> Iterable[tuple[str, str, bool]]:
    """Return each word as typed, as compared, and if a hyphen joins it to the last one."""
    if text.isascii():
        return chain.from_iterable(map(_WORDS_OF_RUN.__getitem__, text.split()))
    return _read_words(text)


def _read_words(text: str) -> Iterator[tuple[str, str, bool]]:
    whole = _apart(text)
    end = -1
    for match in _WORD.finditer(whole):
        hyphenated = match.start() == end + 1 > 0 and whole[end] in "_-\u2010"
        end = match.end()
        for shown, folded in _parts_of(match.group().casefold()):
            yield shown, folded, hyphenated


def _apart(text: str) -> str:
    """Return the text with a low line where words meet inside an identifier."""
    return _CASE_CHANGE.sub("_", _ENGLISH_ENDING.sub("", readable(text)))


def _parts_of(word: str) -> Iterator[tuple[str, str]]:
    if word.isascii():
        yield word, word
        return
    for part in _split_unspaced(unicodedata.normalize("NFC", word)):
        if folded := compared(part):
            yield part, folded


class Run(NamedTuple):
    """A run of letters as written, and the words that it is read as."""

    shown: str
    words: tuple[str, ...]


def runs_of(text: str) -> list[Run]:
    if text.isascii():
        return list(chain.from_iterable(map(_RUNS.__getitem__, text.split())))
    return _read_runs(text)


def _read_runs(text: str) -> list[Run]:
    return [
        Run(
            match.group(),
            tuple([word for _, word in _parts_of(match.group().casefold())]),
        )
        for match in _WORD.finditer(_apart(text))
    ]


_RUNS = Memo(_read_runs, longest=LONGEST, most=16_384)


def plain_text(runs: Iterable[Run]) -> str:
    """Return the runs as written, without marks and without repetitions."""
    return " ".join({run.words: run.shown for run in runs}.values())


def compared(shown: str) -> str:
    """Return a casefolded word as it is compared; may be empty."""
    return fold(shown) if len(shown) <= LONGEST and not shown.isascii() else shown


_WORDS_OF_RUN = Memo(lambda run: tuple(_read_words(run)), longest=LONGEST, most=16_384)


def typed_words(text: str) -> list[tuple[str, str]]:
    """List the words in order, as typed but for their case, and as compared.

    `Café's` gives café and cafe; `e-mail` gives email twice.
    """
    typed: list[tuple[str, str]] = []
    last = ""
    for shown, word, hyphenated in _words_of(text):
        if last in _FIRST_PARTS and (joined := _joined(last, word, hyphenated)):
            typed[-1] = (joined, joined)
            last = joined
        else:
            typed.append((shown, word))
            last = word
    return typed


def _joined(first: str, second: str, hyphenated: bool) -> str | None:
    return _JOINED.get(f"{first}+{second}") or (
        _JOINED.get(f"{first}-{second}") if hyphenated else None
    )


def may_be_joined(word: str) -> bool:
    """Return whether it is joined to some word that may follow."""
    return word in _FIRST_PARTS


def split_words(text: str) -> list[str]:
    """List the words in order, repetitions and stop words included.

    `bookTable_v2` gives book, table, v, 2; `café's` gives cafe.
    """
    if text.isascii():
        words = [word for run in runs_of(text) for word in run.words]
        if _FIRST_PARTS.isdisjoint(words):
            return words
    return [word for _, word in typed_words(text)]


def stem(word: str) -> str:
    return _STEMS[word]


def stems(words: Iterable[str]) -> list[str]:
    return list(map(_STEMS.__getitem__, words))


def _stem(word: str) -> str:
    if len(word) > LONGEST:
        return word
    script = "LATIN" if word.isascii() else script_of(word)
    if script == "ARABIC":
        return _arabic_stem(word)
    if script not in _STEMMERS:
        return word
    if script == "LATIN" and word.endswith(_SOME_ENDING):
        word = _ENDING.sub(lambda match: _ENDINGS[match.group()], word)
    return str(_STEMMERS[script].stemWord(word))


_STEMS = Memo(_stem, longest=LONGEST, most=65_536)


def _arabic_stem(word: str) -> str:
    """Stem by light10 (Larkey, Ballesteros & Connell 2007)."""
    if word.startswith("و") and len(word) > 3:
        word = word[1:]
    word = _ARTICLE.sub("", word)
    for ending in _ARABIC_ENDINGS:
        if len(word) >= len(ending) + 2:
            word = word.removesuffix(ending)
    return word


@lru_cache(maxsize=8)
def word_set(words: tuple[str, ...]) -> frozenset[str]:
    """Return a list of the policy as a set."""
    return frozenset(words)


@lru_cache(maxsize=8)
def stem_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, words))


def meaning_weight(word: str, policy: Policy) -> int:
    """Return the word's weight in the meaning of a text."""
    if word in word_set(policy.act_words):
        return policy.embedding_act_weight
    return policy.embedding_word_weight


def distinct_terms(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_STEMS.__getitem__, words)))
