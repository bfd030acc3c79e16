"""The crawler for machines: the key it signs with, the networks it comes from.

Both only where the operator has set them; the page for people is `pages.show_bot`.
"""

from ipaddress import IPv4Network, IPv6Network

from litestar import Response, get

from registry.errors import NotFound
from registry.identity.requests.web_bot_auth import DIRECTORY_PATH, DIRECTORY_TYPE
from registry.interfaces.http.refusals import NOT_FOUND
from registry.interfaces.http.services import Injected
from registry.interfaces.web.static_files import HOUR


@get(DIRECTORY_PATH, include_in_schema=False, middleware=[HOUR])
async def get_directory(services: Injected) -> Response[bytes]:
    """Web Bot Auth: the key set, and proof that who serves it has the key."""
    agent = services.bot.agent
    if agent is None:
        raise NotFound(NOT_FOUND, "the crawler of this registry signs no requests")
    return Response(
        agent.directory,
        media_type=DIRECTORY_TYPE,
        headers=agent.sign_directory(now=int(services.clock().timestamp())),
    )


@get("/bot.json", include_in_schema=False, middleware=[HOUR])
async def get_addresses(services: Injected) -> dict[str, object]:
    """Answer in the form that crawlers share (draft-illyes-webbotauth-jafar)."""
    if not services.bot.networks:
        raise NotFound(NOT_FOUND, "the crawler's addresses are not published")
    # Anew each day, as the draft wants it, and the same from every process.
    return {
        "creationTime": f"{services.clock():%Y-%m-%dT00:00:00Z}",
        "prefixes": [_prefix(network) for network in services.bot.networks],
    }


def _prefix(network: IPv4Network | IPv6Network) -> dict[str, str]:
    return {f"ipv{network.version}Prefix": str(network)}
