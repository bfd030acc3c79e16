"""Made-up sites with documents have the profiles that an outsider makes of these."""

from registry.bench.synthetic.documented import DocumentWriter, material_of_document
from registry.bench.synthetic.entries import EntryWriter
from registry.bench.synthetic.site_rows import make_registry
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.generation import digest_profile
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.profile_material import find_profile
from registry.usecases.sites.site_profiler import SiteProfiler

COUNT, DISTINCT = 12, 5


def test_the_stored_profile_is_that_of_the_document() -> None:
    registry = make_registry()
    plain = EntryWriter(registry.language).sites(registry.chunk(0, COUNT))
    encoder = load_encoder(DEFAULT_POLICY)
    profiler = SiteProfiler(Gazetteer.load(), encoder, DEFAULT_POLICY)
    sites = list(DocumentWriter(profiler, DISTINCT).sites(plain))
    assert len({site.host for site in sites}) == COUNT
    for site in sites:
        assert site.document
        assert site.host.encode() in site.document
        material = material_of_document(site.site_id, site.host, site.document)
        digest = digest_profile(site.profile)
        assert find_profile(material, profiler, digest) is not None
