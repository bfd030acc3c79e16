"""Domains that look alike, for a moderator to review; never for refusal or identity.

A homograph is a legal name, and most names that look alike are honest. So they are
accepted, and shown to moderators. Follows UTS #39, section 4, but coarser and smaller: accents are dropped, and only the commonest confusables of Latin,
Cyrillic, Greek and Armenian are folded. It misses rarer characters, other scripts,
leetspeak (5 for s), inserted hyphens and what looks alike only in capitals (I for l);
and it takes öl.example and ol.example for one.
"""

import unicodedata
from collections.abc import Iterable

import idna

from registry.toml_table import read_table

_CONFUSABLES = str.maketrans(
    read_table(__package__, "confusables.toml", dict[str, str])
)


def find_lookalikes(domains: Iterable[str]) -> list[tuple[str, ...]]:
    """Group the domains that look like another of them, in their order.

    domains: A-labels, each once.
    """
    alike: dict[str, list[str]] = {}
    for domain in domains:
        alike.setdefault(skeleton(domain), []).append(domain)
    return [tuple(group) for group in alike.values() if len(group) > 1]


def skeleton(domain: str) -> str:
    """Return the form that look-alike domains share; not itself a host name."""
    return ".".join(map(_skeleton_of_label, domain.split(".")))


def _skeleton_of_label(label: str) -> str:
    try:
        shown = idna.ulabel(label) if label.startswith("xn--") else label
    except UnicodeError:
        shown = label
    folded = unicodedata.normalize("NFKD", shown.casefold())
    bare = "".join(c for c in folded if unicodedata.category(c) != "Mn")
    return bare.translate(_CONFUSABLES)
