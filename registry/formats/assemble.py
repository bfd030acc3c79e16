"""Merging of a host's documents into one site.

WAB precedes AWP, AWAS, ABP, WebMCP and the neighbours, and a site's own document precedes
one made by others for it. The next may fill in what the first leaves open; where two
contradict each other, the first counts and the conflict is recorded.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from registry.formats.document import FORMATS, MAX_ACTIONS, Document
from registry.formats.reading.call_targets import is_off_origin
from registry.formats.reading.name_folding import match_key
from registry.sites.action import Action, Call, Parameter
from registry.sites.entry import ClaimConflict
from registry.sites.site import Site

CRAWLED = "crawled"
"""Names the registry's own observation among the claims of a conflict."""


@dataclass(frozen=True, slots=True)
class AssembledSite:
    site: Site
    conflicts: tuple[ClaimConflict, ...] = ()


def assemble(documents: Sequence[Document], *, site_url: str = "") -> AssembledSite:
    """Merge a host's documents, given in any order. site_url: the crawled origin.

    An address that a document claims for itself is recorded and has no effect.
    """
    ordered = sorted(documents, key=_rank)
    conflicts: list[ClaimConflict] = []

    def settle(field: str) -> Any:
        return _settle(
            field, [(d.format, getattr(d.site, field)) for d in ordered], conflicts
        )

    site = Site(
        name=settle("name") or "",
        description=_first(d.site.description for d in ordered) or "",
        category=settle("category") or "",
        url=_settle_url(ordered, site_url, conflicts),
        location=settle("location"),
        languages=_union(d.site.languages for d in ordered),
        permissions=_merge_permissions(ordered, conflicts),
        commission_percent=settle("commission_percent"),
        is_independent=settle("is_independent"),
        direct_benefit=settle("direct_benefit") or "",
        trust_signatures=_union(d.site.trust_signatures for d in ordered),
        actions=_merge_actions(ordered, conflicts),
    )
    return AssembledSite(site, tuple(conflicts))


def _rank(document: Document) -> tuple[bool, int, str]:
    synthetic = document.provenance.source == "synthetic"
    return (synthetic, FORMATS.index(document.format), document.url)


def _is_declared(value: Any) -> bool:
    return value is not None and value != ""


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if _is_declared(value)), None)


def _settle(
    field: str, claims: Sequence[tuple[str, Any]], conflicts: list[ClaimConflict]
) -> Any:
    """Return the first claim; a later one that differs is recorded.

    Texts that differ in case and spacing alone agree, and so do URLs in a last slash.
    """
    declared = [(format_, value) for format_, value in claims if _is_declared(value)]
    if len({_comparable(value) for _, value in declared}) > 1:
        texts = tuple((format_, str(value)) for format_, value in declared)
        conflicts.append(ClaimConflict(field=field, values=texts))
    return declared[0][1] if declared else None


def _settle_url(
    documents: list[Document], site_url: str, conflicts: list[ClaimConflict]
) -> str:
    claims = [(d.format, d.site.url) for d in documents if d.site.url]
    if not site_url:
        return _settle("url", claims, conflicts) or ""
    if any(is_off_origin(url, site_url=site_url) for _, url in claims):
        values = ((CRAWLED, site_url), *claims)
        conflicts.append(ClaimConflict(field="url", values=values))
    return claims[0][1] if claims else ""


def _comparable(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split()).rstrip("/")
    return value


def _union(several: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for values in several for value in values))


def _merge_permissions(
    documents: list[Document], conflicts: list[ClaimConflict]
) -> tuple[tuple[str, bool], ...]:
    claims: dict[str, list[tuple[str, bool]]] = {}
    for document in documents:
        for name, granted in document.site.permissions:
            claims.setdefault(name, []).append((document.format, granted))
    return tuple(
        (name, _settle(f"permissions/{name}", grants, conflicts))
        for name, grants in claims.items()
    )


def _merge_actions(
    documents: list[Document], conflicts: list[ClaimConflict]
) -> tuple[Action, ...]:
    """Merge actions whose names differ in spelling alone."""
    claims: dict[str, list[tuple[str, Action]]] = {}
    for document in documents:
        for action in document.site.actions:
            same = claims.setdefault(match_key(action.name), [])
            same.append((document.format, action))
    merged = list(claims.values())[:MAX_ACTIONS]
    return tuple(_merge_action(same, conflicts) for same in merged)


def _merge_action(
    claims: list[tuple[str, Action]], conflicts: list[ClaimConflict]
) -> Action:
    first = claims[0][1]
    if len(claims) == 1:
        return first
    actions = [action for _, action in claims]

    def settle(field: str, read: Callable[[Action], Any]) -> Any:
        values = [(format_, read(action)) for format_, action in claims]
        return _settle(f"actions/{first.name}/{field}", values, conflicts)

    calls: tuple[Call, ...] = _union(action.calls for action in actions)
    return replace(
        first,
        description=_first(action.description for action in actions) or "",
        parameters=_merge_parameters(first.name, claims, conflicts),
        auth_required=settle("auth_required", lambda action: action.auth_required),
        sensitivity=settle("sensitivity", lambda action: action.sensitivity),
        confirmation=settle("confirmation", lambda action: action.confirmation),
        experimental=any(action.experimental for action in actions),
        deprecated=any(action.deprecated for action in actions),
        calls=calls,
    )


def _merge_parameters(
    name: str, claims: list[tuple[str, Action]], conflicts: list[ClaimConflict]
) -> tuple[Parameter, ...]:
    """Return the parameters of the first that has any; others that differ are recorded."""
    declared = [
        (format_, action.parameters) for format_, action in claims if action.parameters
    ]
    if len({_signature(parameters) for _, parameters in declared}) > 1:
        values = tuple((format_, _format_names(those)) for format_, those in declared)
        conflicts.append(
            ClaimConflict(field=f"actions/{name}/parameters", values=values)
        )
    return declared[0][1] if declared else ()


def _signature(parameters: tuple[Parameter, ...]) -> frozenset[tuple[str, bool]]:
    """Return the part that must agree: documents differ in the detail of types and words."""
    return frozenset((match_key(p.name), bool(p.required)) for p in parameters)


def _format_names(parameters: tuple[Parameter, ...]) -> str:
    """Format the names as `query, page?`, with a mark for optional parameters."""
    return ", ".join(p.name if p.required else f"{p.name}?" for p in parameters)
