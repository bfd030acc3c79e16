"""Input and output of an encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

Words = Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteWords:
    """A site's content words, masked. about: of category and description.

    names, descriptions, parameters: an entry for each action, in order. texts: what
    category and description say, then each action, masked but otherwise as written; to
    be read once.
    """

    about: Words
    names: Sequence[Words]
    descriptions: Sequence[Words]
    parameters: Sequence[Words]
    texts: Iterable[str] = ()


class Meaning(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The meaning of a request. vector: `vectors.DIMENSIONS` signed bytes.

    confidence_bp: what a cosine is multiplied by: the share of the letters in meaningful
    pieces of words, and beyond FULL what a part of the vector lacks that says nothing.
    """

    vector: bytes
    confidence_bp: int
