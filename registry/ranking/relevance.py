"""Relevance: how well what a site can do matches the request.

Words: BM25F (Robertson & Zaragoza 2009, §3.6) over the fields action name, description,
parameters and site. A term counts once a field, however often it is said. The score is
divided by what the query could reach at most, a constant of the query, never by the
best hit; so it is absolute, and does not say more of a site because others are worse.

Meaning: the cosine of the two vectors, negative ones being nothing, in proportion to
the part of the query that the encoder understands.

Both are fused by a share that grows with the number of the query's terms. All of it is
integer arithmetic; a site's impacts depend on its own text and the policy only. The
index contributes one thing, how rare each term is among its sites (idf); that is the
same for all sites, changes as sites come and go, and is therefore told with an answer.
"""

import math
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from registry.ranking.encoder import Encoder
from registry.ranking.policy import FULL, Policy
from registry.ranking.profile import Profile
from registry.ranking.spelling import (
    ReadWord,
    lexicon_of,
    term_weights_bp,
)
from registry.ranking.vectors import RECIPROCAL_BITS, length_in_bits

Integers = npt.NDArray[np.int64]
IMPACT_FULL = 255
"""A term's impact where its saturation tf/(tf + k1) is 1."""
MULTIPLIER_BITS = 32
"""Both multipliers are fractions over 2^32."""
_IDF_SCALE = 1000


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A query as the ranker sees it.

    term_of: for each word that says something, as it was typed but for its case, the
    term; in the order of the query. vector: signed bytes, see `vectors`. corrected: for each
    mistyped word, as it was typed, the word that was looked for besides. weights_bp:
    of each term that is looked for, including what was meant by mistyped words.
    """

    term_of: Mapping[str, str]
    vector: bytes
    confidence_bp: int
    corrected: Mapping[str, str] = {}
    weights_bp: Mapping[str, int] = {}

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.term_of.values()))


_IS_PLAIN = attrgetter("is_plain")


def parse_request(text: str, encoder: Encoder, policy: Policy) -> Request:
    """A text without a word that says something asks for nothing and finds nothing."""
    words = lexicon_of(encoder, policy).read(text)
    term_of = {each.shown: each.term for each in words if each.says}
    if len(term_of) > policy.query_words_max or not all(map(_IS_PLAIN, words)):
        return parse_word_by_word(words, encoder, policy)
    sentence = [each.word for each in words if each.counts]
    meaning = encoder.encode_request(sentence, list(term_of))
    return Request(
        term_of=term_of,
        vector=meaning.vector,
        confidence_bp=meaning.confidence_bp,
        weights_bp=dict.fromkeys(term_of.values(), FULL),
    )


def parse_word_by_word(
    words: Iterable[ReadWord], encoder: Encoder, policy: Policy
) -> Request:
    """Where some are mistyped, are compared otherwise than typed, or are too many."""
    found = _Reading(policy)
    found.take(words)
    kept, meant = found.kept, found.meant
    content = [meant.get(word, word) for word in kept] if meant else list(kept)
    meaning = encoder.encode_request(found.sentence, content)
    return Request(
        term_of=found.term_of,
        vector=meaning.vector,
        confidence_bp=meaning.confidence_bp,
        corrected=found.corrected,
        weights_bp=term_weights_bp(kept, meant, policy),
    )


class _Reading:
    """A request, word by word.

    kept: the first words that say something, and their terms. meant: instead of those
    mistyped. sentence: as it was meant, with the words that only hold it together.
    term_of, corrected: see `Request`.
    """

    def __init__(self, policy: Policy) -> None:
        self.kept: dict[str, str] = {}
        self.meant: dict[str, str] = {}
        self.sentence: list[str] = []
        self.term_of: dict[str, str] = {}
        self.corrected: dict[str, str] = {}
        self._words_max = policy.query_words_max
        self._corrections_max = policy.corrections_max

    def take(self, words: Iterable[ReadWord]) -> None:
        kept, sentence, term_of = self.kept, self.sentence, self.term_of
        for read in words:
            shown, word = read.shown, read.word
            if not read.says:
                if read.counts:
                    sentence.append(word)
            elif word in kept or self._keep(read):
                term_of[shown] = read.term
                if word in self.meant:
                    word = self.corrected[shown] = self.meant[word]
                sentence.append(word)

    def _keep(self, read: ReadWord) -> bool:
        if len(self.kept) >= self._words_max:
            return False
        self.kept[read.word] = read.term
        if read.meant and len(self.meant) < self._corrections_max:
            self.meant[read.word] = read.meant
        return True


def impacts(profile: Profile, policy: Policy) -> dict[str, int]:
    """How much each term of a site counts, 1..IMPACT_FULL.

    In proportion to tf/(tf + k1) of the BM25F weight.
    """
    weights = _field_weights(profile, policy)
    length = sum(weights.values())
    b, pivot = policy.bm25_b_bp, policy.length_pivot_milli
    # tf = weight / (1 - b + b·length/pivot); both sides are multiplied by the divisor.
    damped_k1 = policy.bm25_k1_milli * ((FULL - b) * pivot + b * length)
    scale = FULL * pivot
    return {
        term: max(1, IMPACT_FULL * weight * scale // (weight * scale + damped_k1))
        for term, weight in weights.items()
    }


def _field_weights(profile: Profile, policy: Policy) -> dict[str, int]:
    """Per term the sum of the weights, in thousandths, of the fields that say it."""
    of_fields = (
        policy.action_name_weight_milli,
        policy.description_weight_milli,
        policy.parameter_weight_milli,
        policy.site_weight_milli,
    )
    weights: dict[str, int] = {}
    for terms, weight in zip(_fields(profile), of_fields, strict=True):
        for term in terms:
            weights[term] = weights.get(term, 0) + weight
    return weights


def _fields(profile: Profile) -> tuple[set[str], set[str], set[str], set[str]]:
    """The terms of action names, descriptions, parameters, and of the site itself."""
    return (
        _terms(each.name_terms for each in profile.actions),
        _terms(each.description_terms for each in profile.actions),
        _terms(each.parameter_terms for each in profile.actions),
        set(profile.site_terms),
    )


def _terms(lists: Iterable[tuple[str, ...]]) -> set[str]:
    return {term for terms in lists for term in terms}


def idf_milli(sites: int, containing: int) -> int:
    """ln(1 + (N - n + 0.5)/(n + 0.5)) in thousandths: never negative, finite at n = 0."""
    return round(
        _IDF_SCALE * math.log1p((sites - containing + 0.5) / (containing + 0.5))
    )


def ceiling(term_weights: Iterable[int], policy: Policy) -> int:
    """What a full match of the query's rarest terms would sum up to; at least 1."""
    rarest = sorted(term_weights, reverse=True)[: policy.scored_terms]
    return max(1, sum(rarest))


