"""/v1/changes: pages and events of what changed, from any cursor on."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.api import expect
from tests.api.expect import Json
from tests.api.running import LISTED, RunningRegistry


def changes(http: httpx.Client, **given: object) -> Json:
    answer = http.get("/v1/changes", params=given)
    assert answer.status_code == 200, answer.text
    page: Json = answer.json()
    return page


def events(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if not line and event:
            yield event
            event = {}
        elif name:
            event[name] = value.strip()


def refresh_of(registry: RunningRegistry, host: str) -> None:
    """Have the site change: its owner declares another category."""
    site = registry.town.site(host)
    token = registry.sign(site, act="update", category="library")
    decided = registry.decided(registry.submit(token).json()["id"])
    assert decided["status"] == "active", decided


def test_all_that_is_listed_comes_page_by_page(registry: RunningRegistry) -> None:
    hosts: list[str] = []
    parameters: Json = {"limit": 3}
    while True:
        page = changes(registry.http, **parameters)
        hosts += [row["host"] for row in page["changes"] if row["site"]]
        if not page["hasMore"]:
            break
        parameters["since"] = page["next"]
    assert set(LISTED) <= set(hosts)
    assert len(hosts) == len(set(hosts))


def test_a_change_comes_to_who_was_up_to_date_as_page_and_as_event(
    registry: RunningRegistry,
) -> None:
    host = "paper-otter.test"
    now = changes(registry.http, since="now")["next"]
    url = f"/v1/changes/events?since={now}"
    with registry.http.stream("GET", url) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        seen = events(stream.iter_lines())
        opening = next(seen)
        assert opening["id"]
        refresh_of(registry, host)
        event = next(row for row in seen if row.get("event") == "change")
    row = json.loads(event["data"])
    page = changes(registry.http, since=now)
    assert row["host"] in {row["host"] for row in page["changes"]}
    mine = [row for row in page["changes"] if row["host"] == host]
    assert mine[0]["site"]["provider"]["category"] == "library"
    with registry.http.stream(
        "GET", "/v1/changes/events", headers={"Last-Event-ID": now}
    ) as again:
        resumed = events(again.iter_lines())
        first = next(row for row in resumed if row.get("event") == "change")
    assert first["data"] == event["data"]


def test_nothing_new_is_not_sent_again(http: httpx.Client) -> None:
    since = changes(http, since="now")["next"]
    first = http.get("/v1/changes", params={"since": since})
    again = http.get(
        "/v1/changes",
        params={"since": since},
        headers={"If-None-Match": first.headers["ETag"]},
    )
    assert {first.status_code, again.status_code} <= {200, 304}
    if first.json()["changes"] == []:
        assert first.json()["next"] == since


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"since": "nonsense"}, "since"),
        ({"since": "A" * 60}, "since"),
        ({"since": "1:2:3"}, "since"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"cursor": "x"}, "cursor"),
    ],
)
def test_what_is_no_cursor_of_ours_is_refused(
    http: httpx.Client, given: Json, pointer: str
) -> None:
    answer = http.get("/v1/changes", params=given)
    assert expect.problem(answer, 400)["pointer"] == pointer


def test_a_cursor_of_another_list_is_none_of_changes(http: httpx.Client) -> None:
    other = http.get("/v1/sites", params={"limit": 1}).json()["nextCursor"]
    expect.problem(http.get("/v1/changes", params={"since": other}), 400)
    expect.problem(
        http.get("/v1/changes/events", headers={"Last-Event-ID": other}), 400
    )


def test_streams_of_changes_have_places_as_others(registry: RunningRegistry) -> None:
    with httpx.Client(base_url=registry.origin, timeout=60) as http:
        held = []
        try:
            for _ in range(4):
                request = http.build_request("GET", "/v1/changes/events")
                held.append(http.send(request, stream=True))
            assert [row.status_code for row in held] == [200] * 4
            expect.problem(http.get("/v1/changes/events"), 429)
        finally:
            for row in held:
                row.close()
