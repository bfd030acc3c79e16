"""Texts of synthetic sites: terms with their impacts, and an embedding each.

Names keep to a site's topic, parameters to words that all sites use, and descriptions
repeat names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.bench.synthetic.language import (
    RARE_WORDS,
    TOPIC_WORDS,
    Integers,
    Language,
    draw_ranks,
)
from registry.ranking.encoders.vectors import DIMENSIONS, SITE_BYTES, quantise_sites
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.relevance import IMPACT_FULL

_FIELDS = (
    # words an action, of a site; share of its topic's words, of those common to all
    (2, 0, 0.75, 0.22),  # names
    (4, 0, 0.50, 0.45),  # descriptions
    (2, 0, 0.20, 0.77),  # parameters
    (0, 8, 0.50, 0.35),  # of itself
)
NAMES, DESCRIPTIONS, PARAMETERS, OF_ITSELF, KEYWORDS = range(5)
_REPEATS_A_NAME = 0.4
# The last is of keywords, which have no meaning and the least impact.
_BY_FIELD = np.array(
    [
        DEFAULT_POLICY.action_name_weight_milli,
        DEFAULT_POLICY.description_weight_milli,
        DEFAULT_POLICY.parameter_weight_milli,
        DEFAULT_POLICY.site_weight_milli,
        0,
    ]
)
_MEANING_BY_FIELD = np.array(
    [
        DEFAULT_POLICY.embedding_name_weight,
        DEFAULT_POLICY.embedding_description_weight,
        DEFAULT_POLICY.embedding_parameter_weight,
        DEFAULT_POLICY.embedding_site_weight,
        0,
    ],
    np.float32,
)
_EMBEDDED_AT_ONCE = 4_096

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Texts:
    """Terms and impacts of site i are starts[i]:starts[i + 1]; see `Rows`.

    spoken: parallel arrays of site, term and field (NAMES to KEYWORDS), in this order.
    """

    starts: Integers
    terms: Integers
    impacts: Bytes
    embeddings: Bytes
    drawn: tuple[Integers, Integers, Integers]


def make_texts(
    topics: Integers,
    actions: Integers,
    keywords: Sequence[Integers],
    language: Language,
    rng: np.random.Generator,
) -> Texts:
    """Make a text for each topic, of so many actions.

    keywords: arrays of one term a site, by which filters find it.
    """
    drawn = _draw_terms(topics, actions, language, rng)
    every = np.arange(len(topics))
    drawn += [(every, term, KEYWORDS) for term in keywords]
    whole = site, term, field = _distinct(drawn, len(language.hashes))
    changes = (np.diff(site) != 0) | (np.diff(term) != 0)
    first = np.flatnonzero(np.concatenate([[True], changes]))
    starts = np.searchsorted(site[first], np.arange(len(topics) + 1))
    weights = np.add.reduceat(_BY_FIELD[field], first)
    shares = np.add.reduceat(_MEANING_BY_FIELD[field], first)
    term = term[first]
    return Texts(
        starts=starts,
        terms=term,
        impacts=_impacts(starts, weights),
        embeddings=_embeddings(
            starts, np.minimum(term, language.known), shares, language
        ),
        drawn=whole,
    )


def _distinct(
    drawn: Sequence[tuple[Integers, Integers, int]], terms: int
) -> tuple[Integers, Integers, Integers]:
    """Return site, term and field without repetitions, in this order."""
    fields = len(_FIELDS) + 1
    keys = np.concatenate(
        [(site * terms + term) * fields + field for site, term, field in drawn]
    )
    keys.sort()  # `unique` would hash them, which takes ten times as long
    keys = keys[np.concatenate([[True], np.diff(keys) != 0])]
    rest, field = np.divmod(keys, fields)
    site, term = np.divmod(rest, terms)
    return site, term, field


def _draw_terms(
    topics: Integers, actions: Integers, language: Language, rng: np.random.Generator
) -> list[tuple[Integers, Integers, int]]:
    """Draw for each field sites, ascending, and a term of each."""
    drawn: list[tuple[Integers, Integers, int]] = []
    for field, (of_action, of_site, of_topic, common) in enumerate(_FIELDS):
        tokens = 1 + rng.poisson(of_action * actions + of_site)
        site = np.repeat(np.arange(len(topics)), tokens)
        term = _words(topics[site], of_topic, common, language, rng)
        if field == DESCRIPTIONS:
            repeats = rng.random(len(site)) < _REPEATS_A_NAME
            term = np.where(repeats, _names(drawn[0], site, rng), term)
        drawn.append((site, term, field))
    return drawn


def _names(
    names: tuple[Integers, Integers, int], site: Integers, rng: np.random.Generator
) -> Integers:
    """Draw for each entry of `site` one of that site's names."""
    named_by, named, _ = names
    starts = np.searchsorted(named_by, np.arange(named_by[-1] + 2))
    lengths = np.diff(starts)[site]
    return named[starts[site] + (rng.random(len(site)) * lengths).astype(np.int64)]


def _words(
    topic: Integers,
    of_topic: float,
    common: float,
    language: Language,
    rng: np.random.Generator,
) -> Integers:
    """Draw a word for each topic: of it, a common or a rare one, by these shares."""
    count = len(topic)
    kind = rng.random(count, np.float32)
    own = language.topics[topic, draw_ranks(rng, count, TOPIC_WORDS)]
    shared = draw_ranks(rng, count, language.known)
    rare = len(language.words) - 1 - draw_ranks(rng, count, RARE_WORDS)
    return np.where(
        kind < of_topic, own, np.where(kind < of_topic + common, shared, rare)
    )


def _impacts(starts: Integers, weights: Integers) -> Bytes:
    """Compute `relevance.impacts` of many sites."""
    policy = DEFAULT_POLICY
    length = np.add.reduceat(weights, starts[:-1])
    b, pivot = policy.bm25_b_bp, policy.length_pivot_milli
    damped_k1 = policy.bm25_k1_milli * ((FULL - b) * pivot + b * length)
    scaled = weights * (FULL * pivot)
    reached = IMPACT_FULL * scaled // (scaled + np.repeat(damped_k1, np.diff(starts)))
    impacts: Bytes = np.maximum(1, reached).astype(np.uint8)
    return impacts


def _embeddings(
    starts: Integers,
    terms: Integers,
    shares: npt.NDArray[np.float32],
    language: Language,
) -> Bytes:
    """Sum the meanings of single words, which is soon done and near to a sentence's."""
    count = len(starts) - 1
    packed = np.empty((count, SITE_BYTES), np.uint8)
    for begin in range(0, count, _EMBEDDED_AT_ONCE):
        own = starts[begin : begin + _EMBEDDED_AT_ONCE + 1]
        lengths = np.diff(own)
        longest_first = np.argsort(-lengths, kind="stable")
        first, lengths = own[:-1][longest_first], lengths[longest_first]
        totals = np.zeros((len(lengths), DIMENSIONS), np.float32)
        for nth in range(int(lengths[0])):
            at = first[: np.searchsorted(-lengths, -nth, side="left")] + nth
            totals[: len(at)] += language.meanings[terms[at]] * shares[at, None]
        exact = totals.astype(np.float64)  # what is scaled is a sum of products
        packed[begin + longest_first] = quantise_sites(exact)
    return packed
