import base64
import hashlib
import re
from itertools import pairwise
from typing import Any

import httpx
import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from registry.tlog.checkpoint import verify_checkpoint
from registry.tlog.merkle import verify_inclusion
from registry.tlog.note import parse_vkey
from registry.tlog.proof import inclusion_runs, prove_inclusion, read_from_tiles
from registry.tlog.tiles import format_tile_path, tile_of_run
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import RunningRegistry

FACTORS = {
    "relevance": 4000,
    "proximity": 2000,
    "capabilityDepth": 1500,
    "quality": 1500,
    "freshness": 1000,
}
BOTH = {"zaytoun-table.test", "ceviche-norte.test"}


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_an_answer_in_brief_has_the_order_of_the_full_one(
    registry: RunningRegistry,
) -> None:
    full = registry.search(city="Amman", country="JO")
    brief = registry.search(city="Amman", country="JO", detail="brief")
    assert [result["site"] for result in brief["results"]] == [
        result["site"]["host"] for result in full["results"]
    ]
    for result, whole in zip(brief["results"], full["results"], strict=True):
        assert result["score"] == round(whole["score"] / 1_000_000, 1)
        assert abs(sum(result["contributions"]) - result["score"]) <= 2.6
    expect.members(brief, "ranking results place")
    expect.members(brief["ranking"], "id eligible")


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("detail", "fields"),
    [
        ("full", ["rank"]),
        ("full", ["behind", "site", "ahead"]),
        ("brief", ["site"]),
        ("brief", ["actions", "score", "site"]),
    ],
)
def test_picked_members_are_those_of_the_whole_results(
    registry: RunningRegistry, method: str, detail: str, fields: list[str]
) -> None:
    whole = registry.search(city="Amman", detail=detail)
    request = {"q": "book a table for two", "city": "Amman", "detail": detail}
    picked = (
        registry.http.get("/v1/search", params={**request, "fields": ",".join(fields)})
        if method == "GET"
        else registry.http.post("/v1/search", json={**request, "fields": fields})
    ).json()
    assert picked.keys() == whole.keys()
    assert picked["results"] == [
        {name: value for name, value in result.items() if name in fields}
        for result in whole["results"]
    ]


@pytest.mark.parametrize(
    ("detail", "fields"),
    [
        ("full", "why"),
        ("brief", "rank"),
        ("full", "rank,"),
        ("brief", "nothing"),
        ("full", ""),
    ],
)
def test_members_that_no_result_has_are_refused(
    registry: RunningRegistry, detail: str, fields: str
) -> None:
    request = {"q": "book", "detail": detail, "fields": fields}
    refused = registry.http.get("/v1/search", params=request)
    assert expect.problem(refused, 400)["pointer"] == "fields"


def test_a_radius_leaves_out_what_is_farther_and_what_has_no_place(
    registry: RunningRegistry,
) -> None:
    page = registry.search(city="Amman", withinKm=100, detail="brief")
    assert [result["site"] for result in page["results"]] == ["zaytoun-table.test"]
    assert page["ranking"]["eligible"] == 1
    record = registry.http.get(f"/v1/rankings/{page['ranking']['id']}").json()
    assert {"within_km": 100} in [opening["value"] for opening in record["openings"]]


@pytest.mark.parametrize("radius", ["0", "501", "-1", "12.5", "near"])
def test_a_radius_that_is_none_is_refused(
    registry: RunningRegistry, radius: str
) -> None:
    request = {"q": "book", "city": "Amman", "withinKm": radius}
    refused = registry.http.get("/v1/search", params=request)
    assert expect.problem(refused, 400)["pointer"] == "withinKm"


def test_a_radius_around_nowhere_is_refused(registry: RunningRegistry) -> None:
    refused = registry.http.get("/v1/search", params={"q": "book", "withinKm": 10})
    assert expect.problem(refused, 400)["pointer"] == "withinKm"


