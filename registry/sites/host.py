"""Host names: the one spelling under which a site is known.

A host is stored as its A-labels (IDNA 2008 after the UTS #46 mapping, STD3 rules,
nontransitional), must lie below a known public suffix, and may be neither an address
in any spelling that a URL parser would take for one (WHATWG URL, "ends in a number")
nor a special-use name (RFC 6761 and the IANA registry).
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

import idna
from publicsuffixlist import PublicSuffixList

from registry.errors import Refused
from registry.sites import refusals

MAX_HOST_LENGTH = 253
TEST_TLD = "test"

# RFC 6761, 6762, 7686, 8375, 9476 and the registry they feed; then the names that
# home and office networks use without having been delegated them (ICANN SAC 062).
_SPECIAL_TLDS = frozenset(
    {"alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion"}
    | {"corp", "home", "intranet", "lan", "localdomain", "mail", "private", TEST_TLD}
)
_DOTS = ".。．｡"  # noqa: RUF001 — every character that IDNA takes for a dot
_JOINERS = "\u200c\u200d"
_URL_DELIMITERS = re.compile(r"[\s:/?#@\\\[\]]")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PLAIN = re.compile(r"[A-Za-z0-9.-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Host:
    """name: A-labels in lower case, no final dot. registrable_domain: eTLD+1 of it."""

    name: str
    registrable_domain: str


@lru_cache(maxsize=4096)  # a visit asks for the same few a dozen times
def parse_host(text: str, *, test_hosts: bool = False) -> Host:
    """Parse a host name. test_hosts: accept .test; for tests and development only.

    Raises: Refused with a kind of `registry.sites.refusals`.
    """
    _verify_bare(text)
    mapped = _map(text)
    if _NUMBER.fullmatch(mapped.rsplit(".", 1)[-1]):
        raise Refused(refusals.IP_LITERAL, f"{_shown(text)} reads as an address")
    name = _encode(mapped)
    if test_hosts and name.endswith(f".{TEST_TLD}"):
        return Host(name, ".".join(name.split(".")[-2:]))
    tld = name.rsplit(".", 1)[-1]
    if tld in _SPECIAL_TLDS:
        raise Refused(refusals.SPECIAL_TLD, f".{tld} is not in the public DNS")
    registrable_domain = _public_suffixes().privatesuffix(name)
    if registrable_domain is None:
        raise Refused(refusals.PUBLIC_SUFFIX, f"{name} is not below a public suffix")
    return Host(name, registrable_domain)


def _verify_bare(text: str) -> None:
    """Refuse URLs, addresses and other text that is not a bare host."""
    if not text:
        raise Refused(refusals.NO_HOST)
    if len(text) > MAX_HOST_LENGTH:
        raise Refused(refusals.HOST_FORM, f"{len(text)} characters are too many")
    if "%" in text:
        raise Refused(refusals.HOST_ESCAPE)
    if text.startswith("[") or text.count(":") > 1:
        raise Refused(refusals.IP_LITERAL, f"{_shown(text)} is an IPv6 address")
    if _URL_DELIMITERS.search(text):
        raise Refused(refusals.HOST_FORM, f"{_shown(text)} is more than a host")
    if text[-1] in _DOTS:
        raise Refused(refusals.TRAILING_DOT)


def _map(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text.lower()  # all that UTS #46 does to it
    # UTS #46 would drop these without a word; two spellings that look the same and
    # differ in hidden characters are a trap. The joiners are letters' business.
    if any(unicodedata.category(c) == "Cf" and c not in _JOINERS for c in text):
        raise Refused(refusals.IDNA, f"{_shown(text)} holds hidden characters")
    with Refused.on(idna.IDNAError, refusals.IDNA, str):
        return idna.uts46_remap(text, std3_rules=True)


def _encode(mapped: str) -> str:
    with Refused.on(UnicodeError, refusals.IDNA, str):
        name = ".".join(_encode_label(label) for label in mapped.split("."))
    if len(name) > MAX_HOST_LENGTH:
        raise Refused(refusals.HOST_FORM, f"{len(name)} characters are too many")
    return name


def _encode_label(label: str) -> str:
    if label.isascii() and not _LABEL.fullmatch(label):
        raise Refused(refusals.HOST_FORM, f"the label {_shown(label)!r} is malformed")
    if label.isascii() and label[2:4] != "--":
        return label  # nothing in it could be wrong
    return idna.alabel(label).decode("ascii")


def _shown(text: str) -> str:
    """Shorten the text and escape everything but printable ASCII."""
    return text[:80].encode("ascii", "backslashreplace").decode("ascii")


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False)
