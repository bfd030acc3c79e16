"""An auditor's statement names the log by the address that he typed, or by its name."""

import pytest

from registry.auditor.auditor_key import audience_of


@pytest.mark.parametrize(
    ("url", "log_name", "audience"),
    [
        pytest.param("https://r.example", "", "r.example", id="by its address"),
        pytest.param("https://r.example/wab/", "", "r.example/wab", id="below a path"),
        pytest.param("https://r.example", "old.example", "old.example", id="moved"),
    ],
)
def test_the_log_is_named(url: str, log_name: str, audience: str) -> None:
    assert audience_of(url, log_name) == audience
