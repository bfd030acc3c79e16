"""Domains that look alike, for a moderator to review; never for refusal or identity.

A homograph is a legal name, and most names that look alike are honest. So they are
accepted, and shown to moderators. Follows UTS #39, section 4, but coarser and smaller: accents are dropped, and only the commonest confusables of Latin,
Cyrillic, Greek and Armenian are folded. It misses rarer characters, other scripts,
leetspeak (5 for s), inserted hyphens and what looks alike only in capitals (I for l);
and it takes öl.example and ol.example for one.
"""
# ruff: noqa: RUF001  the table of confusables is made of ambiguous characters

import unicodedata
from collections.abc import Iterable

import idna

# What looks alike in lower case in common fonts. Expanding m and w, not contracting
# rn and vv, gives one skeleton to every spelling.
_CONFUSABLES = str.maketrans(
    {
        "0": "o",
        "1": "l",
        "m": "rn",
        "w": "vv",
        # Latin
        "ı": "i",
        "ɑ": "a",
        "ɡ": "g",
        "ł": "l",
        "ø": "o",
        "đ": "d",
        "ħ": "h",
        "þ": "p",
        "æ": "ae",
        "œ": "oe",
        # Cyrillic; the last line are those that look like small capitals
        **dict(zip("аеіјһԁԛорсухѕӏѵ", "aeijhdqopcyxslv", strict=True)),
        **dict(zip("вктнз", "bkth3", strict=True)),
        "м": "rn",
        "ԝ": "vv",
        # Greek
        **dict(zip("αικνορτυχγησ", "aikvoptuxyno", strict=True)),
        "ω": "vv",
        # Armenian
        **dict(zip("օսհոզց", "ouhnqg", strict=True)),
    }
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
    except (idna.IDNAError, UnicodeError):
        shown = label
    folded = unicodedata.normalize("NFKD", shown.casefold())
    bare = "".join(c for c in folded if unicodedata.category(c) != "Mn")
    return bare.translate(_CONFUSABLES)
