"""Records that must be logged before they are used: policies, and each day's secret.

The secret of tomorrow is committed today, so that no ranking of a day was asked before
its secret was fixed; only on the very first day does the commitment come with the day.
"""

from datetime import timedelta

import structlog

from registry.db.engine.engines import Connection, Engine
from registry.db.log import entries as log
from registry.db.log import policies, seeds
from registry.index.sources import digest_of_page
from registry.ranking.policy import Policy
from registry.records import record as records
from registry.records.seed import REVEAL_AFTER, SECRET_BYTES, commit_secret
from registry.usecases.ids import IdSource

logger = structlog.get_logger()


async def commit_ahead(
    engine: Engine, policy: Policy, code: str, ids: IdSource
) -> None:
    """Commit to the policy and to the secrets of today and tomorrow; reveal the past.

    code: digest of what ranks by the policy. May run at any time and in several processes: each row is written once.
    """
    async with engine.begin() as connection:
        await _log_policy(connection, policy, code, ids)
    async with engine.begin() as connection:
        await _commit_secrets(connection, ids)
    async with engine.begin() as connection:
        await _reveal_secrets(connection, ids)


async def _log_policy(
    connection: Connection, policy: Policy, code: str, ids: IdSource
) -> None:
    now = ids.clock()
    record = records.policy_record(
        record_id=ids.ulid(),
        at=now,
        policy_json=policy.canonical_json,
        code_digest=code,
        page_digest=digest_of_page(),
    )
    fresh = await policies.save_policy(
        connection,
        policy.digest,
        code=code,
        body=policy.canonical_json,
        record_id=record.id,
        now=now,
    )
    if fresh:
        await log.accept(connection, record, now)
        logger.info("policy_committed", policy=policy.digest, code=code)


async def _commit_secrets(connection: Connection, ids: IdSource) -> None:
    now = ids.clock()
    for day in (now.date(), now.date() + timedelta(days=1)):
        if await seeds.has_seed(connection, day):
            continue
        secret = ids.random_bytes(SECRET_BYTES)
        record = records.seed_commitment_record(
            record_id=ids.ulid(), at=now, day=day, commitment=commit_secret(secret)
        )
        if await seeds.save_seed(connection, day, secret, record.id):
            await log.accept(connection, record, now)


async def _reveal_secrets(connection: Connection, ids: IdSource) -> None:
    now = ids.clock()
    for day, secret in await seeds.seeds_to_reveal(
        connection, (now - REVEAL_AFTER).date()
    ):
        record = records.seed_reveal_record(
            record_id=ids.ulid(), at=now, day=day, secret=secret
        )
        if await seeds.note_reveal(connection, day, record.id):
            await log.accept(connection, record, now)
