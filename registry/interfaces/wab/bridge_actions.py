"""The actions of the bridge as they are carried out: by what answers /v1.

Names, descriptions and parameters are the registry's own (`OWN_ACTIONS`). Words of sites
come back neutralised, and with a notice whose they are.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from litestar.types import Scope

from registry.formats.untrusted_text import neutralise_all, with_notice
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.services import Services
from registry.interfaces.http.strict import convert_body, pointing_into_body
from registry.interfaces.rest.registration.registrations import (
    ChallengeRequest,
    save_challenge,
)
from registry.interfaces.rest.search.explained_ranking import explain_ranking
from registry.interfaces.rest.search.search import search_and_pick
from registry.interfaces.rest.search.selections import save_selection
from registry.interfaces.rest.sites.lint import lint_as
from registry.interfaces.rest.sites.sites import find_registered, show_entry
from registry.interfaces.wab.bridge_command import Json
from registry.usecases.search.search_query import SearchQuery
from registry.usecases.search.select import SelectionRequest

Text = Annotated[str, msgspec.Meta(max_length=253)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCaller:
    """The agent that an action is for. operator: id, None of an anonymous one."""

    services: Services
    scope: Scope
    operator: str | None


@dataclass(frozen=True, slots=True)
class BridgeAction:
    """kind: of the limit that counts it beside the message's own."""

    run: Callable[[ActionCaller, Json], Awaitable[Any]]
    kind: Kind | None = None


class RankingArguments(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    ranking_id: Annotated[str, msgspec.Meta(max_length=100)]


class HostArguments(msgspec.Struct, forbid_unknown_fields=True):
    host: Text


class LintArguments(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """document: an object, or the text of a document or page."""

    document: dict[str, Any] | str
    url: Annotated[str, msgspec.Meta(max_length=2048)] = ""
    content_type: Annotated[str, msgspec.Meta(max_length=100)] = "application/json"


async def _search(caller: ActionCaller, data: Json) -> Any:
    query = convert_body({"detail": "brief", **data}, SearchQuery)
    with pointing_into_body():
        answer = await search_and_pick(
            caller.services, query, caller.scope, caller.operator
        )
    return with_notice(msgspec.to_builtins(answer))


async def _get_site(caller: ActionCaller, data: Json) -> Any:
    host, services = convert_body(data, HostArguments).host, caller.services
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        view = msgspec.to_builtins(await show_entry(connection, services, entry))
    return with_notice(view)


async def _explain(caller: ActionCaller, data: Json) -> Any:
    ranking_id = convert_body(data, RankingArguments).ranking_id
    explained = await explain_ranking(caller.services, ranking_id)
    return with_notice(explained)


async def _select(caller: ActionCaller, data: Json) -> Any:
    selection = convert_body(data, SelectionRequest)
    return await save_selection(caller.services, selection, caller.operator)


async def _register(caller: ActionCaller, data: Json) -> Any:
    """Guide: the statement that follows is signed, and goes to /v1/registrations."""
    origin = caller.services.origin
    challenge = await save_challenge(
        caller.services, convert_body(data, ChallengeRequest)
    )
    return {
        **msgspec.to_builtins(challenge),
        "then": [
            "Publish your key in one of the ways of nextSteps.",
            "Add docs, the URLs of your documents, to payload; sign it as a compact JWS.",
            f"POST the JWS to {origin}/v1/registrations as application/jose.",
            "Ask the statusUrl of the answer until status is active or rejected.",
        ],
    }


async def _lint(caller: ActionCaller, data: Json) -> Any:
    arguments = convert_body(data, LintArguments)
    document, url = arguments.document, arguments.url or None
    body = (
        document.encode("utf-8", "surrogatepass")
        if isinstance(document, str)
        else msgspec.json.encode(document)
    )
    report = await lint_as(
        caller.services, body, url, arguments.content_type, pointer="/url"
    )
    return neutralise_all(msgspec.to_builtins(report))


ACTIONS: Mapping[str, BridgeAction] = {
    "searchSites": BridgeAction(_search, Kind.SEARCH),
    "getSite": BridgeAction(_get_site),
    "explainRanking": BridgeAction(_explain),
    "reportSelection": BridgeAction(_select, Kind.SELECTION),
    "registerSite": BridgeAction(_register, Kind.WRITE),
    "lintDocument": BridgeAction(_lint, Kind.LINT),
}
