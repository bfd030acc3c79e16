"""GET /v1/invariance: what the daily trials of invariance result."""

from datetime import date, datetime

from litestar import get

from registry.db.reports import invariance_runs
from registry.db.reports.invariance_runs import InvarianceRun
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.wire_model import WireModel
from registry.reports.invariance import PERTURBATION

RUNS: Listing[InvarianceRun, date] = Listing(
    purpose="invariance runs", place=date, place_of=lambda run: run.day
)


class TriedView(WireModel):
    """expected: what had to hold; null of a perturbation that is made no more."""

    perturbation: str
    expected: str | None
    trials: int
    violations: int


class ViolationView(WireModel):
    """ranking: id of the record whose query it was. The query is not told."""

    perturbation: str
    ranking: str


class InvarianceRunView(WireModel):
    """generation: of the shadow index of the sites as they were.

    rateAtMost: of violations, with 95% confidence. examples: some of the violations.
    """

    day: date
    finished_at: datetime
    generation: str
    policy_digest: str
    code_digest: str
    seed: int
    queries: int
    sites: int
    trials: int
    violations: int
    rate_at_most: float
    perturbations: tuple[TriedView, ...]
    examples: tuple[ViolationView, ...]
    sentence: str


class InvariancePage(WireModel):
    runs: tuple[InvarianceRunView, ...]
    next_cursor: str | None


@get(
    "/invariance",
    operation_id="listInvarianceRuns",
    summary="The daily trials that what must not matter moves no ranking, newest first",
    tags=["audit"],
    responses=problems(),
)
async def list_invariance_runs(
    services: Injected, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> InvariancePage:
    """A run changes names, brands and the like in a shadow index, and compares rankings."""
    before = RUNS.begin(services, cursor)
    async with services.api.connect() as connection:
        rows = await invariance_runs.list_runs(
            connection, limit=limit + 1, before=before
        )
    shown, following = RUNS.page(services, rows, limit)
    return InvariancePage(runs=tuple(map(_view, shown)), next_cursor=following)


def _view(run: InvarianceRun) -> InvarianceRunView:
    result = run.result
    return InvarianceRunView(
        day=run.day,
        finished_at=run.finished_at,
        generation=result.generation,
        policy_digest=result.policy_digest,
        code_digest=run.code,
        seed=result.seed,
        queries=result.queries,
        sites=result.sites,
        trials=result.trials,
        violations=result.violations,
        rate_at_most=result.rate_at_most,
        perturbations=tuple(
            TriedView(
                perturbation=tally.perturbation,
                expected=_expected(tally.perturbation),
                trials=tally.trials,
                violations=tally.violations,
            )
            for tally in result.tallies
        ),
        examples=tuple(
            ViolationView(perturbation=tally.perturbation, ranking=tally.ranking)
            for tally in result.examples
        ),
        sentence=result.sentence,
    )


def _expected(perturbation: str) -> str | None:
    known = PERTURBATION.get(perturbation)
    return known.holds if known else None
