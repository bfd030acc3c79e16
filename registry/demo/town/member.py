"""Member of the town: one invented business or service, and its story.

A member's actions are written in the registry's own words (`registry.sites.action`),
with names in snake_case; each format spells them in its own way. The cast is
data: a file of TOML for each trade. Every name is invented; `.test` is reserved (RFC 6761,
section 6.2).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from registry.identity.keys.public_keys import Algorithm
from registry.sites.action import Action
from registry.sites.label import Size

Format = Literal["wab", "awp", "awas", "abp", "webmcp"]
Dialect = Literal["", "site-1.2", "edge-3.2", "1.1", "manifest"]
"""WAB dialects in the wild, AWAS 1.1, WebMCP with a manifest; "" is the plain form."""

Story = Literal[
    "honest", "slow", "flaky", "broken", "wrong-key", "changed-after-signing"
]
Defect = Literal["", "missing", "malformed", "soft-404"]
"""Fault of the document of a broken member."""

Proof = Literal["jwks", "dns"]
"""Source of a member's keys: a key set, or the WAB record in the DNS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A site of the cast.

    city: as GeoNames spells it; "" for a service that has no place. signed: whether
    its WAB document carries a signature of kind A. disallow: a path that its robots.txt
    closes. None is undeclared.
    """

    host: str
    name: str
    format: Format
    category: str
    description: str
    actions: tuple[Action, ...]
    city: str = ""
    country: str = ""
    dialect: Dialect = ""
    signed: bool = False
    algorithm: Algorithm = "Ed25519"
    proof: Proof = "jwks"
    story: Story = "honest"
    defect: Defect = ""
    disallow: str = ""
    commission_percent: int | None = None
    is_independent: bool | None = None
    size: Size | None = None

    @property
    def url(self) -> str:
        return f"https://{self.host}/"


_TRADES = ("eating", "caring", "mending", "travelling", "browsing", "online", "abroad")


class _Trade(msgspec.Struct, forbid_unknown_fields=True):
    members: tuple[Member, ...]


def _read(trade: str) -> tuple[Member, ...]:
    file = Path(__file__).with_name("cast") / f"{trade}.toml"
    return msgspec.toml.decode(file.read_bytes(), type=_Trade).members


CAST: tuple[Member, ...] = sum(map(_read, _TRADES), ())
