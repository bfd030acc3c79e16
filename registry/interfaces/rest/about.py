"""What the registry says of itself: its policy, its log's keys, its report."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import get
from litestar.params import QueryParameter

from registry.db import seeds
from registry.errors import Refused
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.problems import problems
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.wire import Wire, camel
from registry.ranking.explain import FACTOR_NAMES
from registry.usecases.commit_ahead import digest_of_code
from registry.usecases.report import make_report, window_of

STATEMENTS = {
    "excluded": (
        "Names, brands, popularity, traffic, paid tiers and agreements are no inputs: "
        "they are absent from what the ranker is given, its database role can't read "
        "them, and a site's own name and domain are cut out of the text it is ranked by."
    ),
    "remuneration": "Nobody can pay for a position, an entry or a review.",
    "ties": (
        "Sites of equal score are ordered by a declared commission of 0% first (WAB "
        "9.5.3), then by a shuffle that is drawn anew for each request from a secret "
        "committed to before the day and revealed after it."
    ),
    "manipulation": (
        "Repeated and near-duplicate text and actions don't count; freshness counts "
        "changes of meaning that the registry's own crawl saw; quality comes from the "
        "registry's own probes; near-duplicate sites of one domain share one place."
    ),
}


INSTANT: dict[str, Any] = {"schema_extra": {"format": "date-time"}}


class ConstantView(Wire):
    name: str
    value: Any
    reason: str


class PolicyView(Wire):
    """weights: basis points. constants: each with its reason.

    codeDigest: of the ranking code as it runs. leafIndex: of the policy's record.
    """

    digest: str
    name: str
    code_digest: str
    leaf_index: int | None
    weights: dict[str, int]
    statements: dict[str, str]
    constants: tuple[ConstantView, ...]


class LogView(Wire):
    """verifierKey, promiseKey: C2SP verifier keys of checkpoints and of promises."""

    origin: str
    verifier_key: str
    promise_key: str
    checkpoint: str


@get(
    "/policy",
    operation_id="getPolicy",
    summary="How sites are ranked, and why",
    tags=["audit"],
    middleware=[Conditional()],
    responses=problems(),
)
async def get_policy(services: Injected) -> PolicyView:
    policy = services.searcher.follower.policy
    async with services.api.connect() as connection:
        leaf_index = await seeds.policy_leaf(connection, policy.digest)
    return PolicyView(
        digest=policy.digest,
        name=policy.name,
        code_digest=digest_of_code(),
        leaf_index=leaf_index,
        weights=dict(zip(map(camel, FACTOR_NAMES), policy.weights, strict=True)),
        statements=STATEMENTS,
        constants=tuple(
            ConstantView(name=name, value=getattr(policy, name), reason=reason)
            for name, reason in policy.reasons.items()
        ),
    )


@get(
    "/log",
    operation_id="getLogKeys",
    summary="The log's name and keys",
    tags=["audit"],
    middleware=[Conditional()],
    responses=problems(),
)
async def get_log(services: Injected) -> LogView:
    return LogView(
        origin=services.log_vkey.partition("+")[0],
        verifier_key=services.log_vkey,
        promise_key=services.promise_vkey,
        checkpoint="/checkpoint",
    )


@get(
    "/reports/fairness",
    operation_id="getFairnessReport",
    summary="The four items of WAB 9.7, each beside what would be expected",
    tags=["audit"],
    responses=problems(),
)
async def get_fairness_report(
    services: Injected,
    start: Annotated[
        str | None, QueryParameter(name="from", description="RFC 3339", **INSTANT)
    ] = None,
    end: Annotated[
        str | None, QueryParameter(name="to", description="RFC 3339", **INSTANT)
    ] = None,
) -> dict[str, Any]:
    asked = _parse_instant(start, "from"), _parse_instant(end, "to")
    window = window_of(*asked, services.chance.now())
    async with services.auditor.connect() as connection:
        report = await make_report(
            connection, window, services.searcher.follower.policy
        )
    told: dict[str, Any] = _camel(msgspec.to_builtins(report))
    return told


def _parse_instant(text: str | None, name: str) -> datetime | None:
    """Strictly: Litestar would take a bare number for seconds since 1970."""
    try:
        return None if text is None else msgspec.convert(text, datetime)
    except msgspec.ValidationError as error:
        raise Refused(PARAMETER_INVALID, str(error), pointer=name) from error


def _camel(value: Any) -> Any:
    """Member names as the rest of /v1 spells them."""
    if isinstance(value, dict):
        return {camel(name): _camel(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_camel(member) for member in value]
    return value
