"""Rows from encoded profiles: compiled, the bytes are walked as they are; else parsed.

Both come to the same rows. Compiled, only the form in which profiles are written is
read, and any other is parsed.
"""

import ctypes
from ctypes import c_char_p, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.index.columns.rows import KEYWORD_IMPACT, Bodies, Rows, join, rows_of
from registry.index.columns.runs import Runs, starts_of
from registry.ranking.policy import FULL, Policy
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.relevance import IMPACT_FULL
from registry.ranking.vectors import SITE_BYTES

_FIELDS = 8
_SLOTS, _SLOT_BYTES = 1 << 18, 64
_PLAIN, _OTHER_FORM = 0, 2
_NO_MEMORY = -2


@dataclass(frozen=True, slots=True)
class Read:
    """rows: in the order of the bodies. left_out: profiles of another policy or form."""

    rows: Rows
    left_out: int


class Memory:
    """What terms hash to, of bodies that are read one after the other by one thread.

    hashes, impacts: room for those of some bodies, whose pages are at hand for the next.
    """

    def __init__(self) -> None:
        self.slots = np.zeros((_SLOTS + 1) * _SLOT_BYTES, np.uint8)
        self.profiles = 0
        self.hashes = np.empty(0, np.uint64)
        self.impacts = np.empty(0, np.uint8)

    def make_room(self, terms: int) -> None:
        if len(self.hashes) < terms:
            self.hashes = np.empty(terms, np.uint64)
            self.impacts = np.empty(terms, np.uint8)


def read_rows(bodies: Bodies, policy: Policy, memory: Memory | None = None) -> Read:
    """memory: of earlier ones, if there are. Raises: MemoryError."""
    library = find_library()
    if library is None:
        return read_plainly(bodies, policy)
    return read_compiled(bodies, policy, library, memory or Memory())


def read_plainly(bodies: Bodies, policy: Policy) -> Read:
    found = [_parse(bodies[number]) for number in range(len(bodies.runs))]
    kept = [one for one in found if one and one.policy == policy.digest]
    return Read(rows_of(kept, policy), len(found) - len(kept))


def _parse(body: bytes) -> Profile | None:
    """None for the bytes of a release whose profiles had other members."""
    try:
        return parse_profile(body)
    except msgspec.DecodeError:
        return None


# ---- compiled ----


class _Rules(ctypes.Structure):
    _fields_ = [
        ("policy", c_char_p),
        ("policy_bytes", c_int64),
        ("weights", c_int64 * 4),
        *((name, c_int64) for name in ("k1", "b", "pivot", "full")),
        *((name, c_int64) for name in ("impact_full", "keyword_impact")),
    ]


_COLUMNS = (
    *("site_ids", "publishers", "lengths", "depth", "quality", "reciprocals"),
    *("changed_s", "flags", "embeddings", "status", "impacts", "vectors", "hashes"),
)


class _Columns(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in _COLUMNS]


def read_compiled(
    bodies: Bodies, policy: Policy, library: ctypes.CDLL, memory: Memory
) -> Read:
    """See `csrc/profiles.c`. Raises: MemoryError."""
    runs = _in_one_array(bodies.runs)
    columns, terms = _walk(runs, policy, library, memory)
    status = columns["status"]
    plain = np.flatnonzero(status == _PLAIN)
    rows = _rows(columns, terms, plain, Bodies(runs.take(plain)))
    others = np.flatnonzero(status == _OTHER_FORM)
    if not len(others):
        return Read(rows, len(runs) - len(plain))
    return _with_parsed(rows, plain, runs, others, policy)


def _in_one_array(runs: Runs[np.uint8]) -> Runs[np.uint8]:
    if len(runs.arrays) == 1:
        return runs
    return Runs.of(starts_of(runs.lengths), runs.packed())


