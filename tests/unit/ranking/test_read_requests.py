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
        pytest.param("book a table for two near the harbour tonight", "03e47be504b94564", id="plain"),
        pytest.param("Check-in by E-Mail, please", "11576b54a839a27a", id="put together"),
        pytest.param("check in-", "2c8254c59aa79cb3", id="hangs on nothing"),
        pytest.param("addToCart bookTable_v2 XMLParser", "4d0cc0bef1ae4df2", id="identifiers"),
        pytest.param("please help me find the best", "e13d384ec6d64900", id="says nothing"),
        pytest.param("restuarant resevation in muenchen", "3b7e59b63e00866e", id="mistyped"),
        pytest.param("what's the WEATHER like?", "2f8611a7b1e37eb0", id="apostrophe"),
        pytest.param("naïve café's crème brûlée", "5ad1d0c6289e9851", id="accents"),
        pytest.param("2 tickets, 3 adults, 4 km", "3e98757cfcef9ab6", id="numbers"),
        pytest.param("записаться к врачу завтра", "b67850a11daaebbd", id="cyrillic"),
        pytest.param("我想预订餐厅", "ad49c83851218aa7", id="han"),
        pytest.param("ホテルを予約したい", "338c3cae1a9a51cd", id="kana"),
        pytest.param("احجز طاولة للعشاء", "3897d81d97d1e610", id="arabic"),
        pytest.param("e mail e book wi fi hi-fi", "f3ddfee4966fee52", id="split words"),
        pytest.param("buy flowers buy flowers BUY Flowers", "a53d5b40952f58ee", id="said again"),
        pytest.param("zahnarzttermin vereinbaren und hotelbuchung stornieren", "8cf2009de792cb4e", id="compounds"),
        pytest.param("-a- _b_ 'c' d's e'll", "94b4db0710c17c7a", id="marks"),
        pytest.param("", "e13d384ec6d64900", id="empty"),
        pytest.param("   ", "e13d384ec6d64900", id="blank"),
        pytest.param("x" * 200 + " pizza", "c9dff5d4a4543735", id="longest"),
        pytest.param("translte this docment into german and send an invioce", "325d23252021e4fc", id="slips"),
        pytest.param("log in; log-in; login; sign up", "426c5ceb3b48052b", id="signs"),
        pytest.param(f"one two three four five six seven eight nine ten {MANY}", "b6f04146a063b20b", id="more words than count"),
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
