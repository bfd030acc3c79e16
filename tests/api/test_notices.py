from xml.etree import ElementTree as ET

import httpx
import pytest

from registry.db.engine.engines import Role, open_engine
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices
from registry.db.sites.notices import Notice
from registry.usecases.ids import utc_now
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import LISTED, RunningRegistry

HOST = "galata-tables.test"
BUSY_HOST = "almond-door-clinic.test"
PATH = f"/v1/sites/{HOST}/notices"
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<b onclick='x'>&]]><![CDATA[\u202e\U0001f98a"


def write(registry: RunningRegistry, host: str, count: int) -> None:
    """As a crawler does."""

    async def work() -> None:
        engine = open_engine(registry.settings.database_url, Role.CRAWLER)
        try:
            async with engine.begin() as connection:
                entry = await sites.find_site(connection, host)
                assert entry
                result = [
                    Notice(
                        code="document_refused",
                        detail=f"{number} {HOSTILE}",
                        fix=HOSTILE,
                        url=f"https://{host}/{HOSTILE}",
                        problem="json_syntax",
                    )
                    for number in range(count)
                ]
                await notices.save_notices(connection, entry.site_id, result, utc_now())
        finally:
            await engine.dispose()

    registry.run(work())


def test_a_site_that_was_registered_has_a_notice_of_it(http: httpx.Client) -> None:
    answer = http.get(PATH)
    assert answer.status_code == 200
    page = answer.json()
    expect.members(page, "host status notices nextCursor")
    assert (page["host"], page["status"]) == (HOST, "active")
    for notice in page["notices"]:
        expect.members(notice, "id notedAt code title detail fix url problem")
        expect.instant(notice["notedAt"])
        assert notice["title"]
        assert notice["detail"]
    assert "registration_accepted" in [problem["code"] for problem in page["notices"]]


def test_pages_hold_each_notice_once_the_newest_first(
    registry: RunningRegistry,
) -> None:
    write(registry, BUSY_HOST, 25)
    path = f"/v1/sites/{BUSY_HOST}/notices"
    findings: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        page = registry.http.get(path, params={"limit": 10, **cursor}).json()
        assert len(page["notices"]) <= 10
        findings += page["notices"]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    ids = [int(item["id"]) for item in findings]
    assert ids == sorted(set(ids), reverse=True)
    assert findings[0]["detail"] == f"24 {HOSTILE}"
    assert len(findings) > 25


def test_the_same_as_a_feed_is_well_formed_whatever_it_tells(
    registry: RunningRegistry,
) -> None:
    write(registry, HOST, 3)
    answer = registry.http.get(PATH, params={"as": "atom", "limit": 2})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    root = ET.fromstring(answer.content)
    entries = root.findall(f"{ATOM}entry")
    assert len(entries) == 2
    assert f"2 {HOSTILE}" in (entries[0].findtext(f"{ATOM}content") or "")
    link = entries[0].find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == f"{registry.origin}/problems/json_syntax"
    links = {
        element.get("rel"): element.get("href")
        for element in root.findall(f"{ATOM}link")
    }
    following = registry.http.get(links["next"] or "")
    assert following.status_code == 200
    older = ET.fromstring(following.content).findtext(f"{ATOM}entry/{ATOM}content")
    assert f"0 {HOSTILE}" in (older or "")


@pytest.mark.parametrize("form", ["json", "atom"])
def test_what_did_not_change_is_sent_once(http: httpx.Client, form: str) -> None:
    path = "/v1/sites/pati-lantern.test/notices"
    first = http.get(path, params={"as": form})
    tag = {"If-None-Match": first.headers["ETag"]}
    again = http.get(path, params={"as": form}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"cursor": "x"}, "cursor_invalid"),
        ({"cursor": "A" * 40}, "cursor_invalid"),
        ({"limit": "0"}, "parameter_invalid"),
        ({"limit": "101"}, "parameter_invalid"),
        ({"as": "rss"}, "parameter_invalid"),
        ({"since": "1"}, "parameter_unknown"),
    ],
)
def test_a_bad_parameter_is_refused(
    http: httpx.Client, given: dict[str, str], code: str
) -> None:
    expect.problem(http.get(PATH, params=given), 400, code)


def test_a_cursor_is_of_one_site(registry: RunningRegistry) -> None:
    write(registry, HOST, 2)
    page = registry.http.get(PATH, params={"limit": 1}).json()
    other = registry.http.get(
        f"/v1/sites/{LISTED[0]}/notices", params={"cursor": page["nextCursor"]}
    )
    expect.problem(other, 400, "cursor_invalid")
