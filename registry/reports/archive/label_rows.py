"""The labels of an archive: what each author had stated last of each site by its end.

From them follows which label counts and where authors contradict each other
(`reports.labels`); an auditor's is held against his statement in the log. Sources of
auditors stand as they were signed, by their digests: the texts may have to go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import msgspec

from registry.errors import Refused
from registry.records.labelling import digest_source
from registry.reports.archive.duck import column_types, read_rows
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.labels import AUDITOR, LabelStatement
from registry.sites.label import Independence, Label, Size

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck


class ArchivedLabel(
    msgspec.Struct,
    kw_only=True,
    gc=False,
    rename={"stated_by": "told_by", "stated_at": "told_at"},
):
    """A `LabelStatement` as archived. Instants: UTC, without a zone."""

    site_id: int
    stated_by: str
    stated_at: datetime
    valid_from: datetime
    observed_on: date | None
    size: Size | None
    independence: Independence | None
    chain: str | None
    commission_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None
    source: str


TYPES = column_types(
    ArchivedLabel, size="VARCHAR", independence="VARCHAR", commission_percent="DOUBLE"
)


def label_rows(
    labels: Mapping[int, Sequence[LabelStatement]],
) -> Iterator[ArchivedLabel]:
    """Yield rows in the order in which they are read: by site, then by author."""
    for site_id in sorted(labels):
        for statement in sorted(labels[site_id], key=attrgetter("stated_by")):
            source = statement.source
            yield ArchivedLabel(
                site_id=site_id,
                stated_by=statement.stated_by,
                stated_at=statement.stated_at.astimezone(UTC).replace(tzinfo=None),
                valid_from=statement.valid_from.astimezone(UTC).replace(tzinfo=None),
                observed_on=statement.observed_on,
                source=digest_source(source) if statement.kind == AUDITOR else source,
                **asdict(statement.label),
            )


def read_labels(duck: "Duck") -> Iterator[tuple[int, list[LabelStatement]]]:
    """Yield the labels of each site that has any, in the order of ids.

    Until it is exhausted nothing else is to be asked of this connection. Raises: Refused.
    """
    for site_id, rows in groupby(_ordered_rows(duck), attrgetter("site_id")):
        yield site_id, [_statement(row) for row in rows]


def _ordered_rows(duck: "Duck") -> Iterator[ArchivedLabel]:
    before: tuple[int, str] = (-1, "")
    for row in read_rows(duck, "labels", ArchivedLabel):
        if not before < (row.site_id, row.stated_by):
            at = f"the label of site {row.site_id} by {row.stated_by}"
            raise Refused(ARCHIVE_DAMAGED, f"{at} is there twice, or out of order")
        before = row.site_id, row.stated_by
        yield row


def _statement(row: ArchivedLabel) -> LabelStatement:
    with Refused.on(ValueError, ARCHIVE_DAMAGED, "a label that is none: {}".format):
        label = msgspec.convert(row, Label, from_attributes=True)
    return LabelStatement(
        label=label,
        stated_by=row.stated_by,
        stated_at=row.stated_at.replace(tzinfo=UTC),
        valid_from=row.valid_from.replace(tzinfo=UTC),
        source=row.source,
        observed_on=row.observed_on,
    )
