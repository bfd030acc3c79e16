"""/v1/reports and /v1/invariance, from outside."""

import asyncio
import re
from datetime import date
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from registry import keyring
from registry.db.engine.engines import Role, open_engine
from registry.identity.statements.detached_jws import REPORT_TYP, verify_detached
from registry.interfaces.rest.reports.kept_reports import IMMUTABLE
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.ids import IdSource
from registry.usecases.reports.keep_report import Keeper
from registry.usecases.reports.try_daily import DailyTrials
from registry.usecases.sites.list_site import Lister
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import RunningRegistry
from tests.api.test_report_forms import TYPES, signing_key
from tests.waiting import awaited

MONTHS = ("2026-08", "2026-09", "2026-10")
TRIALS = 120


@pytest.fixture(scope="module")
def with_reports(registry: RunningRegistry, gazetteer: Gazetteer) -> RunningRegistry:
    """Three months are kept and published, and the trials of the day are made."""
    lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)
    registry.run(keep(registry, lister))

    def are_published() -> bool:
        listed = registry.http.get("/v1/reports").json()["reports"]
        return all(listing["leafIndex"] is not None for listing in listed)

    awaited("the reports in the log", are_published)
    return registry


async def keep(
    registry: RunningRegistry, lister: Lister | None, trials: int = TRIALS
) -> None:
    """lister: None: no trials are made."""
    settings, ids = registry.settings, IdSource()
    auditor, writer = (
        open_engine(settings.database_url, role)
        for role in (Role.AUDITOR, Role.REPORTER)
    )
    signer = keyring.load_signer(settings.keys, keyring.PROMISE, settings.log_origin)
    keeper = Keeper(
        auditor=auditor,
        writer=writer,
        policy=DEFAULT_POLICY,
        key=signer.private,
        ids=ids,
    )
    await asyncio.gather(
        *(keeper.keep(date.fromisoformat(f"{month}-01")) for month in MONTHS)
    )
    if lister is not None:
        daily = DailyTrials(
            auditor=auditor,
            writer=writer,
            make_lister=lambda: lister,
            ids=ids,
            trials=trials,
            hour=0,
            secret_of=lambda day: sha256(day.isoformat().encode()).digest(),
        )
        await daily.make_todays()
    await auditor.dispose()
    await writer.dispose()


def test_months_are_listed_page_by_page_the_newest_first(
    with_reports: RunningRegistry,
) -> None:
    months, cursor = [], None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = with_reports.http.get("/v1/reports", params=params).json()
        months += [report["month"] for report in page["reports"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert months == sorted({*months, *MONTHS}, reverse=True)


@pytest.mark.parametrize("form", TYPES)
def test_a_form_is_the_one_whose_digest_stands_in_the_log(
    with_reports: RunningRegistry, form: str
) -> None:
    answer = with_reports.http.get("/v1/reports/2026-10", params={"form": form})
    assert answer.headers["Content-Type"] == TYPES[form]
    token = answer.headers["X-JWS-Signature"].encode()
    verify_detached(
        token, answer.content, signing_key(with_reports.http), typ=REPORT_TYP
    )
    record = logged(with_reports.http, int(answer.headers["X-Leaf-Index"]))
    digest = sha256(answer.content).hexdigest()
    assert record["kind"] == "report"
    assert record["from"] == "2026-10-01T00:00Z"
    assert record["forms"][form] == f"sha256:{digest}"
    listed = with_reports.http.get("/v1/reports").json()["reports"][0]["forms"]
    (listing,) = (report for report in listed if report["form"] == form)
    assert (listing["sha256"], listing["size"]) == (digest, len(answer.content))


def logged(http: httpx.Client, index: int) -> Json:
    """The entry, as the tiles of the log have it."""
    reports = http.get("/v1/reports").json()["reports"]
    (report,) = (report for report in reports if report["leafIndex"] == index)
    record = http.get(f"/v1/records/{report['recordId']}").json()["record"]
    return dict(record)


def test_what_is_kept_never_changes_and_says_so(with_reports: RunningRegistry) -> None:
    first = with_reports.http.get("/v1/reports/2026-10", headers={"Accept": "text/csv"})
    assert first.headers["Cache-Control"] == IMMUTABLE
    assert first.headers["Vary"] == "Accept,Accept-Encoding"
    again = with_reports.http.get(
        "/v1/reports/2026-10",
        headers={"Accept": "text/csv", "If-None-Match": first.headers["ETag"]},
    )
    assert again.status_code == 304
    assert again.content == b""


@pytest.mark.parametrize(
    "month",
    [
        pytest.param("2026-07", id="before the first"),
        pytest.param("2026-13", id="no month"),
        pytest.param("2026-1", id="short"),
        pytest.param("2026-10-01", id="a day"),
        pytest.param("9999-12", id="the last of all"),
        pytest.param("0000-01", id="year zero"),
        pytest.param("\u0662\u0660\u0662\u0666-\u0661\u0660", id="other digits"),
        pytest.param("%00", id="no text"),
        pytest.param("x" * 2_000, id="long"),
    ],
)
def test_a_month_without_a_report_is_not_found(http: httpx.Client, month: str) -> None:
    answer = http.get(f"/v1/reports/{month}")
    assert expect.problem(answer, 404)["code"] == "report_not_kept"


@pytest.mark.parametrize(
    ("path", "params"),
    [
        pytest.param("/v1/reports", {"limit": 0}, id="no reports"),
        pytest.param("/v1/reports", {"cursor": "AAAA"}, id="a cursor of nobody"),
        pytest.param("/v1/invariance", {"cursor": "\u00e9"}, id="a cursor in no base"),
        pytest.param("/v1/invariance", {"limit": 101}, id="too many runs"),
        pytest.param("/v1/reports/2026-10", {"form": "pdf"}, id="no such form"),
    ],
)
def test_parameters_of_the_wrong_form_are_refused(
    http: httpx.Client, path: str, params: dict[str, str | int]
) -> None:
    assert http.get(path, params=params).status_code == 400


def test_a_cursor_of_one_listing_is_not_taken_by_another(
    with_reports: RunningRegistry,
) -> None:
    page = with_reports.http.get("/v1/reports", params={"limit": 1}).json()
    refused = with_reports.http.get(
        "/v1/invariance", params={"cursor": page["nextCursor"]}
    )
    assert expect.problem(refused, 400)["code"] == "cursor_invalid"


def test_the_runs_of_trials_are_reported_without_a_query(
    with_reports: RunningRegistry,
) -> None:
    answer = with_reports.http.get("/v1/invariance")
    (run,) = answer.json()["runs"]
    assert (run["trials"], run["violations"]) == (TRIALS, 0)
    assert 0 < run["rateAtMost"] < 1
    assert (
        sum(perturbation["trials"] for perturbation in run["perturbations"]) == TRIALS
    )
    assert {perturbation["expected"] for perturbation in run["perturbations"]} > {
        "identical"
    }
    assert run["policyDigest"] == DEFAULT_POLICY.digest
    assert run["generation"].startswith("sha256:")
    assert "book a table" not in answer.text


def test_alerts_ask_for_what_is_served(with_reports: RunningRegistry) -> None:
    rules = (Path(__file__).parents[2] / "deploy" / "alerts.yaml").read_text()
    named = set(re.findall(r"fair_registry_(?:invariance|report|anonymous)_\w+", rules))
    served = with_reports.metrics()
    assert len(named) == 4
    assert all(f"\n{name} " in served for name in named)
