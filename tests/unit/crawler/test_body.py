import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.http.body import Body, BodyLimits, Coding, parse_coding
from registry.errors import Refused

SMALL = BodyLimits(wire_bytes=1000, decoded_bytes=10_000)


def read(
    wire: bytes, coding: Coding = "", limits: BodyLimits = SMALL, step: int = 100
) -> bytes:
    body = Body(coding, limits)
    for start in range(0, len(wire), step):
        if body.feed(wire[start : start + step]):
            break
    return body.finish()


@given(st.binary(max_size=900), st.integers(1, 400))
def test_a_body_within_its_limits_comes_back_whole(content: bytes, step: int) -> None:
    assert read(content, step=step) == content
    assert read(gzip.compress(content), "gzip", step=step) == content


@pytest.mark.parametrize(
    ("wire", "coding", "code"),
    [
        (b"a" * 1001, "", "body_wire"),
        (gzip.compress(bytes(range(256)) * 40), "gzip", "body_decoded"),
        (gzip.compress(b"a" * 9000), "gzip", "body_ratio"),
        (b"not gzip at all", "gzip", "encoding_corrupt"),
        (gzip.compress(b"abc")[:-1], "gzip", "encoding_corrupt"),
        (b"", "gzip", "encoding_corrupt"),
        (gzip.compress(b"abc")[:-4] + b"\0\0\0\0", "gzip", "encoding_corrupt"),
        (gzip.compress(b"abc") + b"x", "gzip", "encoding_trailer"),
        (gzip.compress(b"abc") * 2, "gzip", "encoding_trailer"),
    ],
)
def test_a_body_beyond_its_limits_is_refused(
    wire: bytes, coding: Coding, code: str
) -> None:
    for step in (1, 100, 10_000):
        with pytest.raises(Refused) as refused:
            read(wire, coding, step=step)
        assert refused.value.code == code


def test_a_bomb_is_never_decoded_beyond_the_limit() -> None:
    body = Body("gzip", SMALL)
    with pytest.raises(Refused) as refused:
        body.feed(gzip.compress(b"a" * 900_000)[:999])
    assert refused.value.code == "body_decoded"
    assert len(body._decoded) == SMALL.decoded_bytes


def test_a_body_may_be_cut_off_instead() -> None:
    limits = BodyLimits(wire_bytes=50, decoded_bytes=70, ratio=1000, truncate=True)
    assert read(b"a" * 100, limits=limits) == b"a" * 50
    assert read(gzip.compress(b"a" * 1000), "gzip", limits) == b"a" * 70


@pytest.mark.parametrize(
    ("header", "coding"),
    [("", ""), ("gzip", "gzip"), ("X-GZIP", "gzip"), ("identity", ""), (" , ", "")],
)
def test_no_coding_or_gzip_is_taken(header: str, coding: str) -> None:
    assert parse_coding(header) == coding


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("br", "encoding"),
        ("zstd", "encoding"),
        ("gzip, gzip", "encoding_stack"),
        ("gzip,deflate", "encoding_stack"),
    ],
)
def test_other_codings_are_refused(header: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_coding(header)
    assert refused.value.code == code
