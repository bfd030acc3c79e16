"""/v1/invariance: what the daily trials of invariance result, and what they are made of."""

from datetime import date, datetime

from litestar import get
from litestar.params import FromPath
from litestar.response import Stream

from registry.db.reports import invariance_runs
from registry.db.reports.invariance_runs import InvarianceRun
from registry.errors import NotFound
from registry.interfaces.http.problems import answer
from registry.interfaces.http.services import Injected
from registry.interfaces.http.streams import LimitedStream
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.wire_model import WireModel
from registry.reports.invariance import PERTURBATIONS, Violation
from registry.usecases.refusals import TRIALS_NOT_KEPT

RUNS: Listing[InvarianceRun, date] = Listing(
    purpose="invariance runs",
    key=date,
    key_of=lambda run: run.day,
    find=invariance_runs.list_runs,
)


class TriedView(WireModel):
    """expected: what had to hold; null of a perturbation that is made no more."""

    perturbation: str
    expected: str | None
    trials: int
    violations: int


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
    examples: tuple[Violation, ...]
    sentence: str


class InvariancePage(WireModel):
    runs: tuple[InvarianceRunView, ...]
    next_cursor: str | None


@get("/invariance")
async def list_invariance_runs(
    services: Injected, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> InvariancePage:
    """A run changes names, brands and the like in a shadow index, and compares rankings."""
    shown, following = await RUNS.page(services, limit, cursor)
    return InvariancePage(runs=tuple(map(_view, shown)), next_cursor=following)


@get(
    "/invariance/{day:str}",
    middleware=[LimitedStream()],
    responses=answer(
        "`material` of the day's commitment in the log is the SHA-256 of "
        "these bytes; its sites are as at /v1/profiles/{id}. What was asked is not "
        "here"
    ),
)
async def get_trial_material(day: FromPath[str], services: Injected) -> Stream:
    """Anybody runs the trials again with this and the disclosures of the rankings."""
    with NotFound.on(ValueError, TRIALS_NOT_KEPT, str, pointer="day"):
        wanted = date.fromisoformat(day)
    material = await services.trial_materials.find(wanted)
    if material is None:
        raise NotFound(TRIALS_NOT_KEPT, pointer="day")
    headers = {"Content-Length": str(len(material.body))}
    return Stream(material.pieces(), media_type="application/json", headers=headers)


def _view(run: InvarianceRun) -> InvarianceRunView:
    result = run.result
    expected = {row.name: row.holds for row in PERTURBATIONS}
    return InvarianceRunView.of(
        result,
        day=run.day,
        finished_at=run.finished_at,
        code_digest=run.code,
        perturbations=tuple(
            TriedView.of(tally, expected=expected.get(tally.perturbation))
            for tally in result.tallies
        ),
    )
