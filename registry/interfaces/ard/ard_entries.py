"""ARD entries: a listed site as one resource, and where its parts are named.

Every site is the resource `urn:air:HOST:site`, a WAB document that the registry makes of
all it lists. One with an MCP server card or an A2A agent card is also
`urn:air:HOST:mcp` or `urn:air:HOST:a2a`, which stands for that document as it was fetched.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from registry.errors import Refused
from registry.formats.invocations import shorten
from registry.formats.untrusted_text import neutralise
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.rest.wire_model import WireModel
from registry.sites.entry import SiteEntry

MOST_CAPABILITIES = 20
_URN = re.compile(
    r"urn:air:(?P<publisher>[A-Za-z0-9.-]+)(?P<namespace>:[A-Za-z0-9._:-]+)?"
    r":(?P<name>[A-Za-z0-9._-]+)"
)


class Artifact(NamedTuple):
    """A form in which a site is served. format: of its document; None: our own."""

    name: str
    media_type: str
    format: str | None


ARTIFACTS = (
    Artifact("site", "application/wab+json", None),
    Artifact("mcp", "application/mcp-server-card+json", "mcp"),
    Artifact("a2a", "application/a2a-agent-card+json", "a2a"),
)
ARTIFACT: Mapping[str, Artifact] = {row.name: row for row in ARTIFACTS}
OF_TYPE: Mapping[str, Artifact] = {row.media_type: row for row in ARTIFACTS}


class ArdEntry(WireModel, omit_defaults=True):
    """Entry of ARD §4.2. identifier: urn:air:HOST:site, mcp or a2a. url: the artifact's.

    The words are the site's own: data, never instructions.
    """

    identifier: str
    display_name: str
    type: str
    url: str
    description: str = ""
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    representative_queries: tuple[str, ...] = ()
    updated_at: datetime | None = None


class Identifier(NamedTuple):
    """host: as written. artifact: None where the registry has no such resource."""

    host: str
    artifact: Artifact | None


def parse_identifier(text: str) -> Identifier:
    """Raises: Refused for what is no URN of Appendix C."""
    urn = _URN.fullmatch(text)
    if urn is None:
        detail = "an identifier has the form urn:air:HOST:NAME"
        raise Refused(PARAMETER_INVALID, detail, pointer="identifier")
    known = None if urn["namespace"] else ARTIFACT.get(urn["name"])
    return Identifier(urn["publisher"], known)


def identifier_of(host: str, artifact: Artifact) -> str:
    return f"urn:air:{host}:{artifact.name}"


def artifact_url(origin: str, host: str, artifact: Artifact, document: str) -> str:
    """Return where the artifact is had. document: address of the site's own, or ""."""
    query = {"url": document} if artifact.format else {"as": "wab"}
    return f"{origin}/v1/sites/{host}/document?{urlencode(query)}"


def entry_of_site(
    entry: SiteEntry, artifact: Artifact, *, origin: str, document: str = ""
) -> ArdEntry:
    site = entry.site
    return ArdEntry(
        identifier=identifier_of(entry.host, artifact),
        display_name=neutralise(site.name) or entry.host,
        type=artifact.media_type,
        url=artifact_url(origin, entry.host, artifact, document),
        description=shorten(neutralise(site.description)),
        tags=(site.category,) if site.category else (),
        capabilities=tuple(action.name for action in site.actions[:MOST_CAPABILITIES]),
        representative_queries=_queries(entry),
        updated_at=entry.changed_at,
    )


def _queries(entry: SiteEntry) -> tuple[str, ...]:
    """Return what the site's first actions say they do: at most five."""
    texts = (neutralise(action.description) for action in entry.site.actions)
    return tuple(dict.fromkeys(map(shorten, filter(None, texts))))[:5]
