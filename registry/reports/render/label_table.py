"""Sites with their labels as of an instant, as JSON or as CSV (RFC 4180).

Both hold the same. The CSV has no room for the instant and the next page, which are given
beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from registry.reports.labels import LabelledSite
from registry.reports.render import comma_separated, json_object
from registry.reports.render.report_rows import format_instant
from registry.reports.row_types import camel

CSV = comma_separated.MEDIA_TYPE
Form = Literal["json", "csv"]
MEDIA_TYPES: Mapping[Form, str] = {"json": json_object.MEDIA_TYPE, "csv": CSV}
COLUMNS = (
    *("site", "domain", "category", "registered_at", "size", "independence", "chain"),
    *("commission_percent", "source", "valid_from", "stated_twice", "contradictions"),
)


def format_labels_json(
    sites: Sequence[LabelledSite], at: datetime, following: str | None
) -> bytes:
    """Return a page as JSON. following: its last site, if another page is behind it."""
    members = {"at": format_instant(at), "sites": list(map(_members, sites))}
    return msgspec.json.encode({**members, "nextAfter": following})


def format_labels_csv(
    sites: Sequence[LabelledSite], _at: datetime, _following: str | None
) -> bytes:
    return comma_separated.write_csv(COLUMNS, map(_values, sites))


def format_second(at: datetime) -> str:
    """Return it to the second: what is finer links to those who were there."""
    return format_instant(at.replace(microsecond=0))


FORMAT: Mapping[
    Form, Callable[[Sequence[LabelledSite], datetime, str | None], bytes]
] = {"json": format_labels_json, "csv": format_labels_csv}


def _values(site: LabelledSite) -> tuple[Any, ...]:
    """Return values in the order of COLUMNS."""
    label, valid_from = site.label, site.label.valid_from
    return (
        site.site_id,
        site.domain,
        site.category,
        format_second(site.registered_at),
        label.size,
        label.independence,
        label.chain,
        label.commission_percent,
        label.source,
        None if valid_from is None else format_second(valid_from),
        " ".join(site.claims.stated_twice),
        " ".join(site.claims.contradicted),
    )


def _members(site: LabelledSite) -> dict[str, Any]:
    named = map(camel, COLUMNS)
    return dict(zip(named, _values(site), strict=True))