def _walk(
    runs: Runs[np.uint8], policy: Policy, library: ctypes.CDLL, memory: Memory
) -> tuple[dict[str, npt.NDArray[Any]], int]:
    """Columns of all bodies, and how many terms there are in those that were read."""
    # Each term has a byte of a body at least, but for unknown values.
    memory.make_room(int(runs.lengths.sum()) + _FIELDS * len(runs))
    columns = _empty(len(runs), memory)
    told = _Columns(**{name: columns[name].ctypes.data for name in _COLUMNS})
    content = np.ascontiguousarray(runs.arrays[0])
    starts = np.ascontiguousarray(runs.starts)
    lengths = np.ascontiguousarray(runs.lengths)
    library.read_profiles.restype = c_int64
    terms = library.read_profiles(
        *(pointer_to(content), pointer_to(starts), pointer_to(lengths)),
        *(c_int64(len(runs)), c_int64(int(lengths.max(initial=0)))),
        *(pointer_to(memory.slots), c_int64(memory.profiles)),
        *(ctypes.byref(_rules(policy)), ctypes.byref(told)),
    )
    if terms == _NO_MEMORY:
        raise MemoryError
    memory.profiles += len(runs)
    return columns, terms


def _empty(count: int, memory: Memory) -> dict[str, npt.NDArray[Any]]:
    return {
        "site_ids": np.zeros(count, np.int64),
        "publishers": np.zeros(count, np.int64),
        "lengths": np.zeros(count, np.int64),
        "depth": np.zeros(count, np.uint16),
        "quality": np.zeros(count, np.uint16),
        "reciprocals": np.zeros(count, np.uint16),
        "changed_s": np.zeros(count, np.uint32),
        "flags": np.zeros(count, np.uint8),
        "embeddings": np.zeros((count, SITE_BYTES), np.uint8),
        "status": np.zeros(count, np.uint8),
        "impacts": memory.impacts,
        "vectors": np.zeros((count, 3), np.int32),
        "hashes": memory.hashes,
    }


def _rules(policy: Policy) -> _Rules:
    digest = policy.digest.encode()
    return _Rules(
        policy=digest,
        policy_bytes=len(digest),
        weights=(
            policy.action_name_weight_milli,
            policy.description_weight_milli,
            policy.parameter_weight_milli,
            policy.site_weight_milli,
        ),
        k1=policy.bm25_k1_milli,
        b=policy.bm25_b_bp,
        pivot=policy.length_pivot_milli,
        full=FULL,
        impact_full=IMPACT_FULL,
        keyword_impact=KEYWORD_IMPACT,
    )


def _rows(
    columns: dict[str, npt.NDArray[Any]],
    terms: int,
    plain: npt.NDArray[np.int64],
    bodies: Bodies,
) -> Rows:
    names = (
        *("site_ids", "publishers", "depth", "quality", "changed_s", "flags"),
        *("vectors", "embeddings", "reciprocals"),
    )
    return Rows(
        **{name: columns[name][plain] for name in names},
        leaders=np.zeros(len(plain), np.int64),
        bodies=bodies,
        starts=starts_of(columns["lengths"][plain]),
        # Copied: the next bodies take the room.
        hashes=columns["hashes"][:terms].copy(),
        impacts=columns["impacts"][:terms].copy(),
    )


def _with_parsed(
    rows: Rows,
    plain: npt.NDArray[np.int64],
    runs: Runs[np.uint8],
    others: npt.NDArray[np.int64],
    policy: Policy,
) -> Read:
    """others: numbers of bodies of another form; each is told of in its place."""
    found = [_parse(runs[number].tobytes()) for number in others.tolist()]
    kept = [
        (number, one)
        for number, one in zip(others.tolist(), found, strict=True)
        if one and one.policy == policy.digest
    ]
    parsed = rows_of([one for _, one in kept], policy)
    where = np.concatenate([plain, np.array([n for n, _ in kept], np.int64)])
    whole = join([rows, parsed]).take(np.argsort(where))
    return Read(whole, len(runs) - len(whole))
