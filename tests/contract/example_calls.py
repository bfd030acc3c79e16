"""One honest call of each operation, as an example of it.

The calls stand here alone. `write_examples` records them with their answers for OpenAPI,
and `test_examples` makes them anew against a registry that runs.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from registry.client.statements import sign_request
from registry.db.engine.engines import Role, open_engine
from registry.db.reports.invariance_runs import save_material
from registry.identity.statements.jws import (
    OPERATOR_TYP,
    OWN_EXPOSURE_TYP,
    sign_compact,
)
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.attestation import Rescoring
from registry.records.counterfactual import Inquiry
from registry.sites.label import Label
from registry.tlog.note import format_vkey
from registry.tlog.tiles import TILE_WIDTH
from registry.usecases.reports.shadow import TrialMaterial
from registry.usecases.sites.list_site import Lister
from tests.api.running import AUDITOR, UNLISTED, RunningRegistry
from tests.api.test_counterfactual import body_of
from tests.api.test_exposure import DAY
from tests.api.test_exposure import keep as keep_exposure
from tests.api.test_kept_reports import keep as keep_reports
from tests.api.test_labels import body as label_of
from tests.api.test_operators import ACCOUNT, Operator
from tests.api.test_refresh import sign as sign_refresh

Json = dict[str, Any]
TRIALS = 10
HOST, WANTED = "zaytoun-table.test", "book a table for two"
JOSE = "application/jose"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleCall:
    """parameters: of path and query. body: JSON, or a text of another body_type.

    accept: the form that is wanted. is_stream: read until its first event.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    body_type: str = "application/json"
    auth: httpx.Auth | None = None
    accept: str = "application/json"
    is_stream: bool = False


async def prepare(registry: RunningRegistry, lister: Lister | None = None) -> None:
    """Keep what only time makes: reports, a day's exposure, and trials by a lister."""
    await keep_reports(registry, lister, TRIALS)
    await keep_exposure(registry)
    material = TrialMaterial(
        at=0, policy=DEFAULT_POLICY.digest, trials=TRIALS, rankings=(), sites=()
    )
    writer = open_engine(registry.settings.database_url, Role.REPORTER)
    async with writer.begin() as connection:
        await save_material(connection, DAY, material.body)
    await writer.dispose()


