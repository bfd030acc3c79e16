"""/v1/exposure and a site's own, from outside."""

import time
from datetime import date

import httpx
import pytest

from registry import keyring
from registry.client.statements import sign_request
from registry.db.engine.engines import Role, open_engine
from registry.identity.statements.detached_jws import EXPOSURE_TYP, verify_detached
from registry.identity.statements.jws import OWN_EXPOSURE_TYP, REFRESH_TYP
from registry.interfaces.rest.reports.kept_reports import IMMUTABLE
from registry.records.canonical import digest_of
from registry.usecases.ids import IdSource
from registry.usecases.reports.keep_exposure import ExposureKeeper
from tests.api import expect
from tests.api.running import LISTED, RunningRegistry
from tests.api.test_report_forms import signing_key
from tests.waiting import awaited

DAY = date(2026, 11, 1)


@pytest.fixture(scope="module")
def with_table(registry: RunningRegistry) -> httpx.Client:
    """A day is kept and published."""
    registry.run(keep(registry))
    awaited(
        "the table in the log",
        lambda: (
            registry.http.get("/v1/exposure").json()["days"][0]["leafIndex"] is not None
        ),
    )
    return registry.http


async def keep(registry: RunningRegistry) -> None:
    settings = registry.settings
    signer = keyring.load_signer(settings.keys, keyring.PROMISE, settings.log_origin)
    auditor, writer = (
        open_engine(settings.database_url, role)
        for role in (Role.AUDITOR, Role.REPORTER)
    )
    keeper = ExposureKeeper(
        auditor=auditor, writer=writer, key=signer.private, ids=IdSource()
    )
    await keeper.keep(DAY)
    await auditor.dispose()
    await writer.dispose()


def test_a_table_is_signed_and_named_by_the_log(with_table: httpx.Client) -> None:
    (listed,) = with_table.get("/v1/exposure").json()["days"]
    answer = with_table.get(f"/v1/exposure/{DAY}")
    token = answer.headers["X-JWS-Signature"].encode()
    verify_detached(token, answer.content, signing_key(with_table), typ=EXPOSURE_TYP)
    assert answer.headers["X-Leaf-Index"] == str(listed["leafIndex"])
    assert answer.headers["Cache-Control"] == IMMUTABLE
    record = with_table.get(f"/v1/records/{listed['recordId']}").json()["record"]
    assert record["forms"] == {"exposure": digest_of(answer.content)}


@pytest.mark.parametrize(
    "day",
    [
        "2026-10-31",
        "2026-11",
        "20261101",
        "2026-13-01",
        "9999-12-31",
        "0000-00-00",
        "%00",
        "x" * 999,
    ],
)
def test_a_day_without_a_table_is_not_found(with_table: httpx.Client, day: str) -> None:
    answer = with_table.get(f"/v1/exposure/{day}")
    assert expect.problem(answer, 404)["code"] == "exposure_not_kept"


def own(
    registry: RunningRegistry, host: str, typ: str, query: str = ""
) -> httpx.Response:
    key = registry.town.site(host).private_key
    token = sign_request(
        key, typ, host=host, origin=registry.origin, now=int(time.time())
    )
    return registry.http.post(
        f"/v1/sites/{host}/exposure{query}",
        content=token,
        headers={"Content-Type": "application/jose"},
    )


@pytest.mark.usefixtures("with_table")
def test_the_owner_is_told_and_others_are_not(registry: RunningRegistry) -> None:
    host = LISTED[0]
    answer = own(registry, host, OWN_EXPOSURE_TYP, f"?since={DAY}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["host"] == host
    days, months = answer.json()["days"], answer.json()["months"]
    assert ([row["day"] for row in days], months) == ([DAY.isoformat()], [])
    assert own(registry, host, REFRESH_TYP).status_code == 400
    assert registry.http.get(f"/v1/sites/{host}/exposure").status_code == 405
    unsigned = registry.http.post(f"/v1/sites/{host}/exposure", json={})
    assert unsigned.status_code == 415


@pytest.mark.parametrize(
    "since", ["", "yesterday", "2026-2-1", "9999-12-31", "0001-01-01x"]
)
def test_a_first_day_that_is_none_is_refused(
    registry: RunningRegistry, since: str
) -> None:
    answer = own(registry, LISTED[0], OWN_EXPOSURE_TYP, f"?since={since}")
    assert answer.status_code in {400, 422}
    assert (
        own(registry, LISTED[0], OWN_EXPOSURE_TYP, f"?since={DAY}").status_code == 200
    )
