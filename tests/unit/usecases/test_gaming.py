"""Tricks of sites that want better places, each with the most that it may bring.

In the demo town, through parser, profile, index and search. docs/detection.md has what
each brought before there was a rule against it.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from registry.bench.invariance import NOW, town_listing, town_shadow
from registry.demo.town.member import CAST, Member
from registry.index.building.builder import Builder
from registry.index.query.search import RankedSite, prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.sites.action import Action
from registry.sites.entry import SiteEntry
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import cell_of, decide_place
from registry.sites.site import LocationClaim
from registry.usecases.reports.shadow import maker_of
from registry.usecases.sites.list_site import Lister

HONEST = next(member for member in CAST if member.host == "zaytoun-table.test")
HOSTS = (
    *(f"mezze-{n}.com" for n in range(4)),
    *("mezze.github.io", "terrace.vercel.app", "table.netlify.app"),
    *("levant.pages.dev", "dinner.duckdns.org", "jabal.co.uk"),
)
CITIES = (
    *(("Amman", "JO"), ("Zarqa", "JO"), ("Berlin", "DE"), ("Lyon", "FR")),
    *(("Istanbul", "TR"), ("Nairobi", "KE"), ("Lima", "PE"), ("Osaka", "JP")),
    *(("Kyoto", "JP"), ("Toronto", "CA")),
)
REQUESTS = (
    "book a table for two tonight",
    "restaurant",
    "reserve a table",
    "find a free table for lunch",
)
FIRST = 5_000


class Town:
    """Ranker with the town's sites."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=P)
        shadow = town_shadow(self._lister)
        self.profiles = [shadow.make(listing) for listing in shadow.listings]

    def listed(self, members: Sequence[Member]) -> list[Profile]:
        """Return profiles of members, read as their hosts serve them; ids from FIRST."""
        make = maker_of(self._lister)
        return [
            make(town_listing(member, FIRST + number, self._lister))
            for number, member in enumerate(members)
        ]

    def entry(self, member: Member) -> SiteEntry:
        return town_listing(member, FIRST, self._lister).entry

    def score_of(self, entry: SiteEntry, city: tuple[str, str]) -> int:
        profile = self._lister.profile_of(entry, {"wab"}, ProbeFigures())
        answer = self.ask([profile], REQUESTS[0], city)
        return next(row.score for row in answer if FIRST in (row.site_id, *row.sharing))

    def ask(
        self, joining: Sequence[Profile], text: str, city: tuple[str, str] | None
    ) -> tuple[RankedSite, ...]:
        index = Builder.build([*self.profiles, *joining], P).index
        query = prepare_query(text, load_encoder(), P, cell=self._cell_of(city))
        return search(index, query, now=NOW, seed=bytes(32), k=100).sites

    def _cell_of(self, city: tuple[str, str] | None) -> str | None:
        if city is None:
            return None
        place = self._gazetteer.locate(LocationClaim(city=city[0], country=city[1]))
        assert place is not None
        return cell_of(place.point)


@pytest.fixture(scope="module")
def town(gazetteer: Gazetteer) -> Town:
    return Town(gazetteer)


def copies(**changes: object) -> list[Member]:
    """Return the restaurant below ten domains, each with a name of its own."""
    return [
        replace(HONEST, host=host, name=f"Table {number}", **changes)
        for number, host in enumerate(HOSTS)
    ]


def joined(answer: Sequence[RankedSite]) -> list[int]:
    """Return those who lead a place, of the sites that joined."""
    return [row.site_id - FIRST for row in answer if row.site_id >= FIRST]


@pytest.mark.parametrize("city", [("Amman", "JO"), ("Berlin", "DE"), None])
@pytest.mark.parametrize("text", REQUESTS)
def test_one_document_below_ten_domains_takes_no_extra_place(
    text: str, city: tuple[str, str] | None, town: Town
) -> None:
    before, answer = (
        town.ask([], text, city),
        town.ask(town.listed(copies()), text, city),
    )
    assert len(answer) == len(before)
    shared = next(row for row in answer if row.site_id >= FIRST or row.sharing)
    assert len(shared.sharing) == len(HOSTS)


