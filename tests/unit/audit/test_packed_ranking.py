"""What is read from a packed ranking is what its record and its disclosures say."""

import random
from datetime import UTC, datetime

import pytest

from registry.audit.disclosure import encode_disclosure, seal
from registry.audit.packed_ranking import (
    read_packed_factors,
    read_packed_rankings,
    read_packed_value,
)
from registry.audit.packing import PLAIN, pack, pack_disclosure
from registry.audit.record import ranking_record
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import tie_key
from registry.sites.identifier import make_ulid, spell_site_id

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SALT = "c2FsdHNhbHRzYWx0c2FsdA"
SEED = bytes(range(32))
DICE = random.Random(5)
SITES = [DICE.randrange(2**63) for _ in range(20)]


def body(order=SITES, operator="anon", digests=8, count=None):
    return ranking_record(
        record_id=make_ulid(1, b"0123456789"),
        at=NOW,
        operator=operator,
        policy=DEFAULT_POLICY.digest,
        snapshot=DEFAULT_POLICY.digest,
        seed_index=3,
        eligible_count=321,
        order=[spell_site_id(site) for site in order],
        sd_digests=seal({}, DICE.randbytes, digests).digests,
        operator_count=count,
    ).body


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({}, id="as most are"),
        pytest.param({"order": []}, id="empty"),
        pytest.param({"order": SITES[:1]}, id="one site"),
        pytest.param({"digests": 0}, id="without disclosures"),
        pytest.param({"operator": "agent.example", "count": 7}, id="an operator"),
        pytest.param({"operator": "a" * 43}, id="an operator's thumbprint"),
        pytest.param({"operator": 'quo"ted'}, id="an operator with an escape"),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_operator_count_and_order_are_those_of_the_record(members, plain):
    record = body(**members)
    packed = bytes([PLAIN]) + record if plain else pack(record)
    found = read_packed_rankings([packed, packed])
    assert found.operators[1].decode() == members.get("operator", "anon")
    assert found.eligible == (321, 321)
    sites = [
        int.from_bytes(found.orders[1][begin : begin + 8], "big")
        for begin in range(0, len(found.orders[1]), 8)
    ]
    assert sites == list(members.get("order", SITES))


def scores(weights=DEFAULT_POLICY.weights):
    order = [spell_site_id(site) for site in SITES]
    rows = [[DICE.randrange(10_001) for _ in weights] for _ in order]
    return order, [
        {
            "factors": row,
            "score": sum(a * b for a, b in zip(weights, row, strict=True)),
            "site": site,
            "tie": f"{tie_key(SEED, site):016x}",
        }
        for row, site in zip(rows, order, strict=True)
    ]


@pytest.mark.parametrize("seed", [SEED, None], ids=["seed", "keys"])
@pytest.mark.parametrize("weights", [DEFAULT_POLICY.weights, (1, 2, 3, 4, 5)])
def test_factors_are_those_of_the_disclosed_scores(seed, weights):
    order, told = scores(weights)
    packed = pack_disclosure(
        "scores", encode_disclosure(SALT, "scores", told), order, seed
    )
    factors = read_packed_factors(packed, len(order))
    assert factors.tolist() == [one["factors"] for one in told]


def test_scores_of_other_sites_or_in_another_form_are_left_to_the_slow_way():
    order, told = scores()
    encoded = encode_disclosure(SALT, "scores", told)
    assert read_packed_factors(pack_disclosure("scores", encoded, [], SEED), 20) is None
    ours = pack_disclosure("scores", encoded, order, SEED)
    assert read_packed_factors(ours, 19) is None
    other = encode_disclosure(SALT, "scores", {"unlike": "ours"})
    assert read_packed_factors(pack_disclosure("scores", other), 20) is None


@pytest.mark.parametrize(
    "value",
    [None, "bread", "Brötchen \U0001f956 " * 20, {"category": "bakery"}, {}],
    ids=["null", "short", "long", "object", "empty"],
)
@pytest.mark.parametrize("salt", [SALT, "of another form"])
def test_values_are_those_that_were_disclosed(value, salt):
    packed = pack_disclosure("query", encode_disclosure(salt, "query", value))
    assert read_packed_value("query", packed) == value


def test_of_no_rankings_nothing_is_read():
    assert read_packed_rankings([]) == ((), (), ())
