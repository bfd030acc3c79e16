"""Packed rankings of a block put in columns; compiled, or one by one in Python.

Both come to the same. What is compiled reads bodies of the form that is written today;
where a block has any other, Python reads the whole of it.
"""

import ctypes
from base64 import urlsafe_b64encode
from ctypes import c_int64, c_void_p
from typing import NamedTuple

import numpy as np

from registry.audit.packed_ranking import read_packed_rankings
from registry.audit.packing import DICTIONARY
from registry.compiled.library import find_library, pointers_to
from registry.db.equal_texts import Texts
from registry.fairness.arrays import Booleans, Integers, Numbers

_SITE_BYTES = 8
_THUMBPRINT = b"\1"


class Bodies(NamedTuple):
    """operator: of each, an index into names, which may repeat each other.

    orders: ids of sites, one ranking after the other, as many of each as counts say.
    """

    names: tuple[str, ...]
    operator: Numbers
    eligible: Integers
    counts: Numbers
    orders: Integers

    def only(self, kept: Booleans) -> "Bodies":
        return Bodies(
            self.names,
            self.operator[kept],
            self.eligible[kept],
            self.counts[kept],
            self.orders[np.repeat(kept, self.counts)],
        )


def read_bodies(packed: Texts) -> Bodies:
    """packed: of `packing.pack`, ranking records. Raises: ValueError, zlib.error."""
    library = find_library()
    read = None if library is None else read_compiled(packed, library)
    return read_plainly(packed) if read is None else read


def read_plainly(packed: Texts) -> Bodies:
    told = read_packed_rankings(map(packed.__getitem__, range(len(packed))))
    names = dict.fromkeys(told.operators)
    index = {name: number for number, name in enumerate(names)}
    return Bodies(
        tuple(name.decode() for name in names),
        np.array([index[one] for one in told.operators], np.int32),
        np.array(told.eligible, np.int64),
        np.array([len(order) // _SITE_BYTES for order in told.orders], np.int32),
        np.frombuffer(b"".join(told.orders), ">i8").astype(np.int64),
    )


class _Packed(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("bytes", "at", "lengths")),
        ("bodies", c_int64),
        *(("dictionary", c_void_p), ("dictionary_length", c_int64)),
    ]


class _Rankings(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("eligible", "orders")),
        *((name, c_void_p) for name in ("operator_at", "operator_length")),
        *((name, c_void_p) for name in ("counts", "operators")),
        ("room", c_int64),
    ]


def read_compiled(packed: Texts, library: ctypes.CDLL) -> Bodies | None:
    """None where one is of another form."""
    room = int(packed.lengths.sum())
    dictionary = np.frombuffer(DICTIONARY, np.uint8)
    eligible, at, length = (np.empty(len(packed), np.int64) for _ in range(3))
    counts = np.empty(len(packed), np.int32)
    orders = np.empty(room // _SITE_BYTES, np.int64)
    operators = np.empty(room, np.uint8)
    inwards = _Packed(
        *(*pointers_to(packed.data, packed.at, packed.lengths), len(packed)),
        *(*pointers_to(dictionary), len(dictionary)),
    )
    outwards = _Rankings(
        *pointers_to(eligible, orders, at, length, counts, operators), len(operators)
    )
    library.read_rankings.restype = c_int64
    read = library.read_rankings(ctypes.byref(inwards), ctypes.byref(outwards))
    if read < len(packed):
        return None
    texts = Texts(operators, at, length)
    distinct, operator = texts.distinct()
    return Bodies(
        tuple(_spell(texts[one]) for one in distinct.tolist()),
        operator.astype(np.int32),
        eligible,
        counts,
        orders[: int(counts.sum())].copy(),
    )


def _spell(operator: bytes) -> str:
    if operator.startswith(_THUMBPRINT):
        return urlsafe_b64encode(operator[1:]).decode().rstrip("=")
    return operator.decode()
