"""Features: what a site contributes to ranking, as its profile is stored with them.

They are computed once, when a profile is written; an index is built of them as they are.
Bytes, little-endian: one of FEATURES, then the impact of each term, a byte each, then
the hashes of the terms, eight bytes each. What a builder reads of a site are its features
and behind them its encoded profile.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.index.columns.hashes import hash_bytes
from registry.index.columns.rows import Bodies, Rows
from registry.index.columns.runs import Integers, Runs, starts_of
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.ranking.encoders.vectors import SITE_BYTES
from registry.ranking.policy import Policy

_NUMBERS = (
    *(("site_ids", "<i8"), ("publishers", "<i8"), ("changed_s", "<u4")),
    *(("vectors", "<i4", 3), ("depth", "<u2"), ("quality", "<u2")),
    *(("reciprocals", "<u2"), ("flags", "u1"), ("embeddings", "u1", SITE_BYTES)),
    ("signatures", "u1", SIGNATURE_BYTES),
)
"""Columns of `Rows`."""

FEATURES = np.dtype([("policy", "<u8"), ("terms", "<u4"), *_NUMBERS])
"""policy: the hash of its digest. terms: their number."""

_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class ReadRows:
    """rows: in the order in which they are stored. left_out: those of another policy."""

    rows: Rows
    left_out: int


def encode_features(rows: Rows, policy: Policy) -> list[bytes]:
    """Return the features of each row. rows: in the order of what they say."""
    numbers = np.zeros(len(rows), FEATURES)
    numbers["policy"] = hash_bytes(policy.digest.encode())
    numbers["terms"] = np.diff(rows.starts)
    for name, *_ in _NUMBERS:
        numbers[name] = getattr(rows, name)
    starts = rows.starts.tolist()
    hashes = rows.hashes.astype("<u8")
    return [
        own.tobytes() + rows.impacts[start:end].tobytes() + hashes[start:end].tobytes()
        for own, start, end in zip(numbers, starts[:-1], starts[1:], strict=True)
    ]


def read_rows(stored: Bodies, policy: Policy) -> ReadRows:
    """Return the rows of sites, but for those of another policy or form.

    stored: features and profile of each site.
    """
    runs = stored.runs
    runs = runs.take(np.flatnonzero(runs.lengths >= FEATURES.itemsize))
    numbers = _pieces(runs, 0, np.full(len(runs), FEATURES.itemsize)).view(FEATURES)
    terms = numbers["terms"].astype(np.int64)
    is_whole = runs.lengths >= FEATURES.itemsize + (1 + _HASH_BYTES) * terms
    is_own = numbers["policy"] == hash_bytes(policy.digest.encode())
    own = np.flatnonzero(is_whole & is_own)
    rows = _rows(runs.take(own), numbers[own], terms[own])
    return ReadRows(rows, len(stored.runs) - len(rows))


def _rows(runs: Runs[np.uint8], numbers: npt.NDArray[np.void], terms: Integers) -> Rows:
    impacts = FEATURES.itemsize
    hashes = impacts + terms
    profile = hashes + _HASH_BYTES * terms
    sizes = runs.lengths - profile
    return Rows(
        **{name: np.ascontiguousarray(numbers[name]) for name, *_ in _NUMBERS},
        representatives=np.zeros(len(runs), np.int64),
        bodies=Bodies(Runs.of(starts_of(sizes), _pieces(runs, profile, sizes))),
        starts=starts_of(terms),
        hashes=_pieces(runs, hashes, _HASH_BYTES * terms).view("<u8"),
        impacts=_pieces(runs, impacts, terms),
    )


def _pieces(
    runs: Runs[np.uint8], begin: int | Integers, lengths: Integers
) -> npt.NDArray[np.uint8]:
    """Return some bytes of each run, one piece after the other. begin: from its start."""
    return Runs(
        arrays=runs.arrays,
        source=runs.source,
        starts=runs.starts + begin,
        lengths=lengths,
    ).packed()
