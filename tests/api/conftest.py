import httpx
import pytest

from tests.api.running import RunningRegistry


@pytest.fixture(scope="module")
def http(registry: RunningRegistry) -> httpx.Client:
    """A client of the running registry."""
    return registry.http
