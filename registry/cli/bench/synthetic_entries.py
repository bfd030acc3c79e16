"""Made-up sites as the service knows them: the profile, and the entry that is shown.

What a site says stands in both. The service's own encoders make them of all but the
actions, which are written in bulk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import pairwise
from math import asin, atan2, degrees

import msgspec
import numpy as np

from registry.cli.bench.synthetic import NOW, Chunk
from registry.cli.bench.synthetic_actions import ActionWriter, Spelled, head_of_array
from registry.cli.bench.synthetic_texts import KEYWORDS, OF_ITSELF
from registry.cli.bench.synthetic_words import (
    COUNTRIES,
    FORMATS,
    Language,
    category_name,
    country_name,
)
from registry.db.crowd import Ranked
from registry.index.columns.rows import HIGHER_TIER
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.text import stem
from registry.sites.place import Place, Point
from registry.sites.site import Site

_PROBED = ProbeFigures(
    probes=100, answers=99, successes=98, median_ms=180, observed_at=NOW
)
_WORDS_A_NAME = 2
_NO_ACTIONS = b"\xa7actions\x90", b'"actions":[]'


@dataclass(frozen=True)
class Spelling:
    """Terms of a language by their numbers: as words, and as they are compared."""

    language: Language

    @cached_property
    def stems(self) -> list[str]:
        return list(map(stem, self.language.words))

    @cached_property
    def actions(self) -> ActionWriter:
        words = [word.encode() for word in self.language.words]
        return ActionWriter(Spelled(words, [one.encode() for one in self.stems]))


def make_sites(chunk: Chunk, spelling: Spelling) -> Iterator[Ranked]:
    """One for each row of the chunk, in its order."""
    profiles, entries = spelling.actions.write(chunk)
    said = zip(_said(chunk, OF_ITSELF), _said(chunk, KEYWORDS), strict=True)
    for number, (about, keywords) in enumerate(said):
        place = _place(chunk, number)
        terms = tuple([spelling.stems[term] for term in about])
        format_ = FORMATS[_format(keywords, spelling.language)]
        profile = _profile(chunk, number, terms, format_, place)
        listing = {
            "site": _site(profile, [spelling.language.words[term] for term in about]),
            "place": place,
            "conflicts": (),
        }
        counted = head_of_array(int(chunk.sites.actions[number]))
        yield Ranked(
            site_id=profile.site_id,
            host=f"site-{profile.site_id}.test",
            category=profile.category,
            place=place,
            listing=_with_actions(
                msgspec.json.encode(listing),
                *(_NO_ACTIONS[1], b'"actions":[' + entries[number] + b"]"),
            ),
            profile=_with_actions(
                encode_profile(profile),
                *(_NO_ACTIONS[0], b"\xa7actions" + counted + profiles[number]),
            ),
            policy=profile.policy,
            changed_at=profile.changed_at,
        )


def _with_actions(encoded: bytes, none: bytes, actions: bytes) -> bytes:
    return encoded.replace(none, actions, 1)


def _said(chunk: Chunk, wanted: int) -> Iterator[list[int]]:
    """Of each site the terms of the field."""
    site, term, field = chunk.said.spoken
    own, terms = site[field == wanted], term[field == wanted].tolist()
    starts = np.searchsorted(own, np.arange(len(chunk.rows) + 1)).tolist()
    for start, stop in pairwise(starts):
        yield terms[start:stop]


def _site(profile: Profile, about: Sequence[str]) -> Site:
    return Site(
        name=" ".join(about[:_WORDS_A_NAME]).title(),
        category=profile.category,
        description=" ".join(about),
        commission_percent=10 if profile.commission_tier else 0,
    )


def _profile(
    chunk: Chunk,
    number: int,
    about: tuple[str, ...],
    format_: str,
    place: Place | None,
) -> Profile:
    """But for its actions."""
    rows = chunk.rows
    site_id = int(rows.site_ids[number])
    age_s = seconds_of(NOW) - int(rows.changed_s[number])
    return Profile(
        policy=DEFAULT_POLICY.digest,
        site_id=site_id,
        publisher=int(rows.leaders[number]) or site_id,
        category=category_name(int(chunk.sites.category[number])),
        country=place.country if place else "",
        formats=(format_,),
        point=place.point if place else None,
        local=bool(chunk.sites.local[number]),
        site_terms=about,
        actions=(),
        embedding=rows.embeddings[number].tobytes(),
        capability_depth=int(rows.depth[number]),
        quality=int(rows.quality[number]),
        probes=_PROBED,
        changed_at=NOW - timedelta(seconds=age_s),
        commission_tier=int(bool(rows.flags[number] & HIGHER_TIER)),
    )


def _format(keywords: Sequence[int], language: Language) -> int:
    """The last keyword is the format's."""
    return max(keywords) - language.first_format


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
