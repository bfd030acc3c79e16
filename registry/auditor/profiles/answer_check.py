"""An answer computed again from profiles that were made again.

Its sites, and some that were drawn from all, are searched in an index of these alone,
each as a publisher by itself, with the weights of words that the generation commits to:
so factors and eligibility are those of the whole index.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import exp, lgamma, log, log1p

import msgspec

from registry.index.building.builder import uncommitted_index
from registry.index.building.publishers import with_representatives
from registry.index.columns.filters import Filters
from registry.index.columns.hashes import hash_word
from registry.index.columns.rows import rows_of
from registry.index.columns.signatures import SIGNATURE_BYTES, signatures_of
from registry.index.query.eligible_estimate import PANEL_ROWS
from registry.index.query.index import Index
from registry.index.query.sample import left_out
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import Ranked, RankedSite, prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile
from registry.ranking.relevance import idf_milli
from registry.records.canonical import JsonValue
from registry.records.packed_scores import DisclosedScore
from registry.records.recomputation import (
    AnswerDisclosed,
    RequestDisclosed,
    parse_request,
)
from registry.reports.archive.row_check import fewest_sampled
from registry.sites.identifier import format_site_id, parse_site_id

SURE = 1e-9
"""Share of fair draws that are as far from the stated number of eligible sites, at most."""

NO_SEED = bytes(32)


@dataclass(frozen=True, kw_only=True)
class WeighedIndex(Index):
    """Index of some sites of a larger one. idf: of each term there, in thousandths."""

    idf: Mapping[str, int]

    def term_weights(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self.idf[term] for term in terms}


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosedAnswer:
    """Answer as its record discloses it. seed: of its ties, if its secret is known.

    sample: of the eligible sites; None in older records, which lack it.
    """

    query: Query
    request: RequestDisclosed
    scores: Sequence[DisclosedScore]
    eligible: int
    sample: Sequence[int] | None
    weights: Mapping[str, int]
    seed: bytes | None

    @classmethod
    def read(
        cls, values: Mapping[str, JsonValue], policy: Policy, seed: bytes | None
    ) -> "DisclosedAnswer":
        """Raises: KeyError of what is not disclosed; msgspec.ValidationError, ValueError."""
        location = values["location"]
        answer = msgspec.convert(values["answer"], AnswerDisclosed)
        return cls(
            query=prepare_query(
                str(values["query"]),
                load_encoder(policy),
                policy,
                cell=None if location is None else str(location),
                filters=Filters.from_record(values["filters"]),
            ),
            request=parse_request(values["request"]),
            scores=msgspec.convert(values["scores"], list[DisclosedScore]),
            eligible=answer.eligible,
            sample=None
            if answer.sample is None
            else list(map(parse_site_id, answer.sample)),
            weights=msgspec.convert(values["terms"], dict[str, int]),
            seed=seed,
        )

    @property
    def site_ids(self) -> list[int]:
        return [parse_site_id(row.site) for row in self.scores]

    @property
    def named_ids(self) -> list[int]:
        """Return those of its sample too."""
        return [*self.site_ids, *(self.sample or ())]

    @property
    def terms(self) -> tuple[str, ...]:
        """All that is looked for, what was meant by mistyped words too."""
        request = self.query.request
        return tuple(request.weights_bp or request.terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenProfiles:
    """profiles: by site, of the answer and of those drawn. drawn: from all `sites`.

    counts: of sites by the hash of a word.
    """

    policy: Policy
    profiles: Mapping[int, Profile]
    drawn: Sequence[int]
    sites: int
    counts: Mapping[int, int]


def _answered_elsewhere(policy: Policy) -> Policy:
    """Return the policy by which a site is eligible beside one that means the request."""
    step = policy.meaning_step_bp + policy.meaning_beside_step_bp
    return replace(policy, meaning_step_bp=step, meaning_beside_step_bp=0)


class AnswerCheck:
    """Check of an answer; each method yields what differs."""

    def __init__(self, answer: DisclosedAnswer, evidence: ProvenProfiles) -> None:
        self._answer = answer
        self._evidence = evidence
        self._ranked = self._search()
        self._site_of = {site.site_id: site for site in self._ranked.sites}

    def _search(self) -> Ranked:
        """Search the known profiles; who means the request may be among the others."""
        index, evidence = self._index(), self._evidence
        ranked = self._search_in(index)
        is_all = len(evidence.profiles) == evidence.sites
        if ranked.sites or is_all or not self._answer.eligible:
            return ranked
        return self._search_in(replace(index, policy=_answered_elsewhere(index.policy)))

    def _index(self) -> WeighedIndex:
        evidence = self._evidence
        apart = [
            replace(profile, publisher=number)
            for number, profile in enumerate(evidence.profiles.values())
        ]
        policy = replace(evidence.policy, duplicate_signature_bytes=SIGNATURE_BYTES + 1)
        small = uncommitted_index(apart, policy)
        members = {field.name: getattr(small, field.name) for field in fields(Index)}
        idf = {
            term: idf_milli(evidence.sites, evidence.counts.get(hash_word(term), 0))
            for term in self._answer.terms
        }
        return WeighedIndex(**members, idf=idf)

    def _search_in(self, index: WeighedIndex) -> Ranked:
        answer = self._answer
        return search(
            index,
            answer.query,
            now=answer.request.at,
            seed=answer.seed or NO_SEED,
            k=max(1, len(self._evidence.profiles)),
        )

    def weights(self) -> Iterator[str]:
        computed = dict(self._ranked.term_weights)
        if computed != dict(self._answer.weights):
            yield f"the weights of its words are {computed}"

    def words(self) -> Iterator[str]:
        """Hold the committed numbers of sites with a word against the profiles."""
        evidence, terms = self._evidence, self._answer.terms
        hashes = [hash_word(term) for term in terms]
        drawn = set(evidence.drawn) & evidence.profiles.keys()
        every = self._containing(evidence.profiles.keys(), hashes)
        among = self._containing(drawn, hashes)
        for term, key, least, few in zip(terms, hashes, every, among, strict=True):
            count, sites = evidence.counts.get(key, 0), evidence.sites
            if (
                not least <= count <= sites
                or _draw_chance(few, len(drawn), count, sites) < SURE
            ):
                own = f"{least} of {len(evidence.profiles)} profiles"
                yield f"{own} have the word {term!r}, and {count} by the generation"

    def _containing(self, site_ids: Iterable[int], hashes: list[int]) -> list[int]:
        profiles = [self._evidence.profiles[site_id] for site_id in site_ids]
        index = uncommitted_index(profiles, self._evidence.policy)
        return list(index.bound.containing(hashes)) if profiles else [0] * len(hashes)

    def factors(self) -> Iterator[str]:
        for row in self._answer.scores:
            site = self._site_of.get(parse_site_id(row.site))
            if site is not None:
                computed = tuple(getattr(site.factors, name) for name in FACTOR_NAMES)
                if computed != row.factors:
                    yield f"{row.site}: the factors are {computed}, not {row.factors}"
            elif parse_site_id(row.site) in self._evidence.profiles:
                yield f"{row.site} is not eligible"

    def publishers(self) -> Iterator[str]:
        """Count the slots of publishers, proven as parts of the profiles."""
        profiles, most = self._evidence.profiles, self._evidence.policy
        own = [profiles[site] for site in self._answer.site_ids if site in profiles]
        slots = Counter(profile.publisher for profile in own)
        for publisher, count in slots.items():
            if count > most.publisher_answer_places:
                sites = [p.site_id for p in own if p.publisher == publisher]
                names = ", ".join(map(format_site_id, sites))
                yield f"one publisher has {count} places: {names}"

    def copies(self) -> Iterator[str]:
        """Count the slots of near-duplicates, whose leaders all profiles together give."""
        profiles, policy = self._evidence.profiles, self._evidence.policy
        if len(profiles) < self._evidence.sites:
            return
        own = rows_of(list(profiles.values()), policy)
        rows, _ = with_representatives(own, {}, policy)
        pairs = zip(rows.site_ids.tolist(), rows.representatives.tolist(), strict=True)
        leader = dict(pairs)
        slots = Counter(
            leader.get(site_id) or site_id for site_id in self._answer.site_ids
        )
        for site_id, count in slots.items():
            if count > 1:
                name = format_site_id(site_id)
                yield f"{count} places are of near-duplicates, led by {name}"

    def left_out(self) -> Iterator[str]:
        """Look for drawn sites that belong into a first page and are not in it."""
        answer, profiles = self._answer, self._evidence.profiles
        returned = set(answer.site_ids)
        if not answer.request.after.is_first or not returned <= profiles.keys():
            return
        last = [self._key(self._site_of[s]) for s in returned & self._site_of.keys()]
        for site_id in set(self._evidence.drawn) & self._site_of.keys() - returned:
            is_before = not last or self._key(self._site_of[site_id]) < max(last)
            if is_before and not self._may_be_behind(profiles[site_id], returned):
                yield f"{format_site_id(site_id)} belongs into the answer"

    def _may_be_behind(self, profile: Profile, site_ids: Iterable[int]) -> bool:
        """Return whether it may stand behind one of the sites.

        Who leads a slot need not be eligible, and need not be among the profiles: so
        half of the likeness that near-duplicates have is enough.
        """
        evidence = self._evidence
        others = [evidence.profiles[site_id] for site_id in site_ids]
        own, *signatures = signatures_of([profile, *others], evidence.policy)
        enough = evidence.policy.duplicate_signature_bytes // 2
        return any(
            profile.publisher == other.publisher or (own == signature).sum() >= enough
            for other, signature in zip(others, signatures, strict=True)
        )

    def sample(self) -> Iterator[str]:
        """Hold the sample of eligible sites against the profiles, and the draw."""
        answer, evidence, own = self._answer, self._evidence, self._answer.sample
        if own is None:
            return
        size, sites = evidence.policy.eligible_sample, evidence.sites
        fewest = fewest_sampled(answer.eligible, size, sites)
        if not fewest <= len({*own}) == len(own) <= min(size, answer.eligible):
            yield f"{len(own)} sites are sampled of {answer.eligible} eligible ones"
        for site_id in (evidence.profiles.keys() & own) - self._site_of.keys():
            yield f"{format_site_id(site_id)} is sampled and not eligible"
        if answer.seed or len(own) < size:
            # Half: an index that has shrunk may still look at a part of its sites.
            seed, is_part = answer.seed or NO_SEED, sites > PANEL_ROWS // 2
            for site_id in left_out(self._site_of, own, seed, size, is_part=is_part):
                yield f"{format_site_id(site_id)} belongs into the sample"

    def _key(self, site: RankedSite) -> tuple[int, ...]:
        return tuple(site.order_key) if self._answer.seed else site.order_key[:1]

    def eligible(self) -> Iterator[str]:
        """Compare the number of eligible sites with those among the drawn ones."""
        evidence, stated = self._evidence, self._answer.eligible
        drawn = [site_id for site_id in evidence.drawn if site_id in evidence.profiles]
        own = len(self._site_of.keys() & set(drawn))
        is_all = len(drawn) == evidence.sites <= PANEL_ROWS
        if is_all and own != stated:
            yield f"{own} sites are eligible, not {stated}"
        elif drawn and _chance(own, len(drawn), stated / max(1, evidence.sites)) < SURE:
            yield f"{own} of {len(drawn)} drawn sites are eligible; {stated} are stated"


def _draw_chance(own: int, drawn: int, count: int, sites: int) -> float:
    """Return how often so many drawn of all sites have as few, or as many, of `count`."""
    least, most = max(0, drawn + count - sites), min(count, drawn)
    whole = _log_comb(sites, drawn)
    chances = {
        n: exp(_log_comb(count, n) + _log_comb(sites - count, drawn - n) - whole)
        for n in range(least, most + 1)
    }
    return _smaller_tail(own, chances)


def _chance(own: int, drawn: int, share: float) -> float:
    """Return how often a draw has as few, or as many, as these."""
    if not 0 < share < 1:
        return float(own == drawn * min(1, share))
    chances = {
        n: exp(_log_comb(drawn, n) + n * log(share) + (drawn - n) * log1p(-share))
        for n in range(drawn + 1)
    }
    return _smaller_tail(own, chances)


def _log_comb(n: int, k: int) -> float:
    """Return the logarithm: of thousands of drawn sites there is no float of the number."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _smaller_tail(own: int, chances: Mapping[int, float]) -> float:
    return min(
        sum(chance for n, chance in chances.items() if n <= own),
        sum(chance for n, chance in chances.items() if n >= own),
    )