def test_open_to_divides_the_eligible_in_two(registry: RunningRegistry) -> None:
    output = [
        {
            result["site"]
            for result in registry.search(detail="brief", openTo=who)["results"]
        }
        for who in ("anyone", "members")
    ]
    everybody = registry.search(detail="brief", limit=100)["results"]
    assert not output[0] & output[1]
    assert output[0] | output[1] == {result["site"] for result in everybody}
    answer = registry.search(openTo="anyone")
    assert not any(
        action.get("authRequired")
        for result in answer["results"]
        for action in registry.http.get(f"/v1/sites/{result['site']['host']}").json()[
            "actions"
        ]
    )


def test_an_answer_in_brief_tells_how_to_call_what_matches(
    registry: RunningRegistry,
) -> None:
    brief = registry.search(city="Amman", country="JO", detail="brief")
    results = {result["site"]: result for result in brief["results"]}
    action = results["zaytoun-table.test"]["actions"][0]
    assert (action["action"], action["by"]) == ("bookTable", "wab")
    assert action["url"] == "/api/wab/execute"
    assert {"date", "guests"} <= set(action["parameters"]["required"])


def test_a_selection_may_name_the_host_that_a_brief_answer_names(
    registry: RunningRegistry,
) -> None:
    brief = registry.search(detail="brief")
    receipt, host = brief["ranking"]["id"], brief["results"][0]["site"]
    unknown = {"rankingId": receipt, "siteId": "nobody.example"}
    refused = registry.http.post("/v1/selections", json=unknown)
    assert expect.problem(refused, 400)["code"] == "site_not_in_ranking"
    selection = {"rankingId": receipt, "siteId": host.upper()}
    assert registry.http.post("/v1/selections", json=selection).status_code == 201


def test_an_answer_has_exactly_the_documented_members(
    registry: RunningRegistry,
) -> None:
    answer = registry.search(city="Amman", country="JO")
    expect.members(
        answer, "ranking results facets corrected place nextCursor hints near"
    )
    assert answer["facets"] == {}
    expect.members(
        answer["ranking"],
        "id policy generatedAt eligible eligibleIsExact leafHash promise number",
    )
    expect.members(answer["ranking"]["promise"], "time keyId signature")
    expect.instant(answer["ranking"]["generatedAt"])
    expect.members(answer["place"], "name country cell")
    assert (answer["place"]["name"], answer["place"]["country"]) == ("Amman", "JO")
    for rank, result in enumerate(answer["results"], start=1):
        expect.members(result, "rank score site factors ahead behind")
        assert result["rank"] == rank
        expect.members(
            result["site"],
            "id host url provider location capabilitiesSummary fairnessMetrics"
            " trustSignatures trustLevel",
        )
        expect.members(result["site"]["provider"], "name category")
        expect.members(
            result["site"]["fairnessMetrics"],
            "commissionRate isIndependent directBenefit",
        )
        assert result["site"]["url"] == f"https://{result['site']['host']}"


def test_the_score_is_the_sum_of_the_five_contributions(
    registry: RunningRegistry,
) -> None:
    results = registry.search()["results"]
    assert results
    for result in results:
        assert list(result["factors"]) == list(FACTORS)
        for name, factor in result["factors"].items():
            expect.members(factor, "value weight contribution facts")
            assert factor["weight"] == FACTORS[name]
            assert type(factor["value"]) is int
            assert 0 <= factor["value"] <= 10_000
            assert factor["contribution"] == factor["value"] * factor["weight"]
        contributions = [
            factor["contribution"] for factor in result["factors"].values()
        ]
        assert type(result["score"]) is int
        assert result["score"] == sum(contributions)
        assert 0 <= result["score"] <= 10**8
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


