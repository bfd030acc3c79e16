"""/v1/policy: how sites are ranked and why, what it was before, and its exact bytes."""

import hashlib
import re
from datetime import datetime
from typing import Any

from litestar import Response, get
from litestar.params import FromPath

from registry.db.log import policies
from registry.errors import NotFound
from registry.index.sources import digest_of_code, digest_of_page
from registry.interfaces.http.problems import answer
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.search.policy_text import (
    EXCLUSIONS,
    ORIGIN,
    RULES,
    STATEMENTS,
    WEIGHED,
    Exclusion,
    Rule,
)
from registry.interfaces.rest.wire_model import WireModel, to_minute
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import REASONS
from registry.reports.row_types import camel
from registry.usecases.log.policy_history import Change, PolicyEpoch, trace_policies
from registry.usecases.refusals import POLICY_UNKNOWN

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class FactorView(WireModel):
    """weight: basis points. reason: why it weighs as much."""

    name: str
    weight: int
    meaning: str
    reason: str


class ConstantView(WireModel):
    name: str
    value: Any
    reason: str


class PolicyView(WireModel):
    """weights: basis points, and origin where they are from. constants: each with its reason.

    codeDigest: of the ranking code as it runs. pageDigest: of /policy.md, which says how
    to compute a ranking. leafIndex: of the policy's record, which names both.
    """

    digest: str
    name: str
    code_digest: str
    page_digest: str
    leaf_index: int | None
    weights: dict[str, int]
    origin: str
    factors: tuple[FactorView, ...]
    statements: dict[str, str]
    exclusions: tuple[Exclusion, ...]
    rules: tuple[Rule, ...]
    constants: tuple[ConstantView, ...]


class PolicyEpochView(WireModel):
    """A policy of the log. text: where its bytes are.

    recordedAt: when its record was accepted. effectiveFrom: when that was first under a
    checkpoint; no answer could be ranked by it before. codeDigest: of the ranking code
    when it was recorded. changes: from the policy that stands before it in the log.
    """

    digest: str
    name: str
    record_id: str
    leaf_index: int
    recorded_at: datetime
    effective_from: datetime
    code_digest: str
    text: str
    changes: tuple[Change, ...]


class PolicyHistory(WireModel):
    """The newest first."""

    policies: tuple[PolicyEpochView, ...]


@get("/policy")
async def get_policy(services: Injected) -> PolicyView:
    """Every weight and constant with its reason, and what has no influence."""
    policy = services.searcher.follower.policy
    async with services.api.connect() as connection:
        leaf_index = await policies.policy_leaf(
            connection, policy.digest, digest_of_code()
        )
    weights = dict(zip(map(camel, FACTOR_NAMES), policy.weights, strict=True))
    return PolicyView(
        digest=policy.digest,
        name=policy.name,
        code_digest=digest_of_code(),
        page_digest=digest_of_page(),
        leaf_index=leaf_index,
        weights=weights,
        origin=ORIGIN,
        factors=tuple(
            FactorView.of(WEIGHED[name], name=name, weight=weight)
            for name, weight in weights.items()
        ),
        statements=STATEMENTS,
        exclusions=EXCLUSIONS,
        rules=RULES,
        constants=tuple(
            ConstantView(name=name, value=getattr(policy, name), reason=reason)
            for name, reason in REASONS.items()
        ),
    )


@get("/policy/history")
async def get_policy_history(services: Injected) -> PolicyHistory:
    """The newest first, each with the constants that changed and the leaf of its record."""
    epochs = await read_history(services)
    return PolicyHistory(policies=tuple(map(_view_epoch, epochs)))


@get(
    "/policy/{digest:str}",
    responses=answer("Canonical JSON (RFC 8785) of every weight and constant"),
)
async def get_policy_text(digest: FromPath[str], services: Injected) -> Response[bytes]:
    """Canonical JSON, from which anyone can compute scores again. It never changes."""
    if not _DIGEST.fullmatch(digest):
        raise NotFound(POLICY_UNKNOWN, pointer="digest")
    async with services.api.connect() as connection:
        body = await policies.find_policy(connection, digest)
    if body is None:
        raise NotFound(POLICY_UNKNOWN, pointer="digest")
    tag = hashlib.sha256(body).hexdigest()
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(
        body, media_type="application/json", headers={**headers, "ETag": f'"{tag}"'}
    )


async def read_history(services: Services) -> list[PolicyEpoch]:
    """Return the policies that outsiders can see in the log, the newest first."""
    async with services.api.connect() as connection:
        logged = await policies.logged_policies(connection)
    published = [
        row
        for row in logged
        if await services.served.published(row.leaf_index) is not None
    ]
    return trace_policies(published)


def _view_epoch(epoch: PolicyEpoch) -> PolicyEpochView:
    logged = epoch.policy
    return PolicyEpochView.of(
        logged,
        name=epoch.name,
        recorded_at=to_minute(logged.accepted_at),
        effective_from=logged.published_at,
        code_digest=epoch.code_digest,
        text=f"/v1/policy/{logged.digest}",
        changes=epoch.changes,
    )
