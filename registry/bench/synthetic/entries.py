"""Synthetic sites as the service stores them: the profile, and the entry that is shown.

Both say the same, and the service's own encoders write them.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from math import asin, atan2, degrees

import msgspec
import numpy as np

from registry.bench.synthetic.language import (
    COUNTRIES,
    FORMATS,
    Language,
    category_name,
    country_name,
)
from registry.bench.synthetic.site_rows import NOW, Chunk
from registry.bench.synthetic.tables import SyntheticSite
from registry.bench.synthetic.texts import (
    DESCRIPTIONS,
    KEYWORDS,
    NAMES,
    OF_ITSELF,
    PARAMETERS,
)
from registry.index.columns.rows import HIGHER_TIER
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import ActionProfile, Profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.terms import stem
from registry.sites.action import Action, Parameter
from registry.sites.place import Place, Point
from registry.sites.site import Site
from registry.usecases.sites.list_site import stored_profiles

NAMELESS = "open"
_PROBED = ProbeFigures(
    probes=100, answers=99, successes=98, median_ms=180, observed_at=NOW
)
_WORDS_A_NAME = 2

Terms = Sequence[int]


class EntryWriter:
    """Terms of a language, as words and as they are compared."""

    def __init__(self, language: Language) -> None:
        self._words = language.words
        self._stems = list(map(stem, language.words))
        self._parameters = [Parameter(name=w, type="string") for w in language.words]
        self._first_format = language.first_format

    def sites(self, chunk: Chunk) -> Iterator[SyntheticSite]:
        """Yield one site for each row of the chunk, in its order."""
        fields = (NAMES, DESCRIPTIONS, PARAMETERS, OF_ITSELF, KEYWORDS)
        terms = zip(*(_terms_of(chunk, field) for field in fields), strict=True)
        for number, (names, descriptions, parameters, about, keywords) in enumerate(
            terms
        ):
            count = int(chunk.sites.actions[number])
            actions = [
                self._action(
                    names[n::count], descriptions[n::count], parameters[n::count]
                )
                for n in range(count)
            ]
            place = _place(chunk, number)
            profile = _profile(
                chunk,
                number,
                site_terms=self._compared(about),
                actions=tuple([ranked for _, ranked in actions]),
                # The last keyword is the format's.
                formats=(FORMATS[max(keywords) - self._first_format],),
                point=place.point if place else None,
                country=place.country if place else "",
            )
            entry = self._entry(profile, about, [shown for shown, _ in actions])
            yield _stored(profile, entry, place)

    def _action(
        self, names: Terms, descriptions: Terms, parameters: Terms
    ) -> tuple[Action, ActionProfile]:
        first, *others = [self._words[term] for term in names] or [NAMELESS]
        name = first + "".join(map(str.capitalize, others))
        action = Action(
            name=name,
            description=" ".join([self._words[term] for term in descriptions]),
            parameters=tuple([self._parameters[term] for term in parameters]),
        )
        ranked = ActionProfile(
            name=name,
            name_terms=self._compared(names),
            description_terms=self._compared(descriptions),
            parameter_terms=self._compared(parameters),
        )
        return action, ranked

    def _compared(self, terms: Terms) -> tuple[str, ...]:
        return tuple([self._stems[term] for term in terms])

    def _entry(self, profile: Profile, about: Terms, actions: list[Action]) -> Site:
        words = [self._words[term] for term in about]
        return Site(
            name=" ".join(words[:_WORDS_A_NAME]).title(),
            category=profile.category,
            description=" ".join(words),
            commission_percent=10 if profile.commission_tier else 0,
            actions=tuple(actions),
        )


def _terms_of(chunk: Chunk, wanted: int) -> Iterator[list[int]]:
    """Yield the terms of one field of each site."""
    site, term, field = chunk.texts.drawn
    own, terms = site[field == wanted], term[field == wanted].tolist()
    starts = np.searchsorted(own, np.arange(len(chunk.rows) + 1)).tolist()
    for start, stop in pairwise(starts):
        yield terms[start:stop]


def _stored(profile: Profile, site: Site, place: Place | None) -> SyntheticSite:
    (stored,) = stored_profiles([profile], DEFAULT_POLICY)
    return SyntheticSite(
        site_id=profile.site_id,
        host=f"site-{profile.site_id}.test",
        category=profile.category,
        place=place,
        listing=msgspec.json.encode({"site": site, "place": place, "conflicts": ()}),
        profile=stored.profile,
        features=stored.features,
        policy=stored.policy,
        changed_at=profile.changed_at,
    )


def _profile(
    chunk: Chunk,
    number: int,
    *,
    site_terms: tuple[str, ...],
    actions: tuple[ActionProfile, ...],
    formats: tuple[str, ...],
    point: Point | None,
    country: str,
) -> Profile:
    rows = chunk.rows
    site_id = int(rows.site_ids[number])
    age_s = seconds_of(NOW) - int(rows.changed_s[number])
    return Profile(
        policy=DEFAULT_POLICY.digest,
        site_id=site_id,
        publisher=int(rows.representatives[number]) or site_id,
        category=category_name(int(chunk.sites.category[number])),
        country=country,
        formats=formats,
        point=point,
        local=bool(chunk.sites.local[number]),
        site_terms=site_terms,
        actions=actions,
        embedding=rows.embeddings[number].tobytes(),
        capability_depth=int(rows.depth[number]),
        quality=int(rows.quality[number]),
        probes=_PROBED,
        changed_at=NOW - timedelta(seconds=age_s),
        commission_tier=int(bool(rows.flags[number] & HIGHER_TIER)),
    )


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
