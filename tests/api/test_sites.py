import httpx
import pytest

from registry.interfaces.http.compression import plain_tag
from tests.api import expect
from tests.api.running import LISTED, RunningRegistry

SUMMARY = "id host url provider location capabilitiesSummary fairnessMetrics"
SUMMARY += " trustSignatures trustLevel"


def test_an_entry_has_exactly_the_documented_members(http: httpx.Client) -> None:
    answer = http.get("/v1/sites/zaytoun-table.test")
    assert answer.status_code == 200
    site = answer.json()
    expect.members(
        site,
        f"{SUMMARY} description languages claimedUrl status conformance registeredAt"
        " updatedAt changedAt provedAt documents actions conflicts placeSince placeMove"
        " placeNotes",
    )
    assert site["host"] == "zaytoun-table.test"
    assert site["url"] == "https://zaytoun-table.test"
    assert site["location"] == {"city": "Amman", "country": "JO"}
    assert site["trustLevel"] == "verified"
    for name in ("registeredAt", "updatedAt", "changedAt", "provedAt"):
        expect.instant(site[name])
    for document in site["documents"]:
        expect.members(
            document, "format url dialect conformance provenance signature fetchedAt"
        )
        expect.members(
            document["provenance"], "source generatedBy confidence lastVerified"
        )
        assert document["signature"]["status"] in {"valid", "unsigned", "unpinned"}
    for action in site["actions"]:
        expect.members(
            action,
            "name description parameters authRequired sensitivity confirmation"
            " experimental deprecated calls",
        )
        for parameter in action["parameters"]:
            expect.members(parameter, "name type required description enum")
        for call in action["calls"]:
            expect.members(call, "format transport method target operation offOrigin")
    assert site["conflicts"] == []
    assert (site["placeMove"], site["placeNotes"]) == (None, [])
    expect.instant(site["placeSince"])
    assert site["capabilitiesSummary"] == [action["name"] for action in site["actions"]]


@pytest.mark.parametrize(
    "spelled", ["ZAYTOUN-TABLE.TEST", "zaytoun-table.test/", "Zaytoun-Table.test"]
)
def test_a_host_is_found_in_any_case(http: httpx.Client, spelled: str) -> None:
    assert http.get(f"/v1/sites/{spelled}").json()["host"] == "zaytoun-table.test"


def test_the_entry_can_be_had_as_wab_spells_it(http: httpx.Client) -> None:
    answer = http.get("/v1/sites/zaytoun-table.test", params={"as": "wab-entry"})
    entry = answer.json()
    expect.members(
        entry,
        "url provider location capabilities_summary fairness_metrics trust_level"
        " registered_at",
    )
    expect.instant(entry["registered_at"])
    assert entry["fairness_metrics"].keys() <= {"commission_rate", "is_independent"}


def test_the_document_is_shown_as_it_was_fetched(http: httpx.Client) -> None:
    body = http.get("/v1/sites/zaytoun-table.test/document").json()
    assert isinstance(body["content"], dict)
    assert body["url"].startswith("https://zaytoun-table.test/")
    assert body["semanticHash"].startswith("sha256:")
    by_url = {"url": body["url"]}
    again = http.get("/v1/sites/zaytoun-table.test/document", params=by_url)
    assert again.json()["content"] == body["content"]
    other = {"url": "https://zaytoun-table.test/none"}
    none = http.get("/v1/sites/zaytoun-table.test/document", params=other)
    expect.problem(none, 404)


def test_history_and_probes_can_be_read(http: httpx.Client) -> None:
    history = http.get("/v1/sites/zaytoun-table.test/history").json()
    assert [version["version"] for version in history["versions"]] == [1]
    expect.instant(history["versions"][0]["firstFetchedAt"])
    quality = http.get("/v1/sites/zaytoun-table.test/quality").json()
    expect.members(quality, "probes lastOutcomes")
    for probe in quality["probes"]:
        expect.members(probe, "observedAt outcome elapsedMs")
        expect.instant(probe["observedAt"])


def test_pages_list_each_site_once(http: httpx.Client) -> None:
    hosts: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = http.get("/v1/sites", params={"limit": 3, **cursor}).json()
        expect.members(page, "results nextCursor")
        assert len(page["results"]) <= 3
        for result in page["results"]:
            expect.members(result, SUMMARY)
        hosts += [site["host"] for site in page["results"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(set(hosts)) == len(hosts)
    assert set(LISTED) <= set(hosts)


def test_sites_are_listed_by_country_and_category(http: httpx.Client) -> None:
    params = {"country": "Jordan", "category": "clinic"}
    results = http.get("/v1/sites", params=params).json()["results"]
    assert [site["host"] for site in results] == ["almond-door-clinic.test"]


@pytest.mark.parametrize(
    "host",
    [
        "unheard-of.test",
        "localhost",
        "127.0.0.1",
        "[::1]",
        "com",
        "a..b",
        "%00",
        "%ff",
        "a" * 300 + ".test",
        "zaytoun-table.test.",
        "zaytoun-table.test:443",
        "🦊.test",
        "%252e%252e",
    ],
)
@pytest.mark.parametrize("part", ["", "/document", "/history", "/quality", "/notices"])
def test_a_host_that_is_not_listed_is_not_found(
    http: httpx.Client, host: str, part: str
) -> None:
    expect.problem(http.get(f"/v1/sites/{host}{part}"), 404, "site_unknown")


@pytest.mark.parametrize("host", ["a%2fb.test", "..%2f..%2fetc", "%2e%2e%2f"])
def test_an_escaped_slash_names_no_site(http: httpx.Client, host: str) -> None:
    expect.problem(http.get(f"/v1/sites/{host}"), 404)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/sites/zaytoun-table.test",
        "/v1/policy",
        "/v1/log",
        "/openapi.json",
        "/v1/sites/zaytoun-table.test/document",
        "/static/style.css",
    ],
)
def test_an_unchanged_answer_is_sent_once(http: httpx.Client, path: str) -> None:
    first = http.get(path)
    tag = first.headers["ETag"]
    assert tag.startswith('"')
    assert first.headers["Cache-Control"] != "no-store"
    for named in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = http.get(path, headers={"If-None-Match": named})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == (plain_tag(tag) if named == "*" else tag)
        assert "Content-Type" not in again.headers
    changed = http.get(path, headers={"If-None-Match": '"other"'})
    assert (changed.status_code, changed.content) == (200, first.content)


def test_a_missing_site_has_no_tag(http: httpx.Client) -> None:
    answer = http.get("/v1/sites/unheard-of.test", headers={"If-None-Match": "*"})
    expect.problem(answer, 404)
    assert "ETag" not in answer.headers


def test_the_two_forms_of_an_entry_have_different_tags(
    registry: RunningRegistry,
) -> None:
    path = "/v1/sites/zaytoun-table.test"
    plain = registry.http.get(path)
    wab = registry.http.get(path, params={"as": "wab-entry"})
    assert plain.headers["ETag"] != wab.headers["ETag"]
