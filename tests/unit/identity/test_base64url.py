import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.identity import base64url


@given(st.binary(max_size=70))
def test_decoding_undoes_encoding(raw: bytes) -> None:
    assert base64url.decode(base64url.encode(raw)) == raw


@given(st.text(alphabet="AQgw-_=+/ \n", max_size=8))
def test_a_value_has_one_spelling(text: str) -> None:
    try:
        raw = base64url.decode(text)
    except ValueError:
        return
    assert base64url.encode(raw) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("AA==", "padded"),
        ("A A", "space"),
        ("AAA\n", "line break"),
        ("A+/A", "outside"),
        ("ÄAAA", "outside"),
        ("AAAAA", "cut off"),
        ("AB", "unused bits"),
        ("AAB", "unused bits"),
    ],
)
def test_another_spelling_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        base64url.decode(text)


def test_another_number_of_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="3 bytes where 2"):
        base64url.decode_exactly("AAAA", 2)


@pytest.mark.parametrize("text", ["-_8", "-_8=", "+/8", "+/8="])
def test_either_alphabet_is_read_where_documents_mix_them(text: str) -> None:
    assert base64url.decode_either(text) == b"\xfb\xff"
