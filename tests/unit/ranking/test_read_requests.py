"""What a request is read as, to the bit: answers may not change as reading gets faster.

The digests are of 2026-11-22, before words were read once a process. They change with
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
        pytest.param("book a table for two near the harbour tonight", "4165818b566f0fb6", id="plain"),
        pytest.param("Check-in by E-Mail, please", "57469bb7d279e37e", id="put together"),
        pytest.param("check in-", "b3d54932eb1211b8", id="hangs on nothing"),
        pytest.param("addToCart bookTable_v2 XMLParser", "199075ec4d1222c0", id="identifiers"),
        pytest.param("please help me find the best", "d7a92a8e5312d9a1", id="says nothing"),
        pytest.param("restuarant resevation in muenchen", "44a56197ac58f77b", id="mistyped"),
        pytest.param("what's the WEATHER like?", "86b692485717c9f6", id="apostrophe"),
        pytest.param("naïve café's crème brûlée", "0c80d1be31b79629", id="accents"),
        pytest.param("2 tickets, 3 adults, 4 km", "c897709da18e115b", id="numbers"),
        pytest.param("записаться к врачу завтра", "7e85b32ebd7341a5", id="cyrillic"),
        pytest.param("我想预订餐厅", "d0304e9008a83c33", id="han"),
        pytest.param("ホテルを予約したい", "05e35acbb4d701f2", id="kana"),
        pytest.param("احجز طاولة للعشاء", "f37e21c85944e8b0", id="arabic"),
        pytest.param("e mail e book wi fi hi-fi", "dffbcc9cc5a6682b", id="split words"),
        pytest.param("buy flowers buy flowers BUY Flowers", "343b7f51fd8d2069", id="said again"),
        pytest.param("zahnarzttermin vereinbaren und hotelbuchung stornieren", "11e3b449fdebe833", id="compounds"),
        pytest.param("-a- _b_ 'c' d's e'll", "d23595541278b1f5", id="marks"),
        pytest.param("", "284823797c2f0dc7", id="empty"),
        pytest.param("   ", "284823797c2f0dc7", id="blank"),
        pytest.param("x" * 200 + " pizza", "53e12417617779b7", id="longest"),
        pytest.param("translte this docment into german and send an invioce", "06d63d94c5ba8d31", id="slips"),
        pytest.param("log in; log-in; login; sign up", "a6a722687f43f5c0", id="signs"),
        pytest.param(f"one two three four five six seven eight nine ten {MANY}", "0c52fde6bbc9b439", id="more words than count"),
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
