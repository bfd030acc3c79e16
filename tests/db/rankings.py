"""Ranking records as a search makes them, without the search."""

from collections.abc import Mapping, Sequence

from registry.audit import record as records
from registry.audit.canonical import JsonValue
from registry.audit.disclosure import seal
from registry.db.rankings import RankingToLog
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
) -> RankingToLog:
    """order, eligible: site ids; the latter are those of `order` by default."""
    eligible = order if eligible is None else eligible
    now = chance.now()
    sealed = seal(disclosed or {"query": "bread"}, chance.random_bytes, DIGESTS)
    record = records.ranking_record(
        record_id=chance.ulid(),
        at=now,
        operator=records.ANONYMOUS,
        policy=DEFAULT_POLICY.digest,
        snapshot=f"sha256:{'0' * 64}",
        seed_index=0,
        eligible_count=len(eligible),
        order=[spell_site_id(site_id) for site_id in order],
        sd_digests=sealed.digests,
    )
    return RankingToLog(
        record=accepted(record, now),
        openings=[(one.name, one.disclosure) for one in sealed.openings],
        eligible=list(eligible),
    )
