"""The log's faces of the running registry: proofs, erasure, files for a CDN."""

import json
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.tlog.note import VerifierKey, parse_vkey
from registry.tlog.proof import parse_log_proof, verify_log_proof
from tests.api import expect
from tests.api.running import RunningRegistry
from tests.unit.tlog.driven import follow_log, read_log
from tests.waiting import awaited

UNKNOWN = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def log_key(http: httpx.Client) -> VerifierKey:
    return parse_vkey(http.get("/v1/log").json()["verifierKey"])


def published_proof(http: httpx.Client, path: str) -> httpx.Response:
    def look() -> httpx.Response | None:
        answer = http.get(path)
        if answer.status_code == 200:
            return answer
        expect.problem(answer, 409, "record_pending")
        assert answer.headers["Retry-After"] == "1"
        return None

    return awaited(path, look)


def test_a_ranking_is_proved_as_text_and_as_json(registry: RunningRegistry) -> None:
    ranking = registry.search()["ranking"]
    public = ranking["id"].partition(".")[0]
    text = published_proof(registry.http, f"/v1/rankings/{public}/proof")
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    leaf = bytes.fromhex(ranking["leafHash"])
    proof = parse_log_proof(text.content)
    verify_log_proof(proof, leaf, log_key(registry.http))
    body = registry.http.get(f"/v1/records/{public}/proof?form=json").json()
    names = "id kind leafIndex leafHash treeSize rootHash hashes checkpoint proof"
    expect.members(body, names)
    assert (body["leafIndex"], body["leafHash"]) == (proof.index, ranking["leafHash"])
    named = registry.http.get(f"/v1/log/inclusion?hash={ranking['leafHash']}").json()
    expect.members(named, "leafIndex leafHash treeSize rootHash hashes")
    assert named["leafIndex"] == proof.index
    grown = registry.http.get(f"/v1/log/consistency?from={proof.index + 1}").json()
    expect.members(grown, "fromSize fromRootHash toSize toRootHash hashes")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/v1/rankings/{UNKNOWN}/proof", 404, "record_unknown"),
        (f"/v1/records/{UNKNOWN}", 404, "record_unknown"),
        (f"/v1/records/{UNKNOWN}/proof", 404, "record_unknown"),
        ("/v1/records/x", 404, "record_unknown"),
        ("/v1/records/%F0%9F%A6%8A/proof", 404, "record_unknown"),
        (f"/v1/records/{UNKNOWN}/proof?form=xml", 400, "parameter_invalid"),
        (f"/v1/records/{UNKNOWN}?form=json", 400, "parameter_unknown"),
        ("/tile/0/%30%30%30.p/1", 404, "tile_unknown"),
    ],
)
def test_what_is_not_there_is_told(
    http: httpx.Client, path: str, status: int, code: str
) -> None:
    expect.problem(http.get(path), status, code)


def test_the_asker_erases_and_the_owner_may_too(registry: RunningRegistry) -> None:
    http = registry.http
    mine, other = (registry.search()["ranking"]["id"] for _ in range(2))
    for item in (mine, other):
        published_proof(http, f"/v1/rankings/{item}/proof")
    public = other.partition(".")[0]
    expect.problem(http.post(f"/v1/rankings/{public}/erase"), 403, "ranking_not_yours")
    erased = http.post(f"/v1/rankings/{mine}/erase")
    assert erased.status_code == 200
    expect.members(erased.json(), "id leafHash promise leafIndex digests erasedAt")
    expect.instant(erased.json()["erasedAt"])
    assert http.post(f"/v1/rankings/{mine}/erase").json() == erased.json()
    assert http.get(f"/v1/rankings/{mine}").json()["openings"] == []

    data = str(registry.settings.data)
    command = ["erase", public, "--registry", registry.origin, "--data", data, "--json"]
    ran = CliRunner().invoke(main, command)
    assert ran.exit_code == 0, ran.output
    assert len(json.loads(ran.stdout)) == 1
    assert http.get(f"/v1/rankings/{other}").json()["openings"] == []
    proof = published_proof(http, f"/v1/rankings/{other}/proof")
    leaf = bytes.fromhex(http.get(f"/v1/rankings/{other}").json()["leafHash"])
    verify_log_proof(parse_log_proof(proof.content), leaf, log_key(http))


def test_the_log_is_published_as_files(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    command = ["publish", "--to", str(tmp_path), "--from", registry.origin, "--json"]
    for _ in range(2):
        registry.search()
        ran = CliRunner().invoke(main, command)
        assert ran.exit_code == 0, ran.output
        size = json.loads(ran.stdout)["entries"]

        def fetch(path: str) -> bytes | None:
            file = tmp_path / path
            return file.read_bytes() if file.is_file() else None

        followed = read_log(follow_log(log_key(registry.http)), fetch)
        assert followed.checkpoint.size == size


def test_a_folder_of_another_log_is_not_published_to(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    (tmp_path / "checkpoint").write_text("other.example\n1\n")
    command = ["publish", "--to", str(tmp_path), "--from", registry.origin]
    ran = CliRunner().invoke(main, command)
    assert ran.exit_code == 1
    assert "log_forked" in ran.stderr


@pytest.mark.parametrize("ranking", ["x", "", "../01ARZ3NDEKTSV4RRFFQ69G5FAV"])
def test_erase_takes_ids_only(ranking: str) -> None:
    assert CliRunner().invoke(main, ["erase", ranking]).exit_code == 2
