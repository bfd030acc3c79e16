"""The policy of today and of before, as machines and people read it."""

import hashlib
import re
from pathlib import Path

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
    for change in history:
        members(
            change,
            "digest name recordId leafIndex recordedAt effectiveFrom codeDigest text "
            "changes",
        )
        body = http.get(change["text"]).content
        assert change["digest"] == f"sha256:{hashlib.sha256(body).hexdigest()}"
        answer = http.get(f"/v1/records/{change['recordId']}").json()
        assert answer["leafIndex"] == change["leafIndex"]
        record = msgspec.json.encode(answer["record"], order="sorted")
        assert leaf_hash(record).hex() == answer["leafHash"]
        assert parse_record(record)["text"] == body.decode()
        page = hashlib.sha256(http.get("/policy.md").content).hexdigest()
        assert answer["record"]["page"] == f"sha256:{page}"
        assert instant(change["recordedAt"]) <= instant(change["effectiveFrom"])


def test_the_page_with_the_formulas_is_the_one_of_the_source(
    http: httpx.Client,
) -> None:
    answer, source = http.get("/policy.md"), Path("docs/policy.md").read_bytes()
    assert answer.content == source
    assert answer.headers["Content-Type"].startswith("text/markdown")
    digest = f"sha256:{hashlib.sha256(source).hexdigest()}"
    assert http.get("/v1/policy").json()["pageDigest"] == digest
    page = http.get("/policy").text
    assert digest in page
    for heading in re.findall(rb"^#+ (.+)$", source, re.MULTILINE):
        assert re.search(rf"<h[2-5]>{heading.decode()}</h", page)
    assert page.count("<table>") > source.count(b"\n|---")


def test_bytes_of_a_policy_never_change(http: httpx.Client) -> None:
    digest = http.get("/v1/policy").json()["digest"]
    answer = http.get(f"/v1/policy/{digest}")
    assert answer.headers["Content-Type"] == "application/json"
    assert "immutable" in answer.headers["Cache-Control"]


def test_unknown_policy_is_not_found(http: httpx.Client) -> None:
    for digest in ("sha256:" + "0" * 64, "x", "sha256%3A%00", "%F0%9F%8D%9E"):
        problem(http.get(f"/v1/policy/{digest}"), 404)


def test_page_tells_people_what_machines_are_told(http: httpx.Client) -> None:
    page, body = http.get("/policy").text, http.get("/v1/policy").json()
    seen = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("&#39;", "'")
    for factor in body["factors"]:
        assert factor["meaning"] in seen
        assert f"Why {factor['weight'] / 100:g}%: {factor['reason']}" in seen
    for exclusion in body["exclusions"]:
        assert exclusion["what"] in seen
        assert exclusion["enforced"] in seen
    for rule in body["rules"]:
        assert rule["attempt"] in seen
        assert rule["answer"] in seen
    for topic in ("remuneration", "ties", "removal", "changes"):
        assert body["statements"][topic] in seen
    assert f'href="/v1/policy/{body["digest"]}"' in page
