"""The declarations of a site's last statement, to and from what the database keeps."""

from collections.abc import Mapping
from typing import Any

import msgspec

from registry.identity.declarations import Declarations
from registry.identity.registration import DocumentClaim, Statement


def declared_of(statement: Statement) -> dict[str, Any]:
    """JSON of the declarations, and of the documents named."""
    declared: dict[str, Any] = msgspec.to_builtins(statement.declarations)
    return {**declared, "docs": msgspec.to_builtins(statement.documents)}


def declarations_from(stored: Mapping[str, Any]) -> Declarations:
    return msgspec.convert(stored, Declarations)


def documents_from(stored: Mapping[str, Any]) -> tuple[DocumentClaim, ...]:
    return msgspec.convert(stored.get("docs", ()), tuple[DocumentClaim, ...])
