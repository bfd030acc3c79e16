"""A log and an honest archive of it, as several modules audit them.

A module that takes them says by its COUNT how many rankings they have.
"""

import pytest

from tests.cli.audited import publish
from tests.unit.reports.archive.archived import archived, played


@pytest.fixture(scope="module")
def town(request):
    """Not to be changed; `played` gives one's own."""
    return played(request.module.COUNT)


@pytest.fixture(scope="module")
def log(town, tmp_path_factory):
    return publish(tmp_path_factory.mktemp("log") / "log", town.bodies)


@pytest.fixture(scope="module")
def honest(town, log, tmp_path_factory):
    return archived(
        tmp_path_factory.mktemp("honest") / "archive",
        town.rows,
        checkpoint=(log / "checkpoint").read_text(),
    )