class ExampleCalls:
    """The calls, and what has to be in the registry first.

    http: of a web process whose registry signs what it sends.
    """

    def __init__(self, registry: RunningRegistry, http: httpx.Client) -> None:
        self.registry = registry
        self.http = http
        self.operator = Operator(registry)
        self.operator.register()

    def make(self) -> dict[str, ExampleCall]:
        """Return a call for each operation id."""
        return {
            **self._unchanging(),
            **self._sites(),
            **self._registrations(),
            **self._operators(),
            **self._auditors(),
            **self._records(),
        }

    def _unchanging(self) -> dict[str, ExampleCall]:
        policy = self.http.get("/v1/policy").json()["digest"]
        return {
            "getLogKeys": ExampleCall(),
            "getPolicy": ExampleCall(),
            "getPolicyHistory": ExampleCall(),
            "getPolicyText": ExampleCall(parameters={"digest": policy}),
            "getLiveness": ExampleCall(),
            "getReadiness": ExampleCall(),
            "getCheckpoint": ExampleCall(accept="text/plain"),
            "listReports": ExampleCall(parameters={"limit": 1}),
            "getKeptReport": ExampleCall(
                parameters={"month": "2026-10", "form": "csv"}, accept="text/csv"
            ),
            "getFairnessReport": ExampleCall(
                parameters={"category": "restaurant", "form": "csv"}, accept="text/csv"
            ),
            "listInvarianceRuns": ExampleCall(parameters={"limit": 1}),
            "getTrialMaterial": ExampleCall(parameters={"day": DAY.isoformat()}),
            "listExposure": ExampleCall(parameters={"limit": 1}),
            "getExposure": ExampleCall(parameters={"day": DAY.isoformat()}),
        }

    def _sites(self) -> dict[str, ExampleCall]:
        host = {"host": HOST}
        document = self.registry.town.site(HOST).document_urls[0]
        return {
            "search": ExampleCall(
                parameters={
                    "q": WANTED,
                    "city": "Amman",
                    "limit": 1,
                    "detail": "brief",
                }
            ),
            "searchWithBody": ExampleCall(
                body={"q": WANTED, "city": "Amman", "limit": 1, "facets": ["format"]}
            ),
            "getSite": ExampleCall(parameters=host),
            "getProfileMaterial": ExampleCall(
                parameters={"site_id": self.http.get(f"/v1/sites/{HOST}").json()["id"]}
            ),
            "getGeneration": ExampleCall(
                parameters={"generation": "latest", "sites": "0"}
            ),
            "getDocument": ExampleCall(parameters={**host, "as": "a2a"}),
            "getHistory": ExampleCall(parameters={**host, "limit": 1}),
            "getQuality": ExampleCall(parameters={**host, "limit": 1}),
            "getAdvice": ExampleCall(parameters=host),
            "getNotices": ExampleCall(parameters={**host, "limit": 1}),
            "getDisclosures": ExampleCall(parameters=host),
            "getOwnExposure": ExampleCall(
                parameters=host,
                body=sign_request(
                    self.registry.town.site(HOST).private_key,
                    OWN_EXPOSURE_TYP,
                    host=HOST,
                    origin=self.registry.origin,
                    now=int(time.time()),
                ),
                body_type=JOSE,
            ),
            "listSites": ExampleCall(parameters={"country": "JO", "limit": 1}),
            "getChanges": ExampleCall(parameters={"limit": 1}),
            "watchChanges": ExampleCall(
                parameters={"since": "now"}, accept="text/event-stream", is_stream=True
            ),
            "lintDocument": ExampleCall(
                parameters={"url": document},
                body={"awp_version": "0.2", "domain": HOST, "intent": "Tables"},
            ),
            "searchByArd": ExampleCall(
                body={"query": {"text": WANTED}, "city": "Amman", "pageSize": 1}
            ),
            "exploreByArd": ExampleCall(
                body={
                    "query": {"text": WANTED},
                    "resultType": {"facets": [{"field": "country"}]},
                }
            ),
            "listArdEntries": ExampleCall(parameters={"pageSize": 1}),
            "getArdEntry": ExampleCall(
                parameters={"identifier": f"urn:air:{HOST}:site"}
            ),
        }

    def _registrations(self) -> dict[str, ExampleCall]:
        registry = self.registry
        site = registry.town.site(UNLISTED[0])
        known = registry.submit(registry.sign(registry.town.site(HOST))).json()["id"]
        decided = {"registration_id": known}
        registry.decided(known)
        refresh = sign_refresh(registry, "almond-door-clinic.test")
        return {
            "createChallenge": ExampleCall(body={"host": UNLISTED[0]}),
            "submitRegistration": ExampleCall(body=registry.sign(site), body_type=JOSE),
            "getRegistration": ExampleCall(parameters=decided),
            "watchRegistration": ExampleCall(
                parameters=decided, accept="text/event-stream", is_stream=True
            ),
            "refreshSite": ExampleCall(
                parameters={"host": "almond-door-clinic.test"},
                body=refresh,
                body_type=JOSE,
            ),
        }

    def _operators(self) -> dict[str, ExampleCall]:
        own, new = self.operator, Operator(self.registry)
        webhook = {"webhook_id": self._subscribe()}
        bearer = own.bearer
        return {
            "registerOperator": ExampleCall(
                body=_statement(
                    new,
                    act="register",
                    jwk=new.jwk,
                    **ACCOUNT,
                ),
                body_type=JOSE,
            ),
            "changeOperator": ExampleCall(
                parameters={"operator_id": own.id},
                body=_statement(own, act="update", public=True, **ACCOUNT),
                body_type=JOSE,
            ),
            "getOperator": ExampleCall(parameters={"operator_id": own.id}),
            "getOwnOperator": ExampleCall(auth=bearer),
            "getOwnReport": ExampleCall(
                parameters={"form": "csv"}, accept="text/csv", auth=bearer
            ),
            "subscribe": ExampleCall(
                body={"url": f"https://{HOST}/registry-changes"}, auth=bearer
            ),
            "listWebhooks": ExampleCall(auth=bearer),
            "getWebhook": ExampleCall(parameters=webhook, auth=bearer),
            "getDeadLetters": ExampleCall(parameters=webhook, auth=bearer),
            "resumeWebhook": ExampleCall(parameters=webhook, auth=bearer),
            "unsubscribe": ExampleCall(
                parameters={"webhook_id": self._subscribe()}, auth=bearer
            ),
        }

    def _subscribe(self) -> str:
        url = f"https://{HOST}/changes"
        answer = self.http.post(
            "/v1/webhooks", json={"url": url}, auth=self.operator.bearer
        )
        assert answer.status_code == 201, answer.text
        webhook_id: str = answer.json()["id"]
        return webhook_id

    def _auditors(self) -> dict[str, ExampleCall]:
        registry, vkey = self.registry, format_vkey(AUDITOR.verifier_key)
        size = int(self.http.get("/checkpoint").text.splitlines()[1])
        rescoring = Rescoring(
            auditor=vkey,
            audience=registry.settings.log_origin,
            first_index=0,
            last_index=size - 1,
            checked_count=1,
            mismatch_count=0,
        )
        first = registry.search(WANTED)["results"][0]["site"]["id"]
        inquiry = Inquiry(
            auditor=vkey,
            audience=registry.settings.log_origin,
            issued_at=int(time.time()),
            perturbation="tier",
            sites=(first,),
            query=WANTED,
            filters={},
        )
        return {
            "attest": ExampleCall(
                body=rescoring.signed(AUDITOR.private).signed_members
            ),
            "askCounterfactual": ExampleCall(
                body={**body_of(inquiry), "sites": [first]}
            ),
            "setLabel": ExampleCall(
                body=label_of(self.http, Label(size="small"), host="paper-otter.test")
            ),
            "getLabels": ExampleCall(
                parameters={"limit": 1, "at": datetime.now(UTC).isoformat()}
            ),
        }

    def _records(self) -> dict[str, ExampleCall]:
        answer = self.registry.search(WANTED, limit=1)
        spare, chosen = (self.registry.search(WANTED, limit=1) for _ in "12")
        ranking = answer["ranking"]["id"]
        record = ranking.partition(".")[0]
        published = self.registry.published(record)
        width = published["leafIndex"] + 1
        return {
            "reportSelection": ExampleCall(
                body={
                    "rankingId": chosen["ranking"]["id"],
                    "siteId": chosen["results"][0]["site"]["id"],
                    "outcome": "succeeded",
                }
            ),
            "getRanking": ExampleCall(parameters={"ranking_id": ranking}),
            "proveRanking": ExampleCall(parameters={"ranking_id": ranking}),
            "eraseRanking": ExampleCall(
                parameters={"ranking_id": spare["ranking"]["id"]}
            ),
            "getRecord": ExampleCall(parameters={"record_id": record}),
            "proveRecord": ExampleCall(parameters={"record_id": record}),
            "proveInclusion": ExampleCall(
                parameters={"leaf": published["leafIndex"], "size": None}
            ),
            "proveConsistency": ExampleCall(parameters={"from": 1}),
            "getTile": ExampleCall(
                parameters={"path": "0/000" + f".p/{width}" * (width < TILE_WIDTH)},
                accept="application/octet-stream",
            ),
        }