def test_a_word_more_or_less_makes_no_other_offer(town: Town) -> None:
    members = copies()
    words = ("old", "quiet", "small", "warm", "sunny", "shady", "new", "calm", "", "")
    varied = [
        replace(member, description=member.description.replace("family", word))
        for member, word in zip(members, words, strict=True)
    ]
    answer = town.ask(town.listed(varied), REQUESTS[0], ("Amman", "JO"))
    assert len(answer) == len(town.ask([], REQUESTS[0], ("Amman", "JO")))


def test_a_chain_has_one_place_and_the_branch_at_hand_leads_it(town: Town) -> None:
    branches = [
        replace(member, city=city, country=country)
        for member, (city, country) in zip(copies()[1:], CITIES[1:], strict=True)
    ]
    profiles = town.listed(branches)
    for number, city in enumerate(CITIES[1:]):
        assert joined(town.ask(profiles, REQUESTS[0], city)) == [number]


def test_shops_of_one_platform_that_say_what_is_theirs_keep_their_places(
    town: Town,
) -> None:
    own = (
        "Wood-fired pizza and natural wine in a former bakery.",
        "Ramen and gyoza at a counter of nine seats.",
        "Ethiopian stews on sour flatbread, shared by hand.",
        "Grilled fish from the morning market, by the harbour.",
        "Vegan burgers, shakes and fries for the road.",
    )
    shops = [
        replace(member, description=description, category="restaurant")
        for member, description in zip(copies(), own, strict=False)
    ]
    answer = town.ask(town.listed(shops), REQUESTS[0], ("Amman", "JO"))
    assert sorted(joined(answer)) == [*range(len(own))]


def gains(town: Town, members: Sequence[Member], text: str) -> list[float]:
    """Return the points in Amman of the restaurant as it is, then of each; 0 if absent."""
    joining = town.listed([replace(HONEST, host="own.com"), *members])
    scores = []
    for profile in joining:
        answer = town.ask([profile], text, ("Amman", "JO"))
        own = [
            row.score
            for row in answer
            if profile.site_id in (row.site_id, *row.sharing)
        ]
        scores.append(own[0] / 1e6 if own else 0.0)
    return scores


def test_a_city_that_is_declared_anew_each_day_gains_nothing(
    town: Town, gazetteer: Gazetteer
) -> None:
    home, away = ("Amman", "JO"), ("Berlin", "DE")
    berlin = gazetteer.locate(LocationClaim(city=away[0], country=away[1]))
    entry = town.entry(replace(HONEST, host="own.com"))
    lent = decide_place(
        entry.place_state, berlin, NOW, cooling_days=P.place_cooling_days
    )
    moved = replace(entry, **lent._asdict())
    for city in (home, away):
        assert town.score_of(moved, city) == town.score_of(entry, city) > 0


def with_actions(*more: Action) -> Member:
    return replace(HONEST, host="more.com", actions=(*HONEST.actions, *more))


@pytest.mark.parametrize("text", [*REQUESTS, "vegan menu", "find a hotel room"])
def test_actions_named_like_the_request_gain_next_to_nothing(
    text: str, town: Town
) -> None:
    words = text.replace(" ", "_")
    echo = with_actions(Action(name=words), Action(name=f"please_{words}_now"))
    before, after = gains(town, [echo], text)
    assert after - before <= 4
    assert bool(after) == bool(before)


def test_names_of_other_trades_bring_no_place_among_them(town: Town) -> None:
    foreign = [
        Action(name=action.name)
        for member in CAST
        if member.category != HONEST.category
        for action in member.actions[:1]
    ]
    (fake,) = town.listed([with_actions(*foreign)])
    requests = (
        "see a dentist",
        "order fresh bread",
        "find a hotel room",
        "bicycle repair",
    )
    for text in requests:
        answer = town.ask([fake], text, ("Amman", "JO"))
        assert fake.site_id not in {row.site_id for row in answer[:3]}


def test_where_no_action_is_described_names_count(town: Town) -> None:
    bare = [
        structs.replace(action, description="", parameters=())
        for action in HONEST.actions
    ]
    (profile,) = town.listed([replace(HONEST, host="bare.com", actions=tuple(bare))])
    assert joined(town.ask([profile], "reserve a table", ("Amman", "JO")))
