"""Effects of a member's story: delays, faults, broken and altered documents.

Everything follows from the member and the number of the request, so that a demo tells
the same story each time.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from registry.demo.town.member import Member
from registry.demo.town.resource import Resource, html
from registry.strict_json import JsonValue

SLOWEST_DELAY_MS = 600
QUICKEST_DELAY_MS = 200
FAULT_EVERY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """Disturbance of one request before it is answered."""

    delay_s: float = 0.0
    fault: Literal["", "unavailable", "reset"] = ""


def decide_disturbance(member: Member, request_number: int) -> Disturbance:
    """request_number: counts the requests to this host, from 1."""
    if member.story == "slow":
        return Disturbance(delay_s=_delay_ms(member.host, request_number) / 1000)
    if member.story == "flaky" and request_number % FAULT_EVERY == 0:
        odd = request_number // FAULT_EVERY % 2
        return Disturbance(fault="unavailable" if odd else "reset")
    return Disturbance()


def _delay_ms(host: str, request_number: int) -> int:
    scatter = zlib.crc32(f"{host} {request_number}".encode())
    return QUICKEST_DELAY_MS + scatter % (SLOWEST_DELAY_MS - QUICKEST_DELAY_MS + 1)


def alter_signed(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Alter a signed document as a dishonest site does."""
    metrics = document.get("fairness_metrics")
    declared = metrics if isinstance(metrics, dict) else {}
    return {**document, "fairness_metrics": {**declared, "commission_rate": "0%"}}


def spoil(member: Member, documents: Mapping[str, Resource]) -> dict[str, Resource]:
    """The documents as a broken site serves them."""
    match member.defect:
        case "missing":
            return {}
        case "malformed":
            return {
                path: Resource(sound.body[: len(sound.body) // 2], sound.content_type)
                for path, sound in documents.items()
            }
        case "soft-404":
            lost = html("<!doctype html><title>Oops</title><p>Page not found.</p>")
            return dict.fromkeys(documents, lost)
        case "":
            return dict(documents)
