# ruff: noqa: RUF001  letters of other scripts are what this is about
"""Write conformance/policy-vectors.json, and the tables and examples of docs/policy.md.

`make docs` runs it: python -m tests.unit.ranking.make_policy_vectors. All of it comes
from the code that ranks; test_policy_page.py fails where either file is stale.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from registry.formats.offer import last_change
from registry.index.building.builder import Builder
from registry.index.columns.filters import Filters
from registry.index.columns.signatures import signatures_of
from registry.index.query.index import Index
from registry.index.query.search import Ranked, prepare_query, search
from registry.ranking import letters, terms
from registry.ranking.capability_depth import Capability, capability_depth, richness
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.encoders.vectors import reciprocals, unpack_sites
from registry.ranking.freshness import days_between, freshnesses, seconds_of
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import Profile, make_profile
from registry.ranking.proximity import NOWHERE, distances_km, proximity, vector_of
from registry.ranking.quality import (
    ProbeFigures,
    StoredProbe,
    quality,
    summarise_probes,
)
from registry.ranking.rank_score import RankScale
from registry.ranking.relevance import (
    idf_milli,
    impacts,
    match_sites,
    parse_query,
    relevance_floor,
)
from registry.ranking.ties import make_seed, tie_key
from registry.ranking.words.lexicon import lexicon_of
from registry.ranking.words.mask import EverydayWords, make_mask
from registry.ranking.words.site_words import place_terms
from registry.records.seed import digest_request
from registry.sites.action import Action, Parameter
from registry.sites.gazetteer import Gazetteer
from registry.sites.identifier import format_site_id
from registry.sites.place import Point, cell_of, centroid_of
from registry.sites.site import LocationClaim, Site
from tests.unit.ranking.ranked_town import NOW, TownSite, profiles_of, town

ROOT = Path(__file__).parents[3]
VECTORS, PAGE = (
    ROOT / "conformance" / "policy-vectors.json",
    ROOT / "docs" / "policy.md",
)
SHOWN, LONG = 4, 64
BLOCK = re.compile(r"(<!-- make docs: (\w+) -->).*?(<!-- end -->)", re.DOTALL)
Case = tuple[Any, Any]
SECRET = bytes(range(32))


class PolicyVectors:
    """Computes each step's cases. gazetteer, encoder: as a registry has them."""

    def __init__(self) -> None:
        self.gazetteer = Gazetteer.load()
        self.encoder = load_encoder()
        self.lexicon = lexicon_of(self.encoder, P)
        self.town = town()
        self.profiles = profiles_of(self.town, self.gazetteer)
        self.index = Builder.build(self.profiles, P).index

    def steps(self) -> dict[str, list[dict[str, Any]]]:
        return {
            name.removeprefix("step_"): [
                {"input": input_, "expected": expected}
                for input_, expected in getattr(self, name)()
            ]
            for name in vars(PolicyVectors)
            if name.startswith("step_")
        }

    def step_cells(self) -> Iterator[Case]:
        for point in (
            (31.9552, 35.945),
            (0, 0),
            (90, 180),
            (-90, -180),
            (52.52, 13.405),
            (-33.87, 151.21),
            (-0.0001, -0.0001),
        ):
            cell = cell_of(Point(*map(float, point)))
            centre = centroid_of(cell)
            yield point, {"cell": cell, "centre": [centre.latitude, centre.longitude]}

    def step_places(self) -> Iterator[Case]:
        for city, country in (
            ("Amman", "JO"),
            ("Paris", ""),
            ("Paris", "US"),
            ("münchen", "Germany"),
            ("Munchen", "DE"),
            ("東京", ""),
            ("St. John's", ""),
            ("Medina", ""),
            ("Parma", ""),
            ("Islamabad", ""),
            ("Saint-Étienne", "FRA"),
            ("Nowhereville", ""),
            ("Amman", "Atlantis"),
            ("Amman", "FR"),
        ):
            place = self.gazetteer.locate(LocationClaim(city=city, country=country))
            yield [city, country], place.geonames_id if place else None

    def step_proximity(self) -> Iterator[Case]:
        amman, berlin = (31.95522, 35.94503), (52.52437, 13.41053)
        for point, cell, category in (
            (amman, "sv9h", "restaurant"),
            (berlin, "u33d", "Bicycle Repair"),
            (berlin, "sv9h", "bakery"),
            (berlin, None, "bakery"),
            (None, "u33d", "bakery"),
            (amman, "sv9h", " Developer  Tools "),
            (None, "u33d", ""),
        ):
            yield [point, cell, category], _proximity(point, cell, category)

    def step_freshness(self) -> Iterator[Case]:
        for seconds in (0, 86_399, 86_400, -5, 180 * 86_400, 300 * 86_400, 10**9):
            changed = NOW - timedelta(seconds=seconds)
            days = days_between(np.array([seconds_of(changed)]), seconds_of(NOW))
            expected = {"days": int(days[0]), "freshness": int(freshnesses(days, P)[0])}
            yield [changed.isoformat(), NOW.isoformat()], expected

    def step_changes(self) -> Iterator[Case]:
        before = _site(_action("bookTable", "Book a table"))
        for days, after in (
            (40, _site(_action("Book  Table", "book a\u200b TABLE!"))),
            (40, _site(_action("bookTable", "Book a table outside"))),
            (10, _site(_action("bookTable", "Book a table outside"))),
            (40, _site(_action("bookTable", "Book a table"), name="Other")),
            (40, _site(*before.actions, *before.actions)),
        ):
            changed = NOW - timedelta(days=days)
            credit = P.freshness_credit_days
            last = last_change(before, after, changed, NOW, credit_days=credit)
            sites = [_members(site)["actions"] for site in (before, after)]
            yield [*sites, changed.isoformat(), NOW.isoformat()], last.isoformat()

    def step_probes(self) -> Iterator[Case]:
        for probes in (
            [],
            [("alive", 100), ("alive", 101)],
            [("alive", 100), ("auth_wall", 103), ("unreachable", 9000)],
            [("blocked_by_robots", 0), ("never_checked", 0), ("mismatch", 7)],
        ):
            stored = [
                StoredProbe(observed_at=NOW, outcome=outcome, elapsed_ms=elapsed)
                for outcome, elapsed in probes
            ]
            yield probes, _figures(summarise_probes(stored))

    def step_quality(self) -> Iterator[Case]:
        for values in (
            (720, 715, 700, 240),
            (720, 720, 720, 0),
            (6, 3, 1, 1000),
            (6, 0, 0, None),
            (5, 5, 5, 10),
            (0, 0, 0, None),
        ):
            names = ("probes", "answers", "successes", "median_ms")
            figures = ProbeFigures(**dict(zip(names, values, strict=True)))
            yield _figures(figures), quality(figures, P)

    def step_richness(self) -> Iterator[Case]:
        typed = Parameter(name="date", type="string", description="the day")
        for action, described in (
            (Action(name="book"), 0),
            (Action(name="book", auth_required=False, sensitivity="write"), 3),
            (Action(name="book", parameters=(typed, Parameter(name="people"))), 2),
        ):
            given = _members(_site(action))["actions"][0]
            yield [given, described], richness(action, described, P)

    def step_depth(self) -> Iterator[Case]:
        """Of actions by their terms and richness."""
        for actions in (
            [],
            [(["book", "tabl"], 8500)],
            [(["book", "tabl"], 8500), (["book", "tabl", "7"], 9000)],
            [(["a", "b", "c", "d"], 5000), (["a", "b", "c"], 7000), (["x"], 2500)],
            [([], 2500), (["x"], 2500)],
            [([f"w{n}"], 10_000) for n in range(30)],
        ):
            capabilities = [Capability(frozenset(own), rich) for own, rich in actions]
            yield actions, capability_depth(capabilities, P)

    def step_words(self) -> Iterator[Case]:
        for text in TEXTS:
            words = terms.split_words(text)
            plain = terms.plain_text(terms.runs_of(text))
            yield text, {"words": words, "stems": terms.stems(words), "plain": plain}

    def step_lexicon(self) -> Iterator[Case]:
        for word in (
            *("addtocart", "bookatable", "muenchen", "haustuerschluessel", "notebook"),
            *("restuarant", "appointmnet", "dentsit", "bakry", "hotle", "xyzzy"),
            *("reservaton", "translaton", "tickets", "lufthansa", "1234", "the"),
        ):
            content = self.lexicon.content_words([word], limit=9)
            read = {item.word: item.correction for item in self.lexicon.read(word)}
            corrected = list(map(read.__getitem__, content))
            yield (
                word,
                {
                    "parts": list(self.lexicon.parts(word)),
                    "content": content,
                    "corrections": corrected,
                },
            )

    def step_masks(self) -> Iterator[Case]:
        for name, host, domain, city, text in (
            (
                *("Nike Store", "www.nike.test", "nike.test", ""),
                "Nike store: NikeStore shoes",
            ),
            (
                *(
                    "Bäckerei Müller",
                    "mueller-brot.test",
                    "mueller-brot.test",
                    "Berlin",
                ),
                "Müller backt Brot in Berlin, mueller-brot",
            ),
            ("Hotel", "hotel.test", "hotel.test", "", "a hotel with a view"),
            (
                *("Amman Dental | Smile", "amman-dental.test", "amman-dental.test"),
                *("Amman", "Amman Dental cares for your smile in Amman"),
            ),
            ("東京堂", "xn--w8yz0b.test", "xn--w8yz0b.test", "", "東京堂の本を買う"),
            (
                *("Зубная фея", "fairy.test", "fairy.test", ""),
                "Zubnaya Feya treats teeth; زوبنايا",
            ),
            ("Sakura Tei", "sakura.test", "sakura.test", "", "さくら亭 サクラ sushi"),
            ("寿司 さくら亭", "tei.test", "tei.test", "", "さくら亭 Sakuratei 寿司"),
        ):
            place = self.gazetteer.locate(LocationClaim(city=city))
            everyday = EverydayWords(self.encoder, P, place_terms(place))
            mask = make_mask(name, host, domain, everyday)
            given = {
                "name": name,
                "host": host,
                "registrableDomain": domain,
                "city": place.name if place else "",
                "text": text,
            }
            words = mask.words(text)
            yield given, {"words": words, "text": mask.cut_text(text)}

    def step_sites(self) -> Iterator[Case]:
        """Every ninth site of the town: its terms, impacts, depth and vector."""
        for site, profile in list(zip(self.town, self.profiles, strict=True))[::9]:
            yield site.members(), _profile(profile)

    def step_requests(self) -> Iterator[Case]:
        for text in REQUESTS:
            query = parse_query(text, self.encoder, P)
            yield (
                text,
                {
                    "terms": list(query.terms),
                    "shares": dict(query.weights_bp),
                    "corrected": dict(query.corrected),
                    "confidence": query.confidence_bp,
                    "vector": np.frombuffer(query.vector, np.int8).tolist(),
                },
            )

    def step_idf(self) -> Iterator[Case]:
        for pair in ((1, 0), (1, 1), (48, 3), (100_000, 0), (10**6, 500_000)):
            yield pair, idf_milli(*pair)

    def step_relevance(self) -> Iterator[Case]:
        """Of a site's vector and impacts, and a request with weights."""
        pairs = ((0, REQUESTS[0]), (5, REQUESTS[1]), (12, REQUESTS[2]), (3, "zzzz"))
        for number, text in pairs:
            profile = self.profiles[number]
            query = parse_query(text, self.encoder, P)
            weights = self.index.term_weights(query.weights_bp)
            own = impacts(profile, P)
            matched = sum(w * own.get(term, 0) for term, w in weights.items())
            vector = _vector(profile)
            product = vector.astype(np.int64) @ np.frombuffer(query.vector, np.int8)
            matches = match_sites(
                np.array([matched]),
                np.array([product]),
                reciprocals(vector[None]).astype(np.int64),
                query,
                weights.values(),
                policy=P,
            )
            given = {
                "site": vector.tolist(),
                "request": np.frombuffer(query.vector, np.int8).tolist(),
                "confidence": query.confidence_bp,
                "weights": list(weights.values()),
                "matched": matched,
                "terms": len(query.terms),
            }
            yield (
                given,
                {
                    "lexical": int(matches.lexical[0]),
                    "cosine": int(matches.cosine[0]),
                    "relevance": int(matches.relevance[0]),
                    "floor": relevance_floor(len(query.terms), P),
                    "eligible": bool(matches.eligible[0]),
                },
            )

    def step_ties(self) -> Iterator[Case]:
        for query, cell, filters, nonce, site in (
            ("book a table", "sv9h", {}, "n1", 1),
            ("book a table", None, {"country": "JO"}, "", 2**63 - 1),
            ("Zähne \u2028 richten", "u33d", {"open_to": "anyone"}, "ü", 42),
        ):
            digest = digest_request(query, cell, filters, NOW)
            seed = make_seed(SECRET, digest, nonce)
            given = {
                "secret": SECRET.hex(),
                "query": query,
                "location": cell,
                "filters": filters,
                "at": NOW.isoformat(),
                "nonce": nonce,
                "site": site,
            }
            public = format_site_id(site)
            key = f"{tie_key(seed, public):016x}"
            yield given, {"id": public, "seed": seed.hex(), "key": key}

    def step_order(self) -> Iterator[Case]:
        """By all but the lot. Each site: score, relevance, quality, declared commission."""
        dice = random.Random(7)
        shown = {
            "A": (61_460_000, 7990, 7010, 12),
            "B": (61_455_000, 8010, 6960, 0),
            "C": (61_540_000, 7940, 7300, 0),
            "D": (61_450_000, 8030, 7060, None),
            "E": (61_449_999, 9900, 9900, 0),
        }
        for _ in range(12):
            yield shown, sorted(shown, key=lambda name: -_rank_score(*shown[name]))
            shown = {
                name: (
                    61_450_000 + dice.randrange(-99_999, 200_000),
                    *(dice.randrange(7900, 8100) for _ in range(2)),
                    dice.choice((0, 0.1, 12, None)),
                )
                for name in "ABCDEFGH"
            }

    def step_rankings(self) -> Iterator[Case]:
        """Of all the sites that stand under `town` in the file."""
        for given in ranked_requests(12, self.profiles):
            yield given, rank(self.index, given)