def _statement(operator: Operator, **members: Any) -> str:
    return sign_compact(operator.payload(**members), operator.key, typ=OPERATOR_TYP)


def perform(http: httpx.Client, method: str, path: str, call: ExampleCall) -> Json:
    """Make the call; return it with its answer, as an example."""
    given = {
        name: value for name, value in call.parameters.items() if value is not None
    }
    query = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
    target = path.format(**{name: str(value) for name, value in given.items()})
    sent: Json = {}
    if call.body is not None:
        is_text = isinstance(call.body, str)
        sent["content"] = call.body if is_text else json.dumps(call.body)
    headers = {"Accept": call.accept}
    if sent:
        headers["Content-Type"] = call.body_type
    request = http.build_request(
        method.upper(), target, params=query, headers=headers, **sent
    )
    answer = http.send(request, auth=call.auth, stream=True)
    text = _first_event(answer) if call.is_stream else answer.read()
    example = {"parameters": given, "status": answer.status_code}
    if call.body is not None:
        example |= {"body": call.body, "bodyType": call.body_type}
    media_type = answer.headers.get("Content-Type", "").partition(";")[0]
    example |= {"headers": dict(answer.headers), "answerType": media_type}
    if media_type in {"application/json", "application/problem+json"}:
        example["answer"] = json.loads(text)
    elif media_type.startswith("text/"):
        example["answer"] = text.decode()
    return example


def _first_event(answer: httpx.Response) -> bytes:
    """Read as far as the first blank line: the stream itself never ends."""
    read = b""
    for part in answer.iter_raw():
        read += part
        if b"\n\n" in read.replace(b"\r", b""):
            break
    answer.close()
    return read
