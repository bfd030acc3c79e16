"""Words of synthetic sites: those of the encoder's own vocabulary, in topics.

Words alike in meaning share a topic, so that words and meaning of a site agree. The
frequency of a word falls with its rank by the law of Zipf and Mandelbrot.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from registry.index.columns.filters import hash_keyword
from registry.index.columns.hashes import hash_word
from registry.ranking.encoders.multilingual_encoder import STATIC_AXES, join
from registry.ranking.encoders.sentence_encoder import load_sentence_encoder
from registry.ranking.encoders.static_encoder import (
    PROJECTION,
    WEIGHTS,
    load_tokenizer,
    project,
    wordllama_folder,
)
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import DEFAULT_POLICY, Policy
from registry.ranking.terms import meaning_weight, stem, word_set

TOPICS = 2_000
TOPIC_WORDS = 100
RARE_WORDS = 100_000
CATEGORIES, COUNTRIES = 64, 90
FORMATS = ("wab", "awp", "awas", "abp", "webmcp")

_OFFSET = 2.7  # Mandelbrot's, of English
_PIECE_START = "▁"
_LENGTH = 1 << 12  # of a word's meaning
_LEADING_WORDS = 300
"""Words that are more frequent than this make no topic."""

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def draw_ranks(rng: np.random.Generator, count: int, size: int) -> Integers:
    """Draw ranks of 0..size - 1, rank r in proportion to about 1/(r + 2.7)."""
    shares = rng.random(count, np.float32)
    drawn = _OFFSET * np.float32((size + _OFFSET) / _OFFSET) ** shares - _OFFSET
    return np.clip(drawn.astype(np.int64), 0, size - 1)


@dataclass(frozen=True, kw_only=True)
class Language:
    """Words, the more frequent first; then rare ones, without a meaning.

    A term's number is that of its word; keywords follow. hashes: by term. meanings: shape
    (known + 1, DIMENSIONS), the last row for all without a meaning. topics: shape
    (TOPICS, TOPIC_WORDS), numbers of words, the most typical first.
    """

    words: tuple[str, ...]
    known: int
    hashes: npt.NDArray[np.uint64]
    meanings: Floats
    topics: npt.NDArray[np.int32]

    @cached_property
    def word_of(self) -> dict[int, str]:
        """Words by hash."""
        hashes = self.hashes[: len(self.words)].tolist()
        return dict(zip(hashes, self.words, strict=True))

    def categories(self, numbers: Integers) -> Integers:
        return len(self.words) + numbers

    def countries(self, numbers: Integers) -> Integers:
        """Return terms; the last country is that of sites without a place."""
        return len(self.words) + CATEGORIES + numbers

    def formats(self, numbers: Integers) -> Integers:
        return self.first_format + numbers

    @property
    def first_format(self) -> int:
        return len(self.words) + CATEGORIES + COUNTRIES + 1


def category_name(number: int) -> str:
    return f"category-{number}"


def country_name(number: int) -> str:
    """Return two letters; none for sites without a place."""
    if number == COUNTRIES:
        return ""
    return chr(ord("A") + number // 26) + chr(ord("A") + number % 26)


def make_language(
    rng: np.random.Generator, policy: Policy = DEFAULT_POLICY
) -> Language:
    pieces = _pieces_of_words(policy)
    meanings = _meanings(pieces, policy)
    words = (*pieces, *_rare_words(set(map(stem, pieces))))
    keywords = (
        *(hash_keyword("category", category_name(n)) for n in range(CATEGORIES)),
        *(hash_keyword("country", country_name(n)) for n in range(COUNTRIES + 1)),
        *(hash_keyword("format", name) for name in FORMATS),
    )
    return Language(
        words=words,
        known=len(pieces),
        hashes=np.array([*(hash_word(stem(w)) for w in words), *keywords], np.uint64),
        meanings=np.concatenate([meanings, np.zeros((1, DIMENSIONS), np.float32)]),
        topics=_topics(rng, meanings),
    )


def _pieces_of_words(policy: Policy) -> dict[str, int]:
    """Map words to the numbers of their pieces; one word a term, no stop words."""
    stop, terms = word_set(policy.stop_words), set[str]()
    pieces = {}
    vocabulary = load_tokenizer().get_vocab()
    for piece, number in sorted(vocabulary.items(), key=lambda pair: pair[1]):
        word = piece.removeprefix(_PIECE_START)
        if not (piece != word and word.isascii() and word.isalpha() and len(word) > 2):
            continue
        if word.islower() and word not in stop and stem(word) not in terms:
            pieces[word] = number
            terms.add(stem(word))
    return pieces


def load_table() -> Floats:
    """Load wordllama's own table: a row of 256 for each piece of the tokenizer."""
    with safe_open(str(wordllama_folder() / WEIGHTS), framework="np") as weights:
        table: Floats = weights.get_tensor("embedding.weight").astype(np.float32)
    return table


def _meanings(pieces: dict[str, int], policy: Policy) -> Floats:
    """Return the vector that each word adds to a site's."""
    numbers = np.array(list(pieces.values()))
    rows = project(load_table()[numbers], np.load(PROJECTION).astype(np.float64))
    encoder = load_sentence_encoder()
    outputs = encoder.encode([*pieces], policy.sentence_pieces_max)
    sentences = encoder.project(outputs[:, None])
    weights = np.array([meaning_weight(word, policy) for word in pieces])
    static = rows[:, :STATIC_AXES].astype(np.float64)
    meanings = join(_unit(static), _unit(sentences))
    weighted: Floats = (meanings * (_LENGTH * weights[:, None])).astype(np.float32)
    return weighted


def _unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    unit: npt.NDArray[np.float64] = vectors / np.maximum(
        np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6
    )
    return unit


def _rare_words(taken: set[str]) -> list[str]:
    """Return pronounceable words of no language, as names and codes are."""
    syllables = [first + vowel for first in "bdfgjkmnprtvz" for vowel in "aeiou"]
    rare: dict[str, str] = {}
    for number in range(2 * RARE_WORDS):
        low, middle = number % 65, number // 65 % 65
        word = f"{syllables[low]}{syllables[middle]}{syllables[number // 4225 % 65]}zk"
        if stem(word) not in taken:
            rare.setdefault(stem(word), word)
        if len(rare) == RARE_WORDS:
            break
    return list(rare.values())


def _topics(rng: np.random.Generator, meanings: Floats) -> npt.NDArray[np.int32]:
    """Return the words nearest in meaning to each of some words."""
    lengths = np.linalg.norm(meanings, axis=1, keepdims=True)
    directions = meanings / np.maximum(lengths, 1e-6)
    centres = rng.choice(
        np.arange(_LEADING_WORDS, len(meanings)), TOPICS, replace=False
    )
    likeness = directions[centres] @ directions.T
    nearest = np.argpartition(-likeness, TOPIC_WORDS, axis=1)[:, :TOPIC_WORDS]
    by_likeness = np.argsort(-np.take_along_axis(likeness, nearest, axis=1), axis=1)
    return np.take_along_axis(nearest, by_likeness, axis=1).astype(np.int32)
