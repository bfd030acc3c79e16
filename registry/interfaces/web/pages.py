"""The pages for people: search, what a problem code means, who the crawler is.

No JavaScript. A refusal is shown where the form is, with its way out.
"""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from litestar import MediaType, Response, get
from litestar.params import FromPath, QueryParameter

from registry.db import sites
from registry.errors import NotFound, RegistryError
from registry.identity.web_bot_auth import DIRECTORY_PATH
from registry.interfaces.http.problems import status_of
from registry.interfaces.http.refusals import NOT_FOUND
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.policy import read_history
from registry.interfaces.rest.policy_text import (
    EXCLUSIONS,
    ORIGIN,
    RULES,
    STATEMENTS,
    WEIGHED,
)
from registry.interfaces.rest.search import SearchRequest, answer_search
from registry.interfaces.rest.search_answer import SearchAnswer
from registry.interfaces.rest.search_parameters import MAX_QUERY_LENGTH
from registry.interfaces.web.catalogue import PROBLEM_TYPES
from registry.interfaces.web.rendering import page
from registry.interfaces.web.wording import (
    TITLES,
    describe_changes,
    describe_site,
    explain_factors,
    explain_lead,
)

PAGE_RESULTS = 10
Field = Annotated[str, QueryParameter(max_length=MAX_QUERY_LENGTH)]


@get("/", include_in_schema=False, media_type=MediaType.HTML)
async def show_search(
    services: Injected,
    q: Field = "",
    city: Field = "",
    country: Field = "",
    cursor: Field = "",
) -> Response[str]:
    asked = {"q": q, "city": city, "country": country}
    if not q.strip():
        async with services.api.connect() as connection:
            listed = (await sites.count_sites(connection)).get("active", 0)
        return page("search.html", asked=asked, listed=listed)
    request = SearchRequest(
        q=q,
        city=city.strip() or None,
        country=country.strip() or None,
        limit=PAGE_RESULTS,
        cursor=cursor or None,
    )
    try:
        answer = await answer_search(services, request)
    except RegistryError as refused:
        status = status_of(refused)
        return page("search.html", status, asked=asked, problem=refused.problem)
    return page("search.html", asked=asked, **_told(answer, asked))


@get("/problems/{code:str}", include_in_schema=False, media_type=MediaType.HTML)
async def show_problem(code: FromPath[str]) -> Response[str]:
    kind = PROBLEM_TYPES.get(code)
    if kind is None:
        raise NotFound(NOT_FOUND, "no problem has this code")
    return page("problem.html", kind=kind)


@get("/bot", include_in_schema=False, media_type=MediaType.HTML)
async def show_bot(services: Injected) -> Response[str]:
    """The crawler's User-Agent points here."""
    return page(
        "bot.html",
        bot=services.bot,
        directory=DIRECTORY_PATH,
        contact=services.contact,
    )


@get("/policy", include_in_schema=False, media_type=MediaType.HTML)
async def show_policy(services: Injected) -> Response[str]:
    """What /v1/policy tells machines."""
    policy = services.searcher.follower.policy
    factors = [
        {"title": TITLES[name], "weight": weight / 100, **WEIGHED[name]._asdict()}
        for name, weight in zip(TITLES, policy.weights, strict=True)
    ]
    constants = [
        {"name": name, "value": getattr(policy, name), "reason": reason}
        for name, reason in policy.reasons.items()
    ]
    return page(
        "policy.html",
        digest=policy.digest,
        factors=factors,
        origin=ORIGIN,
        exclusions=EXCLUSIONS,
        rules=RULES,
        statements=STATEMENTS,
        constants=constants,
        history=await read_history(services),
        describe_changes=describe_changes,
    )


def _told(answer: SearchAnswer, asked: Mapping[str, str]) -> dict[str, Any]:
    told = msgspec.json.decode(msgspec.json.encode(answer))
    for result in told["results"]:
        result["about"] = describe_site(result["site"])
        result["factors"] = explain_factors(result["factors"])
        result["lead"] = explain_lead(result["ahead"])
    following = answer.next_cursor
    return {
        "answer": told,
        "place": answer.place,
        "next_page": (
            "/?" + urlencode({**asked, "cursor": following}) if following else None
        ),
    }
