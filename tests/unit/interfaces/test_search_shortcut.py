"""What goes the short way is what the long way would take, and means the same."""

from typing import Any

import pytest

from registry.interfaces.rest.search_shortcut import plain_request


def scope(query: bytes, **other: Any) -> Any:
    asked = {
        "type": "http",
        "path": "/v1/search",
        "method": "GET",
        "query_string": query,
        "headers": [(b"host", b"registry.example")],
    }
    return {**asked, **other}


def test_a_plain_request_is_read() -> None:
    request = plain_request(scope(b"q=book+a%20table&lat=-31.95&lon=35&limit=20"))

    assert request is not None
    assert (request.q, request.limit) == ("book a table", 20)
    assert (request.lat, request.lon) == (-31.95, 35.0)


def test_a_text_stays_a_text() -> None:
    request = plain_request(scope(b"q=null&city=12&nonce=true"))

    assert request is not None
    assert (request.q, request.city, request.nonce) == ("null", "12", "true")


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"lat=1&lon=2", id="without words"),
        pytest.param(b"q=", id="empty words"),
        pytest.param(b"q=a&q=b", id="twice"),
        pytest.param(b"q=a&unknown=1", id="unknown"),
        pytest.param(b"q=a&limit=0", id="limit too low"),
        pytest.param(b"q=a&limit=999", id="limit too high"),
        pytest.param(b"q=a&limit=1.5", id="limit no whole number"),
        pytest.param(b"q=a&lat=nan&lon=1", id="not a number"),
        pytest.param(b"q=a&lat=1e1&lon=1", id="exponent"),
        pytest.param(b"q=a&lat=91&lon=1", id="beyond the pole"),
        pytest.param(b"q=a&lat=null&lon=null", id="null"),
        pytest.param(b"q=a&facets=category", id="facets"),
        pytest.param(b"q=a&requiresAuth=true", id="a truth"),
        pytest.param(b"q=%ff", id="not UTF-8"),
        pytest.param(b"q=a&&limit=2", id="an empty pair"),
        pytest.param(b"q=a;limit=2", id="another separator"),
        pytest.param("q=caf\u00e9".encode(), id="not ASCII"),
        pytest.param(b"q=" + b"a" * 1_001, id="too long"),
    ],
)
def test_anything_else_goes_the_long_way(query: bytes) -> None:
    assert plain_request(scope(query)) is None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"method": "POST"}, id="another method"),
        pytest.param({"path": "/v1/search/"}, id="another path"),
        pytest.param({"type": "websocket"}, id="no HTTP"),
        pytest.param(
            {"headers": [(b"origin", b"https://a.example")]}, id="from a page"
        ),
        pytest.param({"headers": [(b"signature-input", b"a")]}, id="signed"),
        pytest.param({"headers": [(b"authorization", b"a")] * 2}, id="two keys"),
    ],
)
def test_only_the_search_of_no_page_goes_the_short_way(other: dict[str, Any]) -> None:
    assert plain_request(scope(b"q=a", **other)) is None


def test_request_with_one_key_goes_the_short_way() -> None:
    key = [(b"host", b"registry.example"), (b"authorization", b"Bearer x")]
    assert plain_request(scope(b"q=a", headers=key)) is not None
