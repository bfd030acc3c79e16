"""What a request is read as, to the bit: answers may not change as reading gets faster.

The digests are of 2026-11-28, by the multilingual encoder. They change with
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
        pytest.param("book a table for two near the harbour tonight", "2b6c4cb9cfd34ff6", id="plain"),
        pytest.param("Check-in by E-Mail, please", "ae5d1f89a3867c33", id="put together"),
        pytest.param("check in-", "f639a4a75534cf6a", id="hangs on nothing"),
        pytest.param("addToCart bookTable_v2 XMLParser", "7a1f09aed7ff8512", id="identifiers"),
        pytest.param("please help me find the best", "7b358ccf86e05d90", id="says nothing"),
        pytest.param("restuarant resevation in Toronto", "2436290b44c79c0c", id="mistyped"),
        pytest.param("what's the WEATHER like?", "da4bb4e4d220645f", id="apostrophe"),
        pytest.param("naïve café's crème brûlée", "f70d405a8f7462ee", id="accents"),
        pytest.param("2 tickets, 3 adults, 4 km", "9740a7e4f6840436", id="numbers"),
        pytest.param("записаться к врачу завтра", "c1d144e814675c53", id="cyrillic"),
        pytest.param("我想预订餐厅", "5c892752fbbd41b1", id="han"),
        pytest.param("ホテルを予約したい", "89252626b3b37ab7", id="kana"),
        pytest.param("احجز طاولة للعشاء", "64f6c6244c4ec5f1", id="arabic"),
        pytest.param("e mail e book wi fi hi-fi", "b36a9ab2bbfa8313", id="split words"),
        pytest.param("buy flowers buy flowers BUY Flowers", "5606e4672a157965", id="said again"),
        pytest.param("zahnarzttermin vereinbaren und hotelbuchung stornieren", "4ce88a91608cd3ec", id="compounds"),
        pytest.param("-a- _b_ 'c' d's e'll", "c52d7bed90e73ea5", id="marks"),
        pytest.param("", "7b358ccf86e05d90", id="empty"),
        pytest.param("   ", "7b358ccf86e05d90", id="blank"),
        pytest.param("x" * 200 + " pizza", "a3e0c198cb7c7e0f", id="longest"),
        pytest.param("translte this docment into german and send an invioce", "ebf47633512b1bf5", id="slips"),
        pytest.param("log in; log-in; login; sign up", "1a05555fbcd6cb7c", id="signs"),
        pytest.param(f"one two three four five six seven eight nine ten {MANY}", "0a81bde6e7ea2871", id="more words than count"),
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
