"""Relevance: the match between a site's capabilities and the request.

Words: BM25F (Robertson & Zaragoza 2009, §3.6) over the fields action name, description,
parameters and site. A term counts once a field, however often it occurs. The score is
divided by the query's maximum, a constant of the query, never by the best hit; so it is
absolute and independent of other sites.

Meaning: the cosine of the two vectors, at least 0, in proportion to the part of the query
that the encoder understands.

Both are fused by a share that grows with the number of the query's terms. All of it is
integer arithmetic; a site's impacts depend on its own text and the policy only. The
index contributes one thing, how rare each term is among its sites (idf); that is the
same for all sites, changes as sites come and go, and is therefore part of the answer.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.encoders.vectors import RECIPROCAL_BITS, length_in_bits
from registry.ranking.policy import FULL, Policy
from registry.ranking.profile import Profile
from registry.ranking.words.dialogue import asked_part
from registry.ranking.words.lexicon import QueryWord, lexicon_of, term_weights_bp

Integers = npt.NDArray[np.int64]
IMPACT_FULL = 255
"""A term's impact where its saturation tf/(tf + k1) is 1."""
MULTIPLIER_BITS = 32
"""Both multipliers are fractions over 2^32."""
_IDF_SCALE = 1000


class ParsedQuery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A query's terms and vector.

    term_of: term of each content word, as it was typed but for its case, in the order of
    the query. vector: signed bytes, see `vectors`. corrected: correction of each mistyped
    word, which is searched besides. weights_bp: of each searched term, including those of
    corrections.
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


@lru_cache(maxsize=4096)
def parse_query(
    text: str,
    encoder: Encoder,
    policy: Policy,
    caller: str = "",  # noqa: ARG001 -- of the memo
) -> ParsedQuery:
    """Parse a query; one without a content word matches no site.

    caller: for whom it is remembered; from the time that it takes nobody else learns
    whether it was asked before.
    """
    text = asked_part(text, policy)
    words = lexicon_of(encoder, policy).read(text)
    term_of = {word.shown: word.term for word in words if word.is_content}
    if len(term_of) > policy.query_words_max or not all(map(_IS_PLAIN, words)):
        return parse_word_by_word(text, words, encoder, policy)
    sentence = [word.word for word in words if word.is_in_sentence]
    meaning = encoder.encode_request(text, sentence, list(term_of))
    return ParsedQuery(
        term_of=term_of,
        vector=meaning.vector,
        confidence_bp=meaning.confidence_bp,
        weights_bp=dict.fromkeys(term_of.values(), FULL),
    )


def parse_word_by_word(
    text: str, words: Iterable[QueryWord], encoder: Encoder, policy: Policy
) -> ParsedQuery:
    """Parse words of which some are mistyped, folded, or beyond the limit."""
    parser = _QueryParser(policy)
    parser.add(words)
    terms, corrections = parser.terms, parser.corrections
    content = [corrections.get(word, word) for word in terms]
    read = " ".join(parser.sentence) if corrections else text
    meaning = encoder.encode_request(read, parser.sentence, content)
    return ParsedQuery(
        term_of=parser.term_of,
        vector=meaning.vector,
        confidence_bp=meaning.confidence_bp,
        corrected=parser.corrected,
        weights_bp=term_weights_bp(terms, corrections, policy),
    )


class _QueryParser:
    """Collects a query word by word.

    terms: of the first content words. corrections: of mistyped words. sentence: the
    corrected words, with those that only connect them. term_of, corrected: see
    `ParsedQuery`.
    """

    def __init__(self, policy: Policy) -> None:
        self.terms: dict[str, str] = {}
        self.corrections: dict[str, str] = {}
        self.sentence: list[str] = []
        self.term_of: dict[str, str] = {}
        self.corrected: dict[str, str] = {}
        self._words_max = policy.query_words_max

    def add(self, words: Iterable[QueryWord]) -> None:
        terms, sentence, term_of = self.terms, self.sentence, self.term_of
        for item in words:
            shown, word = item.shown, item.word
            if not item.is_content:
                if item.is_in_sentence:
                    sentence.append(word)
            elif word in terms or self._add_term(item):
                term_of[shown] = item.term
                if word in self.corrections:
                    word = self.corrected[shown] = self.corrections[word]
                sentence.append(word)

    def _add_term(self, item: QueryWord) -> bool:
        if len(self.terms) >= self._words_max:
            return False
        self.terms[item.word] = item.term
        if item.correction:
            self.corrections[item.word] = item.correction
        return True


