"""Tiles and entry bundles: how a tree is cut into immutable files (C2SP tlog-tiles).

Tile (L, N) holds the hashes at positions N*256 .. N*256+255 of tile level L, and the
hash at position p of level L is the root over leaves p*256**L .. (p+1)*256**L - 1. Only
full tiles are hashed upward.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.errors import Refused, TooLarge
from registry.tlog import refusals
from registry.tlog.merkle import HASH_BYTES

TILE_WIDTH = 256
TILE_HEIGHT = 8  # binary levels between two tile levels
MAX_LEVEL = 63
MAX_INDEX = 2**55 - 1  # so that every position within the tile stays below 2**63
MAX_ENTRY_BYTES = 65_535
MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES)

_PATH = re.compile(
    r"tile/(?P<level>entries|[0-9]|[1-9][0-9])"
    r"/(?P<index>(?!x000/)(?:x[0-9]{3}/){0,5}[0-9]{3})"
    r"(?:\.p/(?P<width>[1-9][0-9]{0,2}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HashRun:
    """Neighbouring hashes of one tile level: positions first .. first + count - 1."""

    level: int
    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tile: level 0..63; index 0..2**55-1; width 1..256, where 256 is a full tile."""

    level: int
    index: int
    width: int = TILE_WIDTH

    @property
    def run(self) -> HashRun:
        first = self.index * TILE_WIDTH
        return HashRun(level=self.level, first=first, count=self.width)

    @property
    def full(self) -> "Tile":
        return Tile(level=self.level, index=self.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The entries index*256 .. index*256 + width - 1."""

    index: int
    width: int = TILE_WIDTH

    @property
    def first(self) -> int:
        return self.index * TILE_WIDTH

    @property
    def full(self) -> "Bundle":
        return Bundle(index=self.index)


def hash_count(size: int, level: int) -> int:
    """Return the number of hashes at tile level `level` in a tree of that size."""
    return size >> (TILE_HEIGHT * level)


def is_in_tree(part: Tile | Bundle, size: int) -> bool:
    """Return whether a tree of that size fills the tile or bundle to its width."""
    level = part.level if isinstance(part, Tile) else 0
    return part.index * TILE_WIDTH + part.width <= hash_count(size, level)


def tile_of_run(run: HashRun, size: int) -> Tile:
    """Return the tile that holds the run, as wide as it is in a tree of that size.

    run: must not cross the border of a tile.
    """
    index = run.first // TILE_WIDTH
    there = hash_count(size, run.level) - index * TILE_WIDTH
    return Tile(level=run.level, index=index, width=min(there, TILE_WIDTH))


def tiles_of(size: int) -> Iterator[Tile]:
    """Yield the tiles of a tree, level by level, left to right."""
    level = 0
    while hashes := hash_count(size, level):
        for index, width in _cut(hashes):
            yield Tile(level=level, index=index, width=width)
        level += 1


def bundles_of(size: int) -> Iterator[Bundle]:
    return (Bundle(index=index, width=width) for index, width in _cut(size))


def format_tile_path(part: Tile | Bundle) -> str:
    """Format `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`, no leading slash."""
    level = str(part.level) if isinstance(part, Tile) else "entries"
    suffix = "" if part.width == TILE_WIDTH else f".p/{part.width}"
    return f"tile/{level}/{_format_index(part.index)}{suffix}"


def parse_tile_path(path: str) -> Tile | Bundle:
    """Parse a path. Raises: Refused on any form that format_tile_path does not give."""
    match = _PATH.fullmatch(path)
    if match is None:
        raise Refused(refusals.TILE_PATH_MALFORMED)
    index = int(match["index"].replace("x", "").replace("/", ""))
    width = int(match["width"] or TILE_WIDTH)
    if index > MAX_INDEX or (match["width"] and width >= TILE_WIDTH):
        raise Refused(refusals.TILE_PATH_MALFORMED, "no tile has this index or width")
    if match["level"] == "entries":
        return Bundle(index=index, width=width)
    if int(match["level"]) > MAX_LEVEL:
        raise Refused(refusals.TILE_PATH_MALFORMED, f"the highest level is {MAX_LEVEL}")
    return Tile(level=int(match["level"]), index=index, width=width)


def parse_tile(data: bytes, width: int) -> tuple[bytes, ...]:
    """Split a tile into hashes. Raises: Refused unless there are exactly width of them."""
    if len(data) != width * HASH_BYTES:
        raise Refused(
            refusals.TILE_MALFORMED, f"{len(data)} bytes, expected {width * HASH_BYTES}"
        )
    return tuple(data[i : i + HASH_BYTES] for i in range(0, len(data), HASH_BYTES))


def encode_bundle(entries: Sequence[bytes]) -> bytes:
    """Encode 1..256 entries of at most MAX_ENTRY_BYTES each. Raises: TooLarge."""
    for entry in entries:
        if len(entry) > MAX_ENTRY_BYTES:
            raise TooLarge(refusals.ENTRY_TOO_LARGE, f"{len(entry)} bytes")
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)


def parse_bundle(data: bytes, width: int) -> tuple[bytes, ...]:
    """Split a bundle. Raises: Refused unless the bytes are exactly width entries."""
    entries: list[bytes] = []
    position = 0
    while position < len(data) and len(entries) < width:
        start = position + 2
        end = start + int.from_bytes(data[position:start], "big")
        if start > len(data) or end > len(data):
            raise Refused(refusals.BUNDLE_MALFORMED, f"entry {len(entries)} is cut off")
        entries.append(data[start:end])
        position = end
    if position != len(data) or len(entries) != width:
        raise Refused(refusals.BUNDLE_MALFORMED, f"not exactly {width} entries")
    return tuple(entries)


def _cut(hashes: int) -> Iterator[tuple[int, int]]:
    full, rest = divmod(hashes, TILE_WIDTH)
    for index in range(full):
        yield index, TILE_WIDTH
    if rest:
        yield full, rest


def _format_index(index: int) -> str:
    text = f"{index % 1000:03d}"
    while index := index // 1000:
        text = f"x{index % 1000:03d}/{text}"
    return text
