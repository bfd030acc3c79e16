"""Packing: fewer bytes, and the same ones back, whatever went in."""

import json
import random
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.identity import base64url
from registry.ranking.ties import tie_key
from registry.records.canonical import canonical_json
from registry.records.packing import (
    DICTIONARY,
    factors_of,
    pack,
    unpack,
    unpack_disclosure,
)
from registry.sites.identifier import encode_base32, format_site_id
from tests.unit.records.encoded import encode_disclosure
from tests.unit.records.former_packing import pack_text

SEED = bytes(range(32))
SALT = base64url.encode(b"s" * 16)
ORDER = tuple(format_site_id(2**60 + number) for number in range(20))
WEIGHTS = (4000, 2000, 1500, 1500, 1000)


def score(
    site: str, factors: list[int], seed: bytes = SEED, **changes: object
) -> object:
    computed = {
        "factors": factors,
        "score": sum(w * f for w, f in zip(WEIGHTS, factors, strict=True)),
        "site": site,
        "tie": f"{tie_key(seed, site):016x}",
    }
    return {**computed, **changes}


def regular() -> list[object]:
    dice = random.Random(1)
    return [score(site, [dice.randint(0, 10_000) for _ in WEIGHTS]) for site in ORDER]


def tiered() -> list[dict[str, object]]:
    return [
        {  # type: ignore[dict-item]
            **row,
            "tier": at % 3 % 2,
            "probes": [720, 720 - at % 3, 715, at * 9 or None],
            "place": at * 700_000 - 1,
        }
        for at, row in enumerate(regular())
    ]


def with_probes(*probes: int) -> list[dict[str, object]]:
    first, *others = tiered()
    return [{**first, "probes": list(probes)}, *others]


RUNS = st.sampled_from(
    [
        base64url.encode(sha256(b"x").digest()),
        base64url.encode(sha256(b"x").digest())[:-1] + "9",  # unused bits set
        encode_base32(2**127, 26),
        "8" + "0" * 25,
        format_site_id(2**62),
        "G" + "0" * 12,
        f"sha256:{sha256(b'y').hexdigest()}",
        f"sha256:{sha256(b'y').hexdigest().upper()}",
    ]
)
VALUES = st.recursive(
    RUNS | st.text() | st.integers(-(2**53), 2**53) | st.none() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | RUNS, inner),
    max_leaves=30,
)


@given(VALUES)
def test_any_record_comes_back(value: object) -> None:
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert unpack(pack(data)) == data


PIECES = st.sampled_from([b'"', b'\\"', b",", b"sha256:"]) | RUNS.map(str.encode)


@given(st.lists(PIECES, max_size=20).map(b"".join))
def test_runs_between_any_quotes_come_back(data: bytes) -> None:
    assert unpack(pack(data)) == data


@given(st.binary(max_size=300))
def test_any_bytes_come_back(data: bytes) -> None:
    assert unpack(pack(data)) == data
    assert len(pack(data)) <= len(data) + 1


def test_large_noise_comes_back() -> None:
    noise = json.dumps(random.Random(2).choices("abcdefghijk", k=200_000)).encode()
    assert unpack(pack(noise)) == noise


@given(st.sampled_from(["query", "scores", "terms", "söze"]), VALUES)
def test_any_disclosure_comes_back(name: str, value: object) -> None:
    array = json.dumps([SALT, name, value], separators=(",", ":"), ensure_ascii=False)
    disclosure = base64url.encode(array.encode("utf-8", "surrogatepass"))
    packed = pack_text(name, disclosure, ORDER, SEED)
    assert unpack_disclosure(name, packed, ORDER) == disclosure


@given(st.text(max_size=200))
def test_what_is_no_disclosure_comes_back_too(text: str) -> None:
    if "\ud800" <= max(text, default="") <= "\udfff":
        return
    packed = pack_text("query", text)
    assert unpack_disclosure("query", packed) == text


