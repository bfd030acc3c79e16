"""Search of an index: by the compiled kernel, or NumPy where there is none."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library
from registry.index.query.kernel import Kernel
from registry.index.query.oracle import Oracle
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.part import BEFORE_ALL, IndexPart


class IndexSearcher(Protocol):
    """The parts of an index, ready to be searched."""

    def containing(self, hashes: Sequence[int]) -> list[int]:
        """Count the rows of all parts, dead ones too, that have each term."""

    def search(
        self, constants: ScoringParameters, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """Candidates for the first k places whose standing is not before `after`.

        All equals of the last are among them. Then those before it that share a place.
        """

    def eligible(self, constants: ScoringParameters) -> list[npt.NDArray[np.bool_]]:
        """Return, for each part, which of its rows are eligible."""

    def score(
        self, constants: ScoringParameters, part: int, rows: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.void]:
        """The FACTORS of rows of one part."""


def searcher_of(parts: Sequence[IndexPart]) -> IndexSearcher:
    """Prepare parts for the kernel if it was compiled from the sources installed."""
    library = find_library()
    return Oracle(parts) if library is None else Kernel(parts, library)


def is_compiled() -> bool:
    return find_library() is not None
