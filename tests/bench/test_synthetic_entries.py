"""Made-up sites that are written in bulk are those that the rows tell of."""

import msgspec
import numpy as np
import pytest

from registry.bench.synthetic.entries import EntryWriter
from registry.bench.synthetic.site_rows import Chunk, make_registry
from registry.bench.synthetic.tables import SyntheticSite
from registry.index.columns.features import read_rows
from registry.index.columns.rows import Bodies, Rows, rows_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import parse_profile
from registry.ranking.terms import split_words, stem
from registry.sites.site import Site

COUNT = 90


@pytest.fixture(scope="module")
def synthetic() -> tuple[Chunk, list[SyntheticSite]]:
    registry = make_registry()
    chunk = registry.chunk(0, COUNT)
    return chunk, list(EntryWriter(registry.language).sites(chunk))


def terms(rows: Rows, number: int) -> list[tuple[int, int]]:
    """Hashes and impacts."""
    own = slice(rows.starts[number], rows.starts[number + 1])
    pairs = zip(rows.hashes[own].tolist(), rows.impacts[own].tolist(), strict=True)
    return sorted(pairs)


def words(rows: Rows, number: int) -> list[tuple[int, int]]:
    """Hashes and impacts of what is no keyword."""
    return [(hash_, impact) for hash_, impact in terms(rows, number) if hash_ % 2 == 0]


def test_profiles_come_to_the_rows(
    synthetic: tuple[Chunk, list[SyntheticSite]],
) -> None:
    chunk, sites = synthetic
    stored = Bodies.of([site.features + site.profile for site in sites])
    read = read_rows(stored, DEFAULT_POLICY)
    assert read.left_out == 0
    profiles = [parse_profile(site.profile) for site in sites]
    parsed = rows_of(profiles, DEFAULT_POLICY)
    for number in range(COUNT):
        assert terms(read.rows, number) == terms(parsed, number)
    for name in ("site_ids", "depth", "quality", "changed_s", "flags", "embeddings"):
        assert np.array_equal(getattr(read.rows, name), getattr(chunk.rows, name)), name
    for number in range(COUNT):
        assert words(read.rows, number) == words(chunk.rows, number)


def test_entries_say_what_profiles_say(
    synthetic: tuple[Chunk, list[SyntheticSite]],
) -> None:
    chunk, sites = synthetic
    for number, item in enumerate(sites):
        listing = msgspec.json.decode(item.listing)
        site = msgspec.convert(listing["site"], Site)
        assert msgspec.json.decode(msgspec.json.encode(site)) == listing["site"]
        assert len(site.actions) == chunk.sites.actions[number]
        profile = parse_profile(item.profile)
        for action, ranked in zip(site.actions, profile.actions, strict=True):
            assert action.name == ranked.name
            text = tuple(map(stem, split_words(action.description)))
            assert text == ranked.description_terms
            assert len(action.parameters) == len(ranked.parameter_terms)
