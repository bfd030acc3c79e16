"""What a report needs of a packed ranking, without spelling it out.

A packed record (`packing`) holds its runs as bytes behind the deflated text, so that the
order of a ranking is already the numbers of its sites, side by side.
"""

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from registry.audit.disclosure import parse_disclosure
from registry.audit.packed_scores import SITES, TIES, TOTALS
from registry.audit.packing import (
    DICTIONARY,
    DISCLOSED,
    SALTED,
    SCORES,
    TEXT,
    WINDOW,
    unpack,
    unpack_disclosure,
)
from registry.sites.identifier import parse_site_id

# Lists as sets of characters: nothing is repeated that would have to be tried again.
_LINE = re.compile(
    rb'\{"_sd":\[([\x01",]*)\],"_sd_alg":"sha-256","id":"\x02","k":[0-9]+'
    rb',"kind":"ranking","n":([0-9]+),"op":"(\x01|[!#-\[\]-~]+)"(?:,"opn":[0-9]+)?'
    rb',"order":\[([\x03",]*)\]'
)
_DIGEST_BYTES, _ULID_BYTES, _SITE_BYTES = 32, 16, 8

# Of `packed_scores`.
_FACTORS, _FACTORS_WINDOW = 5, -10
_SEED_BYTES, _TIE_BYTES, _TOTAL_BYTES = 32, 8, 4

Factors = npt.NDArray[np.int64]


class PackedRankings(NamedTuple):
    """Columns. operators: as they stand in the records. orders: eight bytes a site."""

    operators: tuple[bytes, ...] = ()
    eligible: tuple[int, ...] = ()
    orders: tuple[bytes, ...] = ()


def read_packed_value(name: str, packed: bytes) -> object:
    """The value of a disclosure of `packing.pack_disclosure`."""
    if packed[0] == DISCLOSED:
        return msgspec.json.decode(unpack(packed[SALTED:]))
    return parse_disclosure(unpack_disclosure(name, packed)).value


def read_packed_factors(packed: bytes, count: int) -> Factors | None:
    """Of the sites of the record's order, shape (count, 5); None in any other form.

    packed: of `packing.pack_disclosure`, the scores. Nothing is computed again that is
    not asked for, such as tie keys.
    """
    if packed[0] != SCORES or packed[SALTED] & SITES or packed[SALTED + 1] != count:
        return None
    begin = SALTED + 2 + (_TIE_BYTES * count if packed[SALTED] & TIES else _SEED_BYTES)
    begin += _TOTAL_BYTES * count if packed[SALTED] & TOTALS else 0
    columns = zlib.decompress(packed[begin:], _FACTORS_WINDOW)
    halves = np.frombuffer(columns, np.uint8).reshape(_FACTORS, 2, count)
    factors: Factors = (halves[:, 0].astype(np.int64) << 8 | halves[:, 1]).T
    return factors


class _Line(msgspec.Struct):
    n: int
    op: str
    order: tuple[str, ...]


def read_packed_rankings(packed: Iterable[bytes]) -> PackedRankings:
    """packed: of `packing.pack`, ranking records. Raises: ValueError, zlib.error."""
    return PackedRankings(*zip(*map(_read, packed), strict=True))


def _read(packed: bytes) -> tuple[bytes, int, bytes]:
    if packed[0] == TEXT:
        begin = 3 + (packed[1] << 8 | packed[2])
        inflate = zlib.decompressobj(WINDOW, zdict=DICTIONARY)
        if found := _LINE.match(inflate.decompress(packed[3:begin])):
            digests, eligible, operator, order = found.groups()
            begin += digests.count(b"\1") * _DIGEST_BYTES + _ULID_BYTES
            if operator == b"\1":
                operator = b64encode(packed[begin : begin + _DIGEST_BYTES], b"-_")[:-1]
                begin += _DIGEST_BYTES
            end = begin + order.count(b"\3") * _SITE_BYTES
            return operator, int(eligible), packed[begin:end]
    return _read_plain(unpack(packed))


def _read_plain(body: bytes) -> tuple[bytes, int, bytes]:
    """Any other form that a record may have."""
    line = msgspec.json.decode(body, type=_Line)
    order = (parse_site_id(site).to_bytes(_SITE_BYTES, "big") for site in line.order)
    return line.op.encode(), line.n, b"".join(order)
