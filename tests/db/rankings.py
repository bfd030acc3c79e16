"""Ranking records as a search makes them, without the search."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.audit import record as records
from registry.audit.canonical import JsonValue
from registry.audit.disclosure import SealedOpening, seal
from registry.audit.packing import pack, pack_opening
from registry.audit.ranked_answer import DISCLOSED, AnswerOnRecord
from registry.db import operators
from registry.db.engine import Connection
from registry.db.log import AcceptedRecord
from registry.db.rankings import RankingRow, row_of
from registry.identity.private_keys import generate_private_key, public_key_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import spell_site_id
from registry.usecases.accept import accepted
from registry.usecases.chance import Chance

DIGESTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRanking:
    """A ranking record with its erasable part, not yet packed.

    openings: of `DISCLOSED`, some. tie_seed: of the request; without it the tie keys are
    kept one by one. operator: for whom it is counted; None: nobody.
    """

    record: AcceptedRecord
    openings: Sequence[SealedOpening]
    eligible: Sequence[int]
    tie_seed: bytes | None = None
    operator: str | None = None

    @property
    def on_record(self) -> AnswerOnRecord:
        """Part by part."""
        accepted_record = self.record
        order = records.parse_record(accepted_record.body)["order"]
        packed: dict[str, Any] = {
            one.name: pack_opening(
                one.name, one.salt, one.spelled, order, self.tie_seed
            )
            for one in self.openings
        }
        return AnswerOnRecord(
            record=records.Record(
                id=accepted_record.record_id, kind="ranking", body=accepted_record.body
            ),
            leaf_hash=accepted_record.leaf_hash,
            at=accepted_record.accepted_at,
            operator=self.operator,
            packed=None if self.operator else pack(accepted_record.body),
            openings=[packed.get(name) for name in DISCLOSED],
            sample=struct.pack(f">{len(self.eligible)}q", *self.eligible),
        )

    @property
    def row(self) -> RankingRow:
        return row_of(self.on_record)


def make_ranking(
    chance: Chance,
    order: Sequence[int] = (1, 2, 3),
    *,
    eligible: Sequence[int] | None = None,
    disclosed: Mapping[str, JsonValue] | None = None,
    operator: str | None = None,
) -> MadeRanking:
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
    return MadeRanking(
        record=accepted(record, now),
        openings=sealed.openings,
        eligible=list(eligible),
        operator=operator,
    )


def numbered(one: MadeRanking, number: int) -> records.Record:
    """The record as it is stored once it was counted."""
    return records.counted(one.on_record.record, number)


async def add_operator(connection: Connection, now: datetime) -> str:
    """The id of a new one, of the role of the web processes."""
    key = public_key_of(generate_private_key("Ed25519"))
    assert await operators.add_operator(connection, key, now=now, stated_at=now)
    return key.kid
