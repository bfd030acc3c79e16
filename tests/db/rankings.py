"""Ranking records as a search makes them, without the search."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from registry.audit import record as records
from registry.audit.canonical import JsonValue
from registry.audit.disclosure import seal
from registry.db import operators
from registry.db.engine import Connection
from registry.db.rankings import RankingToLog
from registry.identity.private_keys import generate_private_key, public_key_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import spell_site_id
from registry.usecases.accept import accepted
from registry.usecases.chance import Chance

DIGESTS = 8


def make_ranking(
    chance: Chance,
    order: Sequence[int] = (1, 2, 3),
    *,
    eligible: Sequence[int] | None = None,
    disclosed: Mapping[str, JsonValue] | None = None,
    operator: str | None = None,
) -> RankingToLog:
    """order, eligible: site ids; the latter are those of `order` by default.

    operator: for whom it is to be counted.
    """
    eligible = order if eligible is None else eligible
    now = chance.now()
    sealed = seal(disclosed or {"query": "bread"}, chance.random_bytes, DIGESTS)
    record = records.ranking_record(
        record_id=chance.ulid(),
        at=now,
        operator=operator or records.ANONYMOUS,
        policy=DEFAULT_POLICY.digest,
        snapshot=f"sha256:{'0' * 64}",
        seed_index=0,
        eligible_count=len(eligible),
        order=[spell_site_id(site_id) for site_id in order],
        sd_digests=sealed.digests,
    )
    return RankingToLog(
        record=accepted(record, now),
        openings=sealed.openings,
        eligible=list(eligible),
        operator=operator,
    )


def numbered(one: RankingToLog, number: int) -> records.Record:
    """The record as it is stored once it was counted."""
    accepted_record = one.record
    record = records.Record(
        id=accepted_record.record_id, kind="ranking", body=accepted_record.body
    )
    return records.counted(record, number)


async def add_operator(connection: Connection, now: datetime) -> str:
    """The id of a new one, of the role of the web processes."""
    key = public_key_of(generate_private_key("Ed25519"))
    assert await operators.add_operator(connection, key, now=now, stated_at=now)
    return key.kid
