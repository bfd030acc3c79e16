"""The records of the audit log: a builder for each kind, and the strict reader.

A record is an RFC 8785 object that is never changed once logged, so nothing personal
stands in it in clear: times have the resolution of a minute, sites are opaque ids, and
what may have to be erased is a disclosure (`disclosure`), present by its digest only.
Rankings have a module of their own (`ranking_record`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from registry.errors import Refused, TooLarge
from registry.records.attestation import Rescoring
from registry.records.canonical import (
    JsonValue,
    canonical_json,
    digest_of,
    parse_canonical,
)
from registry.records.labelling import Labelling
from registry.records.record_fields import (
    KIND_OF_ACT,
    SD_ALG,
    VERSION,
    VERSIONS,
    Kind,
    Members,
    ModerationAct,
    RegistrationAct,
    check_choice,
    check_members,
)
from registry.records.refusals import RECORD_NOT_CANONICAL, RECORD_TOO_LARGE
from registry.tlog.merkle import leaf_hash
from registry.tlog.tiles import MAX_ENTRY_BYTES

ANONYMOUS = "anon"
MAX_RECORD_BYTES = MAX_ENTRY_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """id: a ULID, unlinked to any request id. body: the bytes that are logged."""

    id: str
    kind: Kind
    body: bytes

    @property
    def leaf_hash(self) -> bytes:
        return leaf_hash(self.body)


def parse_record(body: bytes) -> Members:
    """The members of a record, known to be complete and well-formed for its kind.

    Raises: Refused, TooLarge.
    """
    _check_size(body)
    members = parse_canonical(body)
    if not isinstance(members, Mapping):
        raise Refused(RECORD_NOT_CANONICAL, "a record is an object")
    check_members(members)
    return members


def format_minute(at: datetime) -> str:
    """The instant as records carry it, cut to the minute."""
    if at.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    return at.astimezone(UTC).isoformat()[:16] + "Z"


def selection_record(
    *, record_id: str, at: datetime, operator: str, ranking_id: str, sd_digest: str
) -> Record:
    """Record that an agent has chosen. sd_digest: of the `choice`, see `choice_of`."""
    committed = {"_sd": [sd_digest], "_sd_alg": SD_ALG}
    members = {"op": operator, "ranking": ranking_id, **committed}
    return _record("selection", record_id, at, members)


def choice_of(site_id: str | None, outcome: str | None = None) -> Members:
    """Return what a selection discloses: the chosen site, or none. outcome: one word.

    Raises: Refused.
    """
    reported = {} if outcome is None else {"outcome": outcome}
    choice = {"site": site_id, **reported}
    check_choice(choice)
    return choice


def registration_record(
    *,
    record_id: str,
    at: datetime,
    site_id: str,
    act: RegistrationAct,
    seq: int,
    kid: str,
    jws: bytes,
) -> Record:
    """Return the record of what a site's key signed: a registration, rotation, revocation or withdrawal.

    jws: the compact serialisation, logged by its hash. The host stands in it and not in
    the record: which site an id stands for is in a directory that can forget.
    """
    return _record(
        KIND_OF_ACT[act],
        record_id,
        at,
        {"site": site_id, "act": act, "seq": seq, "kid": kid, "jws": digest_of(jws)},
    )


def policy_record(
    *,
    record_id: str,
    at: datetime,
    policy_json: bytes,
    code_digest: str,
    page_digest: str | None = None,
) -> Record:
    """A policy before its first use.

    policy_json: its canonical JSON, logged whole and named by its hash; as a text, so it
    may hold fractions. code_digest, page_digest: `sha256:…`, of what ranks by it and of
    docs/policy.md.
    """
    members: dict[str, JsonValue] = {
        "policy": digest_of(policy_json),
        "text": policy_json.decode(),
        "code": code_digest,
    }
    if page_digest is not None:
        members["page"] = page_digest
    return _record("policy", record_id, at, members)


def seed_commitment_record(
    *, record_id: str, at: datetime, day: date, commitment: str
) -> Record:
    """commitment: see `seed`; logged before the first ranking of the day."""
    members = {"day": day.isoformat(), "commitment": commitment}
    return _record("seed", record_id, at, members)


def seed_reveal_record(
    *, record_id: str, at: datetime, day: date, secret: bytes
) -> Record:
    """Logged after the day has ended, never earlier: the secret decides its ties."""
    members = {"day": day.isoformat(), "secret": secret.hex()}
    return _record("seed", record_id, at, members)


def moderation_record(
    *, record_id: str, at: datetime, site_id: str, act: ModerationAct, reason: str
) -> Record:
    """reason: the category, one word."""
    members = {"site": site_id, "act": act, "reason": reason}
    return _record("moderation", record_id, at, members)


def erase_record(
    *,
    record_id: str,
    at: datetime,
    leaf_index: int,
    digests: Sequence[str],
    last_index: int | None = None,
) -> Record:
    """Disclosures of the record at leaf_index that exist no more.

    last_index: the disclosures of all rankings from leaf_index to it exist no more,
    whatever their digests. No reason is given: it could tell what they held.
    """
    ranged = {} if last_index is None else {"last": last_index}
    fields: Members = {"index": leaf_index, "fields": digests}
    return _record("erase", record_id, at, {**fields, **ranged})


def rescore_record(*, record_id: str, at: datetime, rescoring: Rescoring) -> Record:
    """rescoring: verified already."""
    return _record("rescore", record_id, at, rescoring.signed_members)


def label_record(*, record_id: str, at: datetime, labelling: Labelling) -> Record:
    """labelling: verified already. Its source is present by its digest only."""
    return _record("label", record_id, at, labelling.signed_members)


def trials_commitment_record(
    *, record_id: str, at: datetime, day: date, commitment: str, material: str
) -> Record:
    """Invariance trials that are about to run.

    commitment: to their secret. material: `sha256:…` of what they are made of.
    """
    members = {"day": day.isoformat(), "commitment": commitment, "material": material}
    return _record("trials", record_id, at, members)


def trials_result_record(
    *, record_id: str, at: datetime, day: date, secret: bytes, result: Members
) -> Record:
    """Results of the trials that were committed to: `n`, `violations`, `snap`, `tallies`.

    snap: of the index of the sites as they are. tallies: `sha256:…` of the canonical
    JSON of each perturbation's numbers. swaps, if there: see `digest_swaps`.
    """
    members = {"day": day.isoformat(), "secret": secret.hex(), **result}
    return _record("trials", record_id, at, members)


def report_record(
    *,
    record_id: str,
    at: datetime,
    start_at: datetime,
    end_at: datetime,
    forms: Mapping[str, str],
) -> Record:
    """A fairness report of [start_at, end_at) that is kept. forms: `sha256:…` of each."""
    window = {"from": format_minute(start_at), "to": format_minute(end_at)}
    return _record("report", record_id, at, {**window, "forms": forms})


def _record(kind: Kind, record_id: str, at: datetime, members: Members) -> Record:
    version = VERSIONS.get(kind, (VERSION,))[-1]
    head: dict[str, JsonValue] = {"v": version, "kind": kind, "id": record_id}
    whole = {**head, "t": format_minute(at), **members}
    check_members(whole)
    body = canonical_json(whole)
    _check_size(body)
    return Record(id=record_id, kind=kind, body=body)


def _check_size(body: bytes) -> None:
    if len(body) > MAX_RECORD_BYTES:
        raise TooLarge(RECORD_TOO_LARGE, f"{len(body)} bytes")
