"""The answer to an HTTP/1.1 request, read as it comes (RFC 9112). Pure: no socket here.

Strict where two readers may differ: one Content-Length, no transfer coding but chunked,
no line that is no field. h11 reads the same at several times the cost; the tests compare
the two.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from crawler import refusals
from registry.errors import Refused

MAX_HEAD_BYTES = 100 * 1024
_MAX_SIZE_LINE = 1024
_MAX_DIGITS = 20

_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9]) ([0-9]{3})(?: [^\x00\n\v\f\r]*)?")
_TOKEN = re.compile(rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_UNFIT = re.compile(rb"[\x00\n\v\f\r]")
_DIGITS = re.compile(rb"[0-9]+")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,20})[ \t]*(?:;[^\n]*)?")
_BLANK_LINE = re.compile(rb"\n\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]+")
_FIELD = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+:[^\x00\n\v\f\r]*\r?"
# Without a fold, as nearly all are: then each is told apart without another look.
_PLAIN_FIELDS = re.compile(rb"(?>(?:%b\n)*)%b" % (_FIELD, _FIELD))
_FRAMING = frozenset({b"connection", b"content-length", b"transfer-encoding"})
_WITHOUT_BODY = frozenset({204, 304})
_SWITCHING = 101

Fields = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Head:
    """fields: names in lower case. may_follow: another answer, on this connection.

    framing: those of the fields that say where it ends.
    """

    status: int
    fields: Fields
    may_follow: bool
    framing: Fields


class Incoming:
    """What came and was not read yet. is_over: nothing more will come."""

    def __init__(self) -> None:
        self.is_over = False
        self._bytes = bytearray()
        self._searched = 0

    def __len__(self) -> int:
        return len(self._bytes)

    def add(self, arrived: bytes) -> None:
        """b"" says that it is over."""
        self.is_over = self.is_over or not arrived
        self._bytes += arrived

    def starts_with(self, letter: bytes) -> bool:
        """As far as it is here."""
        return not self._bytes or self._bytes.startswith(letter)

    def take(self, at_most: int) -> bytes:
        taken = bytes(self._bytes[:at_most])
        del self._bytes[:at_most]
        self._searched = 0
        return taken

    def take_line(self, at_most: int) -> bytes | None:
        """To its CRLF; None: it is not all here. Raises: Refused."""
        end = self._bytes.find(b"\r\n", 0, at_most)
        if end < 0:
            self._verify_growing(at_most)
            return None
        return self.take(end + 2)[:-2]

    def take_block(self) -> bytes | None:
        """What stands before a blank line; None: it is not all here. Raises: Refused."""
        for blank in (b"\r\n", b"\n"):
            if self._bytes.startswith(blank):
                self.take(len(blank))
                return b""
        found = _BLANK_LINE.search(self._bytes, self._searched)
        if found is None:
            self._searched = max(0, len(self._bytes) - 2)
            self._verify_growing(MAX_HEAD_BYTES)
            return None
        start, end = found.span()
        return self.take(end)[:start]

    def _verify_growing(self, at_most: int) -> None:
        if len(self._bytes) > at_most:
            _refuse("a line or a head is too long")
        if self.is_over:
            _refuse("it ends halfway")


class Answer:
    """To one request: its head, after those that only inform, and its body."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming
        self._head: Head | None = None
        self._body: _Body = _Sized(0)
        self.is_whole = False

    @property
    def may_be_followed(self) -> bool:
        """Whether the connection can bring the next one."""
        is_kept = self._head is not None and self._head.may_follow
        return is_kept and self.is_whole and not len(self._incoming)

    def read_head(self) -> Head | None:
        """None: more is needed. Raises: Refused."""
        while self._head is None:
            if not self._incoming.starts_with(b"H"):
                _refuse("it does not answer in HTTP")
            block = self._incoming.take_block()
            if block is None:
                return None
            head = _parse_head(block)
            if head.status >= 200:
                self._head, self._body = head, _body_of(head)
            elif head.status < 100 or head.status == _SWITCHING:
                _refuse(f"its status is {head.status}")
        return self._head

    def read_body(self) -> bytes | None:
        """Some of it, b"" at its end; None: more is needed. Raises: Refused."""
        part = b"" if self.is_whole else self._body.read(self._incoming)
        self.is_whole = part == b""
        return part


class _Body(Protocol):
    def read(self, incoming: Incoming) -> bytes | None:
        """As `Answer.read_body`."""


class _Sized:
    def __init__(self, length: int) -> None:
        self._left = length

    def read(self, incoming: Incoming) -> bytes | None:
        if self._left == 0:
            return b""
        part = incoming.take(self._left)
        self._left -= len(part)
        if not part and incoming.is_over:
            _refuse(f"{self._left} bytes of the body are missing")
        return part or None


