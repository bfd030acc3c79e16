"""Synthetic sites with a document each, and the profile that is made of it.

So an outsider makes their profiles again, as those of any registry.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import msgspec

from registry.bench.synthetic.site_rows import NOW
from registry.bench.synthetic.tables import SyntheticSite
from registry.formats.writing.forms import write_as
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.sites.identifier import format_site_id
from registry.sites.site import Site
from registry.usecases.sites.list_site import stored_profiles
from registry.usecases.sites.profile_material import (
    DeclaredMaterial,
    DocumentMaterial,
    PlaceMaterial,
    ProfileMaterial,
    entry_of,
)
from registry.usecases.sites.site_profiler import SiteProfiler, publisher_of

_FETCHED_AT = int(NOW.timestamp())
_MODEL_HOST = b"model-host.com"


@dataclass(frozen=True, slots=True)
class _Model:
    """A document with its profile, and the site that is read from it."""

    document: bytes
    site: Site
    profile: Profile


@dataclass(slots=True)
class DocumentWriter:
    """Writes documents. distinct: how many of them; further sites say the same again."""

    profiler: SiteProfiler
    distinct: int
    _models: list[_Model] = field(default_factory=list)

    def sites(self, plain: Iterable[SyntheticSite]) -> Iterator[SyntheticSite]:
        """Yield these sites, each with a document instead of what it said, and no place."""
        for own in plain:
            host = f"site-{own.site_id}.com"
            if len(self._models) < self.distinct:
                self._models.append(self._model(own))
            yield _documented(own, host, self._models[own.site_id % len(self._models)])

    def _model(self, own: SyntheticSite) -> _Model:
        plain = msgspec.convert(json.loads(own.listing)["site"], Site)
        host = _MODEL_HOST.decode()
        document = json.dumps(write_as("wab", plain, host=host)).encode()
        material = material_of_document(own.site_id, host, document)
        entry, formats = entry_of(material, self.profiler)
        profile = self.profiler.profile_of(entry, formats, ProbeFigures())
        return _Model(document, entry.site, profile)


def material_of_document(site_id: int, host: str, document: bytes) -> ProfileMaterial:
    """Return the material of a site that has declared nothing beside its document."""
    return ProfileMaterial(
        id=format_site_id(site_id),
        host=host,
        changed_at=_FETCHED_AT,
        allow_loopback=False,
        place=PlaceMaterial(geonames_id=0, since=None),
        place_move=None,
        declared=DeclaredMaterial(
            category=None, location=None, commission_percent=None, is_independent=None
        ),
        keys=(),
        documents=(
            DocumentMaterial(
                url=f"https://{host}/agent-bridge.json",
                content_type="application/json",
                fetched_at=_FETCHED_AT,
                body=document,
            ),
        ),
        probes=(),
    )


def _documented(own: SyntheticSite, host: str, model: _Model) -> SyntheticSite:
    publisher = publisher_of(host)
    profile = replace(model.profile, site_id=own.site_id, publisher=publisher)
    (stored,) = stored_profiles([profile], DEFAULT_POLICY)
    listing = {"site": model.site, "place": None, "conflicts": ()}
    return SyntheticSite(
        site_id=own.site_id,
        host=host,
        category=model.site.category,
        place=None,
        listing=msgspec.json.encode(listing),
        profile=stored.profile,
        features=stored.features,
        policy=stored.policy,
        changed_at=NOW,
        document=model.document.replace(_MODEL_HOST, host.encode()),
    )
