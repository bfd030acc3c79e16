"""An auditor's label of a site: what it is, by which source, as of which day.

The auditor signs the members auditor, site, size, independence, chain, commission,
observed, source, iat, under the line `fair-registry/label/v1` (`auditor_signature`). The
source is signed by its digest: its text stands beside the log, from which it can go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.records.auditor_signature import (
    parse_signature,
    statement_of,
    verify_auditor,
)
from registry.records.canonical import JsonValue, digest_of
from registry.records.refusals import LABEL_INVALID
from registry.sites.label import (
    Independence,
    Label,
    Size,
    format_percent,
    parse_chain,
    parse_percent,
)

MAX_SOURCE_LENGTH = 500
_END_OF_TIME = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Statement of an auditor on a site; members that the label lacks are not stated.

    It replaces all that the auditor stated of the site before.
    auditor: a C2SP verifier key. site_id: as spelled. stated_at: to the second.
    observed_on: the day for which the source tells it. source_digest: `sha256:…`.
    """

    auditor: str
    site_id: str
    label: Label
    observed_on: date
    stated_at: datetime
    source_digest: str

    @property
    def members(self) -> dict[str, JsonValue]:
        label = self.label
        percent = label.commission_percent
        return {
            "auditor": self.auditor,
            "site": self.site_id,
            "size": label.size,
            "independence": label.independence,
            "chain": label.chain,
            "commission": None if percent is None else format_percent(percent),
            "observed": self.observed_on.isoformat(),
            "source": self.source_digest,
            "iat": int(self.stated_at.timestamp()),
        }

    @property
    def statement(self) -> bytes:
        return statement_of("label", self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLabelling:
    """A labelling and, not yet verified, its auditor's signature."""

    labelling: Labelling
    signature: bytes


class _Members(msgspec.Struct):
    auditor: str
    site: str
    observed: str
    source: str
    iat: int
    sig: str
    size: Size | None = None
    independence: Independence | None = None
    chain: str | None = None
    commission: str | None = None

    @classmethod
    def read(cls, members: Mapping[str, JsonValue]) -> Self:
        try:
            return msgspec.convert(members, cls)
        except msgspec.ValidationError as error:
            raise Refused(LABEL_INVALID, str(error)) from error


def digest_source(source: str) -> str:
    return digest_of(source.encode())


def sign_labelling(labelling: Labelling, private: Ed25519PrivateKey) -> SignedLabelling:
    """private: of the key that the labelling names as its auditor."""
    signature = private.sign(labelling.statement)
    return SignedLabelling(labelling=labelling, signature=signature)


def parse_labelling(members: Mapping[str, JsonValue]) -> SignedLabelling:
    """members: of a parsed label record. Raises: Refused."""
    parsed = _Members.read(members)
    signature = parse_signature(parsed.sig, LABEL_INVALID)
    try:
        labelling = Labelling(
            auditor=parsed.auditor,
            site_id=parsed.site,
            label=_label(parsed),
            observed_on=date.fromisoformat(parsed.observed),
            stated_at=_instant(parsed.iat),
            source_digest=parsed.source,
        )
    except ValueError as error:
        raise Refused(LABEL_INVALID, str(error)) from error
    return SignedLabelling(labelling=labelling, signature=signature)


def verify_labelling(signed: SignedLabelling) -> Labelling:
    """Raises: Refused."""
    labelling = signed.labelling
    verify_auditor(
        labelling.auditor, labelling.statement, signed.signature, LABEL_INVALID
    )
    return labelling


def _label(parsed: _Members) -> Label:
    """Raises: ValueError."""
    return Label(
        size=parsed.size,
        independence=parsed.independence,
        chain=None if parsed.chain is None else parse_chain(parsed.chain),
        commission_percent=(
            None if parsed.commission is None else parse_percent(parsed.commission)
        ),
    )


def _instant(seconds: int) -> datetime:
    """Raises: ValueError."""
    if not 0 <= seconds <= _END_OF_TIME:
        raise ValueError("iat is seconds since 1970-01-01")
    return datetime.fromtimestamp(seconds, UTC)
