"""The declarations of a site's last statement, to and from what the database keeps."""

from collections.abc import Mapping
from typing import Any

import msgspec

from registry.db.sites import Label
from registry.identity.declarations import Declarations
from registry.identity.registration import DocumentClaim, Statement
from registry.sites.site import Site

_INDEPENDENCE = {True: "independent", False: "chain", None: "unknown"}


def declared_of(statement: Statement) -> dict[str, Any]:
    """JSON of the declarations, and of the documents named."""
    declared: dict[str, Any] = msgspec.to_builtins(statement.declarations)
    return {**declared, "docs": msgspec.to_builtins(statement.documents)}


def declarations_from(stored: Mapping[str, Any]) -> Declarations:
    return msgspec.convert(stored, Declarations)


def documents_from(stored: Mapping[str, Any]) -> tuple[DocumentClaim, ...]:
    return msgspec.convert(stored.get("docs", ()), tuple[DocumentClaim, ...])


def label_of(statement: Statement, site: Site) -> Label:
    """For reports. What the signed registration says comes before the document."""
    declared = statement.declarations
    independent, commission = declared.is_independent, declared.commission_percent
    return Label(
        size=declared.size or "unknown",
        independence=_INDEPENDENCE[
            site.is_independent if independent is None else independent
        ],
        commission_percent=(
            site.commission_percent if commission is None else commission
        ),
        source="registration",
    )