def test_what_put_a_site_before_the_next_is_reported(registry: RunningRegistry) -> None:
    results = registry.search()["results"]
    assert len(results) > 1
    for result, following in pairwise(results):
        ahead, factors = result["ahead"], result["factors"]
        expect.members(ahead, "reason lead sameScoreShown")
        assert ahead["lead"] == result["score"] - following["score"]
        leads = {
            name: factors[name]["contribution"] - other["contribution"]
            for name, other in following["factors"].items()
        }
        shown = {(row["score"] + 50_000) // 100_000 for row in (result, following)}
        assert ahead["sameScoreShown"] is (len(shown) == 1)
        if not ahead["sameScoreShown"]:
            assert leads[ahead["reason"]] == max(leads.values())
    assert results[-1]["ahead"] is None, "there is no other"


def test_the_last_of_a_page_is_compared_with_the_first_of_the_next(
    registry: RunningRegistry,
) -> None:
    both = registry.search()["results"]
    (first,) = registry.search(limit=1)["results"]
    assert first["site"]["id"] == both[0]["site"]["id"]
    assert first["ahead"] == both[0]["ahead"]


def test_a_user_in_amman_sees_the_near_restaurant_first(
    registry: RunningRegistry,
) -> None:
    by_city = registry.search(city="Amman")
    by_point = registry.search(lat=31.95, lon=35.93)
    for answer in (by_city, by_point):
        assert answer["results"][0]["site"]["host"] == "zaytoun-table.test"
        assert answer["results"][0]["factors"]["proximity"]["facts"]["distanceBand"]
    assert by_point["place"] is None


def test_a_city_among_the_words_is_hinted_and_moves_nothing(
    registry: RunningRegistry,
) -> None:
    """ "hotel in Kyoto" put Istanbul first, and nothing told how to ask from Kyoto."""
    plain = registry.search(q="book a table for two")
    worded = registry.search(q="book a table for two in Amman, Jordan")
    assert plain["hints"] == []
    assert worded["place"] is None
    (hint,) = worded["hints"]
    expect.members(hint, "words city country how")
    assert (hint["words"], hint["city"], hint["country"]) == ("amman", "Amman", "JO")
    assert "city=Amman&country=JO" in hint["how"]
    for result in worded["results"]:
        assert result["factors"]["proximity"]["facts"]["distanceBand"] is None
    followed = registry.search(
        q="book a table for two", city=hint["city"], country=hint["country"]
    )
    assert followed["hints"] == []
    assert followed["results"][0]["site"]["location"]["city"] == "Amman"


def test_the_page_links_to_the_search_from_a_city_among_the_words(
    http: httpx.Client,
) -> None:
    shown = http.get("/", params={"q": "book a table in Amman"}).text
    assert "?q=book+a+table+in+Amman&amp;city=Amman&amp;country=JO" in shown


def test_who_says_where_he_is_gets_no_hint(registry: RunningRegistry) -> None:
    words = "book a table in Amman"
    assert registry.search(q=words, lat=52.5, lon=13.4)["hints"] == []
    assert registry.search(q=words, city="Lima", country="PE")["hints"] == []
    assert registry.search(q=words, country="PE")["hints"] == [], "not in Peru"


def test_the_body_form_asks_the_same_as_the_query(registry: RunningRegistry) -> None:
    params = {"q": "book a table", "city": "Lima", "limit": 2}
    posted = registry.http.post("/v1/search", json=params)
    assert posted.status_code == 200
    got = registry.search(**params)
    hosts = [result["site"]["host"] for result in posted.json()["results"]]
    assert hosts == [result["site"]["host"] for result in got["results"]]
    assert len(hosts) == 2


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        ({"country": "JO"}, {"zaytoun-table.test"}),
        ({"country": "Jordan"}, {"zaytoun-table.test"}),
        ({"format": "webmcp"}, {"galata-tables.test"}),
        ({"category": "Restaurant", "country": "PE"}, {"ceviche-norte.test"}),
        ({"category": "none-such"}, set()),
        ({"format": "mcp"}, set()),
        ({"permission": "readContent"}, BOTH),
        ({"permission": "read_content", "country": "PE"}, {"ceviche-norte.test"}),
        ({"permission": "none-such"}, set()),
        ({"language": "en-GB"}, {"galata-tables.test"}),
        ({"language": "none-such"}, set()),
        ({"action": "none-such"}, set()),
        ({"action": "???"}, set()),
    ],
)
def test_filters_leave_only_what_matches(
    registry: RunningRegistry, given: dict[str, str], hosts: set[str]
) -> None:
    results = registry.search("book a table for two", **given)["results"]
    assert {result["site"]["host"] for result in results} == hosts


