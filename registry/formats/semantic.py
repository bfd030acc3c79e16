"""What a site says, as one hash: equal as long as agents would see no difference.

Covered is the normalised site alone, so formatting, the order of members and entries,
timestamps, version numbers and members the registry does not know change nothing.
"""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from registry.sites.site import Site

_DOMAIN = b"fair-registry/site/v1\n"


def semantic_hash(site: Site) -> bytes:
    """32 bytes, SHA-256."""
    canonical = json.dumps(
        _unordered(asdict(site)), sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(_DOMAIN + canonical.encode("ascii")).digest()


def _unordered(value: Any) -> Any:
    """The value with every list in an order of its own: none of them means anything."""
    if isinstance(value, dict):
        return {name: _unordered(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        members = [_unordered(member) for member in value]
        return sorted(members, key=lambda member: json.dumps(member, sort_keys=True))
    return value
