"""Reports and lints are not asked for without end: each waits its turn, or is told when."""

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from litestar import Litestar, Router
from litestar.di import Provide

from registry.errors import ProblemType
from registry.interfaces.http.bucket_table import BucketTable
from registry.interfaces.http.limits import Limits
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.strict import StrictRequest
from registry.interfaces.rest.reports.reports import get_fairness_report
from registry.interfaces.rest.sites.lint import lint_document
from registry.ranking.policy import DEFAULT_POLICY
from registry.usecases.ids import utc_now
from registry.usecases.refusals import LINTS_BUSY, REPORTS_BUSY
from registry.usecases.work_queue import WorkQueue


@pytest.mark.parametrize(
    ("method", "path", "busy"),
    [
        ("GET", "/v1/reports/fairness", REPORTS_BUSY),
        # 256 bare names in 16 KB are a second of the encoder.
        ("POST", "/v1/lint", LINTS_BUSY),
    ],
)
async def test_whom_no_turn_is_left_for_is_told_when_to_come_again(
    method: str, path: str, busy: ProblemType
) -> None:
    queue = WorkQueue(busy, waiting_max=0, retry_after_s=20)
    services = SimpleNamespace(
        clock=utc_now,
        reports=queue,
        lints=queue,
        linter=SimpleNamespace(lint=id),  # nothing is read
        limits=Limits(BucketTable(None, b"k")),
        searcher=SimpleNamespace(follower=SimpleNamespace(policy=DEFAULT_POLICY)),
        auditor=None,
        is_public=False,
    )

    async def give() -> Any:
        return services

    app = Litestar(
        route_handlers=[
            Router("/v1", route_handlers=[get_fairness_report, lint_document])
        ],
        dependencies={"services": Provide(give)},
        exception_handlers=EXCEPTION_HANDLERS,
        logging_config=None,
        request_class=StrictRequest,
    )
    app.state.services = services
    transport = httpx.ASGITransport(app=app)
    client = httpx.AsyncClient(transport=transport, base_url="http://a.test")
    async with queue.turn(), client as http:
        answer = await http.request(method, path)
    assert answer.status_code == 503
    assert answer.json()["code"] == busy.code
    assert int(answer.headers["Retry-After"]) > 0
