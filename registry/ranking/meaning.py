"""What goes into an encoder, and what comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

Words = Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteWords:
    """A site's content words, masked. about: of category and description.

    names, descriptions, parameters: one entry an action each, in its order.
    """

    about: Words
    names: Sequence[Words]
    descriptions: Sequence[Words]
    parameters: Sequence[Words]


class Meaning(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Of a request. vector: `vectors.DIMENSIONS` signed bytes, not all zero by itself.

    confidence_bp: the share of the letters that stand in meaningful pieces of words.
    """

    vector: bytes
    confidence_bp: int
