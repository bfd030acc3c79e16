"""Labels of sites for reports, each by one source: never an input of ranking.

Size is in the bands of EU Recommendation 2003/361/EC. A chain is named by an identifier
(`alder-bakeries.example`, a Wikidata item in small letters), because it stands in a log
that nobody can erase.
"""

import re
from dataclasses import dataclass
from typing import Literal

Size = Literal["micro", "small", "medium", "large"]
Independence = Literal["independent", "chain"]

MAX_CHAIN_LENGTH = 64
CHAIN = r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?"
PERCENT = r"(?:100|[1-9]?[0-9](?:\.[0-9]?[1-9])?)%"
"""A percentage from 0% to 100% with at most two decimals, spelled in one way only."""

_CHAIN = re.compile(CHAIN)
_PERCENT = re.compile(PERCENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Labels, None where the source has none. commission_percent: 0..100."""

    size: Size | None = None
    independence: Independence | None = None
    chain: str | None = None
    commission_percent: float | None = None

    def __post_init__(self) -> None:
        if self.chain is not None and self.independence != "chain":
            raise ValueError("a site that belongs to a chain is labelled chain")


def parse_chain(text: str) -> str:
    """Check a chain's identifier and return it. Raises: ValueError."""
    if not _CHAIN.fullmatch(text):
        raise ValueError(
            f"must be 1 to {MAX_CHAIN_LENGTH} of a-z, 0-9, dot and hyphen, such as the "
            "domain of the chain"
        )
    return text


def parse_percent(text: str) -> float:
    """Parse a percentage. Raises: ValueError."""
    if not _PERCENT.fullmatch(text):
        raise ValueError('must be from "0%" to "100%", with at most two decimals')
    return float(text[:-1])


def format_percent(percent: float) -> str:
    """Format a percentage, rounded to a hundredth."""
    return f"{round(percent, 2):g}%"
