"""The policy of today and of before, as machines and people read it."""

import hashlib
import re

import httpx
import msgspec

from registry.records.record import parse_record
from registry.tlog.merkle import leaf_hash
from tests.api.expect import instant, members, problem


def test_history_leads_to_the_record_and_the_bytes_of_each_policy(
    http: httpx.Client,
) -> None:
    history = http.get("/v1/policy/history").json()["policies"]
    assert history[0]["digest"] == http.get("/v1/policy").json()["digest"]
    for one in history:
        members(
            one,
            "digest name recordId leafIndex recordedAt effectiveFrom codeDigest text "
            "changes",
        )
        body = http.get(one["text"]).content
        assert one["digest"] == f"sha256:{hashlib.sha256(body).hexdigest()}"
        told = http.get(f"/v1/records/{one['recordId']}").json()
        assert told["leafIndex"] == one["leafIndex"]
        record = msgspec.json.encode(told["record"], order="sorted")
        assert leaf_hash(record).hex() == told["leafHash"]
        assert parse_record(record)["text"] == body.decode()
        assert instant(one["recordedAt"]) <= instant(one["effectiveFrom"])


def test_bytes_of_a_policy_never_change(http: httpx.Client) -> None:
    digest = http.get("/v1/policy").json()["digest"]
    answer = http.get(f"/v1/policy/{digest}")
    assert answer.headers["Content-Type"] == "application/json"
    assert "immutable" in answer.headers["Cache-Control"]


def test_unknown_policy_is_not_found(http: httpx.Client) -> None:
    for digest in ("sha256:" + "0" * 64, "x", "sha256%3A%00", "%F0%9F%8D%9E"):
        problem(http.get(f"/v1/policy/{digest}"), 404)


def test_page_tells_people_what_machines_are_told(http: httpx.Client) -> None:
    page, told = http.get("/policy").text, http.get("/v1/policy").json()
    seen = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("&#39;", "'")
    for one in told["factors"]:
        assert one["meaning"] in seen
        assert f"Why {one['weight'] / 100:g}%: {one['reason']}" in seen
    for one in told["exclusions"]:
        assert one["what"] in seen
        assert one["enforced"] in seen
    for one in told["rules"]:
        assert one["attempt"] in seen
        assert one["answer"] in seen
    for topic in ("remuneration", "ties", "removal", "changes"):
        assert told["statements"][topic] in seen
    assert f'href="/v1/policy/{told["digest"]}"' in page
