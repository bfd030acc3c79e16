"""Synthetic sites as rows of the index: a registry of any size from one seed.

A site has 5 to 15 actions of about 8 words and 9 words about itself: some 90 in all, half
of them of its topic. Sites are made in chunks, each from its number, so that a larger
registry begins with the whole chunks of a smaller one.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from registry.bench.synthetic.language import (
    CATEGORIES,
    COUNTRIES,
    FORMATS,
    TOPICS,
    Integers,
    Language,
    draw_ranks,
    make_language,
)
from registry.bench.synthetic.texts import Texts, make_texts
from registry.index.columns.rows import HIGHER_TIER, LOCAL, Bodies, Rows, join
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.ranking.encoders.vectors import (
    reciprocals,
    unpack_sites,
)
from registry.ranking.freshness import SECONDS_PER_DAY, seconds_of
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.proximity import vector_of
from registry.sites.place import Point

SEED = 20_261_101
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
CHUNK = 20_000
CITIES = 2_000

_UNLOCATED = 0.15
_LOCAL_CATEGORIES = CATEGORIES * 3 // 4
_GROUPED, _GROUP = 0.015, 3
_CITY_RADIUS_DEG = 0.1
_ID_STEP, _ID_BITS = 0x9E3779B97F4A7C15, 40  # odd: no two numbers get one id


@dataclass(frozen=True, kw_only=True)
class Cities:
    """Cities, the largest first; `countries` are numbers."""

    points: tuple[Point, ...]
    countries: Integers


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Consecutive sites, with their texts and rows."""

    sites: "Sites"
    texts: Texts
    rows: Rows


@dataclass(frozen=True, kw_only=True)
class Registry:
    language: Language
    cities: Cities
    seed: int

    def rows(self, start: int, stop: int) -> Rows:
        """Return sites `start` to `stop`; start: a multiple of CHUNK."""
        firsts = range(start, stop, CHUNK)
        return join([self.chunk(n, min(CHUNK, stop - n)).rows for n in firsts])

    def chunk(self, first: int, count: int) -> Chunk:
        """Return `count` sites, at most CHUNK; first: a multiple of CHUNK."""
        rng = np.random.default_rng([self.seed, first])
        sites = Sites(self, rng, first, count)
        language = self.language
        keywords = (
            language.categories(sites.category),
            language.countries(sites.country),
            language.formats(draw_ranks(rng, count, len(FORMATS))),
        )
        texts = make_texts(sites.topic, sites.actions, keywords, language, rng)
        rows = Rows(
            site_ids=sites.ids,
            publishers=sites.ids,
            representatives=sites.representatives,
            depth=_depth(count, rng),
            quality=_quality(count, rng),
            changed_s=_changed_s(count, rng),
            flags=(
                LOCAL * sites.local + HIGHER_TIER * (rng.random(count) < 0.8)
            ).astype(np.uint8),
            vectors=sites.vectors,
            embeddings=texts.embeddings,
            reciprocals=reciprocals(unpack_sites(texts.embeddings)),
            signatures=rng.integers(0, 256, (count, SIGNATURE_BYTES), np.uint8),
            bodies=Bodies.of([b""] * count),
            starts=texts.starts,
            hashes=language.hashes[texts.terms],
            impacts=texts.impacts,
        )
        return Chunk(sites=sites, texts=texts, rows=rows)


def make_registry(seed: int = SEED) -> Registry:
    rng = np.random.default_rng(seed)
    return Registry(language=make_language(rng), cities=_make_cities(rng), seed=seed)


def _make_cities(rng: np.random.Generator) -> Cities:
    """Draw cities of 37° S to 64° N; a country is a band of longitudes."""
    latitudes = np.degrees(np.arcsin(rng.uniform(-0.6, 0.9, CITIES)))
    longitudes = rng.uniform(-180, 180, CITIES)
    return Cities(
        points=tuple(map(Point, latitudes.tolist(), longitudes.tolist())),
        countries=((longitudes + 180) / 360 * COUNTRIES).astype(np.int64) % COUNTRIES,
    )


class Sites:
    """Columns of a chunk's sites but for their texts; sites of a group are alike."""

    def __init__(
        self, registry: Registry, rng: np.random.Generator, first: int, count: int
    ) -> None:
        numbers = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        self.ids = (numbers * np.uint64(_ID_STEP) % (1 << _ID_BITS)).astype(np.int64)
        groups = rng.choice(
            count // _GROUP, int(count * _GROUPED / _GROUP), replace=False
        )
        members = groups[:, None] * _GROUP + np.arange(_GROUP)
        self.representatives = np.zeros(count, np.int64)
        self.representatives[members] = self.ids[members[:, :1]]
        self.actions = rng.integers(5, 16, count)
        self.topic = draw_ranks(rng, count, TOPICS)
        self.topic[members] = self.topic[members[:, :1]]
        self.city = draw_ranks(rng, count, CITIES)
        self.city[members] = self.city[members[:, :1]]
        located = rng.random(count) >= _UNLOCATED
        self.category = self.topic % CATEGORIES
        self.local = located & (self.category < _LOCAL_CATEGORIES)
        self.country = np.where(
            located, registry.cities.countries[self.city], COUNTRIES
        )
        self.vectors = _vectors(registry.cities, self.city, rng)
        self.vectors[~located] = 0


def _vectors(
    cities: Cities, city: Integers, rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Compute `vector_of` of points about the cities."""
    radius = vector_of(Point(0, 0))[0]
    degrees = np.array([(point.latitude, point.longitude) for point in cities.points])[
        city
    ]
    offsets = rng.normal(0, _CITY_RADIUS_DEG, degrees.shape)
    latitude, longitude = np.radians(degrees + offsets).T
    flat = np.cos(latitude)
    unit = (flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude))
    vectors: npt.NDArray[np.int32] = np.rint(radius * np.stack(unit, axis=1)).astype(
        np.int32
    )
    return vectors


def _depth(count: int, rng: np.random.Generator) -> npt.NDArray[np.uint16]:
    """Draw by mean and spread of ln(1 + sum) of 51 documents from the wild."""
    logarithm = np.maximum(rng.normal(1.12, 0.61, count), 0)
    full = math.log1p(DEFAULT_POLICY.depth_cap_milli / 1000)
    return np.minimum(FULL, FULL * logarithm / full).astype(np.uint16)


def _quality(count: int, rng: np.random.Generator) -> npt.NDArray[np.uint16]:
    """Draw quality; a fifth of the sites is too new to have any."""
    quality = np.clip(FULL - rng.exponential(1500, count), 0, FULL)
    unknown = rng.random(count) < 0.2
    return np.where(unknown, DEFAULT_POLICY.quality_prior, quality).astype(np.uint16)


def _changed_s(count: int, rng: np.random.Generator) -> npt.NDArray[np.uint32]:
    days = np.minimum(rng.exponential(90, count), 2000)
    return (seconds_of(NOW) - days * SECONDS_PER_DAY).astype(np.uint32)
