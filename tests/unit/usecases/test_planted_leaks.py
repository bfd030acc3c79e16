"""Ten leaks, each planted in a copy of the ranker, and the tools that catch them.

The matrix that results stands in docs/detection.md: who changes one changes the other.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from registry.auditor.profiles.check_ranking import ProfileChecks
from registry.bench.invariance import NOW, town_shadow
from registry.demo.town.member import CAST
from registry.index.building.builder import Builder
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import DEFAULT_POLICY, FULL, Policy
from registry.ranking.profile import Profile
from registry.ranking.proximity import proximity
from registry.ranking.ties import make_seed, tie_key
from registry.records.disclosure import digest_disclosure
from registry.records.packed_scores import PLACELESS
from registry.records.recomputation import KnownDay, Recomputation, recompute
from registry.records.seed import digest_request
from registry.reports.invariance import PERTURBATION
from registry.sites.gazetteer import Gazetteer
from registry.sites.identifier import format_site_id
from registry.sites.place import Point, centroid_of
from registry.usecases.reports.perturb import TrialListing
from registry.usecases.reports.try_invariance import Question, Shadow, try_invariance
from registry.usecases.sites.list_site import Lister
from tests.unit.records.encoded import encode_disclosure
from tests.unit.usecases.served_town import ServedTown, probed, with_profiles

SECRET = sha256(b"day secret").digest()
K = 20
Ranker = Callable[[list[dict[str, Any]], Question], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def town(lister: Lister) -> Shadow:
    """The town with probes and commissions that differ, and twins for ties."""
    shadow = town_shadow(lister, CAST[::2])
    twins = [_twin(listing) for listing in shadow.listings[::3]]
    listings = list(map(probed, [*shadow.listings, *twins]))
    return with_profiles(replace(shadow, listings=listings))


@pytest.fixture(scope="module")
def lister(gazetteer: Gazetteer) -> Lister:
    # Twins say the same: here they have a place each.
    policy = replace(DEFAULT_POLICY, duplicate_signature_bytes=33)
    return Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=policy)


def _twin(listing: TrialListing) -> TrialListing:
    entry = listing.entry
    host = entry.host.removesuffix("test") + "com"
    twin = replace(
        entry, site_id=entry.site_id + 1_000, host=host, registrable_domain=host
    )
    documents = [
        replace(document, url=document.url.replace(entry.host, host))
        for document in listing.documents
    ]
    return replace(listing, entry=twin, documents=tuple(documents))


def as_ranked(rows: list[dict[str, Any]], question: Question) -> list[dict[str, Any]]:
    return rows


@dataclass(frozen=True)
class Leak:
    """change: of a profile as it is made. ranker: of an answer as it is ranked.

    job: the perturbation whose trials fail, or "". reproduced: what `audit reproduce`
    says of an answer without any profile, or "".
    """

    change: Callable[[TrialListing, Profile], Profile] = lambda _, profile: profile
    ranker: Ranker = as_ranked
    job: str = ""
    reproduced: str = ""


def more(profile: Profile, quality: int = 0, depth: int = 0) -> Profile:
    return replace(
        profile,
        quality=min(FULL, max(0, profile.quality + quality)),
        capability_depth=min(FULL, profile.capability_depth + depth),
    )


def drawn(text: str, one_in: int) -> bool:
    return sha256(text.encode()).digest()[0] % one_in == 0


def friends_of_the_house(listing: TrialListing, profile: Profile) -> Profile:
    return more(profile, 100 * drawn(listing.entry.host, 5))


def name_in_the_text(listing: TrialListing, profile: Profile) -> Profile:
    words = tuple(listing.entry.site.name.casefold().split())
    return replace(
        profile,
        site_terms=tuple(sorted({*profile.site_terms, *words, "book"}))
        if "|" not in listing.entry.site.name
        else profile.site_terms,
    )


def hidden_visits(listing: TrialListing, profile: Profile) -> Profile:
    visits = sha256(str(profile.publisher).encode()).digest()[0]
    return more(profile, visits)


def shrunk_by_probes(_: TrialListing, profile: Profile) -> Profile:
    return more(profile, -profile.quality // (10 + profile.probes.probes))


def depth_for_zero(listing: TrialListing, profile: Profile) -> Profile:
    return more(profile, depth=400 * (listing.entry.site.commission_percent == 0))


def one_hotel(listing: TrialListing, profile: Profile) -> Profile:
    return more(profile, 700 * drawn(listing.entry.host, 3))


def by_total(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    weights = DEFAULT_POLICY.weights
    for row in rows:
        row["score"] = sum(map(int.__mul__, weights, row["factors"]))
    return sorted(rows, key=lambda row: (-row["score"], row["tier"], row["tie"]))


def commission_first(rows: list[dict[str, Any]], _: Question) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-(row["score"] // 1_000_000), row["tier"]))


def row_order(rows: list[dict[str, Any]], _: Question) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row["score"], row["tier"], row["site"]))


def kernel_after_a_thousand(
    rows: list[dict[str, Any]], _: Question
) -> list[dict[str, Any]]:
    for row in rows[1::3]:
        row["factors"][3] = min(FULL, row["factors"][3] + 300)
    return by_total(rows)


def half_the_way_in_jordan(
    rows: list[dict[str, Any]], question: Question
) -> list[dict[str, Any]]:
    for row in rows:
        point = Gazetteer.load().point_of(row["place"])
        if question.cell and point and row["place"] == AMMAN:
            user = centroid_of(question.cell)
            middle = Point(
                (point.latitude + user.latitude) / 2,
                (point.longitude + user.longitude) / 2,
            )
            row["factors"][1] = proximity(middle, user, DEFAULT_POLICY, local=True)
    return by_total(rows)


AMMAN = 250_441
LEAKS = {
    "a1 friends, in the profile maker": Leak(
        friends_of_the_house, job="identity", reproduced="the quality is"
    ),
    "b name words in the text": Leak(name_in_the_text, job="name"),
    "c1 hidden visits by publisher": Leak(
        hidden_visits, job="identity", reproduced="the quality is"
    ),
    "c2 shrunk by the number of probes": Leak(
        shrunk_by_probes, reproduced="the quality is"
    ),
    "d commission before the score": Leak(
        ranker=commission_first, reproduced="ranks higher than"
    ),
    "d2 depth for 0% commission": Leak(depth_for_zero, job="zero_commission"),
    "e row order breaks ties": Leak(ranker=row_order, reproduced="by its tie key"),
    "f one kind of hotel": Leak(one_hotel, job="identity", reproduced="the quality is"),
    "g kernel after 1,000 searches": Leak(
        ranker=kernel_after_a_thousand, reproduced="the quality is"
    ),
    "h half the distance in one country": Leak(
        ranker=half_the_way_in_jordan, reproduced="the proximity is"
    ),
}
# a2, the same favour where a profile is stored, is a1 for whoever sees answers alone.
STORED = "a2 friends, where the profile is stored"


@dataclass(frozen=True)
class RankingOnTrial:
    """Members of a record and its disclosures. seed: of its ties."""

    members: dict[str, Any]
    values: dict[str, Any]
    seed: bytes
    policy: Policy

    def recomputed(self) -> Recomputation:
        texts = [
            encode_disclosure("salt", name, own) for name, own in self.values.items()
        ]
        digests = [digest_disclosure(text) for text in texts]
        day = date(NOW.year, NOW.month, NOW.day).isoformat()
        result = recompute(
            {**self.members, "_sd": digests},
            texts,
            policy_text=self.policy.canonical_json.decode(),
            day=KnownDay(day=day, secret=SECRET),
            find_place=Gazetteer.load().point_of,
        )
        assert not result.missing
        return result


def answers(town: Shadow, leak: Leak, *, every: int = 1) -> Iterator[RankingOnTrial]:
    """Answers of the town as it ranks with the leak, as they are on record."""
    profiles = [leak.change(listing, town.make(listing)) for listing in town.listings]
    index = Builder.build(profiles, town.policy).index
    for number, question in enumerate(town.questions[::every]):
        yield on_record(index, question, f"n{number}", leak.ranker)


def differences(town: Shadow, leak: Leak) -> list[str]:
    """What `audit reproduce` says of the town's answers, without profiles."""
    return [
        difference
        for ranking in answers(town, leak)
        for difference in ranking.recomputed().differences
    ]