def _rank_score(
    score: int, relevance: int, quality: int, commission: float | None
) -> int:
    tier = int(commission != 0)
    return RankScale.of(P).rank_score(score, relevance, quality, tier)


def ranked_requests(
    count: int, profiles: Sequence[Profile], texts: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Requests drawn by a fixed seed: words, cell, filters, instant, nonce, places."""
    dice = random.Random(5)
    cells = [cell_of(p.point) for p in profiles if p.point]
    categories = sorted({p.category for p in profiles})
    for number in range(count):
        cell = dice.choice([None, *dice.sample(cells, 3)])
        filters: dict[str, Any] = dice.choice(
            [
                *({}, {}, {}, {}, {"open_to": "anyone"}, {"country": "DE"}),
                *({"language": "en"}, {"category": dice.choice(categories)}),
                {"within_km": 300} if cell else {},
            ]
        )
        yield {
            "query": dice.choice(texts or REQUESTS),
            "location": cell,
            "filters": filters,
            "at": (NOW + timedelta(hours=dice.randint(0, 9000))).isoformat(),
            "nonce": f"n{number}",
            "places": dice.choice((3, 10, 30)),
        }


def rank(index: Index, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the registry's own answer to one of `ranked_requests`."""
    at = datetime.fromisoformat(given["at"])
    query, cell, filters = given["query"], given["location"], given["filters"]
    seed = make_seed(
        SECRET, digest_request(query, cell, filters, at), str(given["nonce"])
    )
    prepared = prepare_query(
        query, load_encoder(), P, cell=cell, filters=Filters(**filters)
    )
    ranked = search(index, prepared, now=at, seed=seed, k=given["places"])
    return _answer(ranked)


def _answer(ranked: Ranked) -> list[dict[str, Any]]:
    return [
        {
            "site": site.site_id,
            "score": site.score,
            "factors": [
                site.factors.relevance,
                site.factors.proximity,
                site.factors.capability_depth,
                site.factors.quality,
                site.factors.freshness,
            ],
            "behind": list(site.sharing),
        }
        for site in ranked.sites
    ]


def _proximity(
    point: tuple[float, float] | None, cell: str | None, category: str
) -> dict[str, Any]:
    profile = _bare_profile(category)
    place = Point(*point) if point else None
    user = centroid_of(cell) if cell else None
    km = None
    if user is not None and profile.local:
        vector = vector_of(place) if place else NOWHERE
        km = int(distances_km(np.array([vector]), vector_of(user))[0])
    factor = proximity(place, user, P, local=profile.local)
    return {"local": profile.local, "km": km, "proximity": factor}


def _bare_profile(category: str) -> Profile:
    return make_profile(
        Site(category=category),
        encoder=load_encoder(),
        policy=P,
        site_id=1,
        publisher=1,
        host="a.test",
        registrable_domain="a.test",
        formats=(),
        place=None,
        probes=ProbeFigures(),
        changed_at=NOW,
    )


def _site(*actions: Action, name: str = "") -> Site:
    return Site(name=name, actions=actions)


def _action(name: str, description: str) -> Action:
    people = Parameter(name="people", type="integer", enum=("2", "4"))
    return Action(name=name, description=description, parameters=(people,))


def _members(site: Site) -> dict[str, Any]:
    return TownSite(
        site=site,
        site_id=1,
        host="a.test",
        registrable_domain="a.test",
        probes=ProbeFigures(),
        changed_at=NOW,
    ).members()


def _figures(figures: ProbeFigures) -> dict[str, Any]:
    return {
        "probes": figures.probes,
        "answers": figures.answers,
        "successes": figures.successes,
        "medianMs": figures.median_ms,
    }


def _vector(profile: Profile) -> Any:
    packed = np.frombuffer(profile.embedding, np.uint8)[None]
    return unpack_sites(packed)[0]


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "siteTerms": list(profile.site_terms),
        "actionTerms": [
            [list(a.name_terms), list(a.description_terms), list(a.parameter_terms)]
            for a in profile.actions
        ],
        "impacts": dict(sorted(impacts(profile, P).items())),
        "depth": profile.capability_depth,
        "quality": profile.quality,
        "tier": profile.commission_tier,
        "local": profile.local,
        "vector": _vector(profile).tolist(),
        "signature": signatures_of([profile], P)[0].tobytes().hex(),
    }


