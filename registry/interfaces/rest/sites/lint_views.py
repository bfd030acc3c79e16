"""The report of a lint as it is shown, by /v1/lint and by the command."""

from registry.errors import Problem
from registry.formats.document import Deviation
from registry.formats.html.links import DiscoveryLink
from registry.formats.inspection import Report
from registry.interfaces.rest.sites.entry_views import (
    ActionView,
    ConflictView,
    Provenance,
    view_actions,
    view_conflict,
    view_provenance,
)
from registry.interfaces.rest.wire_model import WireModel
from registry.sites.site import Site
from registry.sites.site_advice import Advice
from registry.sites.summary import City, FairnessMetrics


class SiteAdvice(WireModel):
    """policy: by which the gains are computed. advice: empty where nothing is missing."""

    policy: str
    advice: tuple[Advice, ...]


class ClaimedSite(WireModel):
    """The listing by the document's own word."""

    name: str
    description: str
    category: str
    url: str | None
    location: City | None
    languages: tuple[str, ...]
    permissions: dict[str, bool]
    fairness_metrics: FairnessMetrics
    actions: tuple[ActionView, ...]


class LintReport(WireModel):
    """conformance: strict, tolerated or refused; if refused, `problem` says why.

    format: null where nothing tells it. dialect, version: null if refused.
    """

    format: str | None
    dialect: str | None
    version: str | None
    conformance: str
    url: str
    deviations: tuple[Deviation, ...]
    problem: Problem | None
    provenance: Provenance | None
    references: tuple[str, ...]
    links: tuple[DiscoveryLink, ...]
    conflicts: tuple[ConflictView, ...]
    site: ClaimedSite | None
    advice: tuple[Advice, ...]


def view_report(report: Report) -> LintReport:
    document = report.document
    return LintReport.of(
        report,
        dialect=document.dialect if document else None,
        version=document.version if document else None,
        deviations=tuple(report.deviations),
        provenance=view_provenance(document.provenance) if document else None,
        references=document.references if document else (),
        conflicts=tuple(view_conflict(conflict) for conflict in report.conflicts),
        site=view_claims(document.site) if document else None,
        advice=tuple(report.advice),
    )


def view_claims(site: Site) -> ClaimedSite:
    location = site.location
    return ClaimedSite.of(
        site,
        url=site.url or None,
        location=location and City(city=location.city, country=location.country),
        permissions=dict(site.permissions),
        fairness_metrics=FairnessMetrics(
            commission_rate=site.commission_percent,
            is_independent=site.is_independent,
            direct_benefit=site.direct_benefit or None,
        ),
        actions=view_actions(site),
    )
