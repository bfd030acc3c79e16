"""Requests of two to six words to a synthetic registry.

Most are words of one topic, as frequent as in its sites, at times with a common one. The
others are words of some site. Half have a place, one in ten has a filter.
"""

from collections.abc import Iterable

import numpy as np

from registry.bench.synthetic.language import (
    CATEGORIES,
    FORMATS,
    TOPIC_WORDS,
    TOPICS,
    category_name,
    country_name,
    draw_ranks,
)
from registry.bench.synthetic.site_rows import CITIES, Registry
from registry.index.columns.filters import Filters
from registry.index.columns.rows import Rows
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import prepare_query
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import Policy
from registry.sites.place import Point, cell_of

_COHERENT, _WITH_COMMON_WORD = 0.7, 0.3
_LOCATED, _FILTERED = 0.5, 0.1


def make_queries(
    registry: Registry, rows: Rows, count: int, encoder: Encoder, policy: Policy
) -> list[Query]:
    """Draw queries with at least one term; rows: of the registry, in any order."""
    rng = np.random.default_rng([registry.seed, 1, count])
    queries: list[Query] = []
    while len(queries) < count:
        query = prepare_query(
            " ".join(_words(registry, rows, rng)),
            encoder,
            policy,
            cell=_cell(registry, rng),
            filters=_filters(registry, rng),
        )
        if query.request.terms:
            queries.append(query)
    return queries


def make_requests(
    registry: Registry, rows: Rows, count: int
) -> list[tuple[str, Point | None]]:
    """Draw words and points as `make_queries` does, without filters."""
    rng = np.random.default_rng([registry.seed, 2, count])
    return [
        (" ".join(_words(registry, rows, rng)), _point(registry, rng))
        for _ in range(count)
    ]


def _words(registry: Registry, rows: Rows, rng: np.random.Generator) -> Iterable[str]:
    count = int(rng.integers(2, 7))
    if rng.random() < _COHERENT:
        return _topic_words(registry, count, rng)
    site = rng.integers(len(rows))
    hashes = rows.hashes[rows.starts[site] : rows.starts[site + 1]].tolist()
    words = [registry.language.word_of.get(hash_) for hash_ in hashes]
    known = [word for word in words if word is not None]
    return [str(word) for word in rng.choice(known, min(count, len(known)), False)]


def _topic_words(registry: Registry, count: int, rng: np.random.Generator) -> list[str]:
    language = registry.language
    topic = language.topics[draw_ranks(rng, 1, TOPICS)[0]]
    numbers = topic[draw_ranks(rng, count, TOPIC_WORDS)].tolist()
    if rng.random() < _WITH_COMMON_WORD:
        numbers[-1] = int(draw_ranks(rng, 1, language.known)[0])
    return [language.words[number] for number in dict.fromkeys(numbers)]


def _cell(registry: Registry, rng: np.random.Generator) -> str | None:
    point = _point(registry, rng)
    return None if point is None else cell_of(point)


def _point(registry: Registry, rng: np.random.Generator) -> Point | None:
    if rng.random() >= _LOCATED:
        return None
    return registry.cities.points[int(draw_ranks(rng, 1, CITIES)[0])]


def _filters(registry: Registry, rng: np.random.Generator) -> Filters:
    if rng.random() >= _FILTERED:
        return Filters()
    match rng.integers(3):
        case 0:
            return Filters(
                category=category_name(int(draw_ranks(rng, 1, CATEGORIES)[0]))
            )
        case 1:
            city = draw_ranks(rng, 1, CITIES)[0]
            return Filters(country=country_name(int(registry.cities.countries[city])))
        case _:
            return Filters(format=FORMATS[draw_ranks(rng, 1, len(FORMATS))[0]])
