"""Putting an auditor's label of a site on record, and listing what labels there are."""

from collections.abc import Collection
from datetime import datetime, timedelta

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.sites import notices
from registry.db.sites.notices import Notice
from registry.errors import Conflict, NotFound, Refused
from registry.records.labelling import MAX_SOURCE_LENGTH, Labelling, digest_source
from registry.records.record import label_record
from registry.records.refusals import LABEL_INVALID
from registry.reports.labels import VALID_FOR, LabelStatement
from registry.sites.identifier import parse_site_id
from registry.sites.label import format_percent
from registry.usecases.ids import IdSource
from registry.usecases.log.attest import verify_known
from registry.usecases.log.promiser import Promised, Promiser
from registry.usecases.refusals import LABEL_KNOWN, LABEL_OUT_OF_TIME, SITE_UNKNOWN
from registry.usecases.sites.notices import make_notice

MAX_SKEW = timedelta(seconds=60)


async def accept_label(
    connection: Connection,
    labelling: Labelling,
    source: str,
    *,
    auditors: Collection[str],
    origin: str,
    promiser: Promiser,
    ids: IdSource,
) -> Promised:
    """source: the text whose digest is signed. auditors, origin: see `accept_attestation`.

    connection: of the labeller's role, within a transaction.
    Raises: Refused, Forbidden, NotFound, Unavailable, Conflict if it is on record
    already.
    """
    promiser.verify_log_moves()
    verify_known(labelling.auditor, auditors)
    labelling.verify_for(origin)
    verify_source(source, labelling)
    now = ids.clock()
    _verify_times(labelling, now)
    record = label_record(record_id=ids.ulid(), at=now, labelling=labelling)
    site_id = parse_site_id(labelling.site_id)
    if not await labels.has_site(connection, site_id):
        raise NotFound(SITE_UNKNOWN, "no site has this id", pointer="/site")
    label = LabelStatement(
        label=labelling.label,
        stated_by=labelling.auditor,
        stated_at=labelling.stated_at,
        valid_from=now,
        source=source,
        observed_on=labelling.observed_on,
    )
    if not await labels.put_label(
        connection, site_id, label, statement=labelling.statement, record_id=record.id
    ):
        raise Conflict(LABEL_KNOWN)
    await notices.save_notices(connection, site_id, [_notice(labelling)], now)
    return await promiser.accept(connection, record, now)


def _notice(labelling: Labelling) -> Notice:
    """Make the notice for the site's owner."""
    label = labelling.label
    percent = label.commission_percent
    stated = {
        "size": label.size,
        "independence": label.independence,
        "chain": label.chain,
        "commission": None if percent is None else format_percent(percent),
    }
    stated_text = ", ".join(
        f"{name} {value}" for name, value in stated.items() if value is not None
    )
    auditor = labelling.auditor.partition("+")[0]
    return make_notice(
        "labelled",
        f"{auditor} says: {stated_text}."
        if stated_text
        else f"{auditor} withdraws its statement.",
        fix="It counts in reports and moves no ranking. If it is wrong, show the "
        "auditor; /v1/sites/HOST/disclosures has the source and the day.",
    )


def verify_source(source: str, labelling: Labelling) -> None:
    """Verify that the source is one line of text, of the signed digest. Raises: Refused."""
    if not 0 < len(source) <= MAX_SOURCE_LENGTH or not source.isprintable():
        detail = f"a source is one line of 1 to {MAX_SOURCE_LENGTH} characters"
        raise Refused(LABEL_INVALID, detail, pointer="/source")
    if digest_source(source) != labelling.source_digest:
        raise Refused(LABEL_INVALID, "another source was signed", pointer="/source")


def _verify_times(labelling: Labelling, now: datetime) -> None:
    if labelling.stated_at > now + MAX_SKEW:
        raise Refused(LABEL_OUT_OF_TIME, "iat is in the future", pointer="/iat")
    if labelling.observed_on > now.date():
        detail = "observed is in the future"
        raise Refused(LABEL_OUT_OF_TIME, detail, pointer="/observed")
    if labelling.observed_on <= (now - VALID_FOR).date():
        detail = f"observed is more than {VALID_FOR.days} days ago"
        raise Refused(LABEL_OUT_OF_TIME, detail, pointer="/observed")
