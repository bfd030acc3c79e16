"""An auditor's label of a site: what it is, by which source, as of which day.

The auditor signs the members auditor, aud, site, size, independence, chain, commission,
observed, source, iat, all of them. The source is signed by its digest: its text stands
beside the log, from which it can go.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Self

import msgspec
from typing_extensions import override

from registry.errors import Refused
from registry.records.auditor_signature import AuditorStatement, Signature
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


class _Members(msgspec.Struct):
    auditor: str
    site: str
    observed: date
    source: str
    iat: Annotated[int, msgspec.Meta(ge=0, le=_END_OF_TIME)]
    sig: Signature
    aud: str | None = None
    size: Size | None = None
    independence: Independence | None = None
    chain: str | None = None
    commission: str | None = None

    @property
    def label(self) -> Label:
        """Raises: ValueError."""
        percent = self.commission
        return Label(
            size=self.size,
            independence=self.independence,
            chain=None if self.chain is None else parse_chain(self.chain),
            commission_percent=None if percent is None else parse_percent(percent),
        )


class Labelling(AuditorStatement, frozen=True, kw_only=True):
    """Statement of an auditor on a site; members that the label lacks are not stated.

    It replaces all that the auditor stated of the site before.
    site_id: as spelled. stated_at: to the second. observed_on: the day for which the
    source tells it. source_digest: `sha256:…`.
    """

    kind = "label"
    invalid = LABEL_INVALID

    site_id: str
    label: Label
    observed_on: date
    stated_at: datetime
    source_digest: str

    @classmethod
    @override
    def parse(cls, members: Mapping[str, JsonValue]) -> Self:
        with Refused.on(ValueError, LABEL_INVALID, str):
            parsed = msgspec.convert(members, _Members)
            return cls(
                auditor=parsed.auditor,
                audience=parsed.aud,
                sig=parsed.sig,
                site_id=parsed.site,
                label=parsed.label,
                observed_on=parsed.observed,
                stated_at=datetime.fromtimestamp(parsed.iat, UTC),
                source_digest=parsed.source,
            )

    @property
    @override
    def members(self) -> dict[str, JsonValue]:
        label = self.label
        percent = label.commission_percent
        return {
            "auditor": self.auditor,
            **({} if self.audience is None else {"aud": self.audience}),
            "site": self.site_id,
            "size": label.size,
            "independence": label.independence,
            "chain": label.chain,
            "commission": None if percent is None else format_percent(percent),
            "observed": self.observed_on.isoformat(),
            "source": self.source_digest,
            "iat": int(self.stated_at.timestamp()),
        }


def digest_source(source: str) -> str:
    return digest_of(source.encode())
