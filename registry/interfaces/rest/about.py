"""What the registry says of itself: its policy and its log's keys."""

from typing import Any

from litestar import get

from registry.db import seeds
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.wire import Wire, camel
from registry.ranking.explain import FACTOR_NAMES
from registry.tlog.note import format_vkey
from registry.usecases.commit_ahead import digest_of_code

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
    """verifierKey, promiseKey: C2SP verifier keys of checkpoints and of promises.

    formerKeys: those that signed checkpoints before, the oldest first; while a key is
    being replaced, the last of them signs too.
    witnesses: verifier keys of those who cosign; quorum: how many of them have cosigned
    any checkpoint that is served.
    """

    origin: str
    verifier_key: str
    promise_key: str
    checkpoint: str
    former_keys: tuple[str, ...]
    witnesses: tuple[str, ...]
    quorum: int


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
    witnessed = services.served.policy
    return LogView(
        origin=services.log_vkey.partition("+")[0],
        verifier_key=services.log_vkey,
        promise_key=services.promise_vkey,
        checkpoint="/checkpoint",
        former_keys=services.former_vkeys,
        witnesses=tuple(format_vkey(one.key) for one in witnessed.witnesses),
        quorum=witnessed.quorum,
    )