def lexical_share_bp(terms: int, policy: Policy) -> int:
    grown = policy.lexical_share_growth_bp * terms // policy.lexical_share_terms
    return min(policy.lexical_share_base_bp + grown, policy.lexical_share_max_bp)


def relevance_floor(terms: int, policy: Policy) -> int:
    """What a site must reach to be eligible; falls as the query gets longer."""
    missing = max(0, policy.relevance_min_terms - terms)
    return policy.relevance_min + missing * policy.relevance_min_step


class Matches(NamedTuple):
    """Parallel arrays, one entry a site, each 0..FULL.

    eligible: relevant enough, and by more than a chance likeness.
    """

    lexical: Integers
    cosine: Integers
    relevance: Integers
    eligible: npt.NDArray[np.bool_]


def lexical_multiplier(term_weights: Iterable[int], policy: Policy) -> int:
    """What a full match is worth FULL by, as a fraction."""
    full = IMPACT_FULL * ceiling(term_weights, policy)
    return (FULL << MULTIPLIER_BITS) // full


def meaning_multiplier(request: Request) -> int:
    """The confidence over the length of the request's vector, as a fraction.

    With `vectors.reciprocals` it makes a cosine of a product.
    """
    rest = MULTIPLIER_BITS - RECIPROCAL_BITS
    length = length_in_bits(request.vector, rest)
    return (request.confidence_bp << 2 * rest) // length if length else 0


def match_sites(
    matched: Integers,
    products: Integers,
    reciprocals: Integers,
    request: Request,
    term_weights: Iterable[int],
    *,
    policy: Policy,
) -> Matches:
    """matched: a site's sum of idf times impact over the query's terms.

    products: of its vector with the query's. reciprocals: see `vectors`.
    """
    lexical = matched * lexical_multiplier(term_weights, policy)
    lexical >>= MULTIPLIER_BITS
    np.minimum(lexical, FULL, out=lexical)
    cosine = np.maximum(products, 0)
    cosine *= reciprocals
    cosine *= meaning_multiplier(request)
    cosine >>= MULTIPLIER_BITS
    np.minimum(cosine, FULL, out=cosine)
    terms = len(request.terms)
    share = lexical_share_bp(terms, policy)
    relevance = share * lexical
    relevance += (FULL - share) * cosine
    relevance //= policy.full_relevance_bp
    np.minimum(relevance, FULL, out=relevance)
    eligible = cosine >= policy.meaning_only_min_bp
    eligible |= matched > 0
    eligible &= relevance >= relevance_floor(terms, policy)
    return Matches(
        lexical=lexical, cosine=cosine, relevance=relevance, eligible=eligible
    )
