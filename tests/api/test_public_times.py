"""Times that everybody sees are told to the second, and ids of records to the minute."""

import re

from registry.sites.identifier import decode_base32
from tests.api.running import LISTED, RunningRegistry

FRACTION = re.compile(r"\d\d:\d\d:\d\d\.\d+")
OWN_INSTANT = re.compile(r'"at":"[^"]*"')  # of the answer, which its asker knows
ULID = re.compile(r'"([0-7][0-9A-HJKMNP-TV-Z]{25})"')
TIME_LENGTH, MINUTE_MS = 10, 60_000
HOST = LISTED[0]
READ = 20  # public ways to read that have something to tell, at the least
ENDLESS = ("/v1/changes/events", "/v1/registrations/{registration_id}/events")


def public_paths(registry: RunningRegistry, ranking_id: str) -> list[str]:
    """Every GET of the description that ends, with what it needs filled in."""
    described = registry.http.get("/openapi.json").json()["paths"]
    named = {"host": HOST, "ranking_id": ranking_id, "record_id": ranking_id}
    return [
        re.sub(r"\{(\w+)\}", lambda match: named.get(match[1], "x"), path)
        for path, methods in described.items()
        if "get" in methods and path not in ENDLESS
    ]


def test_no_public_answer_has_finer_times(registry: RunningRegistry) -> None:
    ranking_id = registry.search()["ranking"]["id"].partition(".")[0]
    registry.published(ranking_id)
    reads, fine, ids = 0, {}, set()
    for path in [*public_paths(registry, ranking_id), f"/v1/sites/{HOST}?as=wab-entry"]:
        answer = registry.http.get(path)
        reads += answer.status_code == 200
        others = OWN_INSTANT.sub("", answer.text)
        if faults := FRACTION.findall(others):
            fine[path] = faults[:3]
        ids |= set(ULID.findall(answer.text))
    assert fine == {}
    assert reads >= READ
    times = {decode_base32(record_id[:TIME_LENGTH]) % MINUTE_MS for record_id in ids}
    assert times == {0}
