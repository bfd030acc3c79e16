"""Figures that other processes put into the database, as this one's metrics tell them."""

from registry.db.engine.engines import Engine
from registry.db.reports import invariance_runs, kept_reports
from registry.observability import (
    INVARIANCE_FINISHED,
    INVARIANCE_TRIALS,
    INVARIANCE_VIOLATIONS,
    REPORT_FINISHED,
)
from registry.usecases.following import follow

PAUSE_S = 60.0


class Watched:
    """engine: of the API's role."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def run(self) -> None:
        """Follow until cancelled."""
        await follow(self.look, pause_s=PAUSE_S, lost="figures_lost")

    async def look(self) -> None:
        async with self._engine.connect() as connection:
            runs = await invariance_runs.list_runs(connection, limit=1)
            reports = await kept_reports.list_reports(connection, limit=1)
        for run in runs:
            INVARIANCE_TRIALS.set(run.result.trials)
            INVARIANCE_VIOLATIONS.set(run.result.violations)
            INVARIANCE_FINISHED.set(run.finished_at.timestamp())
        for report in reports:
            REPORT_FINISHED.set(report.made_at.timestamp())
