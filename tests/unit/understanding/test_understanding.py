"""The operating point of eligibility, on requests of many kinds and languages.

The bounds are what the policy reaches on all requests, a little loosened; how it was
chosen and what each half reaches stands in docs/benchmarks.md.
"""

import pytest

from registry.demo.town.sites import CAST
from registry.index.query.index import Index
from registry.index.query.search import Ranked
from tests.unit.index.test_town import ask, hosts, town
from tests.unit.understanding.request_sets import read_sets

SETS = read_sets()
LANGUAGES = ("german", "spanish", "arabic", "japanese", "french", "chinese")

__all__ = ["town"]


@pytest.fixture(scope="module")
def answers(town: Index) -> dict[str, Ranked]:
    return {text: ask(town, text) for requests in SETS.values() for text in requests}


def first_right(name: str, answers: dict[str, Ranked]) -> int:
    return sum(
        bool(ranked) and ranked[0] in right
        for text, right in SETS[name].items()
        if (ranked := hosts(answers[text])) is not None
    )


def answered(name: str, answers: dict[str, Ranked]) -> int:
    return sum(answers[text].eligible > 0 for text in SETS[name])


def test_every_right_host_is_in_the_town(town: Index) -> None:
    known = {member.host.removesuffix(".test") for member in CAST}
    for requests in SETS.values():
        assert known.issuperset(frozenset().union(*requests.values()))


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("english", 23),
        *((name, 18) for name in LANGUAGES),
        ("typos", 19),
        ("across", 40),
    ],
)
def test_the_right_site_is_first(
    name: str, least: int, answers: dict[str, Ranked]
) -> None:
    assert first_right(name, answers) >= least


def test_other_words_find_the_same(answers: dict[str, Ranked]) -> None:
    assert first_right("other_words", answers) >= 20
    assert answered("other_words", answers) >= 22


@pytest.mark.parametrize(("name", "most"), [("off_topic", 5), ("shared_word", 20)])
def test_what_nobody_does_is_not_answered(
    name: str, most: int, answers: dict[str, Ranked]
) -> None:
    assert answered(name, answers) <= most
