"""The whole cast. Every name is invented; `.test` is reserved (RFC 6761, section 6.2).

Its members are data: a file of TOML for each trade, with the fields of `Member`.
"""

from pathlib import Path

import msgspec

from registry.demo.town.member import Member

_TRADES = (
    "eating",
    "caring",
    "mending",
    "travelling",
    "browsing",
    "online",
    "abroad",
)


class _Trade(msgspec.Struct, forbid_unknown_fields=True):
    members: tuple[Member, ...]


def _read(trade: str) -> tuple[Member, ...]:
    file = Path(__file__).with_name("cast") / f"{trade}.toml"
    return msgspec.toml.decode(file.read_bytes(), type=_Trade).members


CAST: tuple[Member, ...] = sum(map(_read, _TRADES), ())
