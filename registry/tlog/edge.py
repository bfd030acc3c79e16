"""The right edge of a growing tree: all that is needed to append to it.

The edge holds the hashes of the one incomplete tile of each tile level, at most 255 of
them, so appending to a log of any size touches a few kilobytes. A caller that stores the leaf
hashes (level 0) and the node hashes that `append` returns (levels 1 and up) can serve
every tile as rows N*256 .. N*256+W-1 of level L.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from registry.tlog.merkle import EMPTY_ROOT, check_hash, tree_root
from registry.tlog.refusals import ProofInvalid
from registry.tlog.tiles import TILE_WIDTH, HashRun, hash_count

ReadRun = Callable[[HashRun], Sequence[bytes]]
"""Returns the hashes of a run in order, exactly run.count of them."""


class NodeHash(NamedTuple):
    """The root of a completed tile, at its position one tile level (>= 1) above it."""

    level: int
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEdge:
    """The right edge. levels[L]: hashes of the incomplete tile of level L, may be empty.

    Raises: ProofInvalid if the hashes are not as many as the size demands.
    """

    size: int = 0
    levels: tuple[tuple[bytes, ...], ...] = ()

    def __post_init__(self) -> None:
        if tuple(map(len, self.levels)) != _widths(self.size):
            raise ProofInvalid(f"these hashes are no edge of a tree of {self.size}")
        for level in self.levels:
            for value in level:
                check_hash(value)

    def append(self, leaf_hashes: Sequence[bytes]) -> tuple["TreeEdge", list[NodeHash]]:
        """Return the edge after these leaves, and the roots of the tiles they complete."""
        levels: list[tuple[bytes, ...]] = []
        nodes: list[NodeHash] = []
        arriving = tuple(leaf_hashes)
        while arriving or len(levels) < len(self.levels):
            level = len(levels)
            if level > 0:
                start = hash_count(self.size, level)
                nodes += [
                    NodeHash(level, position, value)
                    for position, value in enumerate(arriving, start)
                ]
            present = self.levels[level] if level < len(self.levels) else ()
            arriving, rest = _complete((*present, *arriving))
            levels.append(rest)
        size = self.size + len(leaf_hashes)
        return TreeEdge(size=size, levels=tuple(levels)), nodes

    def root(self) -> bytes:
        """Compute the root; all behind a level's last full tile is one ragged node above."""
        ragged: tuple[bytes, ...] = ()
        for level in self.levels:
            hashes = (*level, *ragged)
            ragged = (tree_root(hashes),) if hashes else ()
        return ragged[0] if ragged else EMPTY_ROOT


def edge_runs(size: int) -> tuple[HashRun, ...]:
    """Return the runs of hashes from which the edge of a tree of that size is rebuilt."""
    return tuple(
        HashRun(level=level, first=hash_count(size, level) - width, count=width)
        for level, width in enumerate(_widths(size))
        if width > 0
    )


def rebuild_edge(size: int, read: ReadRun) -> TreeEdge:
    """Rebuild the edge from stored hashes; read is called for each of edge_runs(size).

    Compare root() with the signed checkpoint before appending. Raises: ProofInvalid.
    """
    hashes = {run.level: tuple(read(run)) for run in edge_runs(size)}
    levels = tuple(hashes.get(level, ()) for level in range(len(_widths(size))))
    return TreeEdge(size=size, levels=levels)


def _widths(size: int) -> tuple[int, ...]:
    """Return the width of each level's incomplete tile: the digits of size to base 256."""
    digits = []
    while size > 0:
        size, digit = divmod(size, TILE_WIDTH)
        digits.append(digit)
    return tuple(digits)


def _complete(hashes: tuple[bytes, ...]) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return the roots of the full tiles, and the hashes of the incomplete one."""
    end = len(hashes) // TILE_WIDTH * TILE_WIDTH
    starts = range(0, end, TILE_WIDTH)
    roots = tuple(tree_root(hashes[start : start + TILE_WIDTH]) for start in starts)
    return roots, hashes[end:]
