"""Tie keys, groups of a publisher, and the order of an answer."""

import hmac
import json
from datetime import UTC, datetime
from hashlib import sha256

from tests.second_implementation.constants import FULL

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def public_id(number):
    return "".join(DIGITS[number >> 5 * place & 31] for place in reversed(range(13)))


def tie_seed(secret, query, cell, filters, *, at: datetime, nonce):
    hour = at.astimezone(UTC).strftime("%Y-%m-%dT%H")
    request = {"filters": filters, "hour": hour, "location": cell, "query": query}
    canonical = json.dumps(
        request, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    digest = sha256(canonical.encode()).digest()
    message = b"fair-tie-seed-v2\0" + digest + nonce.encode()
    return hmac.digest(secret, message, "sha256")


def tie_key(seed, site_id):
    message = b"wab-tie-v1\0" + public_id(site_id).encode()
    return int.from_bytes(hmac.digest(seed, message, "sha256")[:8], "big")


def groups_of(sites, policy):
    """Return the id of the first site of each site's group. sites: id: (domain, terms)."""
    firsts, group = {}, {}
    for number in sorted(sites):
        domain, terms = sites[number]
        own = firsts.setdefault(domain, [])
        common = [len(terms & sites[first][1]) for first in own]
        near = [
            first
            for first, shared in zip(own, common, strict=True)
            if shared * FULL >= policy.duplicate_site_bp * len(terms | sites[first][1])
        ]
        if near:
            group[number] = near[0]
        elif len(own) < policy.publisher_places_max:
            own.append(number)
            group[number] = number
        else:
            group[number] = own[common.index(max(common))]
    return group


def answer(eligible, sites, group, policy):
    """Return the ids with places, and those behind each.

    eligible: sort keys that end in the id. sites: id: (domain, terms).
    """
    places, of_publisher, place_of = {}, {}, {}
    for key in sorted(eligible):
        number = key[-1]
        if group[number] in place_of:
            places[place_of[group[number]]].append(number)
            continue
        own = of_publisher.setdefault(sites[number][0], [])
        if len(own) < policy.publisher_answer_places:
            own.append(number)
            places[number] = []
            place_of[group[number]] = number
        else:
            places[own[-1]].append(number)
            place_of[group[number]] = own[-1]
    return places