def test_an_action_is_found_however_its_name_is_written(
    registry: RunningRegistry,
) -> None:
    [site] = registry.search(country="JO", limit=1)["results"]
    name = site["site"]["capabilitiesSummary"][0]
    spelled = re.sub("(?<=[a-z])(?=[A-Z])", "-", name).upper()
    answers = [registry.search(action=item)["results"] for item in (name, spelled)]
    hosts = [[result["site"]["host"] for result in results] for results in answers]
    assert hosts[0] == hosts[1]
    assert site["site"]["host"] in hosts[0]


def test_a_site_is_found_by_its_conformance(registry: RunningRegistry) -> None:
    [site] = registry.search(country="JO", limit=1)["results"]
    host = site["site"]["host"]
    conformance = registry.http.get(f"/v1/sites/{host}").json()["conformance"]
    results = registry.search(country="JO", conformance=conformance)["results"]
    assert host in {result["site"]["host"] for result in results}


def test_authentication_is_found_as_it_is_declared(registry: RunningRegistry) -> None:
    for query in ("true", "false"):
        results = registry.search(requiresAuth=query)["results"]
        for result in results:
            body = registry.http.get(f"/v1/sites/{result['site']['host']}").json()
            declared = [action["authRequired"] for action in body["actions"]]
            assert (query == "true") in declared
        assert results


def test_each_facet_counts_what_its_filter_finds(registry: RunningRegistry) -> None:
    names = (
        "category,country,format,conformance,permission,requiresAuth,action,language"
    )
    answer = registry.search(facets=names, limit=1)
    assert list(answer["facets"]) == names.split(",")
    for name, values in answer["facets"].items():
        assert values
        for value in values:
            expect.members(value, "value count")
            if value["value"] is not None:
                page = registry.search(**{name: value["value"]})
                assert page["ranking"]["eligible"] == value["count"] > 0
    counts = [item["count"] for item in answer["facets"]["country"]]
    assert sum(counts) == answer["ranking"]["eligible"]


def test_only_the_facets_asked_for_are_reported(registry: RunningRegistry) -> None:
    got = registry.search(facets=" country , format", country="Jordan")["facets"]
    params = {"q": "book a table for two", "country": "JO"}
    params["facets"] = ["format", "country", "format"]
    posted = registry.http.post("/v1/search", json=params).json()["facets"]
    assert got == posted
    assert got["country"] == [{"value": "JO", "count": 1}]
    assert got["format"] == [{"value": "wab", "count": 1}]


def test_filters_are_on_record_and_bind_the_cursor(registry: RunningRegistry) -> None:
    given = {"permission": "readContent", "requiresAuth": True}
    params: Json = {"q": "book a table for two", "limit": 1, **given}
    answer = registry.http.post("/v1/search", json=params).json()
    body = registry.http.get(f"/v1/rankings/{answer['ranking']['id']}").json()
    members = {opening["name"]: opening["value"] for opening in body["openings"]}
    assert members["filters"] == {"permission": "readContent", "requires_auth": True}
    params |= {"cursor": answer["nextCursor"]}
    assert registry.http.post("/v1/search", json=params).status_code == 200
    for other in ({"requiresAuth": False}, {"permission": "click"}):
        refused = registry.http.post("/v1/search", json=params | other)
        expect.problem(refused, 400, "cursor_invalid")


@pytest.mark.parametrize("q", ["qwrtz plimf vorgon", "the of and", "???", "🦊🦊", "a"])
def test_nonsense_gets_an_empty_list_that_is_on_record(
    registry: RunningRegistry, q: str
) -> None:
    answer = registry.search(q)
    assert answer["results"] == []
    assert answer["ranking"]["eligible"] == 0
    assert answer["nextCursor"] is None
    assert answer["near"] == []
    record = registry.http.get(f"/v1/rankings/{answer['ranking']['id']}").json()
    assert disclosed_in(record)["answer"] == {
        "eligible": 0,
        "order": [],
        "sample": [],
    }


