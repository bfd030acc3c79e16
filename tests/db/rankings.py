"""Ranking records as a search makes them, without the search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.db import operators
from registry.db.engine.engines import Connection
from registry.db.log.rankings import RankingRow, row_of
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.canonical import JsonValue
from registry.records.disclosure import Opening, seal
from registry.records.ranked_answer import DISCLOSED, AnswerOnRecord
from registry.records.ranking_columns import (
    RankingColumns,
    category_of,
    pack_sites,
    stored_query_key,
)
from registry.records.ranking_record import RankingFields, ranking_record
from registry.records.record import ANONYMOUS, Record
from registry.sites.identifier import format_site_id, parse_site_id
from registry.usecases.ids import IdSource
from tests.unit.records.former_packing import pack_opening

DIGESTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRanking:
    """A ranking record with its erasable part, not yet packed.

    openings: of `DISCLOSED`, some. eligible: a sample of the `count` that were. tie_seed: of the request; without it the tie keys are
    kept one by one. operator: for whom it is counted; None: nobody.
    """

    fields: RankingFields
    openings: Sequence[Opening]
    order: Sequence[str]
    eligible: Sequence[int]
    count: int
    tie_seed: bytes | None = None
    operator: str | None = None

    @property
    def record(self) -> Record:
        return ranking_record(self.fields)

    @property
    def on_record(self) -> AnswerOnRecord:
        """Part by part."""
        packed: dict[str, Any] = {
            opening.name: pack_opening(opening, self.order, self.tie_seed)
            for opening in self.openings
        }
        return AnswerOnRecord(
            fields=self.fields,
            record=self.record,
            operator=self.operator,
            columns=self.columns,
            openings=[packed.get(name) for name in DISCLOSED],
        )

    @property
    def columns(self) -> RankingColumns:
        values = {opening.name: opening.value for opening in self.openings}
        return RankingColumns(
            accepted_at=self.fields.at,
            operator=self.fields.operator,
            eligible=self.count,
            returned=pack_sites([parse_site_id(site) for site in self.order]),
            sampled=pack_sites(self.eligible),
            query_key=stored_query_key(values.get("query")),
            category=category_of(values.get("filters")),
            located="location" in values and values["location"] is not None,
        )

    @property
    def row(self) -> RankingRow:
        return row_of(self.on_record)


def make_ranking(
    ids: IdSource,
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
    spelled = list(map(format_site_id, order))
    sample = list(map(format_site_id, eligible))
    answer = {"eligible": len(eligible), "order": spelled, "sample": sample}
    values = {**(disclosed or {"query": "bread"}), "answer": answer}
    sealed = seal(values, ids.random_bytes, DIGESTS)
    fields = RankingFields(
        record_id=ids.ulid(),
        at=ids.clock(),
        operator=operator or ANONYMOUS,
        policy=DEFAULT_POLICY.digest,
        snapshot=f"sha256:{'0' * 64}",
        seed_index=0,
        sd_digests=sealed.digests,
    )
    return MadeRanking(
        fields=fields,
        openings=sealed.openings,
        order=spelled,
        count=len(eligible),
        eligible=list(eligible),
        operator=operator,
    )


def numbered(made_ranking: MadeRanking, number: int) -> Record:
    """The record as it is stored once it was counted."""
    return made_ranking.on_record.counted(number)


async def add_operator(connection: Connection, now: datetime) -> str:
    """The id of a new one, of the role of the web processes."""
    key = public_key_of(generate_private_key("Ed25519"))
    assert await operators.add_operator(connection, key, now=now, stated_at=now)
    return key.kid
