"""Trust in a domain, which WAB's own clients ask a registry for before they act there.

It follows from what this registry saw: nothing is looked up, and what was not looked at
is "unknown". The score is of trust for those clients, and no input of ranking.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from litestar import Router, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from registry.db.sites import documents, probes
from registry.errors import Gone, NotFound
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.sites.sites import find_registered
from registry.interfaces.wab.bridge_routes import FAULTS
from registry.ranking.quality import QUALITY_WINDOW, summarise_probes

Json = dict[str, Any]
Verdict = Literal["allow", "restrict", "deny"]

_WELL = 0.95
_REVOKED = frozenset({"withdrawn", "quarantined", "delisted"})


class DomainRequest(msgspec.Struct):
    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainTrust:
    """Knowledge of a domain. proven: its owner signed, with a key that it publishes.

    live: it is listed, and its documents are fetched. signed: one of them carries a
    signature that was verified. well: nearly all probes went well; None: too few yet.
    """

    domain: str
    status: str = "unregistered"
    proven: bool = False
    live: bool = False
    signed: bool = False
    well: bool | None = None
    endpoint: str = ""

    @property
    def is_revoked(self) -> bool:
        return self.status in _REVOKED

    @property
    def score(self) -> int:
        """Points of 100: 40 proven, 30 live, 20 well, 10 signed; 0 if revoked."""
        if self.is_revoked:
            return 0
        rows = ((40, self.proven), (30, self.live), (20, self.well), (10, self.signed))
        return sum(points for points, holds in rows if holds)

    @property
    def label(self) -> str:
        if self.status == "unregistered":
            return "unrated"
        return next(
            name
            for least, name in ((80, "high"), (60, "good"), (30, "low"), (0, "none"))
            if self.score >= least
        )

    @property
    def verdict(self) -> Verdict:
        if self.is_revoked:
            return "deny"
        return "allow" if self.proven and self.live else "restrict"


async def look_up_trust(services: Services, domain: str) -> DomainTrust:
    """Return what is known; a domain that is no host is one that is not registered."""
    own = urlsplit(services.origin)
    if domain in {own.hostname, own.netloc}:
        return DomainTrust(
            domain=domain,
            status="this registry",
            proven=True,
            live=True,
            endpoint=f"{services.origin}/agent-bridge.json",
        )
    since = services.clock() - QUALITY_WINDOW
    async with services.api.connect() as connection:
        try:
            entry = await find_registered(
                connection, domain, test_hosts=services.test_hosts
            )
        except NotFound:
            return DomainTrust(domain=domain)
        except Gone:
            return DomainTrust(domain=domain, status="withdrawn")
        current = await documents.current_documents(connection, entry.site_id)
        rows = await probes.probes_since(connection, entry.site_id, since)
    figures = summarise_probes(rows)
    return DomainTrust(
        domain=entry.host,
        status=entry.shown_status,
        proven=entry.trust_level == "verified",
        live=entry.is_listed and bool(current),
        signed=any(row.signature.get("status") == "valid" for row in current),
        well=figures.successes >= _WELL * figures.probes if figures.probes else None,
        endpoint=current[0].url if current else "",
    )


def _word(holds: bool) -> str:
    return "yes" if holds else "no"


@post("/api/verify-live", include_in_schema=False, status_code=200)
async def verify_live(data: JSONBody[DomainRequest], services: Injected) -> Json:
    """Answer by what the registry knows; it calls nobody meanwhile."""
    known = await look_up_trust(services, data.domain)
    is_ready = known.verdict == "allow"
    return {
        "domain": known.domain,
        "status": known.status,
        "statuses": {
            "dns_ok": "unknown",
            "dns_verified": "unknown",
            "bridge_live": _word(known.live),
            "signature_ok": _word(known.proven),
            "revoked": _word(known.is_revoked),
            "registered": _word(known.status != "unregistered"),
            "agent_ready": _word(is_ready),
            "production": _word(is_ready and known.well is not False),
        },
        "revocation": {"reason_code": known.status} if known.is_revoked else None,
    }


@get("/api/discovery/trust/{domain:str}", include_in_schema=False)
async def get_trust(domain: FromPath[str], services: Injected) -> Json:
    known = await look_up_trust(services, domain)
    return {
        "domain": known.domain,
        "trust_score": known.score,
        "trust_label": known.label,
        "checks": {
            "dns_resolved": known.live,
            "dnssec_verified": False,
            "has_public_key": known.proven,
            "pk_algorithm": None,
            "https_endpoint": known.live,
            "manifest_fetched": known.live,
            "signature_valid": known.proven,
        },
        "endpoint": known.endpoint or None,
        "public_key": None,
        "findings": _findings(known),
    }


@get("/api/discovery/score/{domain:str}", include_in_schema=False)
async def get_score(domain: FromPath[str], services: Injected) -> Json:
    known = await look_up_trust(services, domain)
    return {
        "domain": known.domain,
        "score": known.score,
        "label": known.label,
        "signature_valid_rate": float(known.proven),
    }


@get("/api/discovery/compliance/{domain:str}", include_in_schema=False)
async def get_compliance(
    domain: FromPath[str],
    services: Injected,
    policy: Annotated[
        Literal["strict", "standard", "permissive"], QueryParameter()
    ] = "standard",
) -> Json:
    """policy: of WAB's clients; what is known of a domain is the same by all three."""
    known = await look_up_trust(services, domain)
    return {
        "domain": known.domain,
        "policy": policy,
        "verdict": known.verdict,
        "score": known.score,
        "score_label": known.label,
        "signature_valid_rate": float(known.proven),
        "reasons": [{"code": text} for text in _findings(known)],
    }


def _findings(known: DomainTrust) -> list[str]:
    rows = (
        (known.status == "unregistered", "not registered here"),
        (known.is_revoked, f"{known.status} here"),
        (not known.proven, "its owner has not proven control of the host"),
        (not known.live, "no discovery document of it is listed"),
        (known.well is False, "less than 95% of the probes of 30 days went well"),
        (not known.signed, "none of its documents carries a verified signature"),
    )
    return [text for holds, text in rows if holds]


TRUST = Router(
    "/",
    route_handlers=[verify_live, get_trust, get_score, get_compliance],
    exception_handlers=FAULTS,
)
