"""The declarations of a site's last statement, to and from what the database keeps."""

from collections.abc import Mapping
from typing import Any

import msgspec

from registry.identity.statements.declarations import Declarations
from registry.identity.statements.registration import DocumentClaim, SiteStatement
from registry.sites.label import Independence, Label
from registry.sites.site import Site

_INDEPENDENCE: Mapping[bool | None, Independence | None] = {
    True: "independent",
    False: "chain",
    None: None,
}


def declared_of(statement: SiteStatement) -> dict[str, Any]:
    """JSON of the declarations, and of the documents named."""
    declared: dict[str, Any] = msgspec.to_builtins(statement.declarations)
    return {**declared, "docs": msgspec.to_builtins(statement.documents)}


class _Documents(msgspec.Struct):
    """Documents that declarations name; known to msgspec once for all."""

    docs: tuple[DocumentClaim, ...] = ()


def declarations_from(stored: Mapping[str, Any]) -> Declarations:
    return msgspec.convert(stored, Declarations)


def documents_from(stored: Mapping[str, Any]) -> tuple[DocumentClaim, ...]:
    return msgspec.convert(stored, _Documents).docs


def label_declared(declared: Declarations) -> Label:
    """Return the label that the signed registration declares, for reports."""
    return Label(
        size=declared.size,
        independence=_INDEPENDENCE[declared.is_independent],
        chain=declared.chain,
        commission_percent=declared.commission_percent,
    )


def label_documented(site: Site) -> Label:
    """Return the label that documents declare, for reports. site: without declarations."""
    return Label(
        independence=_INDEPENDENCE[site.is_independent],
        commission_percent=site.commission_percent,
    )
