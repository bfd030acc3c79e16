"""The rank score: all that orders sites but the lot, as one whole number.

People are shown rounded values. What they see as the same score stands by relevance as
shown, then by quality as shown; among sites that are the same in all three a declared
commission of 0% comes first (WAB §9.5.3), and then the exact score decides. These
digits, the first the highest, are one number, so that the order has no cycles, and
a site that is better in every factor is behind by no more than its commission explains.
"""

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from registry.ranking.policy import DEFAULT_POLICY, FULL, Policy
from registry.ranking.score import MAX_SCORE, Factors
from registry.ranking.ties import OrderKey

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

Numbers = TypeVar("Numbers", int, "NDArray[int64]")


class RankScale(NamedTuple):
    """Steps in which scores, and relevance and quality, are shown; `csrc/factors.h` has both."""

    score_step: int
    factor_step: int

    @classmethod
    def of(cls, policy: Policy) -> "RankScale":
        return cls(max(1, policy.shown_score_step), max(1, policy.shown_factor_step_bp))

    def rank_score(
        self, score: Numbers, relevance: Numbers, quality: Numbers, tier: Numbers
    ) -> Numbers:
        """Return the rank score; greater is earlier. tier: 0 for a declared 0%, else 1."""
        rounded = score + self.score_step // 2
        shown = rounded // self.score_step
        for factor in (relevance, quality):
            shown = shown * self._values + self.shown_factor(factor)
        return (2 * shown + 1 - tier) * self.score_step + rounded % self.score_step

    def tier_of(self, rank_score: int) -> int:
        return 1 - rank_score // self.score_step % 2

    def shown(self, score: int, factors: Factors) -> tuple[int, int, int]:
        """Return score, relevance and quality as shown: where §9.5.3 applies, all are equal."""
        relevance, quality = map(
            self.shown_factor, (factors.relevance, factors.quality)
        )
        return self.shown_score(score), relevance, quality

    def shown_score(self, score: int) -> int:
        """Return how many steps are shown; a half counts up."""
        return (score + self.score_step // 2) // self.score_step

    def shown_factor(self, factor: Numbers) -> Numbers:
        return (factor + self.factor_step // 2) // self.factor_step

    def points(self, score: int) -> float:
        """Return the score in points of 100, as it is shown."""
        return self.shown_score(score) * self.score_step / 1_000_000

    def percent(self, factor: int) -> float:
        """Return the factor in percent, as it is shown."""
        return self.shown_factor(factor) * self.factor_step / 100

    @property
    def _values(self) -> int:
        return self.shown_factor(FULL) + 1


SHOWN = RankScale.of(DEFAULT_POLICY)
"""The scale by which answers show scores and factors to people."""


class PageStart(NamedTuple):
    """The row that a page goes on from, as the disclosed request has it.

    negative_score: below that of any row for the first page. tier: see `rank_score`.
    relevance, quality: 0 in records of policies without steps.
    """

    negative_score: int
    tier: int
    tie_key: int
    site_id: int
    relevance: int = 0
    quality: int = 0

    @property
    def is_first(self) -> bool:
        return self.negative_score < -MAX_SCORE

    def order_key(self, scale: RankScale) -> OrderKey:
        rank_score = scale.rank_score(
            -self.negative_score, self.relevance, self.quality, self.tier
        )
        return OrderKey(-rank_score, self.tie_key, self.site_id)


FIRST_PAGE = PageStart(-(10**9), 0, 0, 0)
