"""Documents that `lint` is given: files, standard input, and URLs as the crawler asks."""

import asyncio
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from registry.client import DevelopmentNetwork, DocumentUnreachable, fetch_document
from registry.errors import Refused
from registry.settings import Settings
from registry.sites.hosts_file import parse_hosts_file

_SITE = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/\S*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSource:
    """A document's bytes, with what is known of them."""

    body: bytes
    content_type: str = ""
    url: str = ""
    file_name: str = ""


def read_source(document: str, settings: Settings) -> DocumentSource:
    """Read a URL, a file or - for standard input. Raises: click.ClickException."""
    if document == "-":
        return DocumentSource(body=sys.stdin.buffer.read())
    if "://" not in document:
        return _read_file(document)
    try:
        fetched = asyncio.run(fetch_document(document, network=_network(settings)))
    except DocumentUnreachable as error:
        raise click.ClickException(f"{document}: {error}") from None
    return DocumentSource(
        body=fetched.body, content_type=fetched.content_type, url=fetched.url
    )


def _read_file(document: str) -> DocumentSource:
    path = Path(document)
    try:
        return DocumentSource(body=path.read_bytes(), file_name=path.name)
    except OSError as error:
        reason = f"{document}: {error.strerror}"
    if _SITE.fullmatch(document):
        reason += f". If it is a site, write https://{document}"
    raise click.ClickException(reason)


def _network(settings: Settings) -> DevelopmentNetwork:
    """Return the network in which the crawler would ask."""
    file = settings.hosts_file
    try:
        hosts = parse_hosts_file(file.read_text()) if file else {}
    except Refused as refused:
        raise click.ClickException(f"{file}: {refused.problem.detail}") from None
    except OSError as error:
        raise click.ClickException(f"FAIR_REGISTRY_HOSTS_FILE: {error}") from None
    network = DevelopmentNetwork(hosts=hosts, ca_file=settings.ca_file)
    try:
        network.tls()
    except OSError as error:  # what the file holds is an SSLError, which is one
        raise click.ClickException(f"FAIR_REGISTRY_CA_FILE: {error}") from None
    return network
