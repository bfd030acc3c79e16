"""Several documents of one host become one listing.

WAB speaks before AWP, AWAS, ABP, WebMCP and the neighbours, a site's own document before
one made by others for it. What the first leaves open, the next may fill in; where two
contradict each other, the first stands and the contradiction is recorded.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.formats.document import MAX_ACTIONS, Document
from registry.formats.reading.names import match_key
from registry.formats.reading.targets import is_off_origin
from registry.sites.action import Action, Call, Parameter
from registry.sites.entry import Conflict
from registry.sites.site import Site

CRAWLED = "crawled"
"""Names the registry's own finding among the claims of a conflict."""
PRECEDENCE = ("wab", "awp", "awas", "abp", "webmcp", "a2a", "mcp", "ard")


@dataclass(frozen=True, slots=True)
class Listing:
    site: Site
    conflicts: tuple[Conflict, ...] = ()


def assemble(documents: Sequence[Document], *, site_url: str = "") -> Listing:
    """documents: of one host, in any order. site_url: the crawled origin.

    An address that a document claims for itself is kept beside it, and counts for
    nothing.
    """
    ordered = sorted(documents, key=_rank)
    conflicts: list[Conflict] = []

    def settle(field: str) -> Any:
        return _settle(
            field,
            [(each.format, getattr(each.site, field)) for each in ordered],
            conflicts,
        )

    site = Site(
        name=settle("name") or "",
        description=_first(each.site.description for each in ordered) or "",
        category=settle("category") or "",
        url=_settle_url(ordered, site_url, conflicts),
        location=settle("location"),
        languages=_union(each.site.languages for each in ordered),
        permissions=_merge_permissions(ordered, conflicts),
        commission_percent=settle("commission_percent"),
        is_independent=settle("is_independent"),
        actions=_merge_actions(ordered, conflicts),
    )
    return Listing(site, tuple(conflicts))


def _rank(document: Document) -> tuple[bool, int, str]:
    synthetic = document.provenance.source == "synthetic"
    return (synthetic, PRECEDENCE.index(document.format), document.url)


def _is_told(value: Any) -> bool:
    return value is not None and value != ""


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if _is_told(value)), None)


def _settle(
    field: str, claims: Sequence[tuple[str, Any]], conflicts: list[Conflict]
) -> Any:
    """The first claim; a later one that says otherwise is recorded.

    Texts that differ in case and spacing alone agree, and so do URLs in a last slash.
    """
    told = [(format_, value) for format_, value in claims if _is_told(value)]
    if len({_comparable(value) for _, value in told}) > 1:
        spelled = tuple((format_, str(value)) for format_, value in told)
        conflicts.append(Conflict(field=field, values=spelled))
    return told[0][1] if told else None


def _settle_url(
    documents: list[Document], site_url: str, conflicts: list[Conflict]
) -> str:
    told = [(each.format, each.site.url) for each in documents if each.site.url]
    if not site_url:
        return _settle("url", told, conflicts) or ""
    elsewhere = [url for _, url in told if is_off_origin(url, site_url=site_url)]
    if elsewhere:
        values = ((CRAWLED, site_url), *told)
        conflicts.append(Conflict(field="url", values=values))
    return told[0][1] if told else ""


def _comparable(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split()).rstrip("/")
    return value


def _union(several: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for values in several for value in values))


def _merge_permissions(
    documents: list[Document], conflicts: list[Conflict]
) -> tuple[tuple[str, bool], ...]:
    claims: dict[str, list[tuple[str, bool]]] = {}
    for document in documents:
        for name, granted in document.site.permissions:
            claims.setdefault(name, []).append((document.format, granted))
    return tuple(
        (name, _settle(f"permissions/{name}", said, conflicts))
        for name, said in claims.items()
    )


def _merge_actions(
    documents: list[Document], conflicts: list[Conflict]
) -> tuple[Action, ...]:
    """Actions whose names differ in spelling alone are one, called in several ways."""
    claims: dict[str, list[tuple[str, Action]]] = {}
    for document in documents:
        for action in document.site.actions:
            said = claims.setdefault(match_key(action.name), [])
            said.append((document.format, action))
    kept = list(claims.values())[:MAX_ACTIONS]
    return tuple(_merge_action(said, conflicts) for said in kept)


def _merge_action(
    claims: list[tuple[str, Action]], conflicts: list[Conflict]
) -> Action:
    first = claims[0][1]
    if len(claims) == 1:
        return first
    actions = [action for _, action in claims]

    def settle(field: str, read: Callable[[Action], Any]) -> Any:
        said = [(format_, read(action)) for format_, action in claims]
        return _settle(f"actions/{first.name}/{field}", said, conflicts)

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
    name: str, claims: list[tuple[str, Action]], conflicts: list[Conflict]
) -> tuple[Parameter, ...]:
    """Those of the first document that lists any; others that differ are recorded."""
    told = [
        (format_, action.parameters) for format_, action in claims if action.parameters
    ]
    if len({_signature(parameters) for _, parameters in told}) > 1:
        values = tuple((format_, _spell(parameters)) for format_, parameters in told)
        conflicts.append(Conflict(field=f"actions/{name}/parameters", values=values))
    return told[0][1] if told else ()


def _signature(parameters: tuple[Parameter, ...]) -> frozenset[tuple[str, bool]]:
    """What a caller has to get right; types and words are told more or less finely."""
    return frozenset((match_key(each.name), bool(each.required)) for each in parameters)


def _spell(parameters: tuple[Parameter, ...]) -> str:
    """`query, page?`: the names, with a mark where a parameter may be left out."""
    return ", ".join(
        each.name if each.required else f"{each.name}?" for each in parameters
    )
