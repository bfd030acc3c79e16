from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.ties import OrderKey, make_seed, make_seed_by_id, tie_key

SECRET = sha256(b"day secret").digest()
SEED = make_seed_by_id(SECRET, "01JD0000000000000000000000", "client-nonce")
SITES = [f"site-{number}" for number in range(4)]


def order(sites: list[str], seed: bytes = SEED) -> list[str]:
    return sorted(sites, key=lambda site: tie_key(seed, site))


def test_seed_and_order_of_the_vector() -> None:
    assert SEED.hex() == (
        "a8c7f27bbd23387206939c7707b3228873ad9a7bbc4c24c03e37e1ac95ae0465"
    )
    assert order(SITES) == ["site-0", "site-2", "site-3", "site-1"]


@given(st.sets(st.text("abcdefgh", min_size=1), max_size=8))
def test_another_candidate_never_reorders_the_others(more: set[str]) -> None:
    together = order([*SITES, *more])
    assert [site for site in together if site in SITES] == order(SITES)


def test_equals_lead_equally_often() -> None:
    leads = dict.fromkeys(SITES, 0)
    for request in range(2000):
        digest = sha256(b"%d" % request).digest()
        leads[order(SITES, make_seed(SECRET, digest, ""))[0]] += 1
    assert all(abs(count - 500) < 100 for count in leads.values())


def test_request_id_and_nonce_do_not_run_together() -> None:
    assert make_seed_by_id(SECRET, "ab", "c") != make_seed_by_id(SECRET, "a", "bc")


def test_each_part_of_a_seed_gives_another_shuffle() -> None:
    request, other = sha256(b"bread").digest(), sha256(b"cake").digest()
    seeds = {
        make_seed(SECRET, request, ""),
        make_seed(SECRET, request, "n"),
        make_seed(SECRET, other, ""),
        make_seed(sha256(SECRET).digest(), request, ""),
    }
    assert len(seeds) == 4


def test_keys_order_by_rank_score_then_tie_then_id() -> None:
    keys = [
        OrderKey(-9, 8, 4),
        OrderKey(-8, 1, 7),
        OrderKey(-8, 2, 1),
        OrderKey(-8, 2, 2),
    ]
    assert sorted([keys[3], keys[1], keys[0], keys[2]]) == keys
