"""What a request is read as, to the bit: answers may not change as reading gets faster.

The digests are of 2026-11-24, by the multilingual encoder. They change with
the policy's word lists and with the encoder, and with nothing else.
"""

import hashlib
import json

import pytest

from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.relevance import parse_query

MANY = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(80))


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        pytest.param("book a table for two near the harbour tonight", "da216359452674e5", id="plain"),
        pytest.param("Check-in by E-Mail, please", "46ccf40542a5da4c", id="put together"),
        pytest.param("check in-", "7efdf93d366090c5", id="hangs on nothing"),
        pytest.param("addToCart bookTable_v2 XMLParser", "3864732cbf9efc8e", id="identifiers"),
        pytest.param("please help me find the best", "e13d384ec6d64900", id="says nothing"),
        pytest.param("restuarant resevation in Toronto", "c09cca1e4d877a03", id="mistyped"),
        pytest.param("what's the WEATHER like?", "46c555ae944917f9", id="apostrophe"),
        pytest.param("naïve café's crème brûlée", "94d597a595f74e5e", id="accents"),
        pytest.param("2 tickets, 3 adults, 4 km", "ba356f6c6312ec2d", id="numbers"),
        pytest.param("записаться к врачу завтра", "1f56a036592f2871", id="cyrillic"),
        pytest.param("我想预订餐厅", "5dda0bc7465fda43", id="han"),
        pytest.param("ホテルを予約したい", "d80eabfb42900e43", id="kana"),
        pytest.param("احجز طاولة للعشاء", "2c9e8dbffd43351b", id="arabic"),
        pytest.param("e mail e book wi fi hi-fi", "a29350f0ff57050c", id="split words"),
        pytest.param("buy flowers buy flowers BUY Flowers", "69c82751fcf83369", id="said again"),
        pytest.param("zahnarzttermin vereinbaren und hotelbuchung stornieren", "8738af66aa3d8eb2", id="compounds"),
        pytest.param("-a- _b_ 'c' d's e'll", "ea8115bf6ea404ce", id="marks"),
        pytest.param("", "e13d384ec6d64900", id="empty"),
        pytest.param("   ", "e13d384ec6d64900", id="blank"),
        pytest.param("x" * 200 + " pizza", "596c94b85fecde04", id="longest"),
        pytest.param("translte this docment into german and send an invioce", "18daca0d59498609", id="slips"),
        pytest.param("log in; log-in; login; sign up", "db99a4c724915682", id="signs"),
        pytest.param(f"one two three four five six seven eight nine ten {MANY}", "0b036d1ca84d09b8", id="more words than count"),
    ],
)  # fmt: skip
def test_a_request_is_read_as_it_always_was(text: str, digest: str) -> None:
    read = parse_query(text, load_encoder(DEFAULT_POLICY), DEFAULT_POLICY)
    messages = [
        list(read.term_of.items()),
        read.vector.hex(),
        read.confidence_bp,
        list(read.corrected.items()),
        list(read.weights_bp.items()),
    ]

    result = hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:16]
    assert result == digest
