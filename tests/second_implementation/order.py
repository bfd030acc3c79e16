"""Tie keys, groups of a publisher, and the order of an answer."""

import hmac
import json
from datetime import UTC, datetime
from hashlib import blake2b, sha256

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


def order_of(score, relevance, quality, tier, policy):
    """Return all but tie key and id, the smaller the earlier."""
    step, percent = policy.shown_score_step, policy.shown_factor_step_bp
    return (
        -((score + step // 2) // step),
        -((relevance + percent // 2) // percent),
        -((quality + percent // 2) // percent),
        tier,
        -score,
    )


def tie_key(seed, site_id):
    message = b"wab-tie-v1\0" + public_id(site_id).encode()
    return int.from_bytes(hmac.digest(seed, message, "sha256")[:8], "big")


def word_hash(text, last_bit=0):
    number = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
    return number & ~1 | last_bit


PERMUTATIONS = [word_hash(f"permutation {n}", 1) for n in range(32)]
MIXED = word_hash("mixed", 1)


def signature(terms, site_terms, policy):
    """terms: all; site_terms: of the site field."""
    words = set(terms)
    for number in range(1, policy.signature_site_weight):
        words |= {f"{number} {term}" for term in site_terms}
    hashes = list(map(word_hash, words))
    if not hashes:
        return None
    least = [min(h * p % 2**64 for h in hashes) for p in PERMUTATIONS]
    return bytes(u * MIXED % 2**64 >> 56 for u in least)


def are_near(first, second, policy):
    if first is None or second is None:
        return False
    equal = sum(x == y for x, y in zip(first, second, strict=True))
    bands = (first[at : at + 4] == second[at : at + 4] for at in range(0, 16, 4))
    return equal >= policy.duplicate_signature_bytes and any(bands)


def groups_of(sites, policy):
    """Return the id that leads each site's group.

    sites: id: (domain, terms, signature).
    """
    own = groups_of_publishers(sites, policy)
    leaders, group = [], {}
    for number in sorted(set(own.values())):
        signed = sites[number][2]
        near = (x for x in leaders if are_near(sites[x][2], signed, policy))
        group[number] = next(near, number)
        if group[number] == number:
            leaders.append(number)
    return {number: group[first] for number, first in own.items()}


def groups_of_publishers(sites, policy):
    firsts, group = {}, {}
    for number in sorted(sites):
        domain, terms, _ = sites[number]
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
    """Return the ids that lead places, in order, and those behind each.

    eligible: sort keys that end in the id.
    """
    of_publisher, members, further = {}, {}, {}
    for key in sorted(eligible):
        number = key[-1]
        place = group[number]
        own = of_publisher.setdefault(sites[number][0], [])
        if place not in own and len(own) < policy.publisher_answer_places:
            own.append(place)
        if place in own:
            members.setdefault(place, []).append(key)
        else:
            further.setdefault(own[-1], []).append(key)
    return {
        keys[0][-1]: [key[-1] for key in sorted(keys[1:] + further.get(place, []))]
        for place, keys in members.items()
    }
