"""POST /v1/sites/{host}/refresh: a signed hint that a site's documents changed."""

from datetime import datetime
from typing import Any

from litestar import Request, Response, post
from litestar.params import FromPath

from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.registration.jose import JoseOperation, read_statement
from registry.interfaces.rest.sites.sites import parse_site_host
from registry.interfaces.rest.wire_model import WireModel
from registry.usecases.sites.refresh import take_refresh


class RefreshView(WireModel):
    """dueAt: from when on a crawler takes the site, next in its queue.

    statusUrl: `lastOutcomes.crawl` there tells when the site was read, and how it went.
    """

    host: str
    due_at: datetime
    status_url: str


@post(
    "/sites/{host:str}/refresh",
    operation_class=takes_key(JoseOperation),
    status_code=202,
    guards=[limit_writes],
)
async def refresh_site(
    request: Request[Any, Any, Any], host: FromPath[str], services: Injected
) -> Response[RefreshView]:
    """The payload is {"aud","sub","iat","exp"}, the header's typ site-refresh+jws."""
    statement = await read_statement(request)
    site_host = parse_site_host(host, test_hosts=services.test_hosts)
    async with idempotent(request, services, services.api) as call:
        taken = await take_refresh(
            call.connection,
            statement,
            site_host,
            audience=services.origin,
            allowance=services.refreshes,
            test_hosts=services.test_hosts,
            now=services.clock(),
        )
        return await call.answer(
            RefreshView(
                host=taken.host.name,
                due_at=taken.due_at,
                status_url=f"/v1/sites/{taken.host.name}/quality",
            )
        )
