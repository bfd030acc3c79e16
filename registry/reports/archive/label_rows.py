"""The labels of an archive: what each author had told last of each site by its end.

From them follows which label counts and where tellers contradict each other
(`fairness.labels`); an auditor's is held against his statement in the log. Sources of
auditors stand as they were signed, by their digests: the texts may have to go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from registry.errors import Refused
from registry.records.labelling import digest_source
from registry.reports.archive.instants import format_naive, instant_of
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.labels import AUDITOR, LabelStatement
from registry.sites.label import Independence, Label, Size

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

TYPES: Mapping[str, str] = {
    "site_id": "BIGINT",
    "told_by": "VARCHAR",
    "told_at": "TIMESTAMP",
    "valid_from": "TIMESTAMP",
    "observed_on": "DATE",
    "size": "VARCHAR",
    "independence": "VARCHAR",
    "chain": "VARCHAR",
    "commission_percent": "DOUBLE",
    "source": "VARCHAR",
}
_SELECT = """
    SELECT site_id, told_by, epoch_us(told_at), epoch_us(valid_from), observed_on, size,
        independence, chain, commission_percent, source
    FROM labels
"""
_BATCH = 4_096


class _Row(msgspec.Struct, array_like=True, gc=False):
    site_id: int
    stated_by: str
    stated_us: int
    valid_us: int
    observed_on: date | None
    size: Size | None
    independence: Independence | None
    chain: str | None
    commission_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None
    source: str


def label_lines(
    labels: Mapping[int, Sequence[LabelStatement]],
) -> Iterator[dict[str, object]]:
    """Yield lines in the order in which they are read: by site, then by author."""
    for site_id in sorted(labels):
        for statement in sorted(labels[site_id], key=attrgetter("stated_by")):
            is_signed = statement.kind == AUDITOR
            yield {
                "site_id": site_id,
                "told_by": statement.stated_by,
                "told_at": format_naive(statement.stated_at),
                "valid_from": format_naive(statement.valid_from),
                "observed_on": statement.observed_on,
                **asdict(statement.label),
                "source": (
                    digest_source(statement.source) if is_signed else statement.source
                ),
            }


def read_labels(duck: "Duck") -> Iterator[tuple[int, list[LabelStatement]]]:
    """Yield the labels of each site that has any, in the order of ids.

    Until it is exhausted nothing else is to be asked of this connection. Raises: Refused.
    """
    for site_id, rows in groupby(_read_rows(duck), itemgetter(0)):
        yield site_id, [label for _, label in rows]


def _read_rows(duck: "Duck") -> Iterator[tuple[int, LabelStatement]]:
    before: tuple[int, str] = (-1, "")
    cursor = duck.execute(_SELECT)
    while batch := cursor.fetchmany(_BATCH):
        for values in batch:
            site_id, label = _read(values)
            if not before < (site_id, label.stated_by):
                at = f"the label of site {site_id} by {label.stated_by}"
                raise Refused(ARCHIVE_DAMAGED, f"{at} is there twice, or out of order")
            before = site_id, label.stated_by
            yield site_id, label


def _read(values: Sequence[Any]) -> tuple[int, LabelStatement]:
    try:
        row = msgspec.convert(values, _Row)
        label = msgspec.convert(row, Label, from_attributes=True)
    except (msgspec.ValidationError, ValueError) as error:
        raise Refused(ARCHIVE_DAMAGED, f"a label that is none: {error}") from error
    statement = LabelStatement(
        label=label,
        stated_by=row.stated_by,
        stated_at=instant_of(row.stated_us),
        valid_from=instant_of(row.valid_us),
        source=row.source,
        observed_on=row.observed_on,
    )
    return row.site_id, statement