def changed(number: int, **changes: object) -> list[object]:
    scores = regular()
    item = scores[number]
    assert isinstance(item, dict)
    scores[number] = {**item, **changes}
    return scores


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(regular(), id="as computed"),
        pytest.param([], id="none"),
        pytest.param(regular()[::-1], id="in another order than the record's"),
        pytest.param(regular()[:5], id="fewer than the record has"),
        pytest.param(changed(3, score=1), id="another total"),
        pytest.param(changed(3, score=-1), id="a total below zero"),
        pytest.param(changed(3, score=2**40), id="a total beyond four bytes"),
        pytest.param(changed(0, tie="0" * 16), id="another tie key"),
        pytest.param(changed(0, tie="0" * 15), id="a short tie key"),
        pytest.param(changed(0, tie="A" * 16), id="a tie key in capitals"),
        pytest.param(changed(0, site="x"), id="no site"),
        pytest.param(changed(0, factors=[1, 2, 3, 4]), id="four factors"),
        pytest.param(changed(0, factors=[1, 2, 3, 4, 2**16]), id="a huge factor"),
        pytest.param(changed(0, factors=[1, 2, 3, 4, -1]), id="a factor below zero"),
        pytest.param(changed(0, more=1), id="one more member"),
        pytest.param(regular() * 20, id="400 sites"),
        pytest.param(tiered(), id="with tiers"),
        pytest.param(tiered()[:9], id="with nine tiers"),
        pytest.param([*tiered()[:5], *regular()[5:]], id="tiers of some"),
        pytest.param(changed(0, tier=2), id="no tier"),
        pytest.param([{**row, "tier": 2} for row in tiered()], id="tiers of two"),
        pytest.param(with_probes(9, 9, 9, 2**16), id="a slow site"),
        pytest.param(with_probes(9, 10, 9, 3), id="more answers than probes"),
        pytest.param(with_probes(-1, -1, -1, 3), id="probes below zero"),
        pytest.param(with_probes(9, 9, 9), id="three of probes"),
        pytest.param(changed(0, probes=[9, 9, 9, 9]), id="probes of one"),
    ],
)
@pytest.mark.parametrize("seed", [SEED, b"another" * 4 + b"seed", None])
def test_scores_come_back(scores: list[object], seed: bytes | None) -> None:
    disclosure = encode_disclosure(SALT, "scores", scores)  # type: ignore[arg-type]
    packed = pack_text("scores", disclosure, ORDER, seed)
    assert unpack_disclosure("scores", packed, ORDER) == disclosure


def test_a_ranking_of_twenty_weighs_little() -> None:
    disclosure = encode_disclosure(SALT, "scores", tiered())  # type: ignore[arg-type]
    assert len(pack_text("scores", disclosure, ORDER, SEED)) < 440
    digests = [base64url.encode(sha256(bytes([n])).digest()) for n in range(8)]
    body = canonical_json({"_sd": digests, "order": ORDER, "kind": "ranking"})
    assert len(pack(body)) < 32 * 8 + 8 * 20 + 60


def test_dictionary_is_the_one_that_records_were_packed_with() -> None:
    """Another one would make every stored record unreadable."""
    digest = sha256(DICTIONARY).hexdigest()
    assert digest == "b9fee5313141dfe0cc33b20c471bee9a0501f3e03d011f4fd2bd3e59f835cb49"


@pytest.mark.parametrize("packed", [b"\x09abc", b"\x02", b"\x04x"])
def test_foreign_form_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="form"):
        unpack(packed)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(regular(), id="as made"),
        pytest.param(changed(3, score=1), id="another total"),
        pytest.param(changed(0, tie="0" * 16), id="another tie"),
        pytest.param(changed(5, site=format_site_id(7)), id="another site"),
        pytest.param([*regular(), *regular()] * 7, id="more than fit in columns"),
        pytest.param([], id="none"),
        pytest.param(tiered(), id="with tiers"),
        pytest.param(tiered()[::-1], id="with tiers, in another order"),
    ],
)
@pytest.mark.parametrize("seed", [SEED, None])
@pytest.mark.parametrize("salt", [SALT, "another"])
def test_factors_are_those_of_the_scores(
    scores: list[dict[str, object]], seed: bytes | None, salt: str
) -> None:
    disclosure = encode_disclosure(salt, "scores", scores)  # type: ignore[arg-type]
    packed = pack_text("scores", disclosure, ORDER, seed)
    factors, tiers = factors_of(packed)
    assert [list(row) for row in factors] == [score["factors"] for score in scores]
    assert list(tiers) == [score["tier"] for score in scores if "tier" in score]
