"""Lint: the listing that a document would give, and advice for a listed site."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from litestar import Request, get, post
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.params import FromPath, QueryParameter

from registry.db.frontier import tasks
from registry.db.sites import probes
from registry.errors import Refused
from registry.formats.reading.call_targets import resolve_target
from registry.interfaces.http import refusals
from registry.interfaces.http.limits import limit_lints
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.sites.lint_views import (
    LintReport,
    SiteAdvice,
    view_report,
)
from registry.interfaces.rest.sites.sites import find_registered
from registry.ranking.advice import advise_on_quality
from registry.ranking.quality import QUALITY_WINDOW, summarise_probes
from registry.sites.host import Host
from registry.sites.site_advice import LastProbe

# Of a longer page the beginning is read, as the crawler reads it.
MAX_LINT_BYTES = 2 * 1024 * 1024
DOCUMENT_TYPES = "application/json application/octet-stream text/html text/plain"


@dataclass
class LintOperation(Operation):
    """The body may be any document, sound or not, so its schema is given here."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            content=dict.fromkeys(
                DOCUMENT_TYPES.split(), OpenAPIMediaType(schema=Schema())
            ),
            description="The document or page, as it is or will be served",
            required=False,  # of nothing, too, the report says what is missing
        )


@post(
    "/lint",
    operation_class=LintOperation,
    status_code=200,
    guards=[limit_lints],
    request_max_body_size=MAX_LINT_BYTES,
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
    """Lint a document. Nothing is fetched or kept; a refused one is answered too."""
    content_type = request.headers.get("Content-Type", "")
    return await lint_as(services, await request.body(), url, content_type)


async def lint_as(
    services: Services,
    body: bytes,
    url: str | None,
    content_type: str,
    pointer: str = "url",
) -> LintReport:
    """Lint it in its turn. pointer: to the URL. Raises: Refused, Unavailable."""
    if url is not None and not resolve_target(
        url, base="", allow_loopback=services.test_hosts
    ):
        detail = "the address of a document is an absolute https URL"
        raise Refused(refusals.PARAMETER_INVALID, detail, pointer=pointer)
    lint = partial(services.linter.lint, body, url=url or "", content_type=content_type)
    return view_report(await services.lints.run(lint))


@get("/sites/{host:str}/advice", guards=[limit_lints])
async def get_advice(host: FromPath[str], services: Injected) -> SiteAdvice:
    """Return what is missing and would raise the score, each change tried.

    Gains are of the factor named.
    """
    since = services.clock() - QUALITY_WINDOW
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        rows = await probes.probes_since(connection, entry.site_id, since)
        outcomes = await tasks.outcomes_of(connection, entry.site_id)
    named = Host(entry.host, entry.registrable_domain)
    linter = services.linter
    advice = await services.lints.run(partial(linter.advise, entry.site, named))
    last = last_probe(outcomes.get("probe", {}))
    advice += advise_on_quality(summarise_probes(rows), last, linter.policy)
    policy = services.linter.policy.digest
    return SiteAdvice(policy=policy, advice=tuple(advice))


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
