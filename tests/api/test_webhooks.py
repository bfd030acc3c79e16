"""/v1/webhooks: an operator sees and ends its own subscriptions, and nobody else's."""

import httpx
import pytest
from sqlalchemy import update

from registry.db.engine.engines import Role, open_engine
from registry.db.schema.operator_tables import webhook
from registry.db.webhooks import State
from registry.usecases import subscriptions
from registry.usecases.ids import IdSource
from tests.api import expect
from tests.api.running import RunningRegistry
from tests.api.test_operators import Operator

URL = "https://mirror.test/hooks"


def operator_of(registry: RunningRegistry) -> Operator:
    operator = Operator(registry)
    operator.register()
    return operator


async def subscribed(
    registry: RunningRegistry, operator_id: str, state: State = "pending"
) -> str:
    """A subscription; this registry signs no requests, so it takes none by itself."""
    engine = open_engine(registry.settings.database_url, Role.API, pool=1)
    async with engine.begin() as connection:
        row = await subscriptions.subscribe(connection, operator_id, URL, IdSource())
        await connection.execute(update(webhook).values(state=state))
    await engine.dispose()
    return row.webhook_id


def test_an_operator_sees_resumes_and_ends_its_own(registry: RunningRegistry) -> None:
    operator, http = operator_of(registry), registry.http
    me = http.get("/v1/operators/self", auth=operator.bearer).json()["id"]
    webhook_id = registry.run(subscribed(registry, me))
    (row,) = http.get("/v1/webhooks", auth=operator.bearer).json()["webhooks"]
    assert (row["id"], row["url"], row["state"]) == (webhook_id, URL, "pending")
    path = f"/v1/webhooks/{webhook_id}"
    assert http.get(path, auth=operator.bearer).json() == row
    letters = http.get(f"{path}/letters", auth=operator.bearer).json()
    assert letters == {"letters": []}
    resumed = http.post(f"{path}/resume", auth=operator.bearer)
    assert resumed.json()["state"] == "pending"
    signed = http.get(path, auth=operator.signing)
    assert signed.status_code == 200
    stranger = operator_of(registry)
    for method, suffix in CALLS:
        answer = http.request(method, path + suffix, auth=stranger.bearer)
        assert expect.problem(answer, 404)["code"] == "webhook_unknown"
    assert http.delete(path, auth=operator.bearer).status_code == 204
    expect.problem(http.get(path, auth=operator.bearer), 404)


def test_if_match_keeps_who_saw_another_state_from_changing_it(
    registry: RunningRegistry,
) -> None:
    operator, http = operator_of(registry), registry.http
    me = http.get("/v1/operators/self", auth=operator.bearer).json()["id"]
    path = f"/v1/webhooks/{registry.run(subscribed(registry, me, 'suspended'))}"
    resume = f"{path}/resume"

    def post(tag: str) -> httpx.Response:
        return http.post(resume, headers={"If-Match": tag}, auth=operator.bearer)

    old = http.get(path, auth=operator.bearer).headers["ETag"]
    assert post(old).status_code == 200
    for tag in (old, '"x"', f"W/{old}", f"W/{old}, {old}", ""):
        expect.problem(post(tag), 412, "changed_meanwhile")
    refused = http.delete(path, headers={"If-Match": old}, auth=operator.bearer)
    assert expect.problem(refused, 412)["pointer"] == "If-Match"
    seen = http.get(path, auth=operator.bearer)
    assert seen.headers["Cache-Control"] == "no-store"
    assert post("*").status_code == 200
    new = http.get(path, auth=operator.bearer).headers["ETag"]
    headers = {"If-Match": f'"x", {new}'}
    assert http.delete(path, headers=headers, auth=operator.bearer).status_code == 204
    expect.problem(http.get(path, auth=operator.bearer), 404)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/challenges", {"host": "shop.test"}),
        ("/v1/selections", {}),
        ("/v1/registrations", None),
        ("/v1/operators", None),
    ],
)
def test_if_match_is_refused_where_nothing_has_a_tag(
    registry: RunningRegistry, path: str, body: dict[str, str] | None
) -> None:
    answer = registry.http.post(path, json=body, headers={"If-Match": '"a"'})
    expect.problem(answer, 412, "nothing_to_match")


CALLS = (("GET", ""), ("GET", "/letters"), ("POST", "/resume"), ("DELETE", ""))


@pytest.mark.parametrize(("method", "suffix"), CALLS)
@pytest.mark.parametrize(
    "webhook", ["x", "%00", "01M85NDXXA170D6JBX2YCRCG8H", "a" * 900]
)
def test_what_is_no_subscription_is_unknown(
    registry: RunningRegistry, method: str, suffix: str, webhook: str
) -> None:
    operator = operator_of(registry)
    path = f"/v1/webhooks/{webhook}{suffix}"
    answer = registry.http.request(method, path, auth=operator.bearer)
    assert expect.problem(answer, 404)["code"] == "webhook_unknown"
    expect.problem(registry.http.request(method, path), 401)


def test_nobody_subscribes_anonymously_nor_where_nothing_is_signed(
    registry: RunningRegistry,
) -> None:
    http: httpx.Client = registry.http
    expect.problem(http.post("/v1/webhooks", json={"url": URL}), 401)
    expect.problem(http.get("/v1/webhooks"), 401)
    operator = operator_of(registry)
    answer = http.post("/v1/webhooks", json={"url": URL}, auth=operator.bearer)
    assert expect.problem(answer, 503)["code"] == "webhooks_off"
    for body in ({}, {"url": 7}, {"url": URL, "secret": "x"}):
        answer = http.post("/v1/webhooks", json=body, auth=operator.bearer)
        expect.problem(answer, 400)
