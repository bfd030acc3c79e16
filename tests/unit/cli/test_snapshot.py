from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from registry.auditor.snapshot import IndexSnapshot
from registry.index.building.builder import Builder
from registry.index.building.index_files import IndexWriter
from registry.index.query.search import prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, STATIC_POLICY
from registry.ranking.ties import make_seed
from registry.records.disclosure import encode_disclosure
from registry.records.seed import digest_request
from registry.sites.identifier import format_site_id
from tests.unit.index.conftest import NOW, PLAIN

SECRET = b"s" * 32
SITES = [
    replace(PLAIN, site_id=n, publisher=n, quality=5_000 + 100 * (n // 3))
    for n in range(1, 10)
]
K = 5


@pytest.fixture(scope="module")
def index():
    return Builder.build(SITES, STATIC_POLICY).index


@pytest.fixture(scope="module")
def members(index):
    return {"policy": STATIC_POLICY.digest, "snap": index.generation}


@pytest.fixture(scope="module")
def values(index):
    """What a ranking discloses."""
    query = prepare_query("book tables", load_encoder(), STATIC_POLICY)
    request = digest_request("book tables", None, {}, NOW)
    seed = make_seed(SECRET, request, "nonce")
    ranked = search(index, query, now=NOW, seed=seed, k=K)
    assert len(ranked.sites) == K
    scores = [
        {
            "site": format_site_id(site.site_id),
            "factors": list(msgspec.to_builtins(site.factors).values()),
            "score": site.score,
            "tie": f"{site.order_key.tie_key:016x}",
        }
        for site in ranked.sites
    ]
    return {
        "query": "book tables",
        "location": None,
        "filters": {},
        "request": {
            "id": "request",
            "nonce": "nonce",
            "at": NOW.isoformat(),
            "after": ["-1000000000", "0", "0", "0"],
        },
        "scores": scores,
    }


def disclose(values):
    return [encode_disclosure("salt", name, value) for name, value in values.items()]


@pytest.mark.parametrize("secret", [SECRET, None])
def test_factors_are_computed_again_in_the_same_index(index, members, values, secret):
    result = IndexSnapshot(index).search_again(members, disclose(values), secret)
    assert (result.compared, result.differences, result.missing) == (K, (), "")


def test_another_factor_is_found(index, members, values):
    spoiled = deepcopy(values)
    spoiled["scores"][0]["factors"][0] -= 1
    result = IndexSnapshot(index).search_again(members, disclose(spoiled), SECRET)
    assert len(result.differences) == 1
    assert "the factors are" in result.differences[0]


def test_an_index_of_another_time_or_policy_computes_nothing(index, members, values):
    for changes in ({"snap": "another"}, {"policy": "another"}):
        result = IndexSnapshot(index).search_again(
            members | changes, disclose(values), None
        )
        assert (result.compared, result.missing != "") == (0, True)
    assert IndexSnapshot(None).search_again(members, disclose(values), None).missing


def test_without_the_question_nothing_is_computed(index, members, values):
    scores = disclose({"scores": values["scores"]})
    assert (
        "disclosed" in IndexSnapshot(index).search_again(members, scores, None).missing
    )


def test_sites_that_the_search_does_not_find_are_told(index, members, values):
    other = {**values, "query": "zzzz"}
    result = IndexSnapshot(index).search_again(members, disclose(other), None)
    assert "finds none" in result.missing


def test_an_index_of_either_policy_is_taken(tmp_path: Path) -> None:
    result = Builder.build([], DEFAULT_POLICY)
    writer = IndexWriter(tmp_path)
    writer.put(result)
    disclosed = {"policy": DEFAULT_POLICY.digest, "snap": "of another time"}
    recomputed = IndexSnapshot.load(tmp_path).search_again(disclosed, [], None)
    assert recomputed.missing == "factors: the index at hand is of another time"
