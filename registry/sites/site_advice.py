"""Advice to a site's owner: a fact that is missing, and what it would bring."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class LastProbe:
    """The newest quality probe of a site: what it asked, got and wants.

    code: of the problem, or "". wanted: the right answer, in words.
    """

    url: str
    outcome: str
    code: str = ""
    got: str = ""
    wanted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A fact to add. gain: of the factor, 0..10000, None if it depends on requests.

    factor: `eligibility` is none of the five; it is about being in an answer at all.

    actions: names of the first ten that lack it, of `count` in all. probe: of advice on
    quality.
    """

    factor: Literal[
        "eligibility", "relevance", "proximity", "capability_depth", "quality"
    ]
    how: str
    gain: int | None = None
    actions: tuple[str, ...] = ()
    count: int = 0
    probe: LastProbe | None = None
