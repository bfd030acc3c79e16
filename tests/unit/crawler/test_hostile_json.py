"""The hostile table's documents: what no two parsers read alike is read by none."""

import pytest

from registry.formats.detect import parse_document
from registry.formats.document import MAX_BODY_BYTES, Parsed, Rejected

URL = "https://shop.io/agent-bridge.json"


def with_value(value: bytes) -> bytes:
    """A sound document but for the value."""
    return (
        b'{"wab_version":"1.0","provider":{"name":"Shop","category":"retail",'
        b'"url":"https://shop.io/"},"capabilities":{"commands":[],"permissions":{}},'
        b'"transport":{"http":{"enabled":true,"base_url":"/api/wab"}},"x":%b}' % value
    )


SOUND = with_value(b"1")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(*case, id=name)
        for name, case in {
            "J1-key-twice": (
                SOUND.replace(b"{", b'{"wab_version":"2.0",', 1),
                "json_duplicate_key",
            ),
            "J2-nested-key-twice": (with_value(b'{"a":1,"a":2}'), "json_duplicate_key"),
            "J3-nan": (with_value(b"NaN"), "json_number"),
            "J4-infinity": (with_value(b"-Infinity"), "json_number"),
            "J5-1e400": (with_value(b"1e400"), "json_number"),
            "J6-20-digits": (with_value(b"12345678901234567890"), "json_number"),
            "J7-2-to-the-53": (with_value(b"9007199254740992"), "json_number"),
            "J8-5000-digits": (with_value(b"9" * 5_000), "json_number"),
            "J9-high-surrogate": (with_value(rb'"\ud800"'), "json_character"),
            "J10-low-surrogate": (with_value(rb'"\udc00"'), "json_character"),
            "J11-nul-in-a-value": (with_value(rb'"a\u0000"'), "json_character"),
            "J12-nul-in-a-key": (with_value(rb'{"\u0000":1}'), "json_character"),
            "J13-bad-utf-8": (with_value(b'"\xff"'), "json_encoding"),
            "J15-utf-16": (SOUND.decode().encode("utf-16"), "json_encoding"),
            "J16-depth-65": (with_value(b"[" * 64 + b"]" * 64), "json_too_deep"),
            "J17-depth-8000": (b"[" * 8_000 + b"]" * 8_000, "json_too_deep"),
            "J18-object-depth-3000": (
                with_value(b'{"a":' * 3_000 + b"1" + b"}" * 3_000),
                "json_too_deep",
            ),
            "J19-trailing-value": (SOUND + b" {}", "json_syntax"),
            "J20-comment": (with_value(b"1 /* why */"), "json_syntax"),
            "J21-too-long": (
                with_value(b'"' + b"a" * MAX_BODY_BYTES + b'"'),
                "json_too_large",
            ),
            "J22-empty": (b"", "json_syntax"),
            "J23-truncated": (SOUND[:-5], "json_syntax"),
            "J24-1-and-400-zeros": (with_value(b"1" + b"0" * 400), "json_number"),
            "J25-single-quotes": (SOUND.replace(b'"', b"'"), "json_syntax"),
            "J26-lines-of-json": (SOUND + b"\n" + SOUND + b"\n", "json_syntax"),
        }.items()
    ],
)
def test_a_hostile_document_is_rejected(body: bytes, code: str) -> None:
    parsed = parse_document(body, url=URL)
    assert isinstance(parsed, Rejected)
    assert parsed.problem.code == code


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(SOUND, id="the-sound-one"),
        # The one case of the table that is read: a mark in front misleads nobody.
        pytest.param(b"\xef\xbb\xbf" + SOUND, id="J14-byte-order-mark"),
    ],
)
def test_a_sound_document_is_read(body: bytes) -> None:
    parsed = parse_document(body, url=URL)
    assert isinstance(parsed, Parsed)
    assert parsed.document.format == "wab"
