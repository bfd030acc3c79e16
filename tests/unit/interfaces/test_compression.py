"""Which coding is chosen, what is coded, and what never is."""

import gzip
import sys
from collections.abc import Callable
from typing import Any

import brotli
import pytest

from registry.interfaces.http.compression import (
    CODINGS,
    LEAST_BYTES,
    LONG_BYTES,
    Compression,
    choose_coding,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DECODE: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    "zstd": zstd.decompress,
}
LONG = b'{"words": "book a table"}' * 100


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("br;q=0, *", "zstd"),
        ("*;q=0.1", "zstd"),
        ("*;q=0", None),
        ("identity", None),
        ("identity;q=1, gzip;q=0.5", None),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("zstd ; Q = 0.001", "zstd"),
        ("gzip;q=2", None),
        ("gzip;q=", None),
        ("gzip;q=nan, br;q=1e9", None),
        ("gzip;level=9", None),
        ("deflate", None),
        (",,,;;;===", None),
        (", " * 10_000 + "gzip", None),
        ("\xff\x00gzip", None),
    ],
)
def test_the_coding_is_the_one_the_client_likes_best(
    accepted: str, expected: str | None
) -> None:
    assert choose_coding(accepted) == expected


async def answer(
    body: bytes = LONG,
    *,
    accepted: str = "gzip",
    status: int = 200,
    pieces: int = 1,
    **headers: str,
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body that the client gets."""
    sent: list[Any] = []
    given = {"content-type": "application/json", "content-length": str(len(body))}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(k.encode(), v.encode()) for k, v in given.items()],
            }
        )
        for number in range(pieces):
            is_last = number == pieces - 1
            await send(
                {"type": "http.response.body", "body": body, "more_body": not is_last}
            )

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    query = [(b"accept-encoding", accepted.encode())] if accepted else []
    scope: Any = {"type": "http", "headers": query}
    await Compression(app)(scope, receive, send)
    start, *rest = sent
    received = {k.decode().lower(): v.decode() for k, v in start["headers"]}
    return received, b"".join(message["body"] for message in rest)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("size", [LEAST_BYTES, LONG_BYTES])
async def test_what_is_coded_is_the_same_again(coding: str, size: int) -> None:
    whole = (LONG * (size // len(LONG) + 1))[:size]
    headers, body = await answer(whole, accepted=coding)
    assert DECODE[coding](body) == whole
    assert headers["content-encoding"] == coding
    assert int(headers["content-length"]) == len(body) < size
    assert headers["vary"] == "Accept-Encoding"


async def test_other_bytes_have_another_tag() -> None:
    headers, _ = await answer(etag='"abc"')
    assert headers["etag"] == '"abc-gzip"'
    headers, _ = await answer(etag='"abc"', accepted="")
    assert headers["etag"] == '"abc"'


@pytest.mark.parametrize(
    "given",
    [
        {"accepted": ""},
        {"accepted": "identity"},
        {"body": b"x" * (LEAST_BYTES - 1)},
        {"status": 201},
        {"status": 206},
        {"status": 404},
        {"pieces": 3},
        {"content_type": "application/octet-stream"},
        {"content_type": "text/event-stream"},
        {"content_type": "image/png"},
        {"content_encoding": "br"},
        {"cache_control": "no-cache, no-transform"},
    ],
)
async def test_some_answers_stay_as_they_are(given: dict[str, Any]) -> None:
    headers, body = await answer(**given)
    expected = given.get("body", LONG) * given.get("pieces", 1)
    assert body == expected
    assert headers.get("content-encoding") == given.get("content_encoding")


async def test_a_cache_learns_that_the_answer_varies_though_nothing_was_coded() -> None:
    headers, _ = await answer(accepted="", vary="Origin")
    assert headers["vary"] in {"Origin, Accept-Encoding", "Origin,Accept-Encoding"}