class _UntilEnd:
    def read(self, incoming: Incoming) -> bytes | None:
        if len(incoming):
            return incoming.take(len(incoming))
        return b"" if incoming.is_over else None


class _Chunked:
    """Chunk by chunk; after the last come fields, which say nothing here."""

    def __init__(self) -> None:
        self._left = 0
        self._awaits_end = False
        self._is_last = False

    def read(self, incoming: Incoming) -> bytes | None:
        if self._left == 0 and not self._is_last and not self._begin(incoming):
            return None
        if self._is_last:
            return self._end(incoming)
        part = incoming.take(self._left)
        self._left -= len(part)
        if not part and incoming.is_over:
            _refuse("a chunk is cut off")
        return part or None

    def _begin(self, incoming: Incoming) -> bool:
        if self._awaits_end and incoming.take_line(len(b"\r\n")) is None:
            return False
        self._awaits_end = False
        line = incoming.take_line(_MAX_SIZE_LINE)
        if line is None:
            return False
        size = _SIZE.fullmatch(line)
        if size is None:
            _refuse(f"{line[:40]!r} is no size of a chunk")
        self._left = int(size[1], 16)
        self._is_last, self._awaits_end = self._left == 0, True
        return True

    @staticmethod
    def _end(incoming: Incoming) -> bytes | None:
        trailers = incoming.take_block()
        if trailers is None:
            return None
        if trailers:
            _parse_fields(trailers)
        return b""


def _body_of(head: Head) -> _Body:
    """RFC 9112, 6.3, of an answer to GET or POST."""
    if head.status in _WITHOUT_BODY:
        return _Sized(0)
    if _values(head.framing, b"transfer-encoding"):
        return _Chunked()
    lengths = _values(head.framing, b"content-length")
    return _Sized(int(lengths[0])) if lengths else _UntilEnd()


def _parse_head(block: bytes) -> Head:
    line, _, rest = block.partition(b"\n")
    found = _STATUS_LINE.fullmatch(line.removesuffix(b"\r"))
    if found is None:
        _refuse(f"{line[:40]!r} is no status line")
    fields = _parse_fields(rest) if rest else []
    framing = _verify_coding([one for one in fields if one[0] in _FRAMING])
    closes = b"close" in _listed(_values(framing, b"connection"))
    lengths = _values(framing, b"content-length")
    if len(lengths) > 1 or (lengths and not _is_length(lengths[0])):
        fields, framing = (
            _with_one_length(some, lengths) for some in (fields, framing)
        )
    return Head(
        status=int(found[2]),
        fields=fields,
        may_follow=found[1] != b"0" and not closes,
        framing=framing,
    )


def _parse_fields(block: bytes) -> Fields:
    if _PLAIN_FIELDS.fullmatch(block):
        parts = [line.partition(b":") for line in block.split(b"\n")]
        return [(name.lower(), value.strip(b" \t\r")) for name, _, value in parts]
    lines = _FOLD.sub(b" ", block).split(b"\n")
    return [_parse_field(line.removesuffix(b"\r")) for line in lines]


def _parse_field(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    value = value.strip(b" \t")
    if not colon or not _TOKEN.fullmatch(name) or _UNFIT.search(value):
        _refuse(f"{line[:40]!r} is no header field")
    return name.lower(), value


def _verify_coding(fields: Fields) -> Fields:
    codings = _values(fields, b"transfer-encoding")
    if codings and [one.lower() for one in codings] != [b"chunked"]:
        _refuse("its transfer coding is not chunked")
    return fields


def _is_length(told: bytes) -> bool:
    return len(told) <= _MAX_DIGITS and _DIGITS.fullmatch(told) is not None


def _with_one_length(fields: Fields, told: Sequence[bytes]) -> Fields:
    """Equal ones are one (RFC 9110, 8.6)."""
    lengths = {one.strip() for value in told for one in value.split(b",")}
    length = lengths.pop()
    if lengths or not _is_length(length):
        _refuse("its Content-Length is not one number")
    others = [field for field in fields if field[0] != b"content-length"]
    return [*others, (b"content-length", length)]


def _values(fields: Fields, name: bytes) -> list[bytes]:
    return [value for key, value in fields if key == name]


def _listed(values: Sequence[bytes]) -> set[bytes]:
    return {one.strip().lower() for value in values for one in value.split(b",")}


def _refuse(detail: str) -> NoReturn:
    raise Refused(refusals.PROTOCOL, detail)
