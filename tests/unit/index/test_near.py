"""What an empty answer tells of the categories that there are."""

import pytest

from registry.index.building.builder import Builder
from registry.index.columns.filters import Filters
from registry.index.query.index import Index
from registry.index.query.near import WORDS, NearCategory, near_categories
from registry.index.query.search import prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from tests.unit.index.test_town import NOW, town

__all__ = ["town"]


def near(index: Index, text: str, **filters: str) -> dict[str, NearCategory]:
    query = prepare_query(text, load_encoder(), P, filters=Filters(**filters))
    ranked = search(index, query, now=NOW, seed=bytes(32), k=10)
    categories = near_categories(index, query, ranked.term_weights, now=NOW)
    return {category.category: category for category in categories}


def test_the_nearest_category_is_reported_with_its_sites_and_words(town: Index) -> None:
    nearest = next(iter(near(town, "braids for my cousin").values()))
    assert (nearest.category, nearest.sites) == ("hairdresser", 1)
    assert 0 < len(nearest.words) <= WORDS
    assert all(search_of(town, words) for words in nearest.words[:1])


def search_of(index: Index, text: str) -> int:
    query = prepare_query(text, load_encoder(), P)
    return search(index, query, now=NOW, seed=bytes(32), k=1).eligible


def test_names_are_not_among_the_words(town: Index) -> None:
    words = " ".join(
        word for c in near(town, "tattoo removal").values() for word in c.words
    )
    assert "kiondo" not in words.casefold()


def test_only_sites_that_pass_the_filters_are_near(town: Index) -> None:
    assert "hairdresser" not in near(town, "braids for my cousin", country="JP")


@pytest.mark.parametrize(
    "text", ["", "???", "12345", "\u202e\u202d", "\U0001f600" * 500]
)
def test_nothing_is_near_to_nothing(town: Index, text: str) -> None:
    assert near(town, text) == {}


def test_an_empty_index_has_nothing_near() -> None:
    assert near(Builder.build([], P).index, "order bread") == {}