def disclosed_in(record: Json) -> dict[str, Any]:
    return {opening["name"]: opening["value"] for opening in record["openings"]}


def test_pages_together_are_the_whole_answer(registry: RunningRegistry) -> None:
    whole = registry.search(limit=100, city="Amman")["results"]
    paged: list[Json] = []
    cursor = {}
    while True:
        page = registry.search(limit=1, city="Amman", **cursor)
        paged += page["results"]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(whole) > 2
    assert [result["rank"] for result in paged] == list(range(1, len(whole) + 1))
    assert sorted(result["site"]["host"] for result in paged) == sorted(
        result["site"]["host"] for result in whole
    )
    assert all(pair["score"] >= two["score"] for pair, two in pairwise(paged))


def test_the_record_is_what_the_leaf_hash_says(registry: RunningRegistry) -> None:
    answer = registry.search()
    ranking = answer["ranking"]
    result = registry.http.get(f"/v1/rankings/{ranking['id']}").json()
    expect.members(result, "id leafIndex leafHash acceptedAt record openings erased")
    body = rfc8785.dumps(result["record"])
    assert hashlib.sha256(b"\0" + body).hexdigest() == ranking["leafHash"]
    assert result["leafHash"] == ranking["leafHash"]
    disclosed = disclosed_in(result)["answer"]
    order = [result["site"]["id"] for result in answer["results"]]
    assert {*order} <= {*disclosed.pop("sample")}  # all eligible ones, of so few
    assert disclosed == {"eligible": ranking["eligible"], "order": order}
    assert not {"order", "n", "k"} & result["record"].keys()
    assert result["record"]["policy"] == ranking["policy"]
    assert expect.instant(result["acceptedAt"]).second == 0
    public = registry.http.get(f"/v1/rankings/{ranking['id'].partition('.')[0]}")
    assert public.json()["openings"] is None


def test_the_promise_verifies_with_the_promise_key(registry: RunningRegistry) -> None:
    ranking = registry.search()["ranking"]
    log = registry.http.get("/v1/log").json()
    public = parse_vkey(log["promiseKey"]).public
    at = expect.instant(ranking["promise"]["time"])
    unix_ms = round(at.timestamp() * 1000)
    message = (
        b"fair-registry/promise/v1\n"
        + unix_ms.to_bytes(8, "big")
        + bytes.fromhex(ranking["leafHash"])
    )
    signature = bytes_of(ranking["promise"]["signature"])
    Ed25519PublicKey.from_public_bytes(public).verify(signature, message)


def test_only_the_asker_sees_what_was_asked(registry: RunningRegistry) -> None:
    ranking_id = registry.search("book a table in private")["ranking"]["id"]
    public_half = ranking_id.partition(".")[0]
    mine = registry.http.get(f"/v1/rankings/{ranking_id}").json()
    shown = registry.http.get(f"/v1/rankings/{public_half}").json()
    members = {opening["name"]: opening["value"] for opening in mine["openings"]}
    assert members["query"] == "book a table in private"
    assert shown["openings"] is None
    assert shown["record"] == mine["record"]
    assert "private" not in str(shown)


def test_a_record_is_in_the_tree_within_two_seconds(
    registry: RunningRegistry,
) -> None:
    http = registry.http
    ranking = registry.search()["ranking"]
    index = registry.published(ranking["id"])["leafIndex"]
    key = parse_vkey(http.get("/v1/log").json()["verifierKey"])
    note = http.get("/checkpoint").content
    checkpoint = verify_checkpoint(note, key).checkpoint
    assert index < checkpoint.size
    tiles = {
        tile: http.get(f"/{format_tile_path(tile)}").content
        for run in inclusion_runs(index, checkpoint.size)
        for tile in [tile_of_run(run, checkpoint.size)]
    }
    proof = prove_inclusion(
        index, checkpoint.size, read_from_tiles(tiles, checkpoint.size)
    )
    leaf = bytes.fromhex(ranking["leafHash"])
    verify_inclusion(
        leaf, proof, index=index, size=checkpoint.size, root=checkpoint.root
    )