def on_record(
    index: Any, question: Question, nonce: str, ranker: Ranker
) -> RankingOnTrial:
    policy = index.policy
    query = _prepare(question, policy)
    request_values = (question.text, question.cell, question.filters.given())
    seed = make_seed(SECRET, digest_request(*request_values, NOW), nonce)
    ranked = search(index, query, now=NOW, seed=seed, k=K)
    rows = ranker([_row(site, seed) for site in ranked.sites], question)
    values = {
        **dict(zip(("query", "location", "filters"), request_values, strict=True)),
        "request": {
            "id": "r",
            "nonce": nonce,
            "at": NOW.isoformat(),
            "after": ["-1000000000", "0", "0", "0"],
        },
        "scores": rows,
        "terms": dict(ranked.term_weights),
        "answer": {
            "eligible": ranked.eligible,
            "order": [row["site"] for row in rows],
            "sample": list(map(format_site_id, ranked.eligible_sample)),
        },
    }
    minute = NOW.isoformat()[:16] + "Z"
    members = {"t": minute, "policy": policy.digest, "snap": index.generation}
    return RankingOnTrial(members, values, seed, policy)


@cache
def _prepare(question: Question, policy: Policy) -> Query:
    """Read the question once for all leaks."""
    return prepare_query(
        question.text,
        load_encoder(policy),
        policy,
        cell=question.cell,
        filters=question.filters,
    )


