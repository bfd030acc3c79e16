"""Numbers of sites by their ids."""

import random

import numpy as np

from registry.reports.window.site_numbers import SiteNumbers


def test_every_id_has_the_number_of_its_place() -> None:
    dice = random.Random(1)
    ids = [dice.randrange(2**63) for _ in range(5_000)]
    numbers = SiteNumbers(ids)
    query = [dice.randrange(len(ids)) for _ in range(20_000)]
    result = numbers.find(np.array([ids[place] for place in query], np.int64))
    assert result.tolist() == query
    assert numbers.added == []


def test_an_id_that_is_not_known_has_none() -> None:
    dice = random.Random(2)
    ids = [dice.randrange(2**63) for _ in range(1_000)]
    numbers = SiteNumbers([*ids, *range(200)])
    query = np.array([*ids, *range(-5, 250), -(2**63), 2**63 - 1], np.int64)
    result = numbers.look_up(query)
    expected = {site: number for number, site in enumerate([*ids, *range(200)])}
    assert result.tolist() == [expected.get(site, -1) for site in query.tolist()]


def test_small_numbers_in_a_row_are_found_too() -> None:
    numbers = SiteNumbers(range(1, 200))
    assert numbers.find(np.arange(1, 200)).tolist() == list(range(199))


def test_ids_that_are_not_known_are_numbered_as_they_come() -> None:
    numbers = SiteNumbers([50, 20])
    assert numbers.find(np.array([20, 7, 9, 7], np.int64)).tolist() == [1, 2, 3, 2]
    assert numbers.added == [7, 9]
    assert numbers.find(np.array([9, 50], np.int64)).tolist() == [3, 0]


def test_without_any_site_all_are_new() -> None:
    numbers = SiteNumbers([])
    assert numbers.find(np.array([3, 1], np.int64)).tolist() == [1, 0]
    assert numbers.find(np.array([], np.int64)).tolist() == []
