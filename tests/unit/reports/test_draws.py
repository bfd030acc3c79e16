"""Greatest keys of samples: fair draws are let pass, and drawn kinds are seen."""

import numpy as np
import pytest

from registry.reports.inference.draws import SampleDraw, chance_of

SURE = 1e-9


def drawn(count, eligible, seed, *, share=1.0, size=20):
    """So many draws of a share of the eligible sites, stated as of all."""
    dice = np.random.default_rng(seed)
    those = max(size, round(share * eligible))
    keys = np.sort(dice.random((count, those)), axis=1)[:, size - 1]
    return [SampleDraw(key, size, eligible) for key in keys.tolist()]


@pytest.mark.parametrize("eligible", [21, 40, 400])
@pytest.mark.parametrize("count", [1, 30, 600])
def test_fair_draws_pass(eligible, count):
    chances = [chance_of(drawn(count, eligible, seed)) for seed in range(12)]
    assert min(chances) > 1e-3


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_tenth_left_out_or_added_is_seen(share):
    assert chance_of(drawn(600, 400, 1, share=share)) < SURE


@pytest.mark.parametrize("key", [0.0, 1 - 2**-53, 1.0])
def test_keys_at_the_ends_are_no_error(key):
    assert 0 <= chance_of([SampleDraw(key, 20, 10**6)] * 3) < SURE
    assert chance_of([]) == 1.0
