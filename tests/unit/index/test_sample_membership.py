"""Who knows the seed knows of each eligible site whether it belongs into the sample."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.index.query.sample import hash_sites, left_out, sample_sites

IDS = st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=60, unique=True)


@given(IDS, st.binary(min_size=32, max_size=32), st.data())
def test_who_is_left_out_of_a_draw_is_seen(ids, seed, data):
    sample = sample_sites(np.array(ids, np.int64), seed, 20)
    assert left_out(ids, sample, seed, 20, is_part=False) == []
    gone = data.draw(st.sampled_from(sample))
    others = [site for site in ids if site not in sample]
    lesser = [site for site in sample if site != gone]
    assert left_out(ids, [*lesser, *others[:1]], seed, 20, is_part=False)[:1] == (
        [gone] if others or len(lesser) < 20 else []
    ) or set(left_out(ids, [*lesser, *others[:1]], seed, 20, is_part=False)) >= {gone}


@given(IDS, st.binary(min_size=32, max_size=32), st.integers(1, 60))
def test_of_a_part_only_its_own_are_missed(ids, seed, members):
    """The part is of the least hashes; whoever is beyond it was not there to be drawn."""
    hashes = hash_sites(np.array(ids, np.int64))
    part = np.array(ids, np.int64)[np.argsort(hashes)][:members]
    sample = sample_sites(part, seed, 20)
    assert left_out(ids, sample, seed, 20, is_part=True) == []
