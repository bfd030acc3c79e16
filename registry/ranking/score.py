"""The score: Σ weight · factor, in whole numbers, and nothing else."""

import msgspec

from registry.ranking.policy import Policy

MAX_SCORE = 100_000_000
Contributions = tuple[int, int, int, int, int]


class Factors(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The factors, 0..10000 each (WAB 1.0 §9.4), in the order of `Policy.weights`."""

    relevance: int
    proximity: int
    capability_depth: int
    quality: int
    freshness: int

    def contributions(self, policy: Policy) -> Contributions:
        """Return weight · factor of each factor; their sum is the score."""
        weights = policy.weights
        return (
            weights[0] * self.relevance,
            weights[1] * self.proximity,
            weights[2] * self.capability_depth,
            weights[3] * self.quality,
            weights[4] * self.freshness,
        )

    def score(self, policy: Policy) -> int:
        """Return 0..MAX_SCORE."""
        return sum(self.contributions(policy))