def _row(site: Any, seed: bytes) -> dict[str, Any]:
    spelled, factors = format_site_id(site.site_id), site.explanation
    probes, place = factors.quality.facts, factors.proximity.facts
    values = msgspec.structs.asdict(site.factors)
    return {
        "site": spelled,
        "factors": [values[name] for name in FACTOR_NAMES],
        "score": site.score,
        "tie": f"{tie_key(seed, spelled):016x}",
        "tier": site.commission_tier,
        "probes": [
            probes.probes,
            probes.answers,
            probes.successes,
            probes.median_ms,
        ],
        "place": place.geonames_id if place.local else PLACELESS,
    }


def test_honest_answers_are_reproduced_without_a_difference(town: Shadow) -> None:
    assert differences(town, Leak()) == []


def test_honest_trials_have_no_violation(town: Shadow) -> None:
    result = try_invariance(town, trials=360, seed=11)
    assert result.violations == 0, result.sentence


@pytest.mark.parametrize(
    "name", [name for name, leak in LEAKS.items() if leak.reproduced]
)
def test_audit_reproduce_catches_the_leak(town: Shadow, name: str) -> None:
    leak = LEAKS[name]
    assert leak.reproduced in " ".join(differences(town, leak))


@pytest.mark.parametrize("name", [name for name, leak in LEAKS.items() if leak.job])
def test_the_job_and_the_counterfactual_catch_the_leak(town: Shadow, name: str) -> None:
    """Both are the same trial; an auditor names the perturbation of the second."""
    leak = LEAKS[name]

    def leaking(listing: TrialListing) -> Profile:
        return leak.change(listing, town.make(listing))

    result = try_invariance(
        replace(town, make=leaking),
        trials=40,
        seed=3,
        perturbations=[PERTURBATION[leak.job]],
    )
    (tally,) = result.tallies
    assert tally.violations


def test_a_favour_in_the_store_is_caught_as_one_in_the_maker(town: Shadow) -> None:
    """The maker is clean; what the index is given is not."""
    altered = Leak(friends_of_the_house)
    assert "the quality is" in " ".join(differences(town, altered))
    assert try_invariance(town, trials=36, seed=1).violations == 0


def served(town: Shadow, leak: Leak) -> ServedTown:
    """The registry with the leak, whose index commits to the profiles that rank."""
    profiles = [leak.change(listing, town.make(listing)) for listing in town.listings]
    return ServedTown(town.listings, Builder.build(profiles, town.policy))


async def rebuilt(
    town: Shadow, lister: Lister, leak: Leak, source: ServedTown, every: int
) -> list[Recomputation]:
    """What `audit reproduce` finds out from profiles alone."""
    checks = ProfileChecks(source, Gazetteer.load(), sample=5)
    checks.use(lister, pause_s=0)
    return [
        await checks.check(ranking.members, ranking.values, ranking.seed)
        for ranking in answers(town, leak, every=every)
    ]


async def test_honest_profiles_are_made_again_and_give_the_honest_answers(
    town: Shadow, lister: Lister
) -> None:
    honest = Leak()
    results = await rebuilt(town, lister, honest, served(town, honest), every=1)
    assert len(results) == len(town.questions)
    for result in results:
        assert (result.differences, result.missing) == ((), ())


BY_ORDER = ("d ", "e ")  # which scores, tiers and the revealed secret show


@pytest.mark.parametrize("name", [n for n in LEAKS if not n.startswith(BY_ORDER)])
async def test_an_outsider_catches_the_leak_by_profiles(
    town: Shadow, lister: Lister, name: str
) -> None:
    leak = LEAKS[name]
    every = 1 if name.startswith("h ") else 6  # few questions are asked near there
    results = await rebuilt(town, lister, leak, served(town, leak), every)
    reason = "its profile is not" if leak.ranker is as_ranked else "the factors are"
    assert reason in " ".join(text for result in results for text in result.differences)


async def test_a_registry_that_commits_to_others_than_it_ranks_by_is_caught(
    town: Shadow, lister: Lister
) -> None:
    honest = served(town, Leak())
    snap = {"snap": honest.builder.generation.roots.name}
    checks = ProfileChecks(honest, Gazetteer.load(), sample=5)
    checks.use(lister, pause_s=0)
    differences_ = [
        difference
        for ranking in answers(town, LEAKS["d2 depth for 0% commission"], every=6)
        for difference in (
            await checks.check(
                {**ranking.members, **snap}, ranking.values, ranking.seed
            )
        ).differences
    ]
    assert "the factors are" in " ".join(differences_)


