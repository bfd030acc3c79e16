"""Putting an auditor's label of a site on record, and telling what labels there are."""

from collections.abc import Collection
from datetime import datetime, timedelta

from registry.audit.labelling import (
    MAX_SOURCE_LENGTH,
    Labelling,
    SignedLabelling,
    digest_source,
    verify_labelling,
)
from registry.audit.record import label_record
from registry.audit.refusals import LABEL_INVALID
from registry.db import labels, notices
from registry.db.engine import Connection
from registry.db.notices import Notice
from registry.errors import Conflict, NotFound, Refused
from registry.fairness.labels import VALID_FOR, ToldLabel
from registry.sites.identifier import parse_site_id
from registry.sites.label import spell_percent
from registry.usecases.attest import verify_known
from registry.usecases.chance import Chance
from registry.usecases.notices import make_notice
from registry.usecases.promiser import Promised, Promiser
from registry.usecases.refusals import LABEL_KNOWN, LABEL_OUT_OF_TIME, SITE_UNKNOWN

MAX_SKEW = timedelta(seconds=60)


async def accept_label(
    connection: Connection,
    signed: SignedLabelling,
    source: str,
    *,
    auditors: Collection[str],
    promiser: Promiser,
    chance: Chance,
) -> Promised:
    """source: the text whose digest is signed. auditors: see `accept_attestation`.

    connection: of the labeller's role, within a transaction.
    Raises: Refused, Forbidden, NotFound, Unavailable, Conflict if it is on record
    already.
    """
    promiser.verify_log_moves()
    verify_known(signed.labelling.auditor, auditors)
    said = verify_labelling(signed)
    verify_source(source, said)
    now = chance.now()
    _verify_times(said, now)
    record = label_record(record_id=chance.ulid(), at=now, signed=signed)
    site_id = parse_site_id(said.site_id)
    if not await labels.has_site(connection, site_id):
        raise NotFound(SITE_UNKNOWN, "no site has this id", pointer="/site")
    told = ToldLabel(
        label=said.label,
        told_by=said.auditor,
        told_at=said.told_at,
        valid_from=now,
        source=source,
        observed_on=said.observed_on,
    )
    if not await labels.put_label(
        connection, site_id, told, statement=said.statement, record_id=record.id
    ):
        raise Conflict(LABEL_KNOWN)
    await notices.save_notices(connection, site_id, [_notice(said)], now)
    return await promiser.accept(connection, record, now)


def _notice(said: Labelling) -> Notice:
    """What the site's owner is told."""
    label = said.label
    percent = label.commission_percent
    stated = {
        "size": label.size,
        "independence": label.independence,
        "chain": label.chain,
        "commission": None if percent is None else spell_percent(percent),
    }
    told = ", ".join(f"{name} {one}" for name, one in stated.items() if one is not None)
    auditor = said.auditor.partition("+")[0]
    return make_notice(
        "labelled",
        f"{auditor} says: {told}." if told else f"{auditor} takes back what it said.",
        fix="It counts in reports and moves no ranking. If it is wrong, show the "
        "auditor; /v1/sites/HOST/disclosures has the source and the day.",
    )


def verify_source(source: str, said: Labelling) -> None:
    """That it is one line of text, and the one whose digest is signed. Raises: Refused."""
    if not 0 < len(source) <= MAX_SOURCE_LENGTH or not source.isprintable():
        detail = f"a source is one line of 1 to {MAX_SOURCE_LENGTH} characters"
        raise Refused(LABEL_INVALID, detail, pointer="/source")
    if digest_source(source) != said.source_digest:
        raise Refused(LABEL_INVALID, "another source was signed", pointer="/source")


def _verify_times(said: Labelling, now: datetime) -> None:
    if said.told_at > now + MAX_SKEW:
        raise Refused(LABEL_OUT_OF_TIME, "iat is in the future", pointer="/iat")
    if said.observed_on > now.date():
        detail = "observed is in the future"
        raise Refused(LABEL_OUT_OF_TIME, detail, pointer="/observed")
    if said.observed_on <= (now - VALID_FOR).date():
        detail = f"observed is more than {VALID_FOR.days} days ago"
        raise Refused(LABEL_OUT_OF_TIME, detail, pointer="/observed")
