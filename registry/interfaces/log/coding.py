"""Negotiation of gzip (RFC 9110, section 12.5.3)."""

import re

_ZERO = re.compile(r"q=0(\.0{0,3})?", re.IGNORECASE)
_MOST = 32  # codings are a handful; nobody gets to send us through a long list


def accepts_gzip(accept_encoding: str) -> bool:
    """accept_encoding: the header's value, "" without one: then nothing was asked for."""
    taken = {}
    for item in accept_encoding.split(",", _MOST)[:_MOST]:
        coding, _, weight = item.partition(";")
        taken[coding.strip().lower()] = not _ZERO.fullmatch(weight.strip())
    return taken.get("gzip", taken.get("x-gzip", taken.get("*", False)))
