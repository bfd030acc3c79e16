"""Responses of servers as the crawler reads them; h11 is what this is compared with."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise

import h11
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crawler.http.response_reader import (
    MAX_FRAMING_BYTES,
    MAX_INFORMATIONAL,
    ResponseReader,
)
from registry.errors import Refused

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED_FIELD = b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKED = HEAD + CHUNKED_FIELD

Reading = tuple[int, list[tuple[bytes, bytes]], bytes, bool]
"""Status, sorted fields, body, and whether another answer may follow."""

STATUS_LINES = [
    *(b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.0 200 OK"),
    *(b"HTTP/1.1 304 Same", b"HTTP/1.1 204 None", b"HTTP/1.1 404 N\xffot"),
    *(b"HTTP/1.1 099 Low", b"HTTP/1.1 2000 OK", b"HTTP/1.1  200 OK", b"http/1.1 200"),
    *(b"HTTP/1.1 200\tOK", b"HTTP/1.1 200 O\0K", b"HTTP/1.1 200 O\rK", b"ICY 200 OK"),
]
INFORMING = [b"", b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n", b"HTTP/1.1 101 Go\r\n\r\n"]
FIELD_LINES = [
    *(b"Content-Length: 5", b"content-length:5,5", b"Content-Length: 5 , 6"),
    *(b"Content-Length: 0", b"Content-Length: +5", b"Content-Length: 005"),
    *(b"Content-Length: ", b"Content-Length: 5\xb2"),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: CHUNKED"),
    *(b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity"),
    *(b"Connection: close", b"Connection: keep-alive, CLOSE", b"Connection: closed"),
    *(
        b"X: a",
        b"X:",
        b"X:\t a b\tc  ",
        b"X: \x01",
        b"X: \xff",
        b"X: a\x0bb",
        b"X: a\rb",
    ),
    *(b"Bad Name: a", b"Name : a", b": a", b"no colon", b" folded", b"\tfolded:", b" "),
]
BODIES = [
    *(b"", b"hello", b"hell", b"hello!", b"5\r\nhello\r\n0\r\n\r\n"),
    *(b"5;a=b\r\nhello\r\n0\r\nX: trailing\r\n\r\n", b"005 \r\nhello\r\n0\r\n\r\nmore"),
    *(b"5\r\nhello!\r\n0\r\n\r\n", b"5\nhello\n0\n\n", b"-5\r\nhello\r\n0\r\n\r\n"),
    *(b"5\r\nhello\r\n0\r\nbad trailer\r\n\r\n", b"5\r\nhello\r\n0\r\n", b"5\r\nhe"),
    *(b"\r\n5\r\nhello\r\n0\r\n\r\n", b"f" * 21 + b"\r\n", b"5\r\nhello\r\n0\r\n\n"),
    b"3\r\nhel\r\n2\r\nlo\r\n0;\r\n\r\n",
]

answers = st.builds(
    lambda informing, status, fields, ends, body: (
        informing + ends.join([status, *fields, b"", b""]) + body
    ),
    st.sampled_from(INFORMING),
    st.sampled_from(STATUS_LINES),
    st.lists(st.sampled_from(FIELD_LINES), max_size=3),
    st.sampled_from([b"\r\n", b"\r\n", b"\n"]),
    st.sampled_from(BODIES),
)
likely_answers = st.builds(
    lambda field, body: b"HTTP/1.1 200 OK\r\n" + field + b"\r\n\r\n" + body,
    st.sampled_from(FIELD_LINES[:11]),
    st.sampled_from(BODIES),
)


@st.composite
def spoiled(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """With some bytes in the place of others."""
    text = draw(whole)
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 2)))
    instead = draw(
        st.sampled_from([b"", b"\r", b"\n", b" ", b"\0", b":", b"0", b"\r\n"])
    )
    return text[:start] + instead + text[end:]


def cut(text: bytes, places: Iterable[int]) -> list[bytes]:
    bounds = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    pieces = (text[start:end] for start, end in pairwise(bounds))
    return [piece for piece in pieces if piece]


def read(pieces: Sequence[bytes]) -> Reading | None:
    """Return what was read; None where it is refused."""
    reader = ResponseReader()
    with suppress(Refused):
        for number, piece in enumerate([*pieces, b""]):
            reader.feed(piece)
            if reader.head and reader.is_complete:
                is_followed = bool(pieces[number + 1 :])
                return (
                    reader.head.status,
                    _sorted(reader.head.fields),
                    reader.take_payload(),
                    reader.is_reusable and not is_followed,
                )
    return None


def read_by_h11(pieces: Sequence[bytes]) -> Reading | None:
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method="GET", target="/", headers=[("Host", "shop.test")]))
    http.send(h11.EndOfMessage())
    head, body = None, b""
    try:
        for number, piece in enumerate([*pieces, b""]):
            http.receive_data(piece)
            while (event := http.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    body += event.data
                elif head and isinstance(event, h11.EndOfMessage):
                    is_kept = http.our_state is http.their_state is h11.DONE
                    more = http.trailing_data[0] or pieces[number + 1 :]
                    fields = _sorted(list(head.headers))
                    may_follow = is_kept and bool(piece) and not more
                    return head.status_code, fields, body, may_follow
                elif not isinstance(event, h11.InformationalResponse):
                    return None
    except h11.RemoteProtocolError:
        pass
    return None


def _sorted(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    coding = b"transfer-encoding"
    return sorted((n, v.lower() if n == coding else v) for n, v in fields)


BLANK_LINES = re.compile(rb"\r\n\r\n[\r\n]+(?:HTTP/|\Z)|[o!e][\r\n]+\Z")
"""Between responses or after one; llhttp passes over them."""


@given(
    answers | likely_answers | spoiled(answers) | spoiled(likely_answers),
    st.lists(st.integers(0, 200), max_size=5),
)
@example(b"HTTP/1.1 200 OK\r\n\r\nhello", [])
@example(b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n", [22, 23])
def test_every_response_that_is_taken_is_read_as_h11_reads_it(
    text: bytes, places: list[int]
) -> None:
    assume(not BLANK_LINES.search(text))
    pieces = cut(text, places)
    reading = read(pieces)
    assert reading is None or reading == read_by_h11(pieces)


CODED = HEAD + b"Transfer-Encoding: %b\r\n\r\n"
LENGTH = b"Content-Length: 5\r\n\r\n"
CHUNKS = b"Transfer-Encoding: Chunked\r\n\r\n" + BODIES[4]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + b"Content-Type: a/b\r\nX:\t a b\t \r\n" + LENGTH + b"hello",
        HEAD + CHUNKS,
        HEAD + CHUNKED_FIELD + b"5;a=b\r\nhello\r\n0\r\nX: trailing\r\n\r\n",
        HEAD + b"X: \xff\r\n\r\nhello",
        b"HTTP/1.0 404 N\xffot\r\n\r\nhello",
        b"HTTP/1.1 304 Same\r\n" + LENGTH,
        b"HTTP/1.1 204\r\n\r\n",
        INFORMING[1] * MAX_INFORMATIONAL + HEAD + LENGTH + b"hello",
        HEAD + b"Connection: Keep-Alive, Close\r\n" + LENGTH + b"hello",
    ],
)
def test_a_sound_response_is_taken_as_h11_reads_it(text: bytes) -> None:
    assert read([text]) == read_by_h11([text]) is not None


def test_it_is_read_byte_by_byte_as_at_once() -> None:
    text = (
        b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\nX: a\r\n\r\n"
    )
    coding = (b"transfer-encoding", b"chunked")
    assert read([text]) == (200, [coding], b"hello", True)
    assert read(cut(text, range(len(text)))) == read([text])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + b"X: a\r\n" * MAX_FRAMING_BYTES, id="endless fields"),
        pytest.param(HEAD + b"X: " + b"a" * MAX_FRAMING_BYTES, id="an endless field"),
        pytest.param(HEAD[:-2] + b"!" * MAX_FRAMING_BYTES, id="an endless status line"),
        pytest.param(
            CHUNKED + b"1;" + b"a" * MAX_FRAMING_BYTES, id="an endless chunk extension"
        ),
        pytest.param(CHUNKED + b"0\r\n" + b"X: a\r\n" * 20_000, id="endless trailers"),
        pytest.param(INFORMING[1] * (MAX_INFORMATIONAL + 1), id="many that inform"),
        pytest.param(b"HTTP/2.0 200 OK\r\n\r\n", id="another version"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="another protocol"),
        pytest.param(b"\x16\x03\x01", id="no text"),
        pytest.param(b"", id="nothing"),
        pytest.param(CODED % b"gzip, chunked", id="another coding"),
        pytest.param(CODED % b"chunked, chunked", id="chunked twice"),
        pytest.param(CODED % b"identity", id="no coding by name"),
        pytest.param(HEAD + CHUNKED_FIELD[:-2] + LENGTH, id="two framings"),
        pytest.param(HEAD + b"Content-Length: 5\r\n" + LENGTH, id="two lengths"),
        pytest.param(b"HTTP/1.1 200 OK\nX: a\n\n", id="bare line feeds"),
        pytest.param(HEAD + b"X: a\r\n b\r\n\r\n", id="a fold"),
    ],
)
def test_what_is_no_answer_is_refused(text: bytes) -> None:
    with pytest.raises(Refused, match="protocol"):
        ResponseReader().feed(text)
