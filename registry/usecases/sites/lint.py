"""Lint: what the registry would make of a document, for its owner. No I/O."""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from registry.errors import RegistryError
from registry.formats.inspection import Report, inspect
from registry.ranking.advice import advise
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY, Policy
from registry.sites.gazetteer import Gazetteer
from registry.sites.host import Host, parse_host
from registry.sites.site import Site
from registry.sites.site_advice import Advice


@dataclass(frozen=True, slots=True)
class Linter:
    """Tables that advice needs, each loaded once a process.

    allow_loopback: for development, actions may be called on this machine.
    """

    gazetteer: Gazetteer
    encoder: Encoder
    policy: Policy
    allow_loopback: bool = False

    def lint(
        self, body: bytes, *, url: str = "", file_name: str = "", content_type: str = ""
    ) -> Report:
        """Inspect a document and add advice."""
        report = inspect(
            body,
            url=url,
            file_name=file_name,
            content_type=content_type,
            allow_loopback=self.allow_loopback,
        )
        if report.document is None:
            return report
        site, host = report.document.site, _host_of(report.url)
        return replace(report, advice=self.advise(site, host))

    def advise(self, site: Site, host: Host) -> tuple[Advice, ...]:
        return advise(
            site,
            host=host.name,
            registrable_domain=host.registrable_domain,
            place=self.gazetteer.locate(site.location),
            encoder=self.encoder,
            policy=self.policy,
        )


def _host_of(url: str) -> Host:
    """Return the host whose names are cut out of the text, or one that names nobody."""
    try:
        return parse_host(urlsplit(url).hostname or "", test_hosts=True)
    except (RegistryError, ValueError):
        return Host("", "")


def load_linter(allow_loopback: bool) -> Linter:
    return Linter(Gazetteer.load(), load_encoder(), DEFAULT_POLICY, allow_loopback)
