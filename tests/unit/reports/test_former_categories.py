"""Sites as they were: the same columns as if they had been read then."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.former_categories import with_former_categories
from registry.reports.window.columns import make_sites
from registry.reports.window.observation import SiteDisclosure

NAMES = st.sampled_from(("", "bakery", "hotel", "repair"))


@given(st.lists(st.tuples(NAMES, NAMES), max_size=8))
def test_categories_of_then_give_the_columns_of_then(pairs):
    now = [
        SiteDisclosure(site_id=str(number), category=name)
        for number, (name, _) in enumerate(pairs)
    ]
    then = [
        replace(item, category=before)
        for item, (_, before) in zip(now, pairs, strict=True)
    ]
    former = {
        number: before for number, (name, before) in enumerate(pairs) if before != name
    }
    result, wanted = with_former_categories(make_sites(now), former), make_sites(then)
    assert result.categories == wanted.categories
    assert np.array_equal(result.category, wanted.category)
