"""A block of a window's rows as one statement tells it; no SQL and no I/O here.

The server puts each column of a block in one piece, with a head a row that says how long
its texts are: thousands of values then cost the driver no more than one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.db.equal_texts import Texts
from registry.fairness.arrays import Booleans, Integers

_TEXTS = ("body", "query", "filters")
_HEAD = np.dtype(
    [
        *(("id", "V16"), ("selected", ">i8"), ("has_scores", "?")),
        *((name, ">i4") for name in (*_TEXTS, "eligible")),
    ]
)


class Rows(NamedTuple):
    """Columns. A disclosure that is gone is empty.

    ids: of 16 bytes. selected: a site, NO_SITE or UNREPORTED.
    """

    ids: npt.NDArray[np.void]
    selected: Integers
    has_scores: Booleans
    body: Texts
    query: Texts
    filters: Texts
    eligible: Texts

    @classmethod
    def of(cls, told: Sequence[bytes | None]) -> "Rows":
        """told: heads, texts and samples, as `window_reading` selects them.

        Raises: ValueError where these are not as long as the heads say.
        """
        head, texts, samples = (one or b"" for one in told)
        heads = np.frombuffer(head, _HEAD)
        lengths = np.stack([heads[name] for name in _TEXTS], axis=1).astype(np.int64)
        row = Texts.behind_each_other(texts, lengths.ravel())
        body, query, filters = (
            row.only(slice(one, None, len(_TEXTS))) for one in range(len(_TEXTS))
        )
        return cls(
            heads["id"].copy(),
            heads["selected"].astype(np.int64),
            heads["has_scores"].copy(),
            body,
            query,
            filters,
            Texts.behind_each_other(samples, heads["eligible"].astype(np.int64)),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def only(self, kept: Booleans) -> "Rows":
        return Rows(
            self.ids[kept],
            self.selected[kept],
            self.has_scores[kept],
            self.body.only(kept),
            self.query.only(kept),
            self.filters.only(kept),
            self.eligible.only(kept),
        )
