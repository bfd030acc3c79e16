"""`registry.client` against a registry that is real."""

from pathlib import Path

import msgspec
import pytest

from registry.client import (
    AsyncClient,
    Client,
    NotListed,
    ProblemAnswered,
    PromiseLine,
    ProofFailed,
)
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.api.running import AUDITOR, LISTED, UNLISTED, RunningRegistry


@pytest.fixture
def client(registry: RunningRegistry):
    with Client(registry.origin) as opened:
        yield opened


def test_a_search_in_plain_words_tells_how_to_act(client: Client) -> None:
    answer = client.search("book a table", city="Amman")
    assert answer[0].host == "zaytoun-table.test"
    assert answer[0].rank == 1
    assert 0 < answer[0].score <= 100
    assert answer[0].why
    assert answer[0].actions[0].url
    assert answer.ranking.eligible >= len(answer)


def test_in_full_each_factor_is_explained_and_sums_to_the_score(
    client: Client,
) -> None:
    result = client.search("book a table", city="Amman", detail="full")[0]
    shares = result.factors.values()
    assert sum(row.contribution for row in shares) == round(result.score * 1_000_000)
    assert sum(row.weight for row in shares) == 10_000
    assert result.entry is not None
    assert result.entry.location is not None
    assert result.entry.location.city == "Amman"


def test_pages_follow_each_other_without_a_gap(client: Client) -> None:
    pages = list(client.pages("book a table", limit=1, nonce="n"))
    ranks = [result.rank for page in pages for result in page]
    assert ranks == list(range(1, len(ranks) + 1))
    hosts = [result.host for page in pages for result in page]
    assert len(set(hosts)) == len(hosts) > 1


def test_a_choice_is_reported_proven_and_kept(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    file = tmp_path / "promises.jsonl"
    with Client(registry.origin, promises=file) as client:
        answer = client.search("book a table", city="Amman")
        chosen = client.select(answer, answer[0], outcome="succeeded")
        for receipt in (answer.ranking, chosen):
            proven = client.verify(receipt)
            assert 0 <= proven.leaf_index < proven.tree_size
    lines = file.read_bytes().splitlines()
    lines_read = [msgspec.json.decode(line, type=PromiseLine) for line in lines]
    assert [row.id for row in lines_read] == [answer.ranking.public_id, chosen.id]
    assert "." not in lines_read[0].id


def test_another_key_than_the_registrys_is_noticed(registry: RunningRegistry) -> None:
    stranger = format_vkey(
        Signer(
            name=AUDITOR.name, algorithm=NoteAlgorithm.ED25519, private=AUDITOR.private
        ).verifier_key
    )
    with Client(registry.origin, log_key=stranger, promise_key=stranger) as client:
        receipt = client.search("book a table").ranking
        with pytest.raises(ProofFailed):
            client.verify(receipt)
        with pytest.raises(ProofFailed):
            client.search("book a table", detail="full")


def test_a_site_is_had_whole_and_in_every_form(client: Client) -> None:
    site = client.site("zaytoun-table.test")
    assert site.actions[0].calls
    document = client.document("zaytoun-table.test", "awp")
    assert [row["id"] for row in document["actions"]] == [
        action.name for action in site.actions
    ]


def test_listed_sites_are_iterated_over(client: Client) -> None:
    assert {site.host for site in client.sites()} >= set(LISTED)
    assert {site.host for site in client.sites(country="JO")} <= set(LISTED)


def test_a_refusal_names_its_code_and_its_way_out(client: Client) -> None:
    with pytest.raises(NotListed) as missing:
        client.site("nowhere.test")
    assert missing.value.code == "site_unknown"
    with pytest.raises(ProblemAnswered) as refused:
        client.search("book a table", limit=1_000)
    assert refused.value.status == 400
    assert refused.value.fix


def test_a_site_registers_updates_and_withdraws(
    registry: RunningRegistry, client: Client
) -> None:
    site = registry.town.site(UNLISTED[3])
    registry.town.publish_keys(site.host)
    declared = {
        **site.declarations,
        "docs": [{"url": url} for url in site.document_urls],
    }
    state = client.register(site.host, site.private_key, **declared)
    assert (state.status, state.problems) == ("active", ())
    assert client.site(site.host).host == site.host
    declared["category"] = "bicycles"
    assert client.update(site.host, site.private_key, **declared).status == "active"
    assert client.withdraw(site.host, site.private_key).status == "withdrawn"
    with pytest.raises(NotListed):
        client.site(site.host)


async def test_the_asynchronous_client_is_the_same(registry: RunningRegistry) -> None:
    async with AsyncClient(registry.origin) as client:
        answer = await client.search("repair my bicycle", city="Berlin")
        assert answer[0].host == "radhaus-kreuz.test"
        receipt = await client.select(answer, None)
        assert (await client.verify(receipt)).leaf_index >= 0
        record = await client.explain(answer.ranking)
        assert record["id"] == answer.ranking.public_id
        hosts = [site.host async for site in client.sites()]
        assert set(LISTED) <= set(hosts)
        erased = await client.erase(answer.ranking)
        assert erased["digests"]
