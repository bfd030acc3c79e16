"""Lint: the listing that a document would give, and advice for a listed site."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from litestar import Request, get, post
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.params import FromPath, QueryParameter

from registry.db.frontier import tasks
from registry.db.sites import probes
from registry.errors import Problem, Refused
from registry.formats.document import Deviation
from registry.formats.reading.call_targets import resolve_target
from registry.interfaces.http import refusals
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.sites.entry_views import (
    ActionView,
    ConflictView,
    Provenance,
    view_action,
    view_conflict,
    view_provenance,
)
from registry.interfaces.rest.sites.sites import find_registered
from registry.interfaces.rest.wire_model import WireModel
from registry.ranking.advice import Advice, LastProbe, advise_on_quality
from registry.sites.host import Host
from registry.sites.site import Site
from registry.sites.summary import City, FairnessMetrics
from registry.usecases.sites.lint import Report
from registry.usecases.sites.list_site import QUALITY_WINDOW, summarise_probes

# Of a longer page the beginning is read, as the crawler reads it.
MAX_LINT_BYTES = 2 * 1024 * 1024
SMALL_BODY_BYTES = 16_384  # above it a thread costs less than the delay of the others


class DeviationView(WireModel):
    """pointer: RFC 6901, or the form of a page. rule: which kind of rule is broken."""

    pointer: str
    rule: str
    detail: str
    fix: str


class LinkView(WireModel):
    """A discovery document that the page's head points to."""

    url: str
    format: str


class LastProbeView(WireModel):
    """The newest quality probe: what it asked by GET, got, and wants.

    code: of the problem, explained at /problems/CODE; "" without one.
    """

    url: str
    outcome: str
    code: str
    got: str
    wanted: str


class AdviceView(WireModel):
    """gain: of the factor, 0..10000; null where the requests decide.

    factor: `eligibility` is none of the five: it is about being in an answer at all.

    probe: of advice on quality, else null.
    """

    factor: str
    how: str
    gain: int | None
    actions: tuple[str, ...]
    count: int
    probe: LastProbeView | None


class SiteAdvice(WireModel):
    """policy: by which the gains are computed. advice: empty where nothing is missing."""

    policy: str
    advice: tuple[AdviceView, ...]


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
    deviations: tuple[DeviationView, ...]
    problem: Problem | None
    provenance: Provenance | None
    references: tuple[str, ...]
    links: tuple[LinkView, ...]
    conflicts: tuple[ConflictView, ...]
    site: ClaimedSite | None
    advice: tuple[AdviceView, ...]


@dataclass
class LintOperation(Operation):
    """The body may be any document, sound or not, so its schema is said here."""

    def __post_init__(self) -> None:
        anything = OpenAPIMediaType(schema=Schema())
        self.request_body = RequestBody(
            content=dict.fromkeys(
                (
                    "application/json",
                    "application/octet-stream",
                    "text/html",
                    "text/plain",
                ),
                anything,
            ),
            description="The document or page, as it is or will be served",
            required=True,
        )


@post(
    "/lint",
    operation_class=LintOperation,
    operation_id="lintDocument",
    summary="What the registry would make of a discovery document or page",
    tags=["sites"],
    status_code=200,
    guards=[limit_writes],
    request_max_body_size=MAX_LINT_BYTES,
    responses=problems(408, 413, 429),
)
async def lint_document(
    request: Request[Any, Any, Any],
    services: Injected,
    url: Annotated[
        str | None,
        QueryParameter(
            max_length=2048, description="where it lies or will lie; not fetched"
        ),
    ] = None,
) -> LintReport:
    """Nothing is fetched or kept. What is refused is answered too: its problem says why."""
    if url is not None and not resolve_target(
        url, base="", allow_loopback=services.test_hosts
    ):
        detail = "the address of a document is an absolute https URL"
        raise Refused(refusals.PARAMETER_INVALID, detail, pointer="url")
    body = await request.body()
    content_type = request.headers.get("Content-Type", "")
    arguments = {"url": url or "", "content_type": content_type}
    if len(body) <= SMALL_BODY_BYTES:
        return view_report(services.linter.lint(body, **arguments))
    report = await asyncio.to_thread(services.linter.lint, body, **arguments)
    return view_report(report)


@get(
    "/sites/{host:str}/advice",
    operation_id="getAdvice",
    summary="What a site could say to stand higher",
    tags=["sites"],
    responses=problems(404, 410),
)
async def get_advice(host: FromPath[str], services: Injected) -> SiteAdvice:
    """Only what is missing, and raises the score when it is tried; nothing that flatters.

    Gains are of the factor named.
    """
    since = services.clock() - QUALITY_WINDOW
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        rows = await probes.probes_since(connection, entry.site_id, since)
        outcomes = await tasks.outcomes_of(connection, entry.site_id)
    named = Host(entry.host, entry.registrable_domain)
    linter = services.linter
    # A site with hundreds of actions takes a while.
    advice = await asyncio.to_thread(linter.advise, entry.site, named)
    last = last_probe(outcomes.get("probe", {}))
    advice += advise_on_quality(summarise_probes(rows), last, linter.policy)
    policy = services.linter.policy.digest
    return SiteAdvice(policy=policy, advice=_view_advice(advice))


def view_report(report: Report) -> LintReport:
    document = report.document
    return LintReport(
        format=report.format,
        dialect=document.dialect if document else None,
        version=document.version if document else None,
        conformance=report.conformance,
        url=report.url,
        deviations=_deviations(report.deviations),
        problem=report.problem,
        provenance=view_provenance(document.provenance) if document else None,
        references=document.references if document else (),
        links=tuple(
            LinkView(url=link.url, format=link.format) for link in report.links
        ),
        conflicts=tuple(view_conflict(conflict) for conflict in report.conflicts),
        site=view_claims(document.site) if document else None,
        advice=_view_advice(report.advice),
    )


def _view_advice(advice: Iterable[Advice]) -> tuple[AdviceView, ...]:
    return tuple(
        msgspec.convert(row, AdviceView, from_attributes=True) for row in advice
    )


def last_probe(outcome: Mapping[str, Any]) -> LastProbe:
    """outcome: of the task, as it is kept; a site that was not probed yet has none."""
    result, detail = outcome.get("result", "alive"), outcome.get("detail", "")
    return LastProbe(
        url=outcome.get("url", ""),
        outcome=result,
        code=outcome.get("code", ""),
        got=f"{result}: {detail}" if detail else result,
        wanted=outcome.get("wanted", ""),
    )


def _deviations(deviations: Iterable[Deviation]) -> tuple[DeviationView, ...]:
    return tuple(
        msgspec.convert(row, DeviationView, from_attributes=True) for row in deviations
    )


def view_claims(site: Site) -> ClaimedSite:
    location = site.location
    return ClaimedSite(
        name=site.name,
        description=site.description,
        category=site.category,
        url=site.url or None,
        location=(
            City(city=location.city, country=location.country) if location else None
        ),
        languages=site.languages,
        permissions=dict(site.permissions),
        fairness_metrics=FairnessMetrics(
            commission_rate=site.commission_percent, is_independent=site.is_independent
        ),
        actions=tuple(view_action(action) for action in site.actions),
    )
