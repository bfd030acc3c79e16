"""Disclosures packed from their text, as former code packed those of rankings."""

import struct
from collections.abc import Sequence

from registry.records.disclosure import Opening
from registry.records.packed_scores import SITES, pack_columns, read_columns
from registry.records.packing import (
    DISCLOSED,
    SALTED,
    pack_answer,
    pack_disclosure,
    pack_value,
    unpack,
)
from registry.sites.identifier import format_site_id

NO_SEED = bytes(32)


def pack_opening(
    opening: Opening, order: Sequence[str], seed: bytes | None = None
) -> bytes:
    packed = pack_text(opening.name, opening.disclosure, order, seed)
    return pack_answer(packed[1:SALTED]) if opening.name == "answer" else packed


def pack_text(
    name: str, disclosure: str, order: Sequence[str] = (), seed: bytes | None = None
) -> bytes:
    """Pack any text in the place of a disclosure. order: the sites of the record."""
    packed = pack_disclosure(name, disclosure)
    if name != "scores" or packed[0] != DISCLOSED:
        return packed
    salt, value = packed[1:SALTED], unpack(packed[SALTED:])
    return pack_value(salt, value, _pack_scores(value, order, seed or NO_SEED))


def _pack_scores(value: bytes, order: Sequence[str], seed: bytes) -> bytes | None:
    """Return None for what is not of the form of scores; sites in another order stand whole."""
    columns = read_columns(value)
    try:
        packed = None if columns is None else pack_columns(columns, seed)
    except struct.error:
        return None
    if columns is None or packed is None:
        return None
    if list(map(format_site_id, columns.sites)) == list(order):
        return packed
    sites = struct.pack(f">{len(columns.sites)}Q", *columns.sites)
    return bytes([packed[0] | SITES]) + packed[1:2] + sites + packed[2:]
