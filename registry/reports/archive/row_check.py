"""Check of a row of the archive against the log's entry and its digests."""

from collections.abc import Iterator

from registry.ranking.policy import POLICY_BY_DIGEST
from registry.records.disclosure import digest_disclosure
from registry.reports.archive.archive_rows import ArchivedRanking, LoggedRanking, derive

COUNTED_SITES = 16_384
"""Sites up to which a registry looks at each for eligibility, and a sample of fewer than
the policy's size is all of them; of more, it looks at about as many."""


def differences_of(
    row: ArchivedRanking, logged: LoggedRanking, sites: int
) -> Iterator[str]:
    """Sentences' ends; none for a row that is as it should be."""
    for name, archived, known in (
        ("id", row.id, logged.id),
        ("minute", row.minute, logged.t),
        ("operator", row.operator, logged.op),
        ("policy", row.policy, logged.policy),
        *_of_answer(row, logged),
    ):
        if archived != known:
            yield f"the archive has another {name}"
    yield from _of_openings(row, logged)
    yield from _of_sample(row, sites)


def _of_answer(
    row: ArchivedRanking, logged: LoggedRanking
) -> Iterator[tuple[str, object, object]]:
    """Yield what the archive has and what is known: of an erased answer, that it is gone."""
    if logged.n is not None:
        yield "number of eligible sites", row.eligible, logged.n
        yield "order", row.returned, logged.sites
    elif row.answer_salt is None:
        yield "number of eligible sites", row.eligible, 0
        yield "order", row.returned, []


def _of_openings(row: ArchivedRanking, logged: LoggedRanking) -> Iterator[str]:
    try:
        disclosures = row.disclosures()
        derived = derive(row)
    except ValueError as error:
        yield f"what it discloses can't be read: {error}"
        return
    for name, disclosure in disclosures.items():
        if digest_disclosure(disclosure) not in logged.sd:
            yield f"the {name} is not what was logged"
    for name, archived, known in zip(
        derived._fields,
        (row.query_key, row.category, row.located),
        derived,
        strict=True,
    ):
        if archived != known:
            yield f"{name} does not follow from what is disclosed"


def _of_sample(row: ArchivedRanking, sites: int) -> Iterator[str]:
    """Yield why the sites can be no sample; `auditor.reports.sample_agreement` draws it."""
    distinct = set(row.sampled)
    if len(distinct) < len(row.sampled) or len(distinct) > row.eligible:
        yield "the sampled sites are no sample of the eligible ones"
        return
    policy = POLICY_BY_DIGEST.get(row.policy)
    if policy is None:
        return
    size = policy.eligible_sample
    fewest = fewest_sampled(row.eligible, size, sites)
    if not fewest <= len(distinct) <= size:
        drawn = f"{len(distinct)} sites are sampled of {row.eligible} eligible ones"
        yield f"{drawn}, where it takes {fewest}"
    elif len(distinct) == row.eligible and not distinct.issuperset(row.returned):
        yield "a returned site is not in the sample that holds all eligible ones"


def fewest_sampled(eligible: int, size: int, sites: int) -> int:
    """Return how many sites a sample has at the least. sites: of the registry."""
    if sites > COUNTED_SITES:
        return min(size, eligible * COUNTED_SITES // (2 * sites))
    return min(size, eligible)