TEXTS = (
    "bookTable_v2 for the café's e-mail",
    "Check in, check-out and check out",
    "HTTPServer2Go don't O'Neil's",
    "Größe straße ﬁne ½ ①",
    "東京大学で本を買う ホテル予約",
    "จองโต๊ะสำหรับสองคน",
    "حجز المطاعم والكتاب",
    "запис до лікаря, ёлка, об'єкт",
    "हिन्दी अङ्क क़लम",
    "Buchungen réservations eaux aktiviteleri",
    "pa\u00adper\u200bboat e\u0301te\u0301 x\u0301\u0301",
    "σίγμας Τελική հյուրանոցներ உணவகங்கள்",
    "餐廳預訂 餐厅预订",
    "",
)
REQUESTS = (
    "book a table for two tonight",
    "repair my bicycle",
    "I need a dentist, my tooth hurts",
    "restuarant resrvation for tomorow",
    "Tisch für zwei Personen reservieren",
    "habitación de hotel para dos noches",
    "احجز طاولة لشخصين",
    "歯医者を予約したい",
    "addtocart birthdaycake",
    "send flowers",
    "order bread",
    "track my parcel",
    "translate a document into Arabic please",
    "zzzz qqqq",
    "the of and",
    "42",
)


def vectors() -> dict[str, Any]:
    sources = PolicyVectors()
    return {
        "policy": P.digest,
        "policyText": P.canonical_json.decode(),
        "town": [site.members() for site in sources.town],
        "steps": sources.steps(),
    }


