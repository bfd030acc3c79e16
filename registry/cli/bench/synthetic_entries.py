"""Made-up sites as the service knows them: the profile, and the entry that is shown.

What a site says stands in both; the index that is made of the profiles is the one of the
rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from math import asin, atan2, degrees

import numpy as np

from registry.cli.bench.synthetic import NOW, Chunk
from registry.cli.bench.synthetic_texts import (
    DESCRIPTIONS,
    KEYWORDS,
    NAMES,
    OF_ITSELF,
    PARAMETERS,
)
from registry.cli.bench.synthetic_words import (
    COUNTRIES,
    FORMATS,
    Language,
    category_name,
    country_name,
)
from registry.db.crowd import Ranked
from registry.index.rows import HIGHER_TIER
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.text import stem
from registry.sites.action import Action, Parameter
from registry.sites.place import Place, Point
from registry.sites.site import Site

_PROBED = ProbeFigures(
    probes=100, answers=99, successes=98, median_ms=180, observed_at=NOW
)
_WORDS_A_NAME = 2


@dataclass(frozen=True)
class Spelling:
    """Terms of a language by their numbers: as words, and as they are compared."""

    language: Language

    @cached_property
    def stems(self) -> list[str]:
        return list(map(stem, self.language.words))

    def words(self, terms: Sequence[int]) -> list[str]:
        return [self.language.words[term] for term in terms]

    def terms(self, terms: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.stems[term] for term in terms)


def make_sites(chunk: Chunk, spelling: Spelling) -> Iterator[Ranked]:
    """One for each row of the chunk, in its order."""
    for number, fields in enumerate(_said_by_field(chunk)):
        yield _make_site(chunk, number, fields, spelling)


def _said_by_field(chunk: Chunk) -> Iterator[list[list[int]]]:
    """Of each site the terms of each field."""
    site, term, field = chunk.said.spoken
    starts = np.searchsorted(site, np.arange(len(chunk.rows) + 1)).tolist()
    terms, fields = term.tolist(), field.tolist()
    for start, stop in pairwise(starts):
        found: list[list[int]] = [[] for _ in range(KEYWORDS + 1)]
        for at in range(start, stop):
            found[fields[at]].append(terms[at])
        yield found


def _make_site(
    chunk: Chunk, number: int, fields: list[list[int]], spelling: Spelling
) -> Ranked:
    profile = _profile(chunk, number, fields, spelling)
    about = spelling.words(fields[OF_ITSELF])
    said = _by_action(fields, int(chunk.sites.actions[number]))
    site = Site(
        name=" ".join(about[:_WORDS_A_NAME]).title(),
        category=profile.category,
        description=" ".join(about),
        commission_percent=10 if profile.commission_tier else 0,
        actions=tuple(_action(one, spelling) for one in said),
    )
    return Ranked(
        site_id=profile.site_id,
        host=f"site-{profile.site_id}.test",
        site=site,
        place=_place(chunk, number),
        profile=encode_profile(profile),
        policy=profile.policy,
        changed_at=profile.changed_at,
    )


def _profile(
    chunk: Chunk, number: int, fields: list[list[int]], spelling: Spelling
) -> Profile:
    rows, place = chunk.rows, _place(chunk, number)
    site_id = int(rows.site_ids[number])
    age_s = seconds_of(NOW) - int(rows.changed_s[number])
    said = _by_action(fields, int(chunk.sites.actions[number]))
    return Profile(
        policy=DEFAULT_POLICY.digest,
        site_id=site_id,
        publisher=int(rows.leaders[number]) or site_id,
        category=category_name(int(chunk.sites.category[number])),
        country=place.country if place else "",
        formats=(FORMATS[_format(fields[KEYWORDS], spelling.language)],),
        point=place.point if place else None,
        local=bool(chunk.sites.local[number]),
        site_terms=spelling.terms(fields[OF_ITSELF]),
        actions=tuple(_action_profile(one, spelling) for one in said),
        embedding=rows.embeddings[number].tobytes(),
        capability_depth=int(rows.depth[number]),
        quality=int(rows.quality[number]),
        probes=_PROBED,
        changed_at=NOW - timedelta(seconds=age_s),
        commission_tier=int(bool(rows.flags[number] & HIGHER_TIER)),
    )


def _format(keywords: list[int], language: Language) -> int:
    """The last keyword is the format's."""
    return max(keywords) - int(language.formats(np.zeros(1, np.int64))[0])


def _place(chunk: Chunk, number: int) -> Place | None:
    country = int(chunk.sites.country[number])
    if country == COUNTRIES:
        return None
    x, y, z = chunk.rows.vectors[number].tolist()
    length = (x * x + y * y + z * z) ** 0.5
    city = int(chunk.sites.city[number])
    return Place(
        geonames_id=city + 1,
        name=f"City {city}",
        country=country_name(country),
        point=Point(degrees(asin(z / length)), degrees(atan2(y, x))),
    )


def _by_action(fields: list[list[int]], actions: int) -> list[list[list[int]]]:
    """The names, descriptions and parameters, dealt out to the actions."""
    kinds = (fields[NAMES], fields[DESCRIPTIONS], fields[PARAMETERS])
    return [[kind[first::actions] for kind in kinds] for first in range(actions)]


def _action(said: list[list[int]], spelling: Spelling) -> Action:
    names, descriptions, parameters = map(spelling.words, said)
    return Action(
        name=_identifier(names) or "open",
        description=" ".join(descriptions),
        parameters=tuple(Parameter(name=one, type="string") for one in parameters),
    )


def _action_profile(said: list[list[int]], spelling: Spelling) -> ActionProfile:
    names, descriptions, parameters = map(spelling.terms, said)
    return ActionProfile(
        name=_identifier(spelling.words(said[NAMES])) or "open",
        name_terms=names,
        description_terms=descriptions,
        parameter_terms=parameters,
    )


def _identifier(words: Sequence[str]) -> str:
    """As camelCase."""
    return "".join([*words[:1], *map(str.capitalize, words[1:])])
