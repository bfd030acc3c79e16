from registry.bench.invariance import measure_invariance
from registry.reports.invariance import PERTURBATIONS


def test_a_clean_run_finds_nothing_and_a_planted_leak_is_found() -> None:
    trials = 2 * len(PERTURBATIONS)
    invariance = measure_invariance(trials)
    assert 0 < invariance.pop("invariance_rate_at_most") < 0.2
    assert invariance == {
        "invariance_trials": trials,
        "invariance_violations": 0,
        "planted_leak_found": True,
    }