def encode(content: Mapping[str, Any]) -> str:
    """A case a line: the file is read by people, too."""
    steps = ",\n".join(
        f" {json.dumps(name)}: [\n{_lines(cases)}\n ]"
        for name, cases in content["steps"].items()
    )
    head = "".join(
        f" {json.dumps(name)}: {json.dumps(content[name], ensure_ascii=False)},\n"
        for name in ("policy", "policyText")
    )
    return f'{{\n{head} "town": [\n{_lines(content["town"])}\n ],\n "steps": {{\n{steps}\n }}\n}}\n'


def _lines(cases: Sequence[Any]) -> str:
    return ",\n".join(f"  {json.dumps(case, ensure_ascii=False)}" for case in cases)


def page(content: Mapping[str, Any], text: str) -> str:
    """Return the page with its tables and examples as they are now."""

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}{_block(match[2], content)}{match[3]}"

    return BLOCK.sub(fill, text)


def _block(name: str, content: Mapping[str, Any]) -> str:
    if name == "constants":
        rows = [(n, v) for n, v in json.loads(P.canonical_json).items()]
        shown = [f"| `{n}` | {v} |" for n, v in rows if not isinstance(v, list)]
        return "\n| constant | value |\n|---|---|\n" + "\n".join(shown) + "\n"
    if name == "letters":
        forms = {chr(old): new for old, new in letters._FORMS.items()}
        return f"\n```json\n{json.dumps(forms)}\n```\n"
    if name == "endings":
        return f"`{json.dumps(terms._ENDINGS)}`"
    cases = content["steps"][name][:SHOWN]
    rows = [f"| `{_cell(c['input'])}` | `{_cell(c['expected'])}` |" for c in cases]
    return f"\nFrom `{name}` of the vectors:\n\n| input | result |\n|---|---|\n" + (
        "\n".join(rows) + "\n"
    )


def _cell(value: Any) -> str:
    """Without vectors, which are only long."""
    if isinstance(value, dict):
        value = {
            name: part
            for name, part in value.items()
            if not (isinstance(part, list) and len(part) > LONG)
        }
    return json.dumps(value, ensure_ascii=False).replace("|", "\\|")


def main() -> None:
    content = json.loads(json.dumps(vectors()))
    VECTORS.write_text(encode(content))
    PAGE.write_text(page(content, PAGE.read_text()))


if __name__ == "__main__":
    main()