@pytest.mark.parametrize(
    ("lie", "expected"),
    [
        pytest.param(lambda own, _: own[:-1], "are sampled of", id="too few"),
        pytest.param(lambda own, _: [own[0], *own[:-1]], "are sampled of", id="twice"),
        pytest.param(
            lambda own, all_: [*own[1:], next(s for s in all_ if s not in own)],
            "is sampled and not eligible",
            id="a site that is not eligible",
        ),
        pytest.param(
            lambda own, _: own[1:], "belongs into the sample", id="a site left out"
        ),
    ],
)
async def test_a_registry_that_samples_in_its_favour_is_caught(
    town: Shadow, lister: Lister, lie: Any, expected: str
) -> None:
    source = served(town, Leak())
    checks = ProfileChecks(source, lister.gazetteer, sample=5)
    checks.use(lister, pause_s=0)
    every = list(map(format_site_id, source.materials))
    ranking = next(
        item
        for item in answers(town, Leak())
        if 3 < item.values["answer"]["eligible"] < len(every)
    )
    answer = ranking.values["answer"]
    lying = {**answer, "sample": lie(answer["sample"], every)}
    values = {**ranking.values, "answer": lying}
    result = await checks.check(ranking.members, values, ranking.seed)
    assert expected in " ".join(result.differences), result


async def test_a_draw_of_more_than_it_holds_is_made_again(lister: Lister) -> None:
    """A site of greater key in the place of one that was drawn."""
    policy = replace(lister.policy, eligible_sample=3)
    few = Lister(gazetteer=lister.gazetteer, encoder=lister.encoder, policy=policy)
    town = town_shadow(few, CAST[::3])
    listings = list(map(probed, town.listings))
    builder = Builder.build(list(map(town.make, listings)), policy)
    checks = ProfileChecks(ServedTown(listings, builder), lister.gazetteer, sample=5)
    checks.use(few, pause_s=0)
    rankings = (on_record(builder.index, own, "n", as_ranked) for own in town.questions)
    ranking = next(own for own in rankings if own.values["answer"]["eligible"] > 6)
    honest = await checks.check(ranking.members, ranking.values, ranking.seed)
    assert (honest.differences, honest.missing) == ((), ())
    answer = ranking.values["answer"]
    other = next(site for site in answer["order"] if site not in answer["sample"])
    lying = {**answer, "sample": [other, *answer["sample"][1:]]}
    values = {**ranking.values, "answer": lying}
    result = await checks.check(ranking.members, values, ranking.seed)
    assert "belongs into the sample" in " ".join(result.differences)
    unseeded = await checks.check(ranking.members, values, None)
    assert unseeded.differences == ()


async def test_a_page_behind_the_site_that_means_the_request_is_honest(
    lister: Lister,
) -> None:
    """Beside that site others are eligible that would not be by themselves."""
    policy = replace(lister.policy, eligible_sample=1)
    few = Lister(gazetteer=lister.gazetteer, encoder=lister.encoder, policy=policy)
    town = town_shadow(few, CAST[::2])
    listings = list(map(probed, town.listings))
    profiles = list(map(town.make, listings))
    builder = Builder.build(profiles, policy)
    alone = Builder.build(profiles, replace(policy, meaning_beside_step_bp=0)).index
    checks = ProfileChecks(ServedTown(listings, builder), lister.gazetteer, sample=0)
    checks.use(few, pause_s=0)
    pages = 0
    for question in town.questions:
        ranking = on_record(builder.index, question, "n", as_ranked)
        leading = set(
            on_record(alone, question, "n", as_ranked).values["answer"]["order"]
        )
        answer, scores = ranking.values["answer"], ranking.values["scores"]
        if not leading or leading & set(answer["sample"]):
            continue
        behind = [row for row in scores if row["site"] not in leading]
        order = [row["site"] for row in behind]
        values = {
            **ranking.values,
            "request": {**ranking.values["request"], "after": ["-1", "0", "0", "0"]},
            "scores": behind,
            "answer": {**answer, "order": order},
        }
        result = await checks.check(ranking.members, values, ranking.seed)
        assert result.differences == ()
        pages += 1
    assert pages


def test_each_leak_is_caught_by_an_outsider() -> None:
    """By profiles, or by the order; the job is the registry's own."""
    assert len(LEAKS) == 10
    for name, leak in LEAKS.items():
        assert not name.startswith(BY_ORDER) or leak.reproduced
