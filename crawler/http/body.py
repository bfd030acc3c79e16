"""A body of bounded size: our own gunzip, because HTTP clients decode without bound."""

import zlib
from dataclasses import dataclass
from typing import Literal

from crawler import refusals
from registry.errors import ProblemType, Refused
from registry.formats.document import MAX_BODY_BYTES, MAX_WIRE_BYTES

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_RATIO_FROM_BYTES = 4096  # short bodies of one repeated letter compress honestly

Coding = Literal["", "gzip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """wire_bytes, decoded_bytes: before and after gunzip; ratio: the one by the other.

    truncate: what exceeds the sizes is cut off, not refused.
    """

    wire_bytes: int = MAX_WIRE_BYTES
    decoded_bytes: int = MAX_BODY_BYTES
    ratio: int = 64
    truncate: bool = False


# One byte more than is read of a page shows that there is more; a gzip stream may be
# longer than what it holds.
PAGE_LIMITS = BodyLimits(
    wire_bytes=MAX_BODY_BYTES + 1024, decoded_bytes=MAX_BODY_BYTES + 1, truncate=True
)


def parse_coding(content_encoding: str) -> Coding:
    """content_encoding: the header's value, several of them joined by commas.

    Raises: Refused.
    """
    codings = [part.strip().lower() for part in content_encoding.split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")]
    if len(codings) > 1:
        raise Refused(refusals.ENCODING_STACK, f"{len(codings)} codings")
    if not codings:
        return ""
    if codings[0] not in ("gzip", "x-gzip"):
        raise Refused(refusals.ENCODING, f"the coding is {codings[0][:20]!r}")
    return "gzip"


class Body:
    """Collects chunks: `feed` each until one says it was enough, then `finish`."""

    def __init__(self, coding: Coding, limits: BodyLimits) -> None:
        self._limits = limits
        self._gzip = zlib.decompressobj(_GZIP_WINDOW) if coding else None
        self._decoded = bytearray()
        self.wire_bytes = 0
        self.truncated = False

    def feed(self, chunk: bytes) -> bool:
        """Feed a chunk; return True when no more may be fed. Raises: Refused."""
        room = self._limits.wire_bytes - self.wire_bytes
        self.wire_bytes += len(chunk)
        if len(chunk) > room:
            self._overflow(refusals.BODY_WIRE, self._limits.wire_bytes)
        self._decode(chunk[:room])
        return self.truncated

    def finish(self) -> bytes:
        """Raises: Refused if the gzip stream is not exactly whole."""
        if self._gzip and not self.truncated:
            if not self._gzip.eof:
                raise Refused(refusals.ENCODING_CORRUPT, "the stream is cut off")
            if self._gzip.unused_data:
                raise Refused(refusals.ENCODING_TRAILER)
        return bytes(self._decoded)

    def _decode(self, chunk: bytes) -> None:
        room = self._limits.decoded_bytes - len(self._decoded)
        # One byte more than there is room for shows the excess; zlib takes 0 for "all".
        plain = self._gunzip(chunk, room + 1)
        self._decoded += plain[:room]
        if len(plain) > room:
            self._overflow(refusals.BODY_DECODED, self._limits.decoded_bytes)

    def _gunzip(self, chunk: bytes, at_most: int) -> bytes:
        if self._gzip is None:
            return chunk
        with Refused.on(zlib.error, refusals.ENCODING_CORRUPT, str):
            plain = self._gzip.decompress(chunk, at_most)
        decoded = len(self._decoded) + len(plain)
        if decoded > max(_RATIO_FROM_BYTES, self._limits.ratio * self.wire_bytes):
            raise Refused(refusals.BODY_RATIO, f"over {self._limits.ratio} to 1")
        return plain

    def _overflow(self, kind: ProblemType, limit: int) -> None:
        if not self._limits.truncate:
            raise Refused(kind, f"more than {limit} bytes")
        self.truncated = True
