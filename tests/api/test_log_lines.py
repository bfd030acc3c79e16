"""What the web process writes for its operator: of faults their place, of people nothing."""

import contextlib
import io
import json
import logging
import sys
import time
from collections.abc import Iterator

import pytest
import structlog
from litestar import Litestar, get
from litestar.exceptions import InternalServerException
from litestar.params import FromPath
from litestar.response import Stream
from litestar.testing import AsyncTestClient
from sqlalchemy.exc import InterfaceError, ProgrammingError

from registry.errors import ProblemType, Unavailable
from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.refusals import ANONYMOUS_TURNED_AWAY, STREAMS_TAKEN
from registry.observability import configure_logging
from registry.usecases.refusals import LOG_BUSY, REPORTS_BUSY
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import RunningRegistry
from tests.conftest import log_beside_the_tests

SECRET = "what-nobody-may-read-in-a-log"


def fail(error: Exception) -> None:
    raise error


FAULTS: list[tuple[str, Exception, int, str, str]] = [
    ("a bug", KeyError(SECRET), 500, "internal_error", "request_failed"),
    ("of Litestar", InternalServerException(SECRET), 500, "internal_error", "request_failed"),
    ("a bad statement", ProgrammingError(SECRET, {"q": SECRET}, Exception(SECRET)), 500, "internal_error", "request_failed"),
    ("a database away", InterfaceError(SECRET, None, OSError(SECRET), connection_invalidated=True), 503, "database_unavailable", "database_away"),
    ("a refused connection", ConnectionRefusedError(SECRET), 503, "database_unavailable", "database_away"),
    ("a log that stalls", Unavailable(LOG_BUSY, retry_after_s=1), 503, "log_busy", "request_turned_away"),
]  # fmt: skip


@pytest.fixture
def restored() -> Iterator[None]:
    """Logging, in the end."""
    yield
    structlog.reset_defaults()
    log_beside_the_tests()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, force=True)


@pytest.fixture
def written(restored: None) -> Iterator[io.StringIO]:
    """Standard error, while logging writes to it as a web process does."""
    caught = io.StringIO()
    with contextlib.redirect_stderr(caught):
        configure_logging("json")
        yield caught


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("info", ["said", "warned", "failed"]),
        ("warning", ["warned", "failed"]),
        ("error", ["failed"]),
    ],
)
@pytest.mark.usefixtures("restored")
def test_less_than_the_level_is_not_told(
    capsys: pytest.CaptureFixture[str], level: str, expected: list[str]
) -> None:
    configure_logging("json", level)
    logger = structlog.get_logger()
    logger.info("said")
    logger.warning("warned")
    logger.error("failed")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    own = {"said", "warned", "failed"}  # a registry in a thread may log meanwhile
    assert [line["event"] for line in lines if line["event"] in own] == expected


def lines_of_requests(written: io.StringIO) -> list[Json]:
    """Without what the crawler of the other tests may say meanwhile."""
    assert SECRET not in written.getvalue()
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    return [line for line in lines if "request_id" in line]


@pytest.fixture
def app() -> Litestar:
    @get("/{number:int}")
    async def show(number: FromPath[int]) -> None:
        fail(FAULTS[number][1])

    @get("/stream")
    async def stream() -> Stream:
        async def parts():
            yield b"once"
            fail(KeyError(SECRET))

        return Stream(parts())

    app = Litestar(
        [show, stream],
        exception_handlers=EXCEPTION_HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.asgi_handler = Envelope(app.asgi_handler)
    return app


@pytest.mark.parametrize(
    "number", range(len(FAULTS)), ids=[fault[0] for fault in FAULTS]
)
async def test_a_fault_is_one_line_without_what_was_sent(
    app: Litestar, number: int, written: io.StringIO
) -> None:
    _, _, status, code, event = FAULTS[number]
    async with AsyncTestClient(app, raise_server_exceptions=False) as client:
        answer = await client.get(f"/{number}")
    refused = expect.problem(answer, status, code)
    assert (status == 503) == ("Retry-After" in answer.headers)
    assert SECRET not in str(refused)
    [line] = lines_of_requests(written)
    assert line["event"] == event
    assert line["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize(
    "kind",
    [ANONYMOUS_TURNED_AWAY, STREAMS_TAKEN, REPORTS_BUSY],
    ids=lambda kind: kind.code,
)
async def test_what_strangers_can_have_without_end_leaves_no_line(
    written: io.StringIO, kind: ProblemType
) -> None:
    @get("/")
    async def refuse() -> None:
        raise Unavailable(kind, retry_after_s=1)

    app = Litestar([refuse], exception_handlers=EXCEPTION_HANDLERS, openapi_config=None)
    app.asgi_handler = Envelope(app.asgi_handler)
    async with AsyncTestClient(app) as client:
        expect.problem(await client.get("/"), 503, kind.code)
    assert lines_of_requests(written) == []


async def test_an_answer_that_breaks_off_is_one_line(
    app: Litestar, written: io.StringIO
) -> None:
    async with AsyncTestClient(app, raise_server_exceptions=False) as client:
        with contextlib.suppress(Exception):
            await client.get("/stream")
    [line] = lines_of_requests(written)
    assert line["event"] == "answer_broken_off"
    assert any("test_log_lines.py" in place for place in line["at"]), line


def test_a_day_in_the_life_leaves_no_line(registry: RunningRegistry) -> None:
    """Neither queries nor tokens, receipts, nonces, cursors or addresses."""
    before = registry.log.read_text()
    secret_query = f"book a {SECRET} table"
    answer = registry.search(secret_query, city="Amman", limit=1, nonce=SECRET[:20])
    registry.http.get(f"/v1/rankings/{answer['ranking']['id']}")
    selection = {"rankingId": answer["ranking"]["id"], "siteId": None}
    registry.http.post("/v1/selections", json=selection)
    registry.http.post("/v1/selections", json=selection)
    token = registry.sign(registry.town.site("maple-spoke.test"))
    registry.submit(token)
    registry.submit(token[:-8])
    registry.http.get("/v1/search", params={"q": secret_query, "colour": SECRET})
    registry.http.get(f"/{SECRET}")
    time.sleep(0.1)
    assert registry.log.read_text() == before


def test_all_that_was_logged_so_far_holds_no_secret(registry: RunningRegistry) -> None:
    ranking_id = registry.search()["ranking"]["id"]
    written = registry.log.read_text()
    assert ranking_id.partition(".")[2] not in written
    assert "Traceback" not in written
    for line in written.splitlines():
        assert json.loads(line)["level"] in {"info", "warning"}, line
