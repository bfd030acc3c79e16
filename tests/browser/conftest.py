from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.conftest import skip_or_fail
from tests.waiting import PATIENCE_S

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 1000 * PATIENCE_S
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Path:
    if not CHROMIUM.exists():
        skip_or_fail(f"{CHROMIUM} is not installed")
    return CHROMIUM


@pytest.fixture(scope="session")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=str(chromium), args=FLAGS, timeout=PATIENCE_MS
        )
        yield launched
        await launched.close()
