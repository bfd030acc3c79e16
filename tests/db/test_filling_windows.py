"""Windows of synthetic rankings, as `bench report` measures them."""

import pytest

from registry.bench.synthetic import log_window
from registry.bench.synthetic.log_window import (
    END,
    START,
    LogWindow,
    count_rankings,
    fill_sites,
)
from registry.db.engine.engines import Engine


async def test_window_has_as_many_rankings_as_it_was_asked_for(
    owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those beyond the recorded ones are copies of them, which last."""
    monkeypatch.setattr(log_window, "RECORDED_MAX", 40)
    monkeypatch.setattr(log_window, "BATCH", 20)
    sites = await fill_sites(owner, 100)
    await LogWindow(sites=sites, start=START, end=END).fill(owner, 100)
    assert await count_rankings(owner) == 100
