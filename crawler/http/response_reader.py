"""Reader of the response to an HTTP/1.1 request: llhttp under our limits. Pure.

llhttp is strict where two readers may differ (framing, line ends, folds). Refused here
is what it takes beyond that: other versions, other transfer codings, controls in a
reason phrase, more than a few informational responses, and framing without end.
"""

import re
from dataclasses import dataclass
from typing import NoReturn

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from crawler import refusals
from registry.errors import Refused

MAX_FRAMING_BYTES = 100 * 1024
"""All bytes of a response but its payload: heads, chunk sizes, extensions, trailers."""
MAX_INFORMATIONAL = 8

_VERSIONS = frozenset({"1.0", "1.1"})
_WITHOUT_BODY = frozenset({204, 304})
_SWITCHING_PROTOCOLS = 101
_CONTROLS = re.compile(rb"[\x00\n\v\f\r]")

Fields = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """fields: names in lower case."""

    status: int
    fields: Fields


class ResponseReader:
    """Reader of one response, fed piece by piece; `on_…` are called by llhttp.

    is_complete: all of it has come. is_reusable: the connection can bring the next one.
    """

    def __init__(self) -> None:
        self.head: ResponseHead | None = None
        self.is_complete = False
        self.is_reusable = False
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._is_until_close = False
        self._informational = 0
        self._fields: Fields = []
        self._payload: list[bytes] = []
        self._received = self._payload_bytes = 0

    def feed(self, piece: bytes) -> None:
        """piece: b"" says that the connection has ended. Raises: Refused."""
        if not piece:
            self._end()
            return
        if not self._received and not piece.startswith(b"H"):
            _refuse("it does not answer in HTTP")
        self._received += len(piece)
        self._parse(piece)
        if self._received - self._payload_bytes > MAX_FRAMING_BYTES:
            _refuse(f"more than {MAX_FRAMING_BYTES} bytes are no payload")

    def take_payload(self) -> bytes:
        """Return what came of the body since the last call."""
        payload = b"".join(self._payload)
        self._payload.clear()
        return payload

    def discard(self) -> None:
        """Part from the parser, which would only be freed by the cycle collector."""
        self._parser = None

    def on_message_begin(self) -> None:
        if self.is_complete:
            _refuse("more follows than was asked for")

    def on_status(self, reason: bytes) -> None:
        if _CONTROLS.search(reason):
            _refuse("its status line holds controls")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name.lower(), value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        if (parser := self._parser) is None:
            return
        status, version = parser.get_status_code(), parser.get_http_version()
        _verify_start(status, version)
        is_chunked = _is_chunked(self._fields)
        if status < 200:
            self._informational += 1
            if self._informational > MAX_INFORMATIONAL:
                _refuse(f"more than {MAX_INFORMATIONAL} informational responses")
        else:
            is_framed = is_chunked or b"content-length" in dict(self._fields)
            self._is_until_close = not is_framed and status not in _WITHOUT_BODY
            self.is_reusable = version == "1.1" and parser.should_keep_alive()
            self.head = ResponseHead(status, self._fields)
        self._fields = []  # trailers follow, or the head of the next response

    def on_body(self, payload: bytes) -> None:
        self._payload_bytes += len(payload)
        self._payload.append(payload)

    def on_message_complete(self) -> None:
        self.is_complete = self.head is not None

    def _parse(self, piece: bytes) -> None:
        if self._parser is None:
            _refuse("it has ended")
        try:
            self._parser.feed_data(piece)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.is_reusable = False
            if self.is_complete:  # what follows is nobody's
                return
            if isinstance(error.__context__, Refused):
                raise error.__context__ from None
            raise Refused(refusals.PROTOCOL, str(error)[:200]) from error

    def _end(self) -> None:
        self.is_reusable = False
        if not self._is_until_close:
            _refuse("it is cut off")
        self.is_complete = True


def _verify_start(status: int, version: str) -> None:
    if version not in _VERSIONS or status < 100 or status == _SWITCHING_PROTOCOLS:
        _refuse(f"it is a {status} of HTTP/{version}")


def _is_chunked(fields: Fields) -> bool:
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if codings and [coding.lower() for coding in codings] != [b"chunked"]:
        _refuse("its transfer coding is not chunked")
    return bool(codings)


def _refuse(detail: str) -> NoReturn:
    raise Refused(refusals.PROTOCOL, detail)
