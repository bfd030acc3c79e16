"""Files at fixed places: the style, the icon, robots.txt, security.txt (RFC 9116)."""

from datetime import timedelta
from importlib.resources import files

from litestar import MediaType, Response, get

from registry.errors import NotFound
from registry.interfaces.http.conditional import HOUR
from registry.interfaces.http.refusals import NOT_FOUND
from registry.interfaces.http.services import Injected

SECURITY_TXT_LIFETIME = timedelta(days=90)

# Answers are on record once given, so nobody should ask for them by following links.
ROBOTS = """\
User-agent: *
Disallow: /v1/search
Disallow: /?q=
Disallow: /*&q=
Disallow: /tile/
"""


@get(
    "/static/style.css",
    include_in_schema=False,
    media_type=MediaType.CSS,
    middleware=[HOUR],
)
async def get_style() -> Response[bytes]:
    return Response(_read("style.css"), media_type=MediaType.CSS)


@get("/static/icon.svg", include_in_schema=False, middleware=[HOUR])
async def get_icon() -> Response[bytes]:
    return Response(_read("icon.svg"), media_type="image/svg+xml")


@get("/robots.txt", include_in_schema=False, media_type=MediaType.TEXT)
async def get_robots() -> str:
    return ROBOTS


@get("/.well-known/security.txt", include_in_schema=False, media_type=MediaType.TEXT)
async def get_security(services: Injected) -> str:
    """Return the operator's contact, where one is configured."""
    if not services.contact:
        raise NotFound(NOT_FOUND, "the operator of this registry names no contact")
    expires_at = services.clock() + SECURITY_TXT_LIFETIME
    return (
        f"Contact: {services.contact}\n"
        f"Expires: {expires_at:%Y-%m-%dT%H:%M:%SZ}\n"
        f"Canonical: {services.origin}/.well-known/security.txt\n"
    )


def _read(name: str) -> bytes:
    return files("registry.interfaces.web").joinpath("static", name).read_bytes()
