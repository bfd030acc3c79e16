"""Evidence for another place than the one that counts for a site."""

from typing import Literal

import msgspec

Evidence = Literal["address", "telephone", "language", "registration"]


class PlaceNote(msgspec.Struct, rename="camel", frozen=True):
    """A note, shown with the entry; no score knows it."""

    kind: Evidence
    detail: str
