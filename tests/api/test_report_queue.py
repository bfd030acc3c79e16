"""Reports are not asked for without end: the handler waits its turn, or says when."""

from types import SimpleNamespace
from typing import Any

import httpx
from litestar import Litestar, Router
from litestar.di import Provide

from registry.interfaces.http.bucket_table import BucketTable
from registry.interfaces.http.limits import Limits
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.strict import StrictRequest
from registry.interfaces.rest.reports.reports import get_fairness_report
from registry.ranking.policy import DEFAULT_POLICY
from registry.usecases.ids import utc_now
from registry.usecases.reports.report_queue import RecentReports, ReportQueue


async def test_whom_no_turn_is_left_for_is_told_when_to_come_again() -> None:
    queue = ReportQueue(waiting_max=0)
    services = SimpleNamespace(
        clock=utc_now,
        reports=queue,
        recent_reports=RecentReports(utc_now),
        limits=Limits(BucketTable(None, b"k")),
        searcher=SimpleNamespace(follower=SimpleNamespace(policy=DEFAULT_POLICY)),
        auditor=None,  # nothing is read
        is_public=False,
    )

    async def give() -> Any:
        return services

    app = Litestar(
        route_handlers=[Router("/v1", route_handlers=[get_fairness_report])],
        dependencies={"services": Provide(give)},
        exception_handlers=EXCEPTION_HANDLERS,
        logging_config=None,
        request_class=StrictRequest,
    )
    transport = httpx.ASGITransport(app=app)
    client = httpx.AsyncClient(transport=transport, base_url="http://a.test")
    async with queue.turn(), client as http:
        answer = await http.get("/v1/reports/fairness")
    assert answer.status_code == 503
    assert answer.json()["code"] == "reports_busy"
    assert int(answer.headers["Retry-After"]) > 0