def impacts(profile: Profile, policy: Policy) -> dict[str, int]:
    """Return the impact of each term of a site, 1..IMPACT_FULL times tf/(tf + k1)."""
    weights = _field_weights(profile, policy)
    length = sum(weights.values())
    b, pivot = policy.bm25_b_bp, policy.length_pivot_milli
    # tf = weight / (1 - b + b·length/pivot); both sides are multiplied by the divisor.
    damped_k1 = policy.bm25_k1_milli * ((FULL - b) * pivot + b * length)
    scale = FULL * pivot
    impact_of = {
        weight: max(1, IMPACT_FULL * weight * scale // (weight * scale + damped_k1))
        for weight in set(weights.values())
    }
    return {term: impact_of[weight] for term, weight in weights.items()}


def _field_weights(profile: Profile, policy: Policy) -> dict[str, int]:
    """Return, for each term, the sum of the weights, in thousandths, of its fields."""
    field_weights = (
        policy.action_name_weight_milli,
        policy.description_weight_milli,
        policy.parameter_weight_milli,
        policy.site_weight_milli,
    )
    weights: dict[str, int] = {}
    for terms, weight in zip(_fields(profile), field_weights, strict=True):
        for term in terms:
            weights[term] = weights.get(term, 0) + weight
    return weights


def _fields(profile: Profile) -> tuple[set[str], set[str], set[str], set[str]]:
    """Return the terms of action names, descriptions, parameters, and of the site."""
    actions = profile.actions
    return (
        set().union(*[action.name_terms for action in actions]),
        set().union(*[action.description_terms for action in actions]),
        set().union(*[action.parameter_terms for action in actions]),
        set(profile.site_terms),
    )


def idf_milli(sites: int, containing: int) -> int:
    """Return ln(1 + (N - n + 0.5)/(n + 0.5)) in thousandths: >= 0, finite at n = 0."""
    return round(
        _IDF_SCALE * math.log1p((sites - containing + 0.5) / (containing + 0.5))
    )


def ceiling(term_weights: Iterable[int], policy: Policy) -> int:
    """Return the sum of a full match of the query's rarest terms; at least 1."""
    rarest = sorted(term_weights, reverse=True)[: policy.scored_terms]
    return max(1, sum(rarest))


def lexical_share_bp(terms: int, policy: Policy) -> int:
    grown = policy.lexical_share_growth_bp * terms // policy.lexical_share_terms
    return min(policy.lexical_share_base_bp + grown, policy.lexical_share_max_bp)


class LeastMeaning(NamedTuple):
    """Cosines, 0..FULL, of a site with a word of the query and of one without.

    with_words, alone: of an eligible site. answered_with_words, answered_alone: of one
    eligible site at least, or none is.
    """

    with_words: int
    alone: int
    answered_with_words: int
    answered_alone: int


def least_meaning(terms: int, policy: Policy) -> LeastMeaning:
    """Return the least meaning; falls as the query gets longer."""
    further = max(0, min(terms, policy.meaning_terms_max) - policy.meaning_terms_min)
    fallen = policy.meaning_step_bp * further
    lacking = fallen + policy.meaning_beside_step_bp * further
    with_words, alone = policy.meaning_min_bp, policy.meaning_only_min_bp
    return LeastMeaning(
        with_words=max(0, with_words - lacking),
        alone=max(0, alone - lacking),
        answered_with_words=max(0, with_words - fallen),
        answered_alone=max(0, alone - fallen),
    )


def relevance_floor(terms: int, policy: Policy) -> int:
    """Return the least eligible relevance; falls as the query gets longer.

    No lower than what the least eligible meaning brings with it.
    """
    missing = max(0, policy.relevance_min_terms - terms)
    least = least_meaning(terms, policy)
    lowest = min(least.with_words, least.alone)
    by_meaning = (FULL - lexical_share_bp(terms, policy)) * lowest
    return max(
        policy.relevance_min + missing * policy.relevance_min_step,
        by_meaning // policy.full_relevance_bp,
    )


class Matches(NamedTuple):
    """Parallel arrays with an entry for each site, 0..FULL.

    eligible: relevant enough, beyond chance resemblance, if the query is answered.
    """

    lexical: Integers
    cosine: Integers
    relevance: Integers
    eligible: npt.NDArray[np.bool_]


def lexical_multiplier(term_weights: Iterable[int], policy: Policy) -> int:
    """Return the fraction that scales a full match to FULL."""
    full = IMPACT_FULL * ceiling(term_weights, policy)
    return (FULL << MULTIPLIER_BITS) // full


def meaning_multiplier(query: ParsedQuery) -> int:
    """Return the confidence over the length of the query's vector, as a fraction.

    With `vectors.reciprocals` it turns a product into a cosine.
    """
    rest = MULTIPLIER_BITS - RECIPROCAL_BITS
    length = length_in_bits(query.vector, rest)
    return (query.confidence_bp << 2 * rest) // length if length else 0


def match_sites(
    matched: Integers,
    products: Integers,
    reciprocals: Integers,
    query: ParsedQuery,
    term_weights: Iterable[int],
    *,
    policy: Policy,
) -> Matches:
    """Match sites. matched: a site's sum of idf times impact over the query's terms.

    products: of its vector with the query's. reciprocals: see `vectors`.
    """
    lexical = matched * lexical_multiplier(term_weights, policy)
    lexical >>= MULTIPLIER_BITS
    np.minimum(lexical, FULL, out=lexical)
    cosine = np.maximum(products, 0)
    cosine *= reciprocals
    cosine *= meaning_multiplier(query)
    cosine >>= MULTIPLIER_BITS
    np.minimum(cosine, FULL, out=cosine)
    terms = len(query.terms)
    share = lexical_share_bp(terms, policy)
    relevance = share * lexical
    relevance += (FULL - share) * cosine
    relevance //= policy.full_relevance_bp
    np.minimum(relevance, FULL, out=relevance)
    least = least_meaning(terms, policy)
    eligible = cosine >= np.where(matched > 0, least.with_words, least.alone)
    eligible &= relevance >= relevance_floor(terms, policy)
    return Matches(
        lexical=lexical, cosine=cosine, relevance=relevance, eligible=eligible
    )
