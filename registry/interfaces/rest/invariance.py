"""GET /v1/invariance: what the daily trials of invariance found."""

from datetime import date, datetime

from litestar import get

from registry.db import invariance_runs
from registry.db.invariance_runs import InvarianceRun
from registry.fairness.invariance import PERTURBATION
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.listing import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.wire import Wire

RUNS: Listing[InvarianceRun, date] = Listing(
    purpose="invariance runs", place=date, place_of=lambda run: run.day
)


class TriedView(Wire):
    """expected: what had to hold; null of a perturbation that is made no more."""

    perturbation: str
    expected: str | None
    trials: int
    violations: int


class ViolationView(Wire):
    """ranking: id of the record whose query it was. The query is not told."""

    perturbation: str
    ranking: str


class InvarianceRunView(Wire):
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


class InvariancePage(Wire):
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
    before = RUNS.begin(services, cursor)
    async with services.api.connect() as connection:
        found = await invariance_runs.list_runs(
            connection, limit=limit + 1, before=before
        )
    shown, following = RUNS.page(services, found, limit)
    return InvariancePage(runs=tuple(map(_view, shown)), next_cursor=following)


def _view(run: InvarianceRun) -> InvarianceRunView:
    found = run.result
    return InvarianceRunView(
        day=run.day,
        finished_at=run.finished_at,
        generation=found.generation,
        policy_digest=found.policy_digest,
        code_digest=run.code,
        seed=found.seed,
        queries=found.queries,
        sites=found.sites,
        trials=found.trials,
        violations=found.violations,
        rate_at_most=found.rate_at_most,
        perturbations=tuple(
            TriedView(
                perturbation=one.perturbation,
                expected=_expected(one.perturbation),
                trials=one.trials,
                violations=one.violations,
            )
            for one in found.tallies
        ),
        examples=tuple(
            ViolationView(perturbation=one.perturbation, ranking=one.ranking)
            for one in found.examples
        ),
        sentence=found.sentence,
    )


def _expected(perturbation: str) -> str | None:
    known = PERTURBATION.get(perturbation)
    return known.holds if known else None
