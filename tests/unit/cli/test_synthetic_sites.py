"""Made-up sites that are written in bulk are those that the rows tell of."""

import msgspec
import numpy as np
import pytest

from registry.cli.bench.synthetic import Chunk, make_registry
from registry.cli.bench.synthetic_entries import Spelling, make_sites
from registry.db.crowd import Ranked
from registry.index.columns.reading import read_rows
from registry.index.columns.rows import Bodies, Rows
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import encode_profile, parse_profile
from registry.ranking.text import split_words, stem
from registry.sites.site import Site

COUNT = 90


@pytest.fixture(scope="module")
def made() -> tuple[Chunk, list[Ranked]]:
    registry = make_registry()
    chunk = registry.chunk(0, COUNT)
    return chunk, list(make_sites(chunk, Spelling(registry.language)))


def words(rows: Rows, number: int) -> list[tuple[int, int]]:
    """Hashes and impacts of what is no keyword."""
    own = slice(rows.starts[number], rows.starts[number + 1])
    pairs = zip(rows.hashes[own].tolist(), rows.impacts[own].tolist(), strict=True)
    return sorted((hash_, impact) for hash_, impact in pairs if hash_ % 2 == 0)


def test_profiles_come_to_the_rows(made: tuple[Chunk, list[Ranked]]) -> None:
    chunk, sites = made
    read = read_rows(Bodies.of([one.profile for one in sites]), DEFAULT_POLICY)
    assert read.left_out == 0
    for name in ("site_ids", "depth", "quality", "changed_s", "flags", "embeddings"):
        assert np.array_equal(getattr(read.rows, name), getattr(chunk.rows, name)), name
    for number in range(COUNT):
        assert words(read.rows, number) == words(chunk.rows, number)


def test_profiles_are_written_as_the_service_writes_them(
    made: tuple[Chunk, list[Ranked]],
) -> None:
    for one in made[1]:
        assert encode_profile(parse_profile(one.profile)) == one.profile


def test_entries_say_what_profiles_say(made: tuple[Chunk, list[Ranked]]) -> None:
    chunk, sites = made
    for number, one in enumerate(sites):
        listing = msgspec.json.decode(one.listing)
        site = msgspec.convert(listing["site"], Site)
        assert msgspec.json.decode(msgspec.json.encode(site)) == listing["site"]
        assert len(site.actions) == chunk.sites.actions[number]
        profile = parse_profile(one.profile)
        for action, ranked in zip(site.actions, profile.actions, strict=True):
            assert action.name == ranked.name
            said = tuple(map(stem, split_words(action.description)))
            assert said == ranked.description_terms
            assert len(action.parameters) == len(ranked.parameter_terms)
