"""Trials of advice: a site with one fact more, ranked for the requests it is meant for.

Those are the requests that name its actions. What is to be written is not known, so its words are coined ones: they match no request, and make
each other word of the site weigh a little less, as other words would.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from registry.ranking.encoders.encoder import Encoder
from registry.ranking.encoders.vectors import reciprocals, unpack_sites
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import ParsedQuery, impacts, match_sites, parse_query
from registry.ranking.score import Factors
from registry.ranking.words.site_words import ActionWords
from registry.sites.place import Place
from registry.sites.site import Site

MOST_REQUESTS = 20
"""A site with more actions is tried with every second, third, … of them."""
_ROUNDED = 2
"""Units of relevance that rounding may take away."""
_NEVER = datetime.fromtimestamp(0, UTC)
_SYLLABLES = ("zwu", "qix", "vlo", "jyf", "xub", "kpe", "gwi", "dzo")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceTrial:
    """host, registrable_domain: for masking only. requests: that name its actions."""

    host: str
    registrable_domain: str
    place: Place | None
    requests: Sequence[ParsedQuery]
    encoder: Encoder
    policy: Policy

    def profile_of(self, site: Site, place: Place | None = None) -> Profile:
        """place: the site's own without one."""
        return make_profile(
            site,
            encoder=self.encoder,
            policy=self.policy,
            site_id=0,
            publisher=0,
            host=self.host,
            registrable_domain=self.registrable_domain,
            formats=(),
            place=place or self.place,
            probes=ProbeFigures(),
            changed_at=_NEVER,
        )

    def raises(self, before: Profile, after: Profile) -> bool:
        """Return whether no request's score falls, and one rises, however rare its words.

        How rare a word is, is up to the sites of the index. The score lies between those
        for each of its words alone, so that each of these has to rise. Where sentences
        decide, what is to be written is taken to mean what the site does already.
        """
        if self.policy.meaning_min_bp:
            after = replace(after, embedding=before.embedding)
        pairs = [
            (self._score(before, request, term), self._score(after, request, term))
            for request in self.requests
            for term in request.terms
        ]
        least = _ROUNDED * self.policy.weights[0]
        risen = [new > old + least for old, new in pairs if old or new]
        return all(risen) and bool(risen or not pairs)

    def _score(self, profile: Profile, request: ParsedQuery, term: str) -> int:
        """Return the part of the score that a site's text decides; 0 if not eligible."""
        vectors = unpack_sites(np.frombuffer(profile.embedding, np.uint8)[np.newaxis])
        vector = np.frombuffer(request.vector, np.int8).astype(np.int64)
        matches = match_sites(
            np.array([impacts(profile, self.policy).get(term, 0)], np.int64),
            vectors.astype(np.int64) @ vector,
            reciprocals(vectors).astype(np.int64),
            request,
            [1],
            policy=self.policy,
        )
        if not matches.eligible[0]:
            return 0
        return Factors(
            relevance=int(matches.relevance[0]),
            proximity=0,
            capability_depth=profile.capability_depth,
            quality=0,
            freshness=0,
        ).score(self.policy)


def requests_of(
    words: Sequence[ActionWords], encoder: Encoder, policy: Policy
) -> list[ParsedQuery]:
    """Return the requests that name actions; of names without a content word none."""
    step = -(-len(words) // MOST_REQUESTS) or 1
    parsed = [parse_query(item.plain, encoder, policy) for item in words[::step]]
    return [request for request in parsed if request.terms]


def coined_words(count: int, first: int = 0) -> str:
    """Return words of no language, others for another first number."""
    numbers = range(first, first + count)
    return " ".join(
        _SYLLABLES[n % 8] + _SYLLABLES[n // 8 % 8] + _SYLLABLES[n // 64 % 8]
        for n in numbers
    )
